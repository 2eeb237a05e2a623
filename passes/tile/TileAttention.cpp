// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles softmax attention over queries and keys. Before this pass attention is
// one op on whole tensors; after it, it is a parallel loop over query tiles
// that carries a running softmax (max, sum and unnormalised output) over key
// tiles.

#include "passes/Passes.h"
#include "passes/tile/Tile.h"
#include "passes/tile/TileGeometry.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace mlir::attn {
#define GEN_PASS_DEF_TILEATTENTION
#include "passes/Passes.h.inc"
} // namespace mlir::attn

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

namespace {

/// Emits the loops of one op.
class AttentionTiler {
public:
  AttentionTiler(RewriterBase &rewriter, SoftmaxFamilyInterface op,
                 const TargetInfo &target)
      : b(rewriter), op(op), target(target), loc(op->getLoc()),
        shape(chooseTileShape(op, target)), geometry(rewriter, op, shape),
        mask(rewriter, op) {}

  LogicalResult run();

private:
  Value index(int64_t x) { return arith::ConstantIndexOp::create(b, loc, x); }
  OpFoldResult dim(Value tensor, int64_t d) {
    return tensor::getMixedSize(b, loc, tensor, d);
  }
  /// A tensor of the type of logits, weights and sums.
  Value emptyState(ArrayRef<OpFoldResult> sizes) {
    return tensor::EmptyOp::create(b, loc, sizes, getComputeType(op));
  }
  Value fill(Value init, double value) {
    Value scalar = arith::ConstantOp::create(
        b, loc, b.getFloatAttr(getComputeType(op), value));
    return linalg::FillOp::create(b, loc, scalar, init).getResult(0);
  }
  /// The slice of heads `head`.. and rows `row`.. of a B x H x S (x D) tensor,
  /// without its batch dimension.
  Value slice(Value tensor, Value batch, Value head, OpFoldResult heads,
              Value row, OpFoldResult rows, bool dropHeads);
  /// acc, max and sum of a query tile that has seen no key and no sink.
  SmallVector<Value> createState();
  /// The same with the sinks, of which each row's counts once.
  SmallVector<Value> createSinkState(const QueryTile &tile);
  /// The state after the key rows from `lower` to `upper`, from `state` on.
  SmallVector<Value> createKeyLoop(const QueryTile &tile, Value lower,
                                   Value upper, SmallVector<Value> state);
  /// Tensors of the states after each `splitKeys` keys of each query tile.
  void createPartialStates();
  /// The state after all keys, merged from the partial ones.
  SmallVector<Value> createMergeLoop(const QueryTile &tile, ValueRange ivs);
  /// The state `split` of the query tile at `ivs`, of which each tensor of
  /// `states` has one per index of its first dimension.
  SmallVector<Value> sliceState(ValueRange states, ValueRange ivs, Value split);
  /// The state after one key tile. The first call moves the regions of the op.
  SmallVector<Value> createKeyTile(const QueryTile &tile, Value query,
                                   Value row, ValueRange state);
  SmallVector<Value> createUpdate(const QueryTile &tile, const KeyTile &key,
                                  Value query, Value masked, ValueRange state);
  /// Inserts `results` where the slices `outputs` were taken.
  void createParallelInserts(ValueRange results, ValueRange outputs);
  void emitRemark();

  RewriterBase &b;
  SoftmaxFamilyInterface op;
  const TargetInfo &target;
  Location loc;
  TileShape shape;
  TileGeometry geometry;
  TileMask mask;
  Value scale;
  OpFoldResult accRows;
  Value splits; ///< parts of the keys; null if they are in one
  SmallVector<Value> partialStates;
};

} // namespace

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
      state[2], tile.batch, tile.head, tile.position, key.position, fold, scale,
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
  OpFoldResult keyRows = dim(op.getKey(), 2);
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

