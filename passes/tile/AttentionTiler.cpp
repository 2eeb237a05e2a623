// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See AttentionTiler.h.

#include "passes/tile/AttentionTiler.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace mlir::attn;

TileMask::TileMask(OpBuilder &builder, SoftmaxFamilyInterface op) {
  if (!hasMask(op))
    return;
  OpBuilder::InsertionGuard guard(builder);
  Location loc = op->getLoc();
  Type index = builder.getIndexType();
  Block *block = builder.createBlock(
      &keep, keep.end(), {index, index, index, index}, {loc, loc, loc, loc});
  Value kept =
      buildKeep(op, builder, loc, block->getArgument(0), block->getArgument(1),
                block->getArgument(2), block->getArgument(3));
  YieldOp::create(builder, loc, kept);
  classifier.emplace(*block);
}

/// The scale of `op` in the type of logits.
static Value getScaleValue(OpBuilder &builder, SoftmaxFamilyInterface op) {
  Location loc = op->getLoc();
  FloatType type = getComputeType(op);
  if (Value scale = op.getScaleValue())
    return scale.getType() == type
               ? scale
               : arith::ExtFOp::create(builder, loc, type, scale);
  if (std::optional<double> scale = getStaticScale(op))
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(type, *scale));
  Type f64 = builder.getF64Type();
  Value headDim = tensor::DimOp::create(builder, loc, op.getQuery(), 3);
  Value wide = arith::SIToFPOp::create(
      builder, loc, f64,
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), headDim));
  Value one =
      arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(1.0));
  Value scale = arith::DivFOp::create(builder, loc, one,
                                      math::SqrtOp::create(builder, loc, wide));
  if (type == f64)
    return scale;
  return arith::TruncFOp::create(builder, loc, type, scale);
}

Value AttentionTiler::slice(Value tensor, Value batch, Value head,
                            OpFoldResult heads, Value row, OpFoldResult rows,
                            bool dropHeads) {
  auto type = cast<RankedTensorType>(tensor.getType());
  OpFoldResult one = b.getIndexAttr(1), zero = b.getIndexAttr(0);
  SmallVector<OpFoldResult> offsets{batch, getAsOpFoldResult(head),
                                    getAsOpFoldResult(row)};
  SmallVector<OpFoldResult> sizes{one, heads, rows};
  if (type.getRank() == 4) {
    offsets.push_back(zero);
    sizes.push_back(dim(tensor, 3));
  }
  SmallVector<int64_t> shape;
  for (OpFoldResult size : ArrayRef(sizes).drop_front(dropHeads ? 2 : 1))
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  SmallVector<OpFoldResult> strides(type.getRank(), one);
  return tensor::ExtractSliceOp::create(
      b, loc, RankedTensorType::get(shape, type.getElementType()), tensor,
      offsets, sizes, strides);
}

SmallVector<Value> AttentionTiler::createState() {
  OpFoldResult rows = b.getIndexAttr(shape.queryRows);
  Value acc = fill(emptyState({accRows, rows}), 0.0);
  Value max =
      fill(emptyState({rows}), -std::numeric_limits<double>::infinity());
  Value sum = fill(emptyState({rows}), 0.0);
  return {acc, max, sum};
}

SmallVector<Value> AttentionTiler::createSinkState(const QueryTile &tile) {
  SmallVector<Value> state = createState();
  if (op.getSinks())
    emitSinkState(b, op, tile, state);
  return state;
}

SmallVector<Value> AttentionTiler::createUpdate(const QueryTile &tile,
                                                const KeyTile &key, Value query,
                                                Value masked,
                                                ValueRange state) {
  Value keys = slice(op.getKey(), tile.batch, tile.keyHead, b.getIndexAttr(1),
                     key.row, getAsOpFoldResult(key.rows), /*dropHeads=*/true);
  Value values =
      slice(op.getValue(), tile.batch, tile.keyHead, b.getIndexAttr(1), key.row,
            getAsOpFoldResult(key.rows), /*dropHeads=*/true);
  Value fold = op.hasGroupedHeads() ? tile.rows : Value();
  FloatAttr softcap;
  if (std::optional<APFloat> cap = op.getSoftcap())
    softcap = b.getF64FloatAttr(cap->convertToDouble());
  auto update = OnlineSoftmaxOp::create(
      b, loc, state.getTypes(), query, keys, values, state[0], state[1],
      state[2], tile.entry, tile.head, tile.position, key.position, fold, scale,
      masked, softcap, b.getI64IntegerAttr(shape.keyRows));
  b.inlineRegionBefore(op.getScore(), update.getScore(),
                       update.getScore().begin());
  if (masked)
    b.inlineRegionBefore(mask.keep, update.getKeep(), update.getKeep().begin());
  return update->getResults();
}

