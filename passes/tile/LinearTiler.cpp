// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pieces of the loops of linear attention: slices, states and tiles of
// tokens.

#include "passes/tile/LinearTiler.h"

#include "passes/tile/TileGeometry.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

LinearTiler::LinearTiler(RewriterBase &rewriter, LinearOp op,
                         const TargetInfo &target, const LinearShape &shape)
    : b(rewriter), op(op), loc(op.getLoc()), shape(shape) {
  features = dim(op.getQuery(), 3);
  OpFoldResult multiple = index(target.rowMultiple());
  stateRows = fold<arith::MulIOp>(ceilDiv(features, multiple), multiple);
  valueDim = dim(op.getValue(), 3);
  // Without a column there may still be a normaliser.
  tiles = fold<arith::MaxSIOp>(ceilDiv(valueDim, index(shape.valueColumns)),
                               index(1));
  // A call without heads divides by none.
  auto ratio = [&](Value many, Value few) {
    OpFoldResult divisor =
        fold<arith::MaxSIOp>(dim(few, 1), OpFoldResult(index(1)));
    return fold<arith::DivUIOp>(dim(many, 1), divisor);
  };
  group = op.hasGroupedValues() ? index(1) : ratio(op.getQuery(), op.getKey());
  valuesPerKey =
      op.hasGroupedValues() ? ratio(op.getValue(), op.getKey()) : index(1);
  emitStarts();
  // What is longer than all tokens holds them all.
  constexpr int64_t kManyRows = 4096;
  rows = index(shape.rows);
  if (ShapedType::isDynamic(shape.rows) || shape.rows > kManyRows) {
    OpFoldResult all = fold<arith::MaxSIOp>(dim(op.getKey(), 2), index(1));
    rows = ShapedType::isDynamic(shape.rows) ? all
                                             : fold<arith::MinSIOp>(all, rows);
  }
}

void LinearTiler::emitStarts() {
  entries = dim(op.getKey(), 0);
  mostQueries = dim(op.getQuery(), 2);
  if (!op.getQueryStarts())
    return;
  PackedRows queries = emitPackedRows(b, loc, op.getQueryStarts(), mostQueries);
  queryStarts = keyStarts = queries.starts;
  mostQueries = queries.longest;
  if (op.getKeyStarts())
    keyStarts =
        emitPackedRows(b, loc, op.getKeyStarts(), dim(op.getKey(), 2)).starts;
  entries =
      fold<arith::SubIOp>(dim(op.getQueryStarts(), 0), OpFoldResult(index(1)));
}

Value LinearTiler::get(OpFoldResult x) {
  return getValueOrCreateConstantIndexOp(b, loc, x);
}

OpFoldResult LinearTiler::ceilDiv(OpFoldResult x, OpFoldResult y) {
  OpFoldResult last = fold<arith::SubIOp>(y, index(1));
  return fold<arith::DivUIOp>(fold<arith::AddIOp>(x, last), y);
}

OpFoldResult LinearTiler::getTileRows(OpFoldResult begin, OpFoldResult row,
                                      OpFoldResult end) {
  std::optional<int64_t> step = getConstantIntValue(rows);
  std::optional<int64_t> first = getConstantIntValue(begin);
  std::optional<int64_t> last = getConstantIntValue(end);
  if (step && first && last && (*last - *first) % *step == 0)
    return rows;
  return fold<arith::MinSIOp>(rows, fold<arith::SubIOp>(end, row));
}

//===- slices -------------------------------------------------------------===//

Value LinearTiler::slice(Value tensor, ArrayRef<SliceRange> ranges) {
  SmallVector<OpFoldResult> offsets, sizes,
      strides(ranges.size(), OpFoldResult(index(1)));
  SmallVector<int64_t> kept;
  for (const SliceRange &range : ranges) {
    offsets.push_back(range.offset);
    sizes.push_back(range.size);
    if (!range.drop)
      kept.push_back(
          getConstantIntValue(range.size).value_or(ShapedType::kDynamic));
  }
  auto type = RankedTensorType::get(
      kept, cast<RankedTensorType>(tensor.getType()).getElementType());
  return tensor::ExtractSliceOp::create(b, loc, type, tensor, offsets, sizes,
                                        strides);
}