void AttentionTiler::createParallelInserts(ValueRange results,
                                           ValueRange outputs) {
  for (auto [result, output] : llvm::zip(results, outputs)) {
    auto slice = output.getDefiningOp<tensor::ExtractSliceOp>();
    tensor::ParallelInsertSliceOp::create(
        b, loc, result, slice.getSource(), slice.getMixedOffsets(),
        slice.getMixedSizes(), slice.getMixedStrides());
  }
}

void AttentionTiler::emitRemark() {
  StringRef name = op->getName().getStringRef();
  remark::analysis(loc,
                   remark::RemarkOpts::name("tile-sizes").category("attn-tile"))
      << ("'" + name + "' query tile " + Twine(shape.queryRows) +
          ", key tile " + Twine(shape.keyRows))
             .str();
  Operation *cause =
      mask.classifier ? mask.classifier->getUnknownCause() : nullptr;
  if (!cause)
    return;
  remark::missed(
      loc,
      remark::RemarkOpts::name("mask-classification").category("attn-tile"))
      << ("'" + name + "' every tile runs with its mask, for '" +
          cause->getName().getStringRef() + "' cannot be classified")
             .str();
}

LogicalResult AttentionTiler::run() {
  accRows = affine::makeComposedFoldedAffineApply(
      b, loc,
      b.getAffineDimExpr(0).ceilDiv(target.rowMultiple()) *
          target.rowMultiple(),
      {dim(op.getValue(), 3)});
  scale = getScaleValue(b, op);
  if (mask.classifier)
    mask.classifier->emitTables(b, loc, shape.keyRows);

  SmallVector<Value> empties;
  for (Value result : op->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<OpFoldResult> sizes;
    for (int64_t d = 0; d < std::min<int64_t>(type.getRank(), 3); ++d)
      sizes.push_back(dim(op.getQuery(), d));
    if (type.getRank() == 4)
      sizes.push_back(dim(op.getValue(), 3));
    empties.push_back(
        tensor::EmptyOp::create(b, loc, sizes, type.getElementType()));
  }

  auto keyType = cast<ShapedType>(op.getKey().getType());
  bool areKeysInOne =
      !keyType.isDynamicDim(2) && keyType.getDimSize(2) <= shape.splitKeys;
  if (shape.splitKeys && !areKeysInOne)
    createPartialStates();

  auto loop = scf::ForallOp::create(b, loc, geometry.getBounds(), empties,
                                    /*mapping=*/std::nullopt);
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
  SmallVector<Value> outputs =
      llvm::map_to_vector(loop.getRegionIterArgs(), sliceOf);
  auto finish = OnlineFinishOp::create(
      b, loc, ValueRange(outputs).getTypes(), state[0], state[1], state[2],
      outputs[0], outputs.size() > 1 ? outputs[1] : Value());
  b.setInsertionPointToStart(loop.getTerminator().getBody());
  createParallelInserts(finish.getResults(), outputs);

  emitRemark();
  b.replaceOp(op, loop->getResults());
  return success();
}

LogicalResult attn::tileAttention(RewriterBase &rewriter,
                                  SoftmaxFamilyInterface op,
                                  const TargetInfo &target) {
  if (op.getSoftcapValue() || op.getAlibi() || op.getBias() || op.getSelect())
    return op->emitOpError() << "expected no softcap value, alibi, bias or "
                                "select, which attn-expand-clauses makes "
                                "regions of";
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  return AttentionTiler(rewriter, op, target).run();
}

namespace {

struct TileAttentionPass
    : public attn::impl::TileAttentionBase<TileAttentionPass> {
  void runOnOperation() override {
    const TargetInfo *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    SmallVector<SoftmaxFamilyInterface> ops;
    getOperation().walk([&](SoftmaxFamilyInterface op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (SoftmaxFamilyInterface op : ops)
      if (failed(tileAttention(rewriter, op, *target)))
        return signalPassFailure();
  }
};

} // namespace
