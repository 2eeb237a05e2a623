// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From an LLVM module to object code.

#ifndef ATTN_RUNTIME_COMPILE_CODEGEN_H
#define ATTN_RUNTIME_COMPILE_CODEGEN_H

#include "runtime/compile/HostTarget.h"

#include "llvm/IR/Module.h"

namespace attn {

/// Who puts the code into memory: our loader, or a linker.
enum class CodeUse { load, link };

/// Makes the module one for this machine and optimises it.
Result<std::unique_ptr<llvm::TargetMachine>>
prepareForTarget(llvm::Module &module, HostTarget &target,
                 CodeUse use = CodeUse::load);

/// Assembly text or an object file. Consumes the module's IR.
Result<std::string> generateCode(llvm::Module &module,
                                 llvm::TargetMachine &machine,
                                 llvm::CodeGenFileType kind);

} // namespace attn

#endif // ATTN_RUNTIME_COMPILE_CODEGEN_H
