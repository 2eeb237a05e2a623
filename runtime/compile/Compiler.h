// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From text to callable functions. LLVM and MLIR stay behind this header.

#ifndef ATTN_RUNTIME_COMPILE_COMPILER_H
#define ATTN_RUNTIME_COMPILE_COMPILER_H

#include "runtime/CompiledFunction.h"

#include <memory>

namespace attn {

struct CompileRequest {
  std::string text;
  /// Stands for the text in messages.
  std::string name;
  EngineOptions options;
};

struct CompiledModule {
  std::vector<CompiledFunction> functions;
  std::string target;
  std::string remarks;
  double compileMillis = 0;
  bool usesOpenMp = false;
  /// Keeps the machine code alive.
  std::shared_ptr<void> code;
};

Result<std::shared_ptr<const CompiledModule>>
compile(const CompileRequest &request);

/// Compiles as far as "llvm", "asm" or "obj" and returns that.
Result<std::string> emitModule(const CompileRequest &request,
                               std::string_view kind);

/// Reports a device or target that can't be used.
Result<void> checkOptions(const EngineOptions &options);

} // namespace attn

#endif // ATTN_RUNTIME_COMPILE_COMPILER_H
