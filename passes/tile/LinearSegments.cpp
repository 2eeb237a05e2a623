// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear attention by segments of the sequence in parallel, for calls with
// fewer heads than threads: what each segment adds to a state is summed first,
// and each starts from the sums of those before it. The other loops read every
// key once less, and give bits that do not depend on the number of segments, so
// that these are used only where they are asked for.

#include "passes/decompose/PlainGeneric.h"
#include "passes/tile/LinearTiler.h"

using namespace mlir;
using namespace mlir::attn;

std::pair<OpFoldResult, OpFoldResult>
LinearTiler::getSegment(OpFoldResult number) {
  // Segments are of whole chunks; the last ones may have fewer tokens, or none.
  OpFoldResult keys = dim(op.getKey(), 2);
  OpFoldResult chunks = ceilDiv(ceilDiv(keys, index(shape.segments)), rows);
  OpFoldResult step = fold<arith::MulIOp>(chunks, rows);
  OpFoldResult begin =
      fold<arith::MinSIOp>(fold<arith::MulIOp>(number, step), keys);
  return {begin, fold<arith::MinSIOp>(fold<arith::AddIOp>(begin, step), keys)};
}

/// The state that each segment leaves of one that is 0, but for a column of
/// ones without values: that is what the decays of the segment multiply a state
/// by.
Value LinearTiler::createSegmentSums() {
  SmallVector<OpFoldResult> ends{dim(op.getKey(), 0), dim(op.getValue(), 1),
                                 tiles, index(shape.segments)};
  SmallVector<OpFoldResult> sizes(ends);
  sizes.append({stateRows, index(shape.columns)});
  Value empty = tensor::EmptyOp::create(b, loc, sizes, op.getComputeType());
  auto loop = scf::ForallOp::create(b, loc, ends, empty, std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getTerminator());
  SmallVector<Value> ivs = loop.getInductionVars();
  LinearPlace place = getPlace(ivs);
  headDecay = createHeadDecay(place);
  SmallVector<OpFoldResult> strides(2, OpFoldResult(index(1)));
  Value state = tensor::InsertSliceOp::create(
      b, loc, fill({stateRows, index(1)}, 1.0),
      fill({stateRows, index(shape.columns)}, 0.0),
      ArrayRef<OpFoldResult>{index(0), index(shape.columns - 2)},
      ArrayRef<OpFoldResult>{stateRows, index(1)}, strides);
  auto [begin, end] = getSegment(ivs[3]);
  end =
      fold<arith::MaxSIOp>(fold<arith::MinSIOp>(end, getLength(place)), begin);
  state =
      createLoop(begin, end, state,
                 [&](OpFoldResult row, OpFoldResult count, ValueRange carried) {
                   Value state = carried[0];
                   createChunk(place, row, count, Value(), state, false);
                   return SmallVector<Value>{state};
                 })
          .front();
  insertParallel(loop, state,
                 sliceSegment(loop.getRegionIterArgs().front(), place, ivs[3],
                              {index(0), index(shape.columns)}));
  return loop->getResult(0);
}

Value LinearTiler::sliceSegment(Value sums, const LinearPlace &place,
                                OpFoldResult number, SliceRange columns) {
  return slice(sums, {{place.batch, index(1), true},
                      {place.head, index(1), true},
                      {place.tile, index(1), true},
                      {number, index(1), true},
                      {index(0), stateRows},
                      columns});
}

Value LinearTiler::createScan(Value sums, const LinearPlace &place,
                              OpFoldResult end, Value state) {
  auto loop =
      scf::ForOp::create(b, loc, get(index(0)), get(end), get(index(1)), state);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  OpFoldResult number = loop.getInductionVar();
  Value sum =
      sliceSegment(sums, place, number, {index(0), index(shape.columns)});
  Value decays = sliceSegment(sums, place, number,
                              {index(shape.columns - 2), index(1), true});
  Value next = buildPlainGeneric(
      b, loc, {sum, decays}, loop.getRegionIterArgs().front(),
      {{0, 1}, {0}, {0, 1}}, 2, [&](ValueRange args) -> Value {
        Value kept = arith::MulFOp::create(b, loc, args[1], args[2]);
        // Decays beyond the range of their type leave a 0 what it is.
        auto isEqual = [&](Value x, double y) -> Value {
          Value other =
              arith::ConstantOp::create(b, loc, b.getFloatAttr(x.getType(), y));
          return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x,
                                       other);
        };
        Value isKept = arith::AndIOp::create(
            b, loc, isEqual(args[2], 0.0),
            isEqual(args[1], std::numeric_limits<double>::infinity()));
        kept = arith::SelectOp::create(b, loc, isKept, args[2], kept);
        return arith::AddFOp::create(b, loc, kept, args[0]);
      });
  scf::YieldOp::create(b, loc, next);
  return loop->getResult(0);
}

/// %o = attn.linear ... causal {attn.segments = 4}
///   ->
/// %sums = scf.forall (%b, %h, %p, %g) { what segment %g adds }
/// %o = scf.forall (%b, %h, %p, %g) {
///   %s = scf.for %i = 0 to %g { decays[%i] .* %s + sums[%i] }
///   scf.for %t over the tokens of segment %g { attn.linear_chunk ... }
/// }
SmallVector<Value> LinearTiler::runSegments(Value output, Value finalState) {
  Value sums = createSegmentSums();
  SmallVector<OpFoldResult> ends{dim(op.getKey(), 0), dim(op.getValue(), 1),
                                 tiles, index(shape.segments)};
  auto loop = scf::ForallOp::create(b, loc, ends, output, std::nullopt);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop.getTerminator());
    SmallVector<Value> ivs = loop.getInductionVars();
    LinearPlace place = getPlace(ivs);
    headDecay = createHeadDecay(place);
    auto [begin, end] = getSegment(ivs[3]);
    place.firstRow = begin;
    OpFoldResult length = fold<arith::MaxSIOp>(
        fold<arith::MinSIOp>(end, getLength(place)), begin);
    Value part = slice(loop.getRegionIterArgs().front(),
                       {{place.batch, index(1), true},
                        getOutputHeads(place),
                        {begin, fold<arith::SubIOp>(end, begin)},
                        {place.column, place.columns}});
    Value first = createScan(sums, place, ivs[3], createState(place));
    SmallVector<Value> carried = createLoop(
        begin, length, {part, first},
        [&](OpFoldResult row, OpFoldResult count, ValueRange carried) {
          Value state = carried[1];
          Value out = createChunk(place, row, count, carried[0], state, true);
          return SmallVector<Value>{out, state};
        });
    Value result = carried[0], state = carried[1];
    if (op.getLengths())
      result = createReads(place, length, end, result, state);
    insertParallel(loop, result, part);
  }
  SmallVector<Value> results{loop->getResult(0)};
  if (!finalState)
    return results;
  auto states = scf::ForallOp::create(b, loc, ArrayRef(ends).drop_back(),
                                      finalState, std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(states.getTerminator());
  LinearPlace place = getPlace(states.getInductionVars());
  Value last =
      createScan(sums, place, index(shape.segments), createState(place));
  insertState(last, states.getRegionIterArgs().front(), place);
  results.push_back(states->getResult(0));
  return results;
}
