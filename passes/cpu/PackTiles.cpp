// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packs query tiles for the lane form. It stands before bufferization, so that
// the packed tile is a tensor like any other and gets its buffer outside the
// loop over key tiles.

#include "passes/Passes.h"
#include "passes/analysis/Explain.h"
#include "passes/cpu/Cpu.h"
#include "passes/cpu/MicroKernels.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::attn {
#define GEN_PASS_DEF_PACKTILES
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

LogicalResult attn::verifyTileRows(Operation *op, int64_t rows, FloatType wide,
                                   const TargetInfo &target) {
  int64_t width = target.lanes(wide), most = width * target.maxVectors();
  if (rows > 0 && rows <= most && rows % width == 0)
    return success();
  return op->emitOpError() << "query tile: expected a multiple of " << width
                           << " rows up to " << most << " for " << target.name
                           << ", got " << rows;
}

LogicalResult attn::packQuery(RewriterBase &rewriter, OnlineSoftmaxOp op,
                              const TargetInfo &target) {
  if (op.hasPackedQuery())
    return rewriter.notifyMatchFailure(op, "nothing to do: query is packed");
  // Where folding found the sizes of the tile, it left a cast that hides them.
  if (auto cast = op.getQuery().getDefiningOp<tensor::CastOp>();
      cast && tensor::canFoldIntoConsumerOp(cast))
    rewriter.modifyOpInPlace(
        op, [&] { op.getQueryMutable().assign(cast.getSource()); });
  remark::RemarkOpts opts =
      remark::RemarkOpts::name("query-form").category("attn-cpu");
  if (hasRowKernel(op, target)) {
    remark::analysis(op.getLoc(), opts)
        << ("'attn.online_softmax' " + Twine(*op.getNumUnpackedRows()) +
            " query rows, not packed: columns are lanes")
               .str();
    return rewriter.notifyMatchFailure(op, "few rows are used as they are");
  }
  OpBuilder::InsertionGuard guard(rewriter);
  Location loc = op.getLoc();
  Value query = op.getQuery();
  rewriter.setInsertionPointAfterValue(query);
  bool isPairs = target.multipliesPairs(getElementTypeOrSelf(query));
  int64_t perLane = isPairs ? 2 : 1;
  int64_t width = target.lanes(op.getComputeType());
  // Rows of the packed tile come in whole blocks of the transpose.
  OpFoldResult depth = affine::makeComposedFoldedAffineApply(
      rewriter, loc,
      rewriter.getAffineDimExpr(0).ceilDiv(perLane * width) * width,
      {tensor::getMixedSize(rewriter, loc, query, 2)});
  Type element = isPairs ? rewriter.getBF16Type() : op.getComputeType();
  remark::analysis(loc, opts)
      << ("'attn.online_softmax' " + Twine(op.getNumRows()) +
          " query rows, packed once " +
          (isPairs                       ? "in pairs of bf16"
           : op.getComputeType().isF64() ? "as f64"
                                         : "as f32") +
          ": queries are lanes")
             .str();
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, {depth, rewriter.getIndexAttr(perLane * op.getNumRows())},
      element);
  auto pack = PackQueryOp::create(rewriter, loc, empty.getType(), query, empty,
                                  isPairs ? Value() : op.getScale());
  rewriter.modifyOpInPlace(op, [&] {
    op.getQueryMutable().assign(pack->getResult(0));
    if (!isPairs)
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
    ExplainingRewriter rewriter(*this, &getContext());
    WalkResult result = getOperation().walk([&](OnlineSoftmaxOp op) {
      if (op.hasPackedQuery())
        return WalkResult::advance();
      rewriter.visit(op);
      if (failed(verifyTileRows(op, op.getNumRows(), op.getComputeType(),
                                *target)))
        return WalkResult::interrupt();
      (void)packQuery(rewriter, op, *target);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
