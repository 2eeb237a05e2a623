// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packs query tiles for the lane form. It stands before bufferization, so that
// the packed tile is a tensor like any other and gets its buffer outside the
// loop over key tiles.

#include "passes/Passes.h"
#include "passes/cpu/Cpu.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"

namespace mlir::attn {
#define GEN_PASS_DEF_PACKTILES
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

LogicalResult attn::packQuery(RewriterBase &rewriter, OnlineSoftmaxOp op,
                              const TargetInfo &target) {
  if (op.hasPackedQuery())
    return rewriter.notifyMatchFailure(op, "query is packed");
  if (op.getNumRows() != target.queryTile())
    return op.emitOpError()
           << "max: expected " << target.queryTile() << " rows (query tile of "
           << target.name << "), got " << op.getNumRows();
  OpBuilder::InsertionGuard guard(rewriter);
  Location loc = op.getLoc();
  Value query = op.getQuery();
  rewriter.setInsertionPointAfterValue(query);
  // Rows of the packed tile come in whole blocks of the transpose.
  OpFoldResult depth = affine::makeComposedFoldedAffineApply(
      rewriter, loc,
      rewriter.getAffineDimExpr(0).ceilDiv(target.vectorWidth) *
          target.vectorWidth,
      {tensor::getMixedSize(rewriter, loc, query, 2)});
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, {depth, rewriter.getIndexAttr(target.queryTile())},
      rewriter.getF32Type());
  auto pack = PackQueryOp::create(rewriter, loc, empty.getType(), query, empty,
                                  op.getScale());
  rewriter.modifyOpInPlace(op, [&] {
    op.getQueryMutable().assign(pack->getResult(0));
    op.getScaleMutable().clear();
  });
  return success();
}

namespace {

struct PackTilesPass : public attn::impl::PackTilesBase<PackTilesPass> {
  void runOnOperation() override {
    const TargetInfo *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    WalkResult result = getOperation().walk([&](OnlineSoftmaxOp op) {
      if (!op.hasPackedQuery() && failed(packQuery(rewriter, op, *target)))
        return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
