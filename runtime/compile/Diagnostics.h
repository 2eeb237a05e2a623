// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collects what MLIR and LLVM report, as text.

#ifndef ATTN_RUNTIME_COMPILE_DIAGNOSTICS_H
#define ATTN_RUNTIME_COMPILE_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

#include "llvm/IR/LLVMContext.h"

#include <string>

namespace attn {

/// Errors and remarks of a context while this lives: one line each, as in
/// "file.mlir:3:5: error: ...", notes below.
class Diagnostics {
public:
  explicit Diagnostics(mlir::MLIRContext &context);

  /// LLVM's own default exits the process on an error.
  void attach(llvm::LLVMContext &context);

  bool hasErrors() const { return !errorText.empty(); }
  const std::string &errors() const { return errorText; }
  const std::string &remarks() const { return remarkText; }

private:
  mlir::LogicalResult report(mlir::Diagnostic &diagnostic);

  std::string errorText;
  std::string remarkText;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace attn

#endif // ATTN_RUNTIME_COMPILE_DIAGNOSTICS_H
