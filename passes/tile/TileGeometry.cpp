// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Index arithmetic of the tiles, emitted as arith operations that fold where
// sizes are static.

#include "passes/tile/TileGeometry.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

namespace {

/// Emits index arithmetic on values or constants at a builder's insertion
/// point.
struct IndexMath {
  OpBuilder &builder;
  Location loc;

  Value get(OpFoldResult x) {
    return getValueOrCreateConstantIndexOp(builder, loc, x);
  }
  Value constant(int64_t x) {
    return arith::ConstantIndexOp::create(builder, loc, x);
  }
  template <typename OpTy> Value apply(OpFoldResult a, OpFoldResult b) {
    return builder.createOrFold<OpTy>(loc, get(a), get(b));
  }
  Value add(OpFoldResult a, OpFoldResult b) {
    return apply<arith::AddIOp>(a, b);
  }
  Value sub(OpFoldResult a, OpFoldResult b) {
    return apply<arith::SubIOp>(a, b);
  }
  Value mul(OpFoldResult a, OpFoldResult b) {
    return apply<arith::MulIOp>(a, b);
  }
  /// a / b for a >= 0, b > 0.
  Value div(OpFoldResult a, OpFoldResult b) {
    return apply<arith::DivUIOp>(a, b);
  }
  Value ceilDiv(OpFoldResult a, int64_t b) {
    return div(add(a, constant(b - 1)), constant(b));
  }
  Value min(OpFoldResult a, OpFoldResult b) {
    return apply<arith::MinSIOp>(a, b);
  }
  Value max(OpFoldResult a, OpFoldResult b) {
    return apply<arith::MaxSIOp>(a, b);
  }
};

} // namespace

TileGeometry::TileGeometry(OpBuilder &builder, SoftmaxFamilyInterface op,
                           TileShape shape)
    : op(op), loc(op->getLoc()), shape(shape) {
  IndexMath math{builder, loc};
  auto size = [&](Value tensor, int64_t dim) {
    return tensor::getMixedSize(builder, loc, tensor, dim);
  };
  Value one = math.constant(1);
  batch = size(op.getQuery(), 0);
  queryRows = size(op.getQuery(), 2);
  keyHeads = size(op.getKey(), 1);
  keyRows = size(op.getKey(), 2);
  queryTiles = getAsOpFoldResult(math.ceilDiv(queryRows, shape.queryRows));
  if (!op.hasGroupedHeads()) {
    groupSize = headsPerTile = headTiles = builder.getIndexAttr(1);
    return;
  }
  // Without key heads there are no query heads and no tiles; 1 stands in for
  // the divisor.
  Value group = math.div(size(op.getQuery(), 1), math.max(keyHeads, one));
  Value rows =
      math.max(math.min(queryRows, math.constant(shape.queryRows)), one);
  Value heads = math.max(
      math.min(math.div(math.constant(shape.queryRows), rows), group), one);
  Value tiles = math.div(math.sub(math.add(group, heads), one), heads);
  groupSize = getAsOpFoldResult(group);
  headsPerTile = getAsOpFoldResult(heads);
  headTiles = getAsOpFoldResult(tiles);
}

SmallVector<Value> TileGeometry::getIvs(OpBuilder &builder, Value batch,
                                        Value head, Value number) {
  IndexMath math{builder, loc};
  Value keyHead = math.div(head, groupSize);
  Value inGroup = math.sub(head, math.mul(keyHead, groupSize));
  return {batch, keyHead, math.div(inGroup, headsPerTile), number};
}

Value TileGeometry::getHeadsPerTile(OpBuilder &builder) {
  return IndexMath{builder, loc}.get(headsPerTile);
}

QueryTile TileGeometry::getQueryTile(OpBuilder &builder, ValueRange ivs) {
  IndexMath math{builder, loc};
  QueryTile tile;
  tile.batch = ivs[0];
  tile.keyHead = ivs[1];
  if (op.hasGroupedHeads()) {
    Value first = math.mul(ivs[2], headsPerTile);
    tile.head = math.add(math.mul(ivs[1], groupSize), first);
    tile.heads = math.min(headsPerTile, math.sub(groupSize, first));
  } else {
    tile.head = ivs[1];
    tile.heads = math.constant(1);
  }
  tile.row = math.mul(ivs[3], math.constant(shape.queryRows));
  tile.rows =
      math.min(math.constant(shape.queryRows), math.sub(queryRows, tile.row));

  tile.length = math.get(keyRows);
  if (Value lengths = op.getLengths()) {
    Value length = buildPerBatch(builder, loc, lengths, tile.batch);
    tile.length = math.max(math.min(length, tile.length), math.constant(0));
  }
  Value offset;
  if (op.getOffset())
    offset = buildPerBatch(builder, loc, op.getOffset(), tile.batch);
  else if (op.getAlign() == Alignment::BottomRight)
    offset = math.sub(tile.length, queryRows);
  tile.position = offset ? math.add(tile.row, offset) : tile.row;
  return tile;
}

KeyTile TileGeometry::getKeyTile(OpBuilder &builder, const QueryTile &query,
                                 Value row) {
  IndexMath math{builder, loc};
  KeyTile tile;
  tile.row = row;
  tile.rows =
      math.min(math.constant(shape.keyRows), math.sub(query.length, row));
  tile.position = op.getKeyOffset() ? math.add(row, op.getKeyOffset()) : row;
  return tile;
}

TileRanges TileGeometry::getRanges(OpBuilder &builder, const QueryTile &query,
                                   const KeyTile &key) {
  IndexMath math{builder, loc};
  auto last = [&](Value first, Value count) {
    return math.sub(math.add(first, count), math.constant(1));
  };
  TileRanges ranges;
  ranges.b = query.batch;
  ranges.hLo = query.head;
  ranges.hHi = last(query.head, query.heads);
  ranges.iLo = query.position;
  ranges.iHi = last(query.position, query.rows);
  ranges.jLo = key.position;
  ranges.jHi = last(key.position, key.rows);
  return ranges;
}
