// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keys spread over iterations of a parallel loop: the states of parts of the
// keys, and how they are merged in order. Part of the loops of attention.

#include "passes/tile/AttentionTiler.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

SmallVector<Value> AttentionTiler::sliceState(ValueRange states, ValueRange ivs,
                                              Value split) {
  Value number = ivs.front();
  SmallVector<OpFoldResult> bounds = geometry.getBounds();
  auto append = [&](OpFoldResult bound, Value iv) {
    Value size = getValueOrCreateConstantIndexOp(b, loc, bound);
    number = b.createOrFold<arith::AddIOp>(
        loc, b.createOrFold<arith::MulIOp>(loc, number, size), iv);
  };
  for (auto [bound, iv] :
       llvm::zip(ArrayRef(bounds).drop_front(), ivs.drop_front()))
    append(bound, iv);
  append(getAsOpFoldResult(splits), split);

  SmallVector<Value> state;
  for (Value tensor : states) {
    auto type = cast<RankedTensorType>(tensor.getType());
    SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(type.getRank(), b.getIndexAttr(1));
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, tensor);
    offsets.front() = number;
    sizes.front() = b.getIndexAttr(1);
    state.push_back(tensor::ExtractSliceOp::create(
        b, loc,
        RankedTensorType::get(type.getShape().drop_front(),
                              type.getElementType()),
        tensor, offsets, sizes, strides));
  }
  return state;
}

void AttentionTiler::createPartialStates() {
  OpFoldResult keyRows = geometry.getMaxKeyRows();
  splits = b.createOrFold<arith::CeilDivUIOp>(
      loc, getValueOrCreateConstantIndexOp(b, loc, keyRows),
      index(shape.splitKeys));
  SmallVector<OpFoldResult> bounds = geometry.getBounds();
  bounds.push_back(getAsOpFoldResult(splits));
  OpFoldResult number = b.getIndexAttr(1);
  for (OpFoldResult bound : bounds)
    number = getAsOpFoldResult(b.createOrFold<arith::MulIOp>(
        loc, getValueOrCreateConstantIndexOp(b, loc, number),
        getValueOrCreateConstantIndexOp(b, loc, bound)));

  OpFoldResult rows = b.getIndexAttr(shape.queryRows);
  SmallVector<Value> empties{emptyState({number, accRows, rows}),
                             emptyState({number, rows}),
                             emptyState({number, rows})};
  auto loop = scf::ForallOp::create(b, loc, bounds, empties,
                                    /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getTerminator());
  SmallVector<Value> ivs = loop.getInductionVars();
  Value split = ivs.pop_back_val();
  QueryTile tile = geometry.getQueryTile(b, ivs);
  Value lower =
      b.createOrFold<arith::MulIOp>(loc, split, index(shape.splitKeys));
  Value upper = b.createOrFold<arith::MinSIOp>(
      loc, tile.length,
      b.createOrFold<arith::AddIOp>(loc, lower, index(shape.splitKeys)));
  SmallVector<Value> state = createKeyLoop(tile, lower, upper, createState());
  SmallVector<Value> places = sliceState(loop.getRegionIterArgs(), ivs, split);
  b.setInsertionPointToStart(loop.getTerminator().getBody());
  createParallelInserts(state, places);
  partialStates = loop->getResults();
}

SmallVector<Value> AttentionTiler::createMergeLoop(const QueryTile &tile,
                                                   ValueRange ivs) {
  SmallVector<Value> state = createSinkState(tile);
  auto loop = scf::ForOp::create(
      b, loc, index(0), splits, index(1), state,
      [&](OpBuilder &, Location, Value split, ValueRange carried) {
        SmallVector<Value> partial = sliceState(partialStates, ivs, split);
        auto merged = OnlineMergeOp::create(b, loc, carried.getTypes(),
                                            partial[0], partial[1], partial[2],
                                            carried[0], carried[1], carried[2]);
        scf::YieldOp::create(b, loc, merged.getResults());
      });
  return loop->getResults();
}
