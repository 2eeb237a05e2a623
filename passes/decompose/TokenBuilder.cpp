// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TokenBuilder.h.

#include "passes/decompose/TokenBuilder.h"

#include "passes/decompose/FeatureBuilder.h"
#include "passes/decompose/WidenRegion.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

TokenBuilder::TokenBuilder(LinearOp op, OpBuilder &builder)
    : F64Builder(builder, op.getLoc()), op(op) {
  query = buildFeatures(op.getQuery(), op.getQueryFeature(), Value());
  key = buildFeatures(op.getKey(), op.getKeyFeature(), op.getLengths());
  values = buildValues();
}

Value TokenBuilder::buildFeatures(Value input, FeatureAttrInterface kind,
                                  Value lengths) {
  FeatureMap map;
  map.kind = kind;
  map.lengths = lengths;
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

//===- slices -------------------------------------------------------------===//

/// The last dimension of `tensor` at indices of the others.
Value TokenBuilder::getRow(Value tensor, ArrayRef<Value> leading) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> offsets(leading.begin(), leading.end());
  SmallVector<OpFoldResult> sizes(leading.size(), builder.getIndexAttr(1));
  offsets.push_back(builder.getIndexAttr(0));
  sizes.push_back(
      tensor::getMixedSize(builder, loc, tensor, type.getRank() - 1));
  SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
  auto rowType =
      RankedTensorType::get(type.getShape().take_back(), type.getElementType());
  return tensor::ExtractSliceOp::create(builder, loc, rowType, tensor, offsets,
                                        sizes, strides);
}

Value TokenBuilder::getScalar(Value tensor, ArrayRef<Value> at) {
  return widenFloat(builder, loc,
                    tensor::ExtractOp::create(builder, loc, tensor, at), f64);
}

Value TokenBuilder::buildVector(ValueRange vectors,
                                function_ref<Value(ValueRange)> body) {
  SmallVector<int64_t> loop = {0};
  SmallVector<ArrayRef<int64_t>> maps(vectors.size() + 1, loop);
  OpFoldResult size = tensor::getMixedSize(builder, loc, vectors[0], 0);
  return buildGeneric(vectors, makeEmpty(size, f64), maps, 1,
                      [&](ValueRange args) {
                        SmallVector<Value> wide;
                        for (Value arg : args)
                          wide.push_back(widenFloat(builder, loc, arg, f64));
                        return body(wide);
                      });
}

//===- the state ----------------------------------------------------------===//

Value TokenBuilder::buildExpDecay(const Head &head, Value t) {
  Value decay = op.getDecay();
  int64_t rank = cast<RankedTensorType>(decay.getType()).getRank();
  auto exp = [&](Value g) -> Value {
    return math::ExpOp::create(builder, loc, g);
  };
  if (rank == 4)
    return buildVector(getRow(decay, {head.b, head.state, t}),
                       [&](ValueRange args) { return exp(args[0]); });
  Value factor = exp(rank == 1 ? getScalar(decay, head.state)
                               : getScalar(decay, {head.b, head.state, t}));
  OpFoldResult size = tensor::getMixedSize(builder, loc, key, 3);
  return linalg::FillOp::create(builder, loc, factor, makeEmpty(size, f64))
      .getResult(0);
}

/// state[r,c] exp(g_t[r])
Value TokenBuilder::buildDecayed(const Head &head, Value t, Value state) {
  if (!op.getDecay())
    return state;
  return buildGeneric(
      buildExpDecay(head, t), state, {{0}, {0, 1}}, 2,
      [&](ValueRange args) { return apply<arith::MulFOp>(args[1], args[0]); });
}

/// state[r,c] + features[r] columns[c]
Value TokenBuilder::buildOuter(Value features, Value columns, Value state) {
  return buildGeneric({features, columns}, state, {{0}, {1}, {0, 1}}, 2,
                      [&](ValueRange args) {
                        Value product = apply<arith::MulFOp>(
                            widenFloat(builder, loc, args[0], f64), args[1]);
                        return apply<arith::AddFOp>(args[2], product);
                      });
}

std::pair<Value, Value> TokenBuilder::buildTransition(const Head &head,
                                                      Value t) {
  if (op.getRead())
    return {getRow(op.getRead(), {head.b, head.state, t}),
            getRow(op.getWrite(), {head.b, head.state, t})};
  if (!op.getBeta())
    return {};
  Value k = getRow(key, {head.b, head.key, t}), a = k;
  if (op.getDecay())
    a = buildVector({k, buildExpDecay(head, t)}, [&](ValueRange args) {
      return apply<arith::MulFOp>(args[0], args[1]);
    });
  Value beta = getScalar(op.getBeta(), {head.b, head.state, t});
  Value b = buildVector(k, [&](ValueRange args) {
    Value negated = arith::NegFOp::create(builder, loc, beta);
    return apply<arith::MulFOp>(negated, args[0]);
  });
  return {a, b};
}

Value TokenBuilder::buildWrittenValue(const Head &head, Value t) {
  Value v = getRow(values, {head.b, head.state, t});
  if (!op.getBeta())
    return v;
  Value beta = getScalar(op.getBeta(), {head.b, head.state, t});
  return buildVector(
      v, [&](ValueRange args) { return apply<arith::MulFOp>(beta, args[0]); });
}

