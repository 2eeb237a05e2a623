// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of another LLVM that a process has in front of the compiler's own.

#ifndef ATTN_RUNTIME_CODE_FOREIGNSYMBOLS_H
#define ATTN_RUNTIME_CODE_FOREIGNSYMBOLS_H

#include <string>

namespace attn {

/// A function of LLVM or MLIR that the open `library` calls, and that the
/// dynamic linker takes from elsewhere than from the libraries that it was
/// built for: "'LLVMInitializeX86Target' of '/usr/bin/host'". Empty if there is
/// none.
std::string findForeignSymbol(void *library);

} // namespace attn

#endif // ATTN_RUNTIME_CODE_FOREIGNSYMBOLS_H
