// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TokenBuilder.h.

#include "passes/decompose/TokenBuilder.h"

#include "passes/decompose/FeatureBuilder.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

TokenBuilder::TokenBuilder(LinearOp op, OpBuilder &builder)
    : StateBuilder(builder, op.getLoc()), op(op) {
  // M of #attn.cosformer where it has none, of queries and keys alike.
  longest = arith::MaxSIOp::create(builder, loc, getDim(op.getQuery(), 2),
                                   getDim(op.getKey(), 2));
  query = buildFeatures(op.getQuery(), op.getQueryFeature(), Value());
  key = buildFeatures(buildKeyOfKnownDim(builder, op), op.getKeyFeature(),
                      op.getLengths());
  values = buildValues();
}

Value TokenBuilder::buildFeatures(Value input, FeatureAttrInterface kind,
                                  Value lengths) {
  FeatureMap map;
  map.kind = kind;
  map.lengths = lengths;
  map.length = longest;
  return FeatureBuilder(builder, loc, map).build(input);
}

/// The values in f64, beside a last column of ones where there is a divisor.
Value TokenBuilder::buildValues() {
  FeatureAttrInterface identity = IdentityAttr::get(builder.getContext());
  Value wide = buildFeatures(op.getValue(), identity, Value());
  if (!op.getNormalize())
    return wide;
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, wide);
  SmallVector<OpFoldResult> all = sizes;
  AffineExpr columns = getAffineDimExpr(0, builder.getContext());
  all[3] = affine::makeComposedFoldedAffineApply(builder, loc, columns + 1,
                                                 sizes[3]);
  SmallVector<OpFoldResult> offsets(4, builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(4, builder.getIndexAttr(1));
  return tensor::InsertSliceOp::create(builder, loc, wide, makeFilled(all, 1.0),
                                       offsets, sizes, strides);
}

TokenBuilder::Head TokenBuilder::buildHead(Value b, Value h) {
  Value stateHeads = getDim(op.getValue(), 1);
  if (op.hasGroupedValues()) {
    Value group = apply<arith::DivUIOp>(stateHeads, getDim(op.getKey(), 1));
    Value shared = apply<arith::DivUIOp>(h, group);
    return {b, h, shared, shared, h, makeIndex(1)};
  }
  Value group = apply<arith::DivUIOp>(getDim(op.getQuery(), 1), stateHeads);
  Value first = apply<arith::MulIOp>(h, group);
  return {b, h, h, first, first, group};
}

SmallVector<OpFoldResult> TokenBuilder::getStateSizes() {
  return {tensor::getMixedSize(builder, loc, key, 3),
          tensor::getMixedSize(builder, loc, values, 3)};
}

Token TokenBuilder::readToken(const Head &head, Value t) {
  Token token;
  token.k = getRow(key, {head.b, head.key, t});
  token.v = getRow(values, {head.b, head.state, t});
  if (Value decay = op.getDecay()) {
    int64_t rank = cast<RankedTensorType>(decay.getType()).getRank();
    Value g = rank == 4   ? getRow(decay, {head.b, head.state, t})
              : rank == 3 ? getScalar(decay, {head.b, head.state, t})
                          : getScalar(decay, head.state);
    token.roots = buildRoots(g, tensor::getMixedSize(builder, loc, key, 3));
  }
  if (op.getRead()) {
    token.a = getRow(op.getRead(), {head.b, head.state, t});
    token.b = getRow(op.getWrite(), {head.b, head.state, t});
  }
  if (op.getBeta())
    applyDeltaRule(token, getScalar(op.getBeta(), {head.b, head.state, t}));
  if (op.getBonus())
    token.bonus = getRow(op.getBonus(), head.state);
  return token;
}

Value TokenBuilder::buildRows(const Head &head, Value t, Value state,
                              const Token *token, Value output) {
  Readout readout;
  readout.scale = op.getScale() ? op.getScale()->convertToDouble() : 1.0;
  readout.normalize = op.getNormalize();
  readout.columns = readout.divisor = getDim(op.getValue(), 3);
  auto buildOne = [&](Value n, ValueRange carried) -> SmallVector<Value> {
    Value h = apply<arith::AddIOp>(head.firstQuery, n);
    Value q = getRow(query, {head.b, h, t});
    Value row = roundAll(buildRow(q, state, token, readout),
                         op.getOutput().getType().getElementType());
    Value outputHead = apply<arith::AddIOp>(head.firstOutput, n);
    return {insertRow(row, carried[0], {head.b, outputHead, t})};
  };
  return buildLoop(head.count, output, buildOne)[0];
}
