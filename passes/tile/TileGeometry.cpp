// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Index arithmetic of the tiles, emitted as arith operations that fold where
// sizes are static.

#include "passes/tile/TileGeometry.h"
#include "passes/tile/IndexMath.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

TileGeometry::TileGeometry(OpBuilder &builder, SoftmaxFamilyInterface op,
                           const TileVersion &version)
    : op(op), loc(op->getLoc()), shape(version.shape) {
  IndexMath math{builder, loc};
  auto size = [&](Value tensor, int64_t dim) {
    return tensor::getMixedSize(builder, loc, tensor, dim);
  };
  Value one = math.constant(1);
  entries = size(op.getQuery(), 0);
  queryRows = size(op.getQuery(), 2);
  keyHeads = size(op.getKey(), 1);
  keyRows = size(op.getKey(), 2);
  if (op.getQueryStarts()) {
    PackedRows queries =
        emitPackedRows(builder, loc, op.getQueryStarts(), queryRows);
    PackedRows keys = emitPackedRows(builder, loc, op.getKeyStarts(), keyRows);
    entries = getAsOpFoldResult(
        math.sub(size(op.getQueryStarts(), 0), builder.getIndexAttr(1)));
    queryStarts = queries.starts;
    keyStarts = keys.starts;
    queryRows = queries.longest;
    keyRows = keys.longest;
  }
  if (shape.positions)
    queryRows = builder.getIndexAttr(*shape.positions);
  queryTiles = getAsOpFoldResult(math.ceilDiv(queryRows, shape.queryRows));
  if (version.isNeeded)
    entries = getAsOpFoldResult(
        arith::SelectOp::create(builder, loc, version.isNeeded,
                                math.get(entries), math.constant(0))
            .getResult());
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

PackedRows attn::emitPackedRows(OpBuilder &builder, Location loc, Value starts,
                                OpFoldResult size) {
  IndexMath math{builder, loc};
  OpFoldResult count = tensor::getMixedSize(builder, loc, starts, 0);
  Value none = math.constant(0), one = math.constant(1);
  Value init =
      tensor::EmptyOp::create(builder, loc, count, builder.getIndexType());
  // (starts, last start, longest, shortest)
  auto loop = scf::ForOp::create(
      builder, loc, none, math.get(count), one,
      ValueRange{init, none, none, math.get(size)},
      [&](OpBuilder &b, Location, Value n, ValueRange carried) {
        IndexMath inner{b, loc};
        Value start = inner.min(buildPerBatch(b, loc, starts, n), size);
        start = inner.max(start, carried[1]);
        Value inserted = tensor::InsertOp::create(b, loc, start, carried[0], n);
        // What lies in front of the first start is no sequence.
        Value rows = inner.sub(start, carried[1]);
        Value isFirst =
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, n, none);
        auto update = [&](Value length, Value old) -> Value {
          return arith::SelectOp::create(b, loc, isFirst, old, length);
        };
        scf::YieldOp::create(b, loc,
                             {inserted, start,
                              update(inner.max(carried[2], rows), carried[2]),
                              update(inner.min(carried[3], rows), carried[3])});
      });
  return {loop.getResult(0), loop.getResult(2), loop.getResult(3)};
}

QueryTile TileGeometry::getQueryTile(OpBuilder &builder, ValueRange ivs) {
  IndexMath math{builder, loc};
  QueryTile tile;
  tile.entry = ivs[0];
  tile.keyHead = ivs[1];
  if (op.hasGroupedHeads()) {
    Value first = math.mul(ivs[2], headsPerTile);
    tile.head = math.add(math.mul(ivs[1], groupSize), first);
    tile.heads = math.min(headsPerTile, math.sub(groupSize, first));
  } else {
    tile.head = ivs[1];
    tile.heads = math.constant(1);
  }
  Value zero = math.constant(0);
  bool isOneTile = shape.positions && *shape.positions <= shape.queryRows;
  Value row =
      isOneTile ? zero : math.mul(ivs[3], math.constant(shape.queryRows));
  OpFoldResult entryRows = queryRows;
  if (queryStarts) {
    auto readStart = [&](Value starts, Value n) -> Value {
      return tensor::ExtractOp::create(builder, loc, starts, n);
    };
    Value next = math.add(tile.entry, builder.getIndexAttr(1));
    Value first = readStart(queryStarts, tile.entry);
    tile.batch = zero;
    tile.row = math.add(first, row);
    tile.keyRow = readStart(keyStarts, tile.entry);
    tile.keyRows = math.sub(readStart(keyStarts, next), tile.keyRow);
    if (isOneTile) {
      tile.rows = math.get(queryRows);
    } else {
      entryRows = math.sub(readStart(queryStarts, next), first);
      Value left = math.max(math.sub(entryRows, row), zero);
      tile.rows = math.min(math.constant(shape.queryRows), left);
      // A tile without rows has no keys to visit.
      Value isEmpty = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, tile.rows, zero);
      tile.keyRows =
          arith::SelectOp::create(builder, loc, isEmpty, zero, tile.keyRows);
    }
  } else {
    tile.batch = tile.entry;
    tile.row = row;
    tile.rows =
        math.min(math.constant(shape.queryRows), math.sub(queryRows, row));
    tile.keyRow = zero;
    tile.keyRows = math.get(keyRows);
  }

  tile.length = buildKeyLength(op, builder, loc, tile.entry, tile.keyRows);
  Value offset;
  if (op.getOffset())
    offset = buildPerBatch(builder, loc, op.getOffset(), tile.entry);
  else if (op.getAlign() == Alignment::BottomRight)
    offset = math.sub(tile.length, entryRows);
  tile.position = offset ? math.add(row, offset) : row;
  return tile;
}

KeyTile TileGeometry::getKeyTile(OpBuilder &builder, const QueryTile &query,
                                 Value row) {
  IndexMath math{builder, loc};
  KeyTile tile;
  tile.row = math.add(query.keyRow, row);
  tile.rows =
      math.min(math.constant(shape.keyRows), math.sub(query.length, row));
  tile.position = op.getKeyOffset() ? math.add(row, op.getKeyOffset()) : row;
  return tile;
}

TileRanges TileGeometry::getRanges(OpBuilder &builder, const QueryTile &query,
                                   const KeyTile &key) {
  IndexMath math{builder, loc};
  // One value is a range with both ends the same, so that it is seen as exact.
  auto last = [&](Value first, Value count) {
    if (getConstantIntValue(count) == 1)
      return first;
    return math.sub(math.add(first, count), math.constant(1));
  };
  TileRanges ranges;
  ranges.b = query.entry;
  ranges.hLo = query.head;
  ranges.hHi = last(query.head, query.heads);
  ranges.iLo = query.position;
  ranges.iHi = last(query.position, query.rows);
  ranges.jLo = key.position;
  ranges.jHi = last(key.position, key.rows);
  return ranges;
}
