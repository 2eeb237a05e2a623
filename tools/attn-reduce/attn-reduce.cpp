// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-reduce: mlir-reduce for attention programs. Makes a program smaller as
// long as a script finds it interesting.

#include "tools/attn-reduce/Reduction.h"

#include "passes/Registration.h"
#include "runtime/compile/ToolInput.h"
#include "tools/LlvmOptions.h"
#include "tools/LlvmOutput.h"

#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

/// Checks what the arguments may name as input, which only the driver knows.
static LogicalResult checkInputs(ArrayRef<char *> arguments) {
  for (const char *argument : arguments) {
    if (argument[0] == '-')
      continue;
    auto input = llvm::MemoryBuffer::getFile(argument);
    if (input && failed(::attn::checkToolInput(**input)))
      return failure();
  }
  return success();
}

int main(int argc, char **argv) {
  ::attn::hideLlvmOptions();
  ::attn::exitWhereOutputFails("attn-reduce");
  if (failed(checkInputs(ArrayRef(argv, argc).drop_front())))
    return EXIT_FAILURE;
  DialectRegistry registry;
  mlir::attn::registerAttn(registry);
  ::attn::registerReduction();
  mlir::attn::registerAttnPasses();
  registerTransformsPasses();
  MLIRContext context(registry);
  return failed(mlirReduceMain(argc, argv, context));
}