Value LinearTiler::insertBack(Value value, Value slice, Value tensor) {
  auto from = slice.getDefiningOp<tensor::ExtractSliceOp>();
  return tensor::InsertSliceOp::create(
      b, loc, value, tensor, from.getMixedOffsets(), from.getMixedSizes(),
      from.getMixedStrides());
}

void LinearTiler::insertParallel(scf::ForallOp loop, Value value, Value slice) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getTerminator().getBody());
  auto from = slice.getDefiningOp<tensor::ExtractSliceOp>();
  tensor::ParallelInsertSliceOp::create(
      b, loc, value, from.getSource(), from.getMixedOffsets(),
      from.getMixedSizes(), from.getMixedStrides());
}

Value LinearTiler::fill(ArrayRef<OpFoldResult> sizes, double x) {
  FloatType type = op.getComputeType();
  Value scalar = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, x));
  Value empty = tensor::EmptyOp::create(b, loc, sizes, type);
  return linalg::FillOp::create(b, loc, scalar, empty).getResult(0);
}

Value LinearTiler::sliceRows(Value tensor, const LinearPlace &place,
                             OpFoldResult head, OpFoldResult row,
                             OpFoldResult rows, SliceRange columns) {
  SmallVector<SliceRange> ranges{{place.batch, index(1), true},
                                 {head, index(1), true},
                                 {getRow(place.firstKey, row), rows}};
  if (cast<RankedTensorType>(tensor.getType()).getRank() == 4)
    ranges.push_back(columns.size ? columns
                                  : SliceRange{index(0), dim(tensor, 3)});
  return slice(tensor, ranges);
}

Value LinearTiler::sliceQuery(const LinearPlace &place, OpFoldResult row,
                              OpFoldResult rows) {
  OpFoldResult head = op.hasGroupedValues()
                          ? fold<arith::DivUIOp>(place.head, valuesPerKey)
                          : fold<arith::MulIOp>(place.head, group);
  return slice(op.getQuery(), {{place.batch, index(1), true},
                               {head, group},
                               {getRow(place.firstQuery, row), rows},
                               {index(0), features}});
}

SliceRange LinearTiler::getOutputHeads(const LinearPlace &place) {
  return {fold<arith::MulIOp>(place.head, group), group};
}

Value LinearTiler::sliceOutput(const LinearPlace &place, Value output,
                               OpFoldResult row, OpFoldResult rows) {
  if (place.firstRow)
    row = fold<arith::SubIOp>(row, place.firstRow);
  return slice(output,
               {{index(0), group}, {row, rows}, {index(0), place.columns}});
}

LinearPlace LinearTiler::getPlace(ValueRange ivs) {
  OpFoldResult most = index(shape.valueColumns);
  OpFoldResult column = fold<arith::MulIOp>(ivs[2], most);
  std::optional<int64_t> known = getConstantIntValue(valueDim);
  OpFoldResult columns = most;
  if (known && *known <= shape.valueColumns) {
    column = index(0);
    columns = valueDim;
  } else if (!known || *known % shape.valueColumns != 0) {
    columns = fold<arith::MinSIOp>(most, fold<arith::SubIOp>(valueDim, column));
  }
  LinearPlace place;
  place.entry = place.batch = ivs[0];
  place.head = ivs[1];
  place.column = column;
  place.columns = columns;
  place.tile = ivs[2];
  place.queries = dim(op.getQuery(), 2);
  place.keys = dim(op.getKey(), 2);
  if (!queryStarts)
    return place;
  place.batch = index(0);
  auto readRows = [&](Value starts, OpFoldResult &first, OpFoldResult &count) {
    Value next = get(fold<arith::AddIOp>(place.entry, index(1)));
    Value begin = tensor::ExtractOp::create(b, loc, starts, get(place.entry));
    Value end = tensor::ExtractOp::create(b, loc, starts, next);
    first = begin;
    count = fold<arith::SubIOp>(OpFoldResult(end), OpFoldResult(begin));
  };
  readRows(queryStarts, place.firstQuery, place.queries);
  readRows(keyStarts, place.firstKey, place.keys);
  return place;
}

