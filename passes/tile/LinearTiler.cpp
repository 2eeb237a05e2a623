// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LinearTiler.h.

#include "passes/tile/LinearTiler.h"

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
  rows = index(shape.rows);
  if (ShapedType::isDynamic(shape.rows))
    rows = fold<arith::MaxSIOp>(dim(op.getKey(), 2), index(1));
}

Value LinearTiler::get(OpFoldResult x) {
  return getValueOrCreateConstantIndexOp(b, loc, x);
}

template <typename OpTy>
OpFoldResult LinearTiler::fold(OpFoldResult x, OpFoldResult y) {
  return getAsOpFoldResult(b.createOrFold<OpTy>(loc, get(x), get(y)));
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

Value LinearTiler::sliceRows(Value tensor, const LinearPlace &place,
                             OpFoldResult head, OpFoldResult row,
                             OpFoldResult rows, SliceRange columns) {
  SmallVector<SliceRange> ranges{
      {place.batch, index(1), true}, {head, index(1), true}, {row, rows}};
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
                               {row, rows},
                               {index(0), features}});
}

SliceRange LinearTiler::getOutputHeads(const LinearPlace &place) {
  return {fold<arith::MulIOp>(place.head, group), group};
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
  return {ivs[0], ivs[1], column, columns, ivs[2]};
}

OpFoldResult LinearTiler::getLength(const LinearPlace &place) {
  OpFoldResult keys = dim(op.getKey(), 2);
  if (!op.getLengths())
    return keys;
  Value length = buildPerBatch(b, loc, op.getLengths(), get(place.batch));
  return fold<arith::MaxSIOp>(fold<arith::MinSIOp>(length, keys), index(0));
}

//===- states -------------------------------------------------------------===//

