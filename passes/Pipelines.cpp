// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The map of the compiler: every stage, top to bottom, with the form the IR has
// after each group of passes.

#include "passes/Pipelines.h"

#include "passes/Passes.h"
#include "passes/analysis/Explain.h"
#include "passes/convention/Convention.h"

#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::attn;

static StageHook stageHook = nullptr;

void attn::setStageHook(StageHook hook) { stageHook = hook; }

static void addCheck(OpPassManager &pm, StringRef stage) {
  CheckStageOptions check;
  check.stage = stage.str();
  pm.addPass(createCheckStage(check));
}

/// Ends a stage: checks what it leaves and dumps it where that is asked for.
static void endStage(OpPassManager &pm, const PipelineOptions &options,
                     StringRef stage) {
  if (stageHook)
    stageHook(pm, stage);
  addCheck(pm, stage);
  if (options.dump.empty())
    return;
  DumpStageOptions dump;
  dump.folder = options.dump;
  dump.stage = stage.str();
  pm.addPass(createDumpStage(dump));
}

static void addSimplification(OpPassManager &pm) {
  // It keeps nothing, so that all pipelines can share it.
  static ExplainListener listener("canonicalize", ExplainListener::Scope::attn);
  pm.addPass(
      createCanonicalizerPass(GreedyRewriteConfig().setListener(&listener)));
  pm.addPass(createCSEPass());
}

void attn::buildTarget(OpPassManager &pm, const PipelineOptions &options) {
  SetTargetOptions target;
  target.target = options.target;
  pm.addPass(createSetTarget(target));
}

void attn::buildSource(OpPassManager &pm, const PipelineOptions &options) {
  buildTarget(pm, options);
  // Every operation is defined for all operands, booleans are bytes, and each
  // public function has its plan, made from the source as it was written.
  addSource(pm);
  endStage(pm, options, "source");
}

void attn::buildRewrite(OpPassManager &pm, const PipelineOptions &options) {
  // FAVOR+ is softmax or linear attention.
  ExpandFavorOptions favor;
  favor.favor = options.favor;
  pm.addNestedPass<func::FuncOp>(createExpandFavor(favor));
  // Projections are constants, and features are linear algebra.
  pm.addNestedPass<func::FuncOp>(createExpandRandomFeatures());
  pm.addNestedPass<func::FuncOp>(createExpandFeatures());
  // What changes single logits is a region.
  pm.addNestedPass<func::FuncOp>(createExpandClauses());
  // Merged results are plain arithmetic.
  pm.addNestedPass<func::FuncOp>(createExpandMerge());
  // No scores of all pairs where sums over keys cost less.
  ReassociateOptions reassociate;
  reassociate.mode = options.reassociate;
  pm.addNestedPass<func::FuncOp>(createReassociate(reassociate));
  // Attention in its one form: no clause without effect, G = 1 is softmax.
  addSimplification(pm);
  // Each attn.linear says how it is computed. Last, as patterns make new ones.
  ChooseFormOptions form;
  form.form = options.linearForm;
  pm.addNestedPass<func::FuncOp>(createChooseForm(form));
  endStage(pm, options, "rewrite");
}

void attn::buildTile(OpPassManager &pm, const PipelineOptions &options) {
  // NAME.tiles counts what the loops of NAME will do; attention is still whole.
  if (options.countTiles)
    pm.addPass(createCountTiles());
  if (options.mapMask)
    pm.addPass(createMapMask());
  // Parallel loops over query tiles carry a running softmax over key tiles.
  pm.addNestedPass<func::FuncOp>(createTileAttention());
  // Linear attention carries a state over chunks of tokens.
  TileLinearOptions linear;
  linear.chunk = options.linearChunk;
  pm.addNestedPass<func::FuncOp>(createTileLinear(linear));
  // No sum is of f16 or bf16.
  pm.addNestedPass<func::FuncOp>(createWidenSums());
  // Products of matrices are loops over tiles of the result.
  pm.addNestedPass<func::FuncOp>(createTileMatmul());
  // What is left of linalg runs by blocks of rows, and running maxima by batch
  // entries, heads and features.
  pm.addNestedPass<func::FuncOp>(createTileElementwise());
  pm.addNestedPass<func::FuncOp>(createTileRunningMax());
  // Before loops of one iteration go, which must have one insertion for each of
  // their results.
  addCheck(pm, "tile");
  addSimplification(pm);
  endStage(pm, options, "tile");
}