OpFoldResult LinearTiler::getLength(const LinearPlace &place) {
  if (!op.getLengths())
    return place.keys;
  Value length = buildPerBatch(b, loc, op.getLengths(), get(place.entry));
  return fold<arith::MaxSIOp>(fold<arith::MinSIOp>(length, place.keys),
                              index(0));
}

//===- states -------------------------------------------------------------===//

/// The state of a tile before the first token: zeros around what there is of
/// the operand.
Value LinearTiler::createState(const LinearPlace &place) {
  Value state = fill({stateRows, index(shape.columns)}, 0.0);
  if (!op.getState())
    return state;
  auto insert = [&](OpFoldResult from, OpFoldResult to, OpFoldResult columns) {
    Value part = slice(op.getState(), {{place.entry, index(1), true},
                                       {place.head, index(1), true},
                                       {index(0), features},
                                       {from, columns}});
    SmallVector<OpFoldResult> strides(2, OpFoldResult(index(1)));
    state = tensor::InsertSliceOp::create(
        b, loc, part, state, ArrayRef<OpFoldResult>{index(0), to},
        ArrayRef<OpFoldResult>{features, columns}, strides);
  };
  insert(place.column, index(0), place.columns);
  if (op.getNormalize())
    insert(valueDim, index(shape.columns - 1), index(1));
  return state;
}

/// Ends an iteration with the columns of `state` where they belong in the final
/// state. The normaliser, which each tile has, goes behind the columns of the
/// last tile: a tile is one insertion, as scf.forall must have one for each of
/// its results.
///
/// %part = %into[%b, %h, :, %column..] of %columns, and 1 more in the last tile
/// %with = %state[:, 0..] into %part[:, 0..]
/// %all = %state[:, last] into %with[:, %columns..]
/// scf.forall.in_parallel { %all into %into[%b, %h, :, %column..] }
void LinearTiler::insertState(Value state, Value into,
                              const LinearPlace &place) {
  OpBuilder::InsertionGuard guard(b);
  auto loop =
      cast<scf::ForallOp>(cast<BlockArgument>(into).getOwner()->getParentOp());
  b.setInsertionPoint(loop.getTerminator());
  auto sliceColumns = [&](OpFoldResult columns) {
    return slice(into, {{place.entry, index(1), true},
                        {place.head, index(1), true},
                        {index(0), features},
                        {place.column, columns}});
  };
  Value values =
      slice(state, {{index(0), features}, {index(0), place.columns}});
  if (!op.getNormalize())
    return insertParallel(loop, values, sliceColumns(place.columns));

  OpFoldResult count = index(1);
  if (getConstantIntValue(tiles) != 1) {
    Value isLast = b.createOrFold<arith::CmpIOp>(
        loc, arith::CmpIPredicate::eq, get(place.tile),
        get(fold<arith::SubIOp>(tiles, index(1))));
    count = getAsOpFoldResult(b.createOrFold<arith::SelectOp>(
        loc, isLast, get(index(1)), get(index(0))));
  }
  Value part = sliceColumns(fold<arith::AddIOp>(place.columns, count));
  Value normalizer =
      slice(state, {{index(0), features}, {index(shape.columns - 1), count}});
  SmallVector<OpFoldResult> strides(2, OpFoldResult(index(1)));
  Value all = part;
  auto insert = [&](Value columns, OpFoldResult at, OpFoldResult number) {
    all = tensor::InsertSliceOp::create(
        b, loc, columns, all, ArrayRef<OpFoldResult>{index(0), at},
        ArrayRef<OpFoldResult>{features, number}, strides);
  };
  insert(values, index(0), place.columns);
  insert(normalizer, place.columns, count);
  insertParallel(loop, all, part);
}