/// S_t = (diag(exp(g_t)) + b_t^T a_t) S_{t-1} + k_t^T v_t
Value TokenBuilder::buildToken(const Head &head, Value t, Value state) {
  auto [a, b] = buildTransition(head, t);
  Value read = a ? buildReadout(a, state) : Value();
  Value next = buildDecayed(head, t, state);
  if (b)
    next = buildOuter(b, read, next);
  return buildOuter(getRow(key, {head.b, head.key, t}),
                    buildWrittenValue(head, t), next);
}

//===- the output ---------------------------------------------------------===//

/// total[c] = sum_r query[r] state[r,c]
Value TokenBuilder::buildReadout(Value query, Value state) {
  OpFoldResult columns = tensor::getMixedSize(builder, loc, state, 1);
  return buildGeneric({query, state}, makeFilled(columns, 0.0),
                      {{1}, {1, 0}, {0}}, 2, [&](ValueRange args) {
                        Value product = apply<arith::MulFOp>(
                            widenFloat(builder, loc, args[0], f64), args[1]);
                        return apply<arith::AddFOp>(args[2], product);
                      });
}

/// sum_r query[r] u[r] k_t[r], the weight of v_t.
Value TokenBuilder::buildBonus(const Head &head, Value t, Value query) {
  Value weight = buildGeneric(
      {query, getRow(op.getBonus(), head.state),
       getRow(key, {head.b, head.key, t})},
      makeFilled({}, 0.0), {{0}, {0}, {0}, {}}, 1, [&](ValueRange args) {
        Value product = apply<arith::MulFOp>(
            args[0], apply<arith::MulFOp>(
                         widenFloat(builder, loc, args[1], f64), args[2]));
        return apply<arith::AddFOp>(args[3], product);
      });
  return tensor::ExtractOp::create(builder, loc, weight, ValueRange());
}

Value TokenBuilder::buildDivided(Value query, Value state) {
  OpFoldResult one = builder.getIndexAttr(1);
  OpFoldResult features = tensor::getMixedSize(builder, loc, state, 0);
  auto type = RankedTensorType::get(
      cast<RankedTensorType>(state.getType()).getShape().take_front(), f64);
  Value sums = tensor::ExtractSliceOp::create(
      builder, loc, type, state,
      ArrayRef<OpFoldResult>{builder.getIndexAttr(0),
                             getAsOpFoldResult(getDim(op.getValue(), 3))},
      ArrayRef<OpFoldResult>{features, one}, ArrayRef<OpFoldResult>{one, one});
  return buildVector({query, sums}, [&](ValueRange args) {
    Value quotient = apply<arith::DivFOp>(args[0], args[1]);
    return select(isEqual(args[1], 0.0), makeFloat(0.0), quotient);
  });
}

/// scale total, or the quotient of that and its last column.
Value TokenBuilder::buildOutputRow(Value total) {
  double scale = op.getScale() ? op.getScale()->convertToDouble() : 1.0;
  Value scaled = buildVector(total, [&](ValueRange args) {
    return apply<arith::MulFOp>(args[0], makeFloat(scale));
  });
  OpFoldResult columns = tensor::getMixedSize(builder, loc, op.getValue(), 3);
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  Value row =
      tensor::ExtractSliceOp::create(builder, loc, scaled, zero, columns, one);
  if (op.getNormalize() != Normalizer::Token)
    return row;
  Value divisor = getScalar(scaled, getDim(op.getValue(), 3));
  return buildVector(row, [&](ValueRange args) {
    Value quotient = apply<arith::DivFOp>(args[0], divisor);
    return select(isEqual(divisor, 0.0), makeFloat(0.0), quotient);
  });
}

Value TokenBuilder::buildRow(const Head &head, Value t, Value state,
                             Value output, bool hasToken) {
  auto buildOne = [&](Value n, ValueRange carried) -> SmallVector<Value> {
    Value q =
        getRow(query, {head.b, apply<arith::AddIOp>(head.firstQuery, n), t});
    Value divided =
        op.getNormalize() == Normalizer::Feature ? buildDivided(q, state) : q;
    Value total = buildReadout(divided, state);
    if (op.getBonus() && hasToken) {
      Value weight = buildBonus(head, t, q);
      total = buildVector({total, buildWrittenValue(head, t)},
                          [&](ValueRange args) {
                            return apply<arith::AddFOp>(
                                args[0], apply<arith::MulFOp>(weight, args[1]));
                          });
    }
    Value row = roundAll(buildOutputRow(total),
                         op.getOutput().getType().getElementType());
    OpFoldResult one = builder.getIndexAttr(1);
    SmallVector<OpFoldResult> offsets = {
        head.b, apply<arith::AddIOp>(head.firstOutput, n), t,
        builder.getIndexAttr(0)};
    SmallVector<OpFoldResult> sizes = {
        one, one, one, tensor::getMixedSize(builder, loc, row, 0)};
    return {tensor::InsertSliceOp::create(builder, loc, row, carried[0],
                                          offsets, sizes,
                                          SmallVector<OpFoldResult>(4, one))};
  };
  return buildLoop(head.count, output, buildOne)[0];
}