/// The state of a tile before the first token: zeros around what there is of
/// the operand.
Value LinearTiler::createState(const LinearPlace &place) {
  OpFoldResult sizes[] = {stateRows, index(shape.columns)};
  FloatType type = op.getComputeType();
  Value zero = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, 0.0));
  Value empty = tensor::EmptyOp::create(b, loc, sizes, type);
  Value state = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  if (!op.getState())
    return state;
  auto insert = [&](OpFoldResult from, OpFoldResult to, OpFoldResult columns) {
    Value part = slice(op.getState(), {{place.batch, index(1), true},
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

/// Inserts the columns of `state` where they belong in the final state; the
/// normaliser, which each tile has, goes by the first.
void LinearTiler::insertState(Value state, Value into,
                              const LinearPlace &place) {
  auto insert = [&](OpFoldResult from, OpFoldResult to, OpFoldResult columns) {
    OpBuilder::InsertionGuard guard(b);
    auto loop = cast<scf::ForallOp>(
        cast<BlockArgument>(into).getOwner()->getParentOp());
    b.setInsertionPoint(loop.getTerminator());
    Value part = slice(state, {{index(0), features}, {from, columns}});
    SmallVector<OpFoldResult> offsets{place.batch, place.head, index(0), to};
    SmallVector<OpFoldResult> sizes{index(1), index(1), features, columns};
    SmallVector<OpFoldResult> strides(4, OpFoldResult(index(1)));
    b.setInsertionPointToEnd(loop.getTerminator().getBody());
    tensor::ParallelInsertSliceOp::create(b, loc, part, into, offsets, sizes,
                                          strides);
  };
  insert(index(0), place.column, place.columns);
  if (!op.getNormalize())
    return;
  OpFoldResult count = index(1);
  if (getConstantIntValue(tiles) != 1) {
    Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                          get(place.tile), get(index(0)));
    count = b.createOrFold<arith::SelectOp>(loc, isFirst, get(index(1)),
                                            get(index(0)));
  }
  insert(index(shape.columns - 1), valueDim, count);
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
    outputRows = slice(
        output, {{index(0), group}, {row, count}, {index(0), place.columns}});
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
  auto from = outputRows.getDefiningOp<tensor::ExtractSliceOp>();
  return tensor::InsertSliceOp::create(
      b, loc, chunk.getResults().front(), output, from.getMixedOffsets(),
      from.getMixedSizes(), from.getMixedStrides());
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
  Value part = slice(
      output, {{index(0), group}, {row, count}, {index(0), place.columns}});
  auto from = part.getDefiningOp<tensor::ExtractSliceOp>();
  auto read =
      LinearReadOp::create(b, loc, part.getType(), query, state, part,
                           get(rows), op.getScaleAttr(), op.getNormalizeAttr());
  return tensor::InsertSliceOp::create(
      b, loc, read.getResults().front(), output, from.getMixedOffsets(),
      from.getMixedSizes(), from.getMixedStrides());
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

//===- the loops ----------------------------------------------------------===//

/// %o = attn.linear ... causal
///   ->
/// %o = scf.forall (%b, %h, %p) shared_outs(%all) {
///   %s0 = zeros, or the state
///   %o, %s = scf.for %t = 0 to %n step %rows iter_args(%o, %s = %s0) {
///     attn.linear_chunk ins(%k[%t..], %v[%t..]) query(%q[%t..]) outs(%s) ...
///   }
///   scf.for %t = %n to %end ... { attn.linear_read ... }    with lengths
/// }
SmallVector<Value> LinearTiler::runCausal(Value output, Value finalState) {
  SmallVector<Value> outputs{output};
  if (finalState)
    outputs.push_back(finalState);
  SmallVector<OpFoldResult> ends{dim(op.getKey(), 0), dim(op.getValue(), 1),
                                 tiles};
  auto loop = scf::ForallOp::create(b, loc, ends, outputs, std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getTerminator());
  LinearPlace place = getPlace(loop.getInductionVars());
  Value whole = loop.getRegionIterArgs().front();
  OpFoldResult keys = dim(op.getKey(), 2);
  Value part = slice(whole, {{place.batch, index(1), true},
                             getOutputHeads(place),
                             {index(0), keys},
                             {place.column, place.columns}});
  auto from = part.getDefiningOp<tensor::ExtractSliceOp>();

  OpFoldResult length = getLength(place);
  bool readsBefore = op.getBlock().has_value();
  headDecay = createHeadDecay(place);
  // Rows that read the state from before their block go on after the length.
  SmallVector<Value> carried = createLoop(
      index(0), readsBefore ? keys : length, {part, createState(place)},
      [&](OpFoldResult row, OpFoldResult count, ValueRange carried) {
        Value out = carried[0], state = carried[1];
        if (readsBefore) {
          out = createRead(place, row, count, out, state);
          if (op.getLengths())
            count = fold<arith::MaxSIOp>(
                fold<arith::MinSIOp>(count, fold<arith::SubIOp>(length, row)),
                index(0));
        }
        out = createChunk(place, row, count, out, state, !readsBefore);
        return SmallVector<Value>{out, state};
      });
  Value result = carried[0], state = carried[1];
  if (op.getLengths() && !readsBefore)
    result = createLoop(
                 length, keys, result,
                 [&](OpFoldResult row, OpFoldResult count, ValueRange carried) {
                   return SmallVector<Value>{
                       createRead(place, row, count, carried[0], state)};
                 })
                 .front();
  b.setInsertionPointToEnd(loop.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(
      b, loc, result, whole, from.getMixedOffsets(), from.getMixedSizes(),
      from.getMixedStrides());
  b.setInsertionPoint(loop.getTerminator());
  if (finalState)
    insertState(state, loop.getRegionIterArgs()[1], place);
  return SmallVector<Value>(loop->getResults());
}

bool LinearTiler::isStep() {
  int64_t columns = op.getValue().getType().getDimSize(3);
  return shape.form == LinearForm::recurrent && op.getState() &&
         op.getFinalState() && !op.getLengths() && !op.getBlock() &&
         !op.getNormalize() && op.getKey().getType().getDimSize(2) == 1 &&
         !ShapedType::isDynamic(columns) && columns % shape.columns == 0;
}

Value LinearTiler::emitStreams() {
  // About what the last level of cache holds.
  constexpr int64_t kCacheBytes = 32 << 20;
  OpFoldResult size = index(op.getComputeType().getWidth() / 8);
  for (int64_t d = 0; d < 4; ++d)
    size = fold<arith::MulIOp>(size, dim(op.getState(), d));
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sgt,
                                       get(size), get(index(kCacheBytes)));
}

/// %o, %s1 = attn.linear ... state(%s0) causal     of one token
///   ->
/// %o, %s1 = scf.forall (%b, %h, %p) {
///   attn.linear_chunk ins(%k, %v) query(%q) initial(%s0) outs(%s1) recurrent
/// }
SmallVector<Value> LinearTiler::runStep(Value output, Value finalState) {
  Value streams = emitStreams();
  SmallVector<OpFoldResult> ends{dim(op.getKey(), 0), dim(op.getValue(), 1),
                                 tiles};
  auto loop = scf::ForallOp::create(
      b, loc, ends, ValueRange{output, finalState}, std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getTerminator());
  LinearPlace place = getPlace(loop.getInductionVars());
  headDecay = createHeadDecay(place);
  SmallVector<SliceRange> columns{{place.batch, index(1), true},
                                  {place.head, index(1), true},
                                  {index(0), features},
                                  {place.column, place.columns}};
  SmallVector<SliceRange> rowsOfOutput{{place.batch, index(1), true},
                                       getOutputHeads(place),
                                       {index(0), index(1)},
                                       {place.column, place.columns}};
  Value part = slice(loop.getRegionIterArgs()[0], rowsOfOutput);
  Value state = slice(loop.getRegionIterArgs()[1], columns);
  Value stateSlice = state;
  Value result =
      createChunk(place, index(0), index(1), part, state,
                  /*withOutput=*/true, slice(op.getState(), columns), streams);
  b.setInsertionPointToEnd(loop.getTerminator().getBody());
  for (auto [value, from] :
       {std::pair{result, part}, std::pair{state, stateSlice}}) {
    auto slice = from.getDefiningOp<tensor::ExtractSliceOp>();
    tensor::ParallelInsertSliceOp::create(
        b, loc, value, slice.getSource(), slice.getMixedOffsets(),
        slice.getMixedSizes(), slice.getMixedStrides());
  }
  return SmallVector<Value>(loop->getResults());
}

/// %o = attn.linear ...
///   ->
/// %s = scf.forall (%b, %h, %p) { scf.for %t { attn.linear_chunk ... } }
/// %o = scf.forall (%b, %h, %p, %t) { attn.linear_read ... }
SmallVector<Value> LinearTiler::runBidirectional(Value output,
                                                 Value finalState) {
  SmallVector<OpFoldResult> ends{dim(op.getKey(), 0), dim(op.getValue(), 1),
                                 tiles};
  SmallVector<OpFoldResult> sizes(ends);
  sizes.append({stateRows, index(shape.columns)});
  Value states = tensor::EmptyOp::create(b, loc, sizes, op.getComputeType());
  SmallVector<Value> outputs{states};
  if (finalState)
    outputs.push_back(finalState);
  auto stateRange = [&](const LinearPlace &place) {
    return SmallVector<SliceRange>{{place.batch, index(1), true},
                                   {place.head, index(1), true},
                                   {place.tile, index(1), true},
                                   {index(0), stateRows},
                                   {index(0), index(shape.columns)}};
  };
  auto sums = scf::ForallOp::create(b, loc, ends, outputs, std::nullopt);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(sums.getTerminator());
    LinearPlace place = getPlace(sums.getInductionVars());
    Value state =
        createLoop(
            index(0), getLength(place), createState(place),
            [&](OpFoldResult row, OpFoldResult count, ValueRange carried) {
              Value state = carried[0];
              createChunk(place, row, count, Value(), state, false);
              return SmallVector<Value>{state};
            })
            .front();
    Value slot = slice(sums.getRegionIterArgs()[0], stateRange(place));
    auto from = slot.getDefiningOp<tensor::ExtractSliceOp>();
    b.setInsertionPointToEnd(sums.getTerminator().getBody());
    tensor::ParallelInsertSliceOp::create(
        b, loc, state, from.getSource(), from.getMixedOffsets(),
        from.getMixedSizes(), from.getMixedStrides());
    b.eraseOp(from);
    b.setInsertionPoint(sums.getTerminator());
    if (finalState)
      insertState(state, sums.getRegionIterArgs()[1], place);
  }

  OpFoldResult queries = dim(op.getQuery(), 2);
  ends.push_back(ceilDiv(queries, rows));
  auto reads = scf::ForallOp::create(b, loc, ends, output, std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(reads.getTerminator());
  SmallVector<Value> ivs = reads.getInductionVars();
  LinearPlace place = getPlace(ivs);
  OpFoldResult row = fold<arith::MulIOp>(ivs[3], rows);
  OpFoldResult count = getTileRows(index(0), row, queries);
  Value whole = reads.getRegionIterArgs().front();
  Value part = slice(whole, {{place.batch, index(1), true},
                             getOutputHeads(place),
                             {row, count},
                             {place.column, place.columns}});
  auto from = part.getDefiningOp<tensor::ExtractSliceOp>();
  Value state = slice(sums->getResult(0), stateRange(place));
  auto read = LinearReadOp::create(
      b, loc, part.getType(), sliceQuery(place, row, count), state, part,
      get(rows), op.getScaleAttr(), op.getNormalizeAttr());
  b.setInsertionPointToEnd(reads.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(
      b, loc, read.getResults().front(), whole, from.getMixedOffsets(),
      from.getMixedSizes(), from.getMixedStrides());
  SmallVector<Value> results{reads->getResult(0)};
  if (finalState)
    results.push_back(sums->getResult(1));
  return results;
}

SmallVector<Value> LinearTiler::run() {
  auto empty = [&](Value result) -> Value {
    ReifiedRankedShapedTypeDims shapes;
    (void)op.reifyResultShapes(b, shapes);
    return tensor::EmptyOp::create(
        b, loc, shapes[cast<OpResult>(result).getResultNumber()],
        cast<RankedTensorType>(result.getType()).getElementType());
  };
  Value output = empty(op.getOutput());
  Value finalState = op.getFinalState() ? empty(op.getFinalState()) : Value();
  if (!op.getCausal())
    return runBidirectional(output, finalState);
  return isStep() ? runStep(output, finalState) : runCausal(output, finalState);
}