//===- tiles of tokens ----------------------------------------------------===//

Value LinearTiler::createChunk(const LinearPlace &place, OpFoldResult row,
                               OpFoldResult count, Value output, Value &state,
                               bool withOutput, Value initial, Value streams) {
  OpFoldResult keyHead = op.hasGroupedValues()
                             ? fold<arith::DivUIOp>(place.head, valuesPerKey)
                             : place.head;
  auto rowsOf = [&](Value tensor, OpFoldResult head) {
    return tensor ? sliceRows(tensor, place, head, row, count) : Value();
  };
  Value value = sliceRows(op.getValue(), place, place.head, row, count,
                          {place.column, place.columns});
  Value decay = op.getDecay();
  if (headDecay)
    decay = slice(headDecay, {{index(0), count}});
  else
    decay = rowsOf(decay, place.head);
  Value bonus;
  if (op.getBonus())
    bonus = slice(op.getBonus(),
                  {{place.head, index(1), true}, {index(0), features}});
  Value query, outputRows;
  SmallVector<Type> types;
  if (withOutput) {
    query = sliceQuery(place, row, count);
    outputRows = sliceOutput(place, output, row, count);
    types.push_back(outputRows.getType());
  }
  types.push_back(state.getType());
  auto chunk = LinearChunkOp::create(
      b, loc, types, query, rowsOf(op.getKey(), keyHead), value, decay,
      rowsOf(op.getBeta(), place.head), rowsOf(op.getRead(), place.head),
      rowsOf(op.getWrite(), place.head), bonus, initial, streams, outputRows,
      state, get(rows), op.getScaleAttr(), op.getNormalizeAttr(),
      shape.form == LinearForm::recurrent);
  state = chunk.getResults().back();
  if (!withOutput)
    return output;
  return insertBack(chunk.getResults().front(), outputRows, output);
}

/// The decay of a head, which is the same for all tokens, as often as a chunk
/// has tokens; null where decays are given per token.
Value LinearTiler::createHeadDecay(const LinearPlace &place) {
  Value decay = op.getDecay();
  if (!decay || cast<RankedTensorType>(decay.getType()).getRank() != 1)
    return {};
  Value gate = tensor::ExtractOp::create(b, loc, decay, get(place.head));
  Value empty = tensor::EmptyOp::create(b, loc, {rows}, op.getComputeType());
  return linalg::FillOp::create(b, loc, gate, empty).getResult(0);
}

Value LinearTiler::createRead(const LinearPlace &place, OpFoldResult row,
                              OpFoldResult count, Value output, Value state) {
  Value query = sliceQuery(place, row, count);
  Value part = sliceOutput(place, output, row, count);
  auto read =
      LinearReadOp::create(b, loc, part.getType(), query, state, part,
                           get(rows), op.getScaleAttr(), op.getNormalizeAttr());
  return insertBack(read.getResults().front(), part, output);
}

Value LinearTiler::createReads(const LinearPlace &place, OpFoldResult begin,
                               OpFoldResult end, Value output, Value state) {
  return createLoop(
             begin, end, output,
             [&](OpFoldResult row, OpFoldResult count, ValueRange carried) {
               return SmallVector<Value>{
                   createRead(place, row, count, carried[0], state)};
             })
      .front();
}

SmallVector<Value> LinearTiler::createLoop(
    OpFoldResult begin, OpFoldResult end, ValueRange inits,
    function_ref<SmallVector<Value>(OpFoldResult, OpFoldResult, ValueRange)>
        body) {
  auto loop =
      scf::ForOp::create(b, loc, get(begin), get(end), get(rows), inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  OpFoldResult row = loop.getInductionVar();
  SmallVector<Value> carried =
      body(row, getTileRows(begin, row, end), loop.getRegionIterArgs());
  scf::YieldOp::create(b, loc, carried);
  return loop.getResults();
}
