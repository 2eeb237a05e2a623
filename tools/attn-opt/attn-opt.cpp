// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-opt: mlir-opt with the attn dialect, its passes and its pipelines.

#include "passes/Registration.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::attn::registerAttn(registry);
  mlir::attn::registerAttnPasses();
  mlir::registerTransformsPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "attention compiler driver\n", registry));
}
