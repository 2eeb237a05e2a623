// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds NAME.tiles to every public function NAME: how many tiles of keys a call
// skips, runs without mask code, and runs with it. Runs just before tiling, on
// the geometry and the classifier that tiling uses, so that masks can be judged
// by counts, which do not depend on the machine, instead of by times.

#include "passes/Passes.h"
#include "passes/convention/Convention.h"
#include "passes/tile/SideFunction.h"
#include "passes/tile/Tile.h"
#include "passes/tile/TileGeometry.h"

namespace mlir::attn {
#define GEN_PASS_DEF_COUNTTILES
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// Numbers of tiles, of type index: skipped, plain, masked.
using Counts = SmallVector<Value>;

/// Emits the counts of one op in front of it.
class TileCounter {
public:
  TileCounter(OpBuilder &builder, SoftmaxFamilyInterface op,
              const TileVersion &version)
      : b(builder), op(op), loc(op->getLoc()), geometry(builder, op, version),
        mask(builder, op), keyTile(geometry.getShape().keyRows) {}

  Counts run(ValueRange counts);

private:
  Value index(int64_t x) { return arith::ConstantIndexOp::create(b, loc, x); }
  template <typename OpTy> Value apply(Value x, Value y) {
    return b.createOrFold<OpTy>(loc, x, y);
  }
  /// Tiles of `keys` keys.
  Value countKeyTiles(Value keys);
  /// A loop from 0 to `end`; `body` gives the counts after one iteration.
  Counts createLoop(Value end, int64_t step, ValueRange counts,
                    function_ref<Counts(Value, ValueRange)> body);
  Counts createLoops(ArrayRef<OpFoldResult> bounds, SmallVector<Value> ivs,
                     ValueRange counts);
  Counts countQueryTile(const QueryTile &tile, ValueRange counts);

  OpBuilder &b;
  SoftmaxFamilyInterface op;
  Location loc;
  TileGeometry geometry;
  TileMask mask;
  int64_t keyTile;
};

} // namespace

Value TileCounter::countKeyTiles(Value keys) {
  return apply<arith::CeilDivUIOp>(keys, index(keyTile));
}

Counts TileCounter::createLoop(Value end, int64_t step, ValueRange counts,
                               function_ref<Counts(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(b, loc, index(0), end, index(step), counts);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Counts next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(b, loc, next);
  return Counts(loop.getResults());
}

Counts TileCounter::countQueryTile(const QueryTile &tile, ValueRange counts) {
  // What is beyond a batch entry's length is skipped without being looked at.
  Value all = countKeyTiles(tile.keyRows);
  Value inUse = countKeyTiles(tile.length);
  Value beyond = apply<arith::SubIOp>(all, inUse);
  Counts start{apply<arith::AddIOp>(counts[0], beyond), counts[1], counts[2]};
  if (!mask.classifier) {
    start[1] = apply<arith::AddIOp>(start[1], inUse);
    return start;
  }
  return createLoop(
      tile.length, keyTile, start, [&](Value row, ValueRange current) {
        KeyTile key = geometry.getKeyTile(b, tile, row);
        TileClass tileClass =
            mask.classifier->classify(b, loc, geometry.getRanges(b, tile, key));
        Value zero = index(0), one = index(1);
        Value visited =
            apply<arith::SubIOp>(one, b.createOrFold<arith::SelectOp>(
                                          loc, tileClass.canBeTrue, zero, one));
        Value masked = b.createOrFold<arith::SelectOp>(
            loc, tileClass.canBeFalse, visited, zero);
        return Counts{apply<arith::AddIOp>(current[0],
                                           apply<arith::SubIOp>(one, visited)),
                      apply<arith::AddIOp>(
                          current[1], apply<arith::SubIOp>(visited, masked)),
                      apply<arith::AddIOp>(current[2], masked)};
      });
}

Counts TileCounter::createLoops(ArrayRef<OpFoldResult> bounds,
                                SmallVector<Value> ivs, ValueRange counts) {
  if (bounds.empty())
    return countQueryTile(geometry.getQueryTile(b, ivs), counts);
  Value end = getValueOrCreateConstantIndexOp(b, loc, bounds.front());
  return createLoop(end, 1, counts, [&](Value iv, ValueRange current) {
    SmallVector<Value> inner(ivs);
    inner.push_back(iv);
    return createLoops(bounds.drop_front(), inner, current);
  });
}

Counts TileCounter::run(ValueRange counts) {
  if (mask.classifier)
    mask.classifier->emitTables(b, loc, keyTile);
  return createLoops(geometry.getBounds(), {}, counts);
}

/// Adds the tiles of `op` to `counts`, in the shape that a call takes.
static Counts countTiles(OpBuilder &builder, SoftmaxFamilyInterface op,
                         const TargetInfo &target, Counts counts) {
  for (const TileVersion &version : emitTileVersions(builder, op, target))
    counts = TileCounter(builder, op, version).run(counts);
  return counts;
}

/// Makes `function`, a copy, return the counts of its attention.
static LogicalResult returnCounts(func::FuncOp function,
                                  const TargetInfo &target) {
  OpBuilder builder(&function.getBody().front(),
                    function.getBody().front().begin());
  Location loc = function.getLoc();
  Counts counts(3, arith::ConstantIndexOp::create(builder, loc, 0));
  FailureOr<SmallVector<SoftmaxFamilyInterface>> ops = findAttention(function);
  if (failed(ops))
    return failure();
  for (SoftmaxFamilyInterface op : *ops) {
    builder.setInsertionPoint(op);
    counts = countTiles(builder, op, target, counts);
  }
  builder.setInsertionPoint(function.getBody().front().getTerminator());
  Type int64 = builder.getI64Type();
  for (Value &count : counts)
    count = arith::IndexCastOp::create(builder, loc, int64, count);
  return returnInstead(function,
                       tensor::FromElementsOp::create(builder, loc, counts));
}

namespace {

struct CountTilesPass : public attn::impl::CountTilesBase<CountTilesPass> {
  void runOnOperation() override {
    const TargetInfo *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (!isKernel(function))
        continue;
      FailureOr<func::FuncOp> copy = createSideFunction(function, "tiles");
      if (failed(copy) || failed(returnCounts(*copy, *target)))
        return signalPassFailure();
    }
  }
};

} // namespace
