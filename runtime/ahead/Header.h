// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The header of an object file that is compiled ahead of time, and the names in
// both. Internal; no LLVM.

#ifndef ATTN_RUNTIME_AHEAD_HEADER_H
#define ATTN_RUNTIME_AHEAD_HEADER_H

#include "runtime/code/ModuleImage.h"

namespace attn {

/// True for what C and C++ take as a name, keywords left out.
bool isIdentifier(std::string_view text);

/// What C calls function `function` of the module `prefix`: PREFIX for main,
/// PREFIX_FUNCTION for others, with _ for what can't be in a name.
std::string aheadName(const std::string &prefix, const std::string &function);

/// The symbol of the function's attn_function.
std::string aheadSymbol(const std::string &prefix, const std::string &function);

/// The text of PREFIX.h. Refuses functions that get the same name in C.
Result<std::string> aheadHeader(const std::string &prefix,
                                const ModuleImage &image);

} // namespace attn

#endif // ATTN_RUNTIME_AHEAD_HEADER_H
