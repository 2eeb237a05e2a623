// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LinearTileBuilder.h.

#include "passes/decompose/LinearTileBuilder.h"

#include "passes/decompose/WidenRegion.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

/// The row, zeros, and 1 in the last column where there is a normaliser.
Value LinearTileBuilder::buildValueRow(LinearChunkOp op, Value t) {
  OpFoldResult columns = tensor::getMixedSize(builder, loc, op.getState(), 1);
  Value row = insertRow(buildVector(getRow(op.getValue(), t),
                                    [](ValueRange args) { return args[0]; }),
                        makeFilled(columns, 0.0), {});
  if (!op.getNormalize())
    return row;
  Value last = apply<arith::SubIOp>(getDim(op.getState(), 1), makeIndex(1));
  return tensor::InsertOp::create(builder, loc, makeFloat(1.0), row, last);
}

Token LinearTileBuilder::readToken(LinearChunkOp op, Value t) {
  Token token;
  token.k = getRow(op.getKey(), t);
  token.v = buildValueRow(op, t);
  if (Value decay = op.getDecay()) {
    Value g = op.hasFeatureDecay() ? getRow(decay, t) : getScalar(decay, t);
    token.roots =
        buildRoots(g, tensor::getMixedSize(builder, loc, op.getKey(), 1));
  }
  if (op.getRead()) {
    token.a = getRow(op.getRead(), t);
    token.b = getRow(op.getWrite(), t);
  }
  if (op.getBeta())
    applyDeltaRule(token, getScalar(op.getBeta(), t));
  token.bonus = op.getBonus();
  return token;
}

Value LinearTileBuilder::buildUsedRows(Value state, Value keyOrQuery) {
  int64_t last = cast<RankedTensorType>(keyOrQuery.getType()).getRank() - 1;
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  SmallVector<OpFoldResult> sizes = {
      tensor::getMixedSize(builder, loc, keyOrQuery, last),
      tensor::getMixedSize(builder, loc, state, 1)};
  Value rows = tensor::ExtractSliceOp::create(
      builder, loc, state, ArrayRef<OpFoldResult>{zero, zero}, sizes,
      ArrayRef<OpFoldResult>{one, one});
  return buildGeneric(
      rows, makeEmpty(sizes, f64), {{0, 1}, {0, 1}}, 2,
      [&](ValueRange args) { return widenFloat(builder, loc, args[0], f64); });
}

Readout LinearTileBuilder::makeReadout(std::optional<APFloat> scale,
                                       std::optional<Normalizer> normalize,
                                       Value output, Value state) {
  Readout readout;
  readout.scale = scale ? scale->convertToDouble() : 1.0;
  readout.normalize = normalize;
  readout.columns = getDim(output, 2);
  readout.divisor = apply<arith::SubIOp>(getDim(state, 1), makeIndex(1));
  return readout;
}

Value LinearTileBuilder::buildHeads(Value query, Value t, Value state,
                                    const Token *token, const Readout &readout,
                                    Value output) {
  Type element = getElementTypeOrSelf(output.getType());
  return buildLoop(getDim(query, 0), output,
                   [&](Value h, ValueRange carried) -> SmallVector<Value> {
                     Value q = getRow(query, {h, t});
                     Value row = buildRow(q, state, token, readout);
                     return {
                         insertRow(roundAll(row, element), carried[0], {h, t})};
                   })[0];
}

SmallVector<Value> LinearTileBuilder::build(LinearChunkOp op) {
  Value query = op.getQuery();
  SmallVector<Value> carried = {buildUsedRows(
      op.getInitial() ? op.getInitial() : op.getState(), op.getKey())};
  Readout readout;
  if (query) {
    carried.push_back(op.getOutput());
    readout = makeReadout(op.getScale(), op.getNormalize(), op.getOutput(),
                          op.getState());
  }
  carried = buildLoop(getDim(op.getKey(), 0), carried,
                      [&](Value t, ValueRange before) -> SmallVector<Value> {
                        Token token = readToken(op, t);
                        SmallVector<Value> after(before);
                        // Rows read the state after their token, or before it
                        // with the bonus.
                        if (query && token.bonus)
                          after[1] = buildHeads(query, t, before[0], &token,
                                                readout, before[1]);
                        after[0] = buildNext(token, before[0]);
                        if (query && !token.bonus)
                          after[1] = buildHeads(query, t, after[0], nullptr,
                                                readout, before[1]);
                        return after;
                      });
  Value used = roundAll(carried[0], op.getComputeType());
  SmallVector<OpFoldResult> offsets(2, builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(2, builder.getIndexAttr(1));
  Value state = tensor::InsertSliceOp::create(
      builder, loc, used, op.getState(), offsets,
      tensor::getMixedSizes(builder, loc, used), strides);
  if (!query)
    return {state};
  return {carried[1], state};
}

SmallVector<Value> LinearTileBuilder::build(LinearReadOp op) {
  Value state = buildUsedRows(op.getState(), op.getQuery());
  Readout readout = makeReadout(op.getScale(), op.getNormalize(),
                                op.getOutput(), op.getState());
  return buildLoop(getDim(op.getQuery(), 1), op.getOutput(),
                   [&](Value t, ValueRange carried) -> SmallVector<Value> {
                     return {buildHeads(op.getQuery(), t, state, nullptr,
                                        readout, carried[0])};
                   });
}
