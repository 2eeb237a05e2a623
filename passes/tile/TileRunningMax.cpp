// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running maxima in parallel: over batch entries, heads and features, which do
// not meet, while positions stay in order.

#include "passes/tile/Tile.h"

#include "passes/Passes.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::attn {
#define GEN_PASS_DEF_TILERUNNINGMAX
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Features of a tile: long enough for whole cache lines and pages.
static constexpr int64_t kFeatures = 256;

/// %max, %step = attn.running_max ins(%x) outs(%m, %s)
///   ->
/// scf.forall (%b, %h, %r) = (0, 0, 0) to (%B, %H, %M) step (1, 1, 256)
///     shared_outs(%mo = %m, %so = %s) {
///   %tile:2 = attn.running_max ins(%x[%b, %h, :, %r..]) ...
/// }
void attn::tileRunningMax(RewriterBase &rewriter, RunningMaxOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, op.getInput());
  OpFoldResult zero = rewriter.getIndexAttr(0), one = rewriter.getIndexAttr(1);
  OpFoldResult step = rewriter.getIndexAttr(kFeatures);
  SmallVector<Value> inits{op.getMax(), op.getStep()};
  auto loop = scf::ForallOp::create(
      rewriter, loc, ArrayRef<OpFoldResult>{zero, zero, zero},
      ArrayRef<OpFoldResult>{sizes[0], sizes[1], sizes[3]},
      ArrayRef<OpFoldResult>{one, one, step}, inits, /*mapping=*/std::nullopt);
  rewriter.setInsertionPoint(loop.getTerminator());
  SmallVector<Value> ivs = loop.getInductionVars();
  OpFoldResult count = step;
  if (std::optional<int64_t> known = getConstantIntValue(sizes[3]);
      known && *known <= kFeatures) {
    count = sizes[3];
  } else if (!known || *known % kFeatures != 0) {
    auto get = [&](OpFoldResult x) {
      return getValueOrCreateConstantIndexOp(rewriter, loc, x);
    };
    Value rest = arith::SubIOp::create(rewriter, loc, get(sizes[3]), ivs[2]);
    count = arith::MinSIOp::create(rewriter, loc, get(step), rest).getResult();
  }
  SmallVector<OpFoldResult> offsets{ivs[0], ivs[1], zero, ivs[2]};
  SmallVector<OpFoldResult> tileSizes{one, one, sizes[2], count};
  SmallVector<OpFoldResult> strides(4, one);
  auto slice = [&](Value tensor) -> Value {
    return tensor::ExtractSliceOp::create(rewriter, loc, tensor, offsets,
                                          tileSizes, strides);
  };
  Value lengths = op.getLengths();
  if (lengths)
    lengths = tensor::ExtractSliceOp::create(
        rewriter, loc, lengths, ArrayRef<OpFoldResult>{ivs[0]},
        ArrayRef<OpFoldResult>{one}, ArrayRef<OpFoldResult>{one});
  SmallVector<Value> tiles;
  for (Value out : loop.getRegionIterArgs())
    tiles.push_back(slice(out));
  auto tile =
      RunningMaxOp::create(rewriter, loc, TypeRange(tiles),
                           slice(op.getInput()), lengths, tiles[0], tiles[1]);
  rewriter.setInsertionPointToStart(loop.getTerminator().getBody());
  for (auto [result, out] :
       llvm::zip_equal(tile->getResults(), loop.getRegionIterArgs()))
    tensor::ParallelInsertSliceOp::create(rewriter, loc, result, out, offsets,
                                          tileSizes, strides);
  rewriter.replaceOp(op, loop->getResults());
}

namespace {

struct TileRunningMaxPass
    : public attn::impl::TileRunningMaxBase<TileRunningMaxPass> {
  void runOnOperation() override {
    SmallVector<RunningMaxOp> ops;
    getOperation().walk([&](RunningMaxOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (RunningMaxOp op : ops)
      if (!op->getParentOfType<scf::ForallOp>())
        tileRunningMax(rewriter, op);
  }
};

} // namespace
