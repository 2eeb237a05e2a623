// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops of linear attention, of each kind.

#include "passes/tile/LinearTiler.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

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
  SmallVector<OpFoldResult> ends{entries, dim(op.getValue(), 1), tiles};
  auto loop = scf::ForallOp::create(b, loc, ends, outputs, std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getTerminator());
  LinearPlace place = getPlace(loop.getInductionVars());
  Value whole = loop.getRegionIterArgs().front();
  OpFoldResult keys = place.keys;
  Value part = slice(whole, {{place.batch, index(1), true},
                             getOutputHeads(place),
                             {getRow(place.firstQuery, index(0)), keys},
                             {place.column, place.columns}});

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
    result = createReads(place, length, keys, result, state);
  insertParallel(loop, result, part);
  if (finalState)
    insertState(state, loop.getRegionIterArgs()[1], place);
  return SmallVector<Value>(loop->getResults());
}

bool LinearTiler::isStep() {
  int64_t columns = op.getValue().getType().getDimSize(3);
  return shape.form == LinearForm::recurrent && op.getState() &&
         op.getFinalState() && !op.getLengths() && !op.getBlock() &&
         !op.getNormalize() && !op.getQueryStarts() &&
         op.getKey().getType().getDimSize(2) == 1 &&
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
  insertParallel(loop, result, part);
  insertParallel(loop, state, stateSlice);
  return SmallVector<Value>(loop->getResults());
}

/// %o = attn.linear ...
///   ->
/// %s = scf.forall (%b, %h, %p) { scf.for %t { attn.linear_chunk ... } }
/// %o = scf.forall (%b, %h, %p, %t) { attn.linear_read ... }
SmallVector<Value> LinearTiler::runBidirectional(Value output,
                                                 Value finalState) {
  SmallVector<OpFoldResult> ends{entries, dim(op.getValue(), 1), tiles};
  SmallVector<OpFoldResult> sizes(ends);
  sizes.append({stateRows, index(shape.columns)});
  Value states = tensor::EmptyOp::create(b, loc, sizes, op.getComputeType());
  SmallVector<Value> outputs{states};
  if (finalState)
    outputs.push_back(finalState);
  auto stateRange = [&](const LinearPlace &place) {
    return SmallVector<SliceRange>{{place.entry, index(1), true},
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
    insertParallel(sums, state, slot);
    if (finalState)
      insertState(state, sums.getRegionIterArgs()[1], place);
  }

  ends.push_back(ceilDiv(mostQueries, rows));
  auto reads = scf::ForallOp::create(b, loc, ends, output, std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(reads.getTerminator());
  SmallVector<Value> ivs = reads.getInductionVars();
  LinearPlace place = getPlace(ivs);
  OpFoldResult row = fold<arith::MulIOp>(ivs[3], rows);
  // A packed sequence may end before the longest one does.
  if (queryStarts)
    row = fold<arith::MinSIOp>(row, place.queries);
  OpFoldResult count = getTileRows(index(0), row, place.queries);
  Value whole = reads.getRegionIterArgs().front();
  Value part = slice(whole, {{place.batch, index(1), true},
                             getOutputHeads(place),
                             {getRow(place.firstQuery, row), count},
                             {place.column, place.columns}});
  Value state = slice(sums->getResult(0), stateRange(place));
  auto read = LinearReadOp::create(
      b, loc, part.getType(), sliceQuery(place, row, count), state, part,
      get(rows), op.getScaleAttr(), op.getNormalizeAttr());
  insertParallel(reads, read.getResults().front(), part);
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
  // A row of no sequence is written by none.
  if (op.getQueryStarts()) {
    Value zero = arith::ConstantOp::create(
        b, loc, b.getZeroAttr(op.getOutput().getType().getElementType()));
    output = linalg::FillOp::create(b, loc, zero, output).getResult(0);
  }
  if (!op.getCausal())
    return runBidirectional(output, finalState);
  if (shape.segments > 1)
    return runSegments(output, finalState);
  return isStep() ? runStep(output, finalState) : runCausal(output, finalState);
}
