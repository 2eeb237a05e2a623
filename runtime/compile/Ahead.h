// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module in the form that linkers take.

#ifndef ATTN_RUNTIME_COMPILE_AHEAD_H
#define ATTN_RUNTIME_COMPILE_AHEAD_H

#include "runtime/code/ModuleImage.h"

#include "llvm/IR/Module.h"

namespace attn {

/// Leaves one symbol for each function of `image`, an attn_function under
/// aheadSymbol(prefix, NAME), and takes memory from attn_ahead_malloc and its
/// like. The image's target is that of the module.
void exportAhead(llvm::Module &module, const ModuleImage &image,
                 const std::string &prefix);

} // namespace attn

#endif // ATTN_RUNTIME_COMPILE_AHEAD_H
