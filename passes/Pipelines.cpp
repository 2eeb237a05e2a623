// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The map of the compiler: every stage, top to bottom, with the form the IR has
// after each group of passes.

#include "passes/Pipelines.h"

#include "passes/Passes.h"
#include "passes/analysis/TargetInfo.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::attn;

void attn::buildTarget(OpPassManager &pm, const PipelineOptions &options) {
  SetTargetOptions targetOptions;
  targetOptions.target = options.target;
  pm.addPass(createSetTarget(targetOptions));
}

void attn::buildRewrite(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void attn::buildTile(OpPassManager &pm, const PipelineOptions &options) {
  pm.addNestedPass<func::FuncOp>(createTileAttention());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}
void attn::buildCpu(OpPassManager &pm, const PipelineOptions &options) {}
void attn::buildDecompose(OpPassManager &pm, const PipelineOptions &options) {}
void attn::buildReference(OpPassManager &pm, const PipelineOptions &options) {}

namespace {
using Stage = void (*)(OpPassManager &, const PipelineOptions &);
} // namespace

void attn::registerPipelines() {
  auto add = [](StringRef name, StringRef description, ArrayRef<Stage> stages) {
    PassPipelineRegistration<PipelineOptions>(
        name, description,
        [stages = SmallVector<Stage>(stages)](OpPassManager &pm,
                                              const PipelineOptions &options) {
          for (Stage stage : stages)
            stage(pm, options);
        });
  };
  add("attn-rewrite", "canonical attention", {buildTarget, buildRewrite});
  add("attn-to-tile", "canonical attention", {buildTarget, buildRewrite, buildTile});
}
