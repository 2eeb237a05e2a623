// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler as the runtime reaches it. Internal; no LLVM.

#ifndef ATTN_RUNTIME_CODE_COMPILERLIBRARY_H
#define ATTN_RUNTIME_CODE_COMPILERLIBRARY_H

#include "runtime/code/CompileRequest.h"
#include "runtime/code/CompilerInterface.h"

namespace attn {

class CompilerLibrary {
public:
  /// The library, opened on first use, or why it can't be had.
  static const Result<CompilerLibrary> &get();

  /// An encoded image, or the output that the request names.
  Result<std::string> compile(const CompileRequest &request) const;

  /// Reports a device or target that can't be used.
  Result<void> checkOptions(const EngineOptions &options) const;

  /// The file that get() opens.
  static Result<std::string> path();

private:
  CompilerLibrary() = default;
  static Result<CompilerLibrary> open();

  AttnCompilerFunction compileFunction = nullptr;
  AttnCompilerFunction checkFunction = nullptr;
};

} // namespace attn

#endif // ATTN_RUNTIME_CODE_COMPILERLIBRARY_H
