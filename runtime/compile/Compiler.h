// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From text to object code. LLVM and MLIR stay behind this header.

#ifndef ATTN_RUNTIME_COMPILE_COMPILER_H
#define ATTN_RUNTIME_COMPILE_COMPILER_H

#include "runtime/code/CompileRequest.h"
#include "runtime/code/ModuleImage.h"

namespace attn {

Result<ModuleImage> compile(const CompileRequest &request);

/// Compiles as far as the request's output asks and returns that. The target
/// need not run here.
Result<std::string> emitModule(const CompileRequest &request);

/// Reports a device or target that can't be used for what is asked.
Result<void> checkOptions(const CompileRequest &request);

} // namespace attn

#endif // ATTN_RUNTIME_COMPILE_COMPILER_H