SmallVector<Value> AttentionTiler::createKeyTile(const QueryTile &tile,
                                                 Value query, Value row,
                                                 ValueRange state) {
  KeyTile key = geometry.getKeyTile(b, tile, row);
  if (!mask.classifier)
    return createUpdate(tile, key, query, /*masked=*/Value(), state);

  // A tile without a key that some row may see is skipped.
  TileClass tileClass =
      mask.classifier->classify(b, loc, geometry.getRanges(b, tile, key));
  auto visit = scf::IfOp::create(b, loc, state.getTypes(), tileClass.canBeTrue,
                                 /*withElse=*/true);
  b.setInsertionPointToStart(visit.thenBlock());
  SmallVector<Value> updated =
      createUpdate(tile, key, query, tileClass.canBeFalse, state);
  scf::YieldOp::create(b, loc, updated);
  b.setInsertionPointToStart(visit.elseBlock());
  scf::YieldOp::create(b, loc, state);
  b.setInsertionPointAfter(visit);
  return visit->getResults();
}

SmallVector<Value> AttentionTiler::createKeyLoop(const QueryTile &tile,
                                                 Value lower, Value upper,
                                                 SmallVector<Value> state) {
  Value query =
      slice(op.getQuery(), tile.batch, tile.head, getAsOpFoldResult(tile.heads),
            tile.row, getAsOpFoldResult(tile.rows), /*dropHeads=*/false);
  auto loop =
      scf::ForOp::create(b, loc, lower, upper, index(shape.keyRows), state);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> updated = createKeyTile(
      tile, query, loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(b, loc, updated);
  // What a mask knows of the query tile does not change with the keys. Later it
  // would read buffers, which do not move.
  moveLoopInvariantCode(loop);
  b.setInsertionPointAfter(loop);
  return loop->getResults();
}

void AttentionTiler::createParallelInserts(ValueRange results,
                                           ValueRange outputs) {
  for (auto [result, output] : llvm::zip(results, outputs)) {
    auto slice = output.getDefiningOp<tensor::ExtractSliceOp>();
    tensor::ParallelInsertSliceOp::create(
        b, loc, result, slice.getSource(), slice.getMixedOffsets(),
        slice.getMixedSizes(), slice.getMixedStrides());
  }
}

SmallVector<Value> AttentionTiler::run(ValueRange outputs) {
  accRows = affine::makeComposedFoldedAffineApply(
      b, loc,
      b.getAffineDimExpr(0).ceilDiv(target.rowMultiple()) *
          target.rowMultiple(),
      {dim(op.getValue(), 3)});
  scale = getScaleValue(b, op);
  if (mask.classifier)
    mask.classifier->emitTables(b, loc, shape.keyRows);

  std::optional<int64_t> keyRows =
      getConstantIntValue(geometry.getMaxKeyRows());
  bool areKeysInOne = keyRows && *keyRows <= shape.splitKeys;
  if (shape.splitKeys && !areKeysInOne)
    createPartialStates();

  auto loop = scf::ForallOp::create(b, loc, geometry.getBounds(), outputs,
                                    /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getTerminator());
  QueryTile tile = geometry.getQueryTile(b, loop.getInductionVars());
  OpFoldResult heads = getAsOpFoldResult(tile.heads);
  OpFoldResult rows = getAsOpFoldResult(tile.rows);
  auto sliceOf = [&](Value tensor) {
    return slice(tensor, tile.batch, tile.head, heads, tile.row, rows,
                 /*dropHeads=*/false);
  };
  SmallVector<Value> state =
      splits
          ? createMergeLoop(tile, loop.getInductionVars())
          : createKeyLoop(tile, index(0), tile.length, createSinkState(tile));
  SmallVector<Value> slices =
      llvm::map_to_vector(loop.getRegionIterArgs(), sliceOf);
  auto finish = OnlineFinishOp::create(b, loc, ValueRange(slices).getTypes(),
                                       state[0], state[1], state[2], slices[0],
                                       slices.size() > 1 ? slices[1] : Value());
  b.setInsertionPointToStart(loop.getTerminator().getBody());
  createParallelInserts(finish.getResults(), slices);

  remarkOnTiles(op, shape, mask.classifier, static_cast<bool>(splits));
  return SmallVector<Value>(loop->getResults());
}
