// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs elementwise operations and reductions over rows on all threads, by
// blocks of rows. An element is computed from the same operands in the same
// order whatever the blocks are, so that bits depend on no number of threads.

#include "passes/Passes.h"
#include "passes/analysis/Explain.h"
#include "passes/tile/IndexMath.h"
#include "passes/tile/Tile.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::attn {
#define GEN_PASS_DEF_TILEELEMENTWISE
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Elements of an iteration: some microseconds of work, for what it costs to
/// hand one to a thread, and less than a cache of level 1 or 2.
static constexpr int64_t kElements = 8192;

/// The leading loops of `op` that run in parallel, without the last one where
/// there are others: that of lanes.
static unsigned countParallelLoops(linalg::LinalgOp op) {
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  auto *end = llvm::find(iterators, utils::IteratorType::reduction);
  unsigned count = end - iterators.begin();
  return count == iterators.size() && count > 1 ? count - 1 : count;
}

/// True if the whole op is known to be one iteration's work.
static bool isSmall(linalg::LinalgOp op) {
  int64_t elements = 1;
  for (int64_t size : op.getStaticLoopRanges()) {
    if (ShapedType::isDynamic(size) || size > kElements)
      return false;
    elements *= std::max<int64_t>(size, 1);
    if (elements > kElements)
      return false;
  }
  return true;
}

/// Steps of the first `count` loops, so that an iteration has about
/// `kElements`: inner loops are whole before outer ones have a step.
static SmallVector<OpFoldResult> chooseSteps(OpBuilder &b, Location loc,
                                             ArrayRef<Range> ranges,
                                             unsigned count) {
  IndexMath math{b, loc};
  Value one = math.constant(1), most = math.constant(kElements), work = one;
  SmallVector<OpFoldResult> steps(ranges.size(), b.getIndexAttr(0));
  for (unsigned loop = ranges.size(); loop-- > 0;) {
    Value size = math.max(ranges[loop].size, one);
    if (loop < count) {
      size = math.min(size, math.ceilDiv(most, work));
      steps[loop] = getAsOpFoldResult(size);
    }
    // More than an iteration's work is no different, and might overflow.
    work = math.min(math.mul(work, math.min(size, most)), most);
  }
  return steps;
}

/// linalg.generic ins(%x) outs(%y)
///   ->
/// scf.forall (%i) = (0) to (%n) step (%rows) shared_outs(%out = %y) {
///   linalg.generic ins(%x[%i..]) outs(%out[%i..])
///   scf.forall.in_parallel { tensor.parallel_insert_slice ... }
/// }
LogicalResult attn::tileElementwise(RewriterBase &rewriter,
                                    linalg::LinalgOp op) {
  auto fail = [&](const char *why) {
    return rewriter.notifyMatchFailure(op, why);
  };
  if (op->getParentOfType<scf::ForallOp>())
    return fail("nothing to do: within a loop on all threads");
  if (!op.hasPureTensorSemantics() || !isa<func::FuncOp>(op->getParentOp()))
    return fail("expected tensors, outside of loops");
  if (!llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return fail("expected each dimension to have a loop of its own");
  unsigned count = countParallelLoops(op);
  if (count == 0)
    return fail("expected a parallel loop in front");
  for (OpOperand &init : op.getDpsInitsMutable())
    for (unsigned loop = 0; loop < count; ++loop)
      if (!op.getMatchingIndexingMap(&init).isFunctionOfDim(loop))
        return fail("expected results with all parallel loops");
  auto tileable = dyn_cast<TilingInterface>(op.getOperation());
  if (!tileable)
    return fail("expected an operation that can be tiled");
  // Upstream's tiling can't divide a size that is known to be 0.
  if (llvm::is_contained(op.getStaticLoopRanges(), 0))
    return fail("no elements");
  if (isSmall(op))
    return fail("one iteration's work");

  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  SmallVector<Range> ranges = op.createLoopRanges(rewriter, op.getLoc());
  scf::SCFTilingOptions options;
  options.setTileSizes(chooseSteps(rewriter, op.getLoc(), ranges, count));
  options.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
  FailureOr<scf::SCFTilingResult> tiled =
      scf::tileUsingSCF(rewriter, tileable, options);
  if (failed(tiled))
    return fail("expected operands that can be sliced");
  rewriter.replaceOp(op, tiled->replacements);
  return success();
}

/// %r:2 = linalg.generic outs(%x, %y)  ->  %r = linalg.generic outs(%x)
/// where nobody reads %r#1. A loop would have no result for it, and have to
/// allocate what each of its iterations computes.
static LogicalResult dropUnusedResults(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  return applyPatternsGreedily(function, std::move(patterns));
}

namespace {

struct TileElementwisePass
    : public attn::impl::TileElementwiseBase<TileElementwisePass> {
  void runOnOperation() override {
    if (failed(dropUnusedResults(getOperation())))
      return signalPassFailure();
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    ExplainingRewriter rewriter(*this, &getContext());
    for (linalg::LinalgOp op : ops) {
      rewriter.visit(op);
      (void)tileElementwise(rewriter, op);
    }
  }
};

} // namespace
