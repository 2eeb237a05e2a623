// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-test-opt: attn-opt with the passes of the tests.

#include "TestPasses.h"
#include "passes/Registration.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::attn::registerAttn(registry);
  mlir::attn::registerAttnPasses();
  mlir::attn::registerTestPasses();
  mlir::registerTransformsPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "test driver\n", registry));
}
