// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-lsp-server: mlir-lsp-server with the dialects of attn, for editors. It
// reads the protocol from standard input and writes it to standard output.

#include "passes/Registration.h"
#include "tools/LlvmOptions.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  attn::hideLlvmOptions();
  mlir::DialectRegistry registry;
  mlir::attn::registerAttn(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
