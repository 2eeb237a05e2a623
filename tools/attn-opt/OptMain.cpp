// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OptMain.h.

#include "tools/attn-opt/OptMain.h"

#include "passes/Registration.h"
#include "passes/analysis/Explain.h"
#include "runtime/Files.h"
#include "runtime/compile/ToolInput.h"
#include "tools/LlvmOptions.h"
#include "tools/LlvmOutput.h"

#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/Support/InitLLVM.h"

using namespace mlir;

static LogicalResult run(StringRef inputName, StringRef outputName,
                         DialectRegistry &registry,
                         const MlirOptMainConfig &config) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(inputName, &error);
  if (!input) {
    llvm::errs() << error << "\n";
    return failure();
  }
  if (failed(::attn::checkToolInput(*input)))
    return failure();
  if (outputName == "-")
    return MlirOptMain(llvm::outs(), std::move(input), registry, config);
  // A file that is there stays whole until the new one is.
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (failed(MlirOptMain(stream, std::move(input), registry, config)))
    return failure();
  if (auto done = ::attn::writeFile(outputName.str(), {text}); !done) {
    llvm::errs() << done.error().message << "\n";
    return failure();
  }
  return success();
}

int ::attn::optMain(int argc, char **argv, StringRef name) {
  llvm::InitLLVM init(argc, argv);
  hideLlvmOptions();
  exitWhereOutputFails("attn-opt");
  DialectRegistry registry;
  mlir::attn::registerAttn(registry);
  mlir::attn::registerAttnPasses();
  registerTransformsPasses();
  llvm::cl::opt<bool> explain(
      "explain", llvm::cl::desc("print why patterns and passes of attn left "
                                "operations as they are"));
  auto [input, output] = registerAndParseCLIOptions(argc, argv, name, registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  // These read no input.
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  if (!explain)
    return asMainReturnCode(run(input, output, registry, config));
  if (config.shouldEmitRemarks()) {
    llvm::errs() << "option --explain: expected no filter of remarks beside "
                    "it; one that matches 'explain' does the same\n";
    return EXIT_FAILURE;
  }
  MlirOptMainConfig explaining = config;
  explaining.setPassPipelineSetupFn([&](PassManager &pm) {
    mlir::attn::printRemarks(*pm.getContext(),
                             mlir::attn::kExplainCategory.str());
    return config.setupPassPipeline(pm);
  });
  return asMainReturnCode(run(input, output, registry, explaining));
}