void attn::buildCpu(OpPassManager &pm, const PipelineOptions &options) {
  // The packed query is a tensor of its own, outside the loop over keys: after
  // bufferization it would be too late to move it there.
  pm.addNestedPass<func::FuncOp>(createPackTiles());
  // Buffers; results are written into out parameters.
  addBufferization(pm);
  // Tiles are vector code with queries as lanes, and scratch buffers.
  LowerTilesOptions lower;
  lower.exact = options.exact;
  pm.addNestedPass<func::FuncOp>(createLowerTiles(lower));
  pm.addNestedPass<func::FuncOp>(createLowerMatmul());
  pm.addNestedPass<func::FuncOp>(createLowerRunningMax());
  // Elementwise code is vector code, too.
  pm.addNestedPass<func::FuncOp>(createLowerElementwise());
  addSimplification(pm);
  // The sizes of scratch buffers are known before the loops, so that there can
  // be one buffer per thread.
  pm.addNestedPass<func::FuncOp>(createLoopInvariantCodeMotionPass());
  pm.addNestedPass<func::FuncOp>(createParallelizeTiles());
  pm.addNestedPass<func::FuncOp>(createFreeBuffers());
  // What else the program computes is loops.
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  // No function is called per lane.
  pm.addNestedPass<func::FuncOp>(createExpandVectorMath());
  addLowerToLLVM(pm, /*callsMathLibrary=*/false);
  endStage(pm, options, "llvm");
}

void attn::buildDecompose(OpPassManager &pm, const PipelineOptions &options) {
  // Projections are the same numbers on every device.
  pm.addNestedPass<func::FuncOp>(createExpandRandomFeatures());
  // Attention is linalg in f64, as it is defined; no rewrite has run.
  pm.addNestedPass<func::FuncOp>(createDecomposeSoftmax());
  pm.addNestedPass<func::FuncOp>(createDecomposeLinear());
  pm.addNestedPass<func::FuncOp>(createDecomposeFeatures());
  pm.addNestedPass<func::FuncOp>(createDecomposeFavor());
  ExpandMergeOptions merge;
  merge.wide = true;
  pm.addNestedPass<func::FuncOp>(createExpandMerge(merge));
  // There are tiles only where stage tile is to be told from stage cpu.
  pm.addNestedPass<func::FuncOp>(createDecomposeTiles());
  // Every other sum is of f64, too, so that this is the better judge.
  WidenSumsOptions sums;
  sums.all = true;
  pm.addNestedPass<func::FuncOp>(createWidenSums(sums));
  endStage(pm, options, "decompose");
}

void attn::buildReference(OpPassManager &pm, const PipelineOptions &options) {
  // Buffers; results are written into out parameters.
  addBufferization(pm);
  // Plain loops on one thread. Those over tiles are no longer parallel before
  // buffers are freed, which knows sequential loops only.
  pm.addNestedPass<func::FuncOp>(createForallToForLoopPass());
  addDeallocation(pm);
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  addSimplification(pm);
  pm.addNestedPass<func::FuncOp>(createPromoteReductions());
  addLowerToLLVM(pm, /*callsMathLibrary=*/true);
  endStage(pm, options, "llvm");
}

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
  add("attn-rewrite", "rewrite stage: attention in its canonical form",
      {buildTarget, buildRewrite});
  add("attn-tile", "tile stage: loops over tiles with a running softmax",
      {buildTarget, buildTile});
  add("attn-cpu", "cpu stage: vector code and threads, as LLVM",
      {buildTarget, buildCpu});
  add("attn-decompose", "decompose stage: plain linear algebra in f64",
      {buildTarget, buildDecompose});
  add("attn-to-rewrite", "from the source to the end of the rewrite stage",
      {buildSource, buildRewrite});
  add("attn-to-tile", "from the source to the end of the tile stage",
      {buildSource, buildRewrite, buildTile});
  add("attn-to-cpu", "from the source to the end of the cpu stage",
      {buildSource, buildRewrite, buildTile, buildCpu});
  add("attn-to-decompose", "from the source to the end of the decompose stage",
      {buildSource, buildDecompose});
  add("attn-to-reference", "from the source to LLVM for device 'reference'",
      {buildSource, buildDecompose, buildReference});
}
