// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-lsp-server: mlir-lsp-server with the dialects of attn, for editors. It
// reads the protocol from standard input and writes it to standard output.

#include "passes/Registration.h"
#include "tools/LlvmOptions.h"
#include "tools/LlvmOutput.h"
#include "tools/attn-lsp-server/CheckedInput.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

/// The style that the options of MLIR's server ask for.
static llvm::lsp::JSONStreamStyle
getInputStyle(llvm::ArrayRef<char *> arguments) {
  bool isValue = false;
  for (llvm::StringRef option : arguments.drop_front()) {
    if (isValue && option == "delimited")
      return llvm::lsp::JSONStreamStyle::Delimited;
    option.consume_front("-");
    if (option == "-lit-test" || option == "-input-style=delimited")
      return llvm::lsp::JSONStreamStyle::Delimited;
    isValue = option == "-input-style";
  }
  return llvm::lsp::JSONStreamStyle::Standard;
}

int main(int argc, char **argv) {
  attn::hideLlvmOptions();
  attn::exitWhereOutputFails("attn-lsp-server");
  std::string problem =
      attn::checkStandardInput(getInputStyle(llvm::ArrayRef(argv, argc)));
  if (!problem.empty()) {
    llvm::errs() << "attn-lsp-server: " << problem << "\n";
    return 1;
  }
  mlir::DialectRegistry registry;
  mlir::attn::registerAttn(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
