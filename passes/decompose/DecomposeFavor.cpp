// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.favor as an average over all pairs of rows in f64, for the reference
// device: the weight of a pair is the product of its features, as it is
// defined, and nothing is reassociated. Weights are kept as exp(log - max)
// times a factor, so that they are finite for operands of any norm. Where eps
// is added, features are exponentials against a maximum, which are in range.

#include "passes/decompose/FeatureBuilder.h"
#include "passes/decompose/WidenRegion.h"

#include "passes/Passes.h"

#include "mlir/IR/TypeUtilities.h"

namespace mlir::attn {
#define GEN_PASS_DEF_DECOMPOSEFAVOR
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;
using arith::CmpIPredicate;

static constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {

/// Builds the decomposition of one op at the builder's insertion point.
class FavorDecomposer : F64Builder {
public:
  FavorDecomposer(FavorOp op, OpBuilder &builder)
      : F64Builder(builder, op.getLoc()), op(op) {}

  /// The value for the result of the op.
  Value build();

private:
  /// exp(logs[t,j]) factors[t,j] is proportional to the weight of key j in row
  /// t. No factors are factors of 1.
  struct Weights {
    Value logs, factors;
  };

  bool hasEps() { return op.getEps() && !op.getEps()->isZero(); }
  Value buildScale();
  Value buildFeatures(Value input, bool isKey);
  /// w.x of each row x.
  Value buildProducts(Value input);
  Value buildHalfNorms();
  /// The logarithms of features, with eps added to what they are of.
  Value addEps(Value logs, Value input, bool isKey);
  /// The largest value per batch entry and head, of keys in use.
  Value buildMaxOfKeys(Value values);
  Value buildHead(Value b, Value h, Value output);
  Weights buildWeights(Value b, Value keyHead, Value x, Value y);
  Weights buildTrigonometric(Value b, Value keyHead, Value x, Value y);
  Value buildWavesWithEps(Value b, Value keyHead, Value x, Value y);
  Value buildLogSums(Value x, Value y);
  Value buildMasked(Value logs, Value b);
  Value buildAverage(const Weights &weights, Value value);

  /// The plane of a head.
  Value extractHead(Value tensor, Value b, Value h);
  template <typename OpTy> Value apply(Value x, Value y) {
    return OpTy::create(builder, loc, x, y);
  }

  FavorOp op;
  Value scale;        // of the product, in f64
  Value query, key;   // logarithms of features, or w.x for trigonometric ones
  Value keyHalfNorms; // of trigonometric features only
  Value maxHalfNorms; // of all keys in use, with eps
};

} // namespace

//===- features -----------------------------------------------------------===//

/// The number, or 1/sqrt(D).
Value FavorDecomposer::buildScale() {
  if (std::optional<APFloat> number = op.getScale())
    return makeFloat(number->convertToDouble());
  Value headDim = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                             getDim(op.getQuery(), 3));
  Value root = math::SqrtOp::create(
      builder, loc, arith::SIToFPOp::create(builder, loc, f64, headDim));
  return apply<arith::DivFOp>(makeFloat(1.0), root);
}

Value FavorDecomposer::buildProducts(Value input) {
  FeatureMap map;
  map.kind = IdentityAttr::get(builder.getContext());
  map.projection = op.getProjection();
  map.scale = math::SqrtOp::create(builder, loc, scale);
  return FeatureBuilder(builder, loc, map).build(input);
}

/// max[b,h] of values[b,h,j,...], j being in use.
Value FavorDecomposer::buildMaxOfKeys(Value values) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, values);
  auto rank = static_cast<int64_t>(sizes.size());
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  sizes.truncate(2);
  return buildGeneric(
      values, makeFilled(sizes, -infinity), {all, {0, 1}}, rank,
      [&](ValueRange args) {
        Value b = linalg::IndexOp::create(builder, loc, 0);
        Value j = linalg::IndexOp::create(builder, loc, 2);
        Value length = buildLength(op.getLengths(), b, getDim(op.getKey(), 2));
        Value isUsed =
            arith::CmpIOp::create(builder, loc, CmpIPredicate::slt, j, length);
        return select(isUsed, apply<arith::MaximumFOp>(args[1], args[0]),
                      args[1]);
      });
}

/// ln(exp(w.x - |x|^2 / 2 - c) + eps) from w.x - |x|^2 / 2 - ln(n) / 2 of n
/// features, c being the largest w.x of a query, or of all keys. -w.x are
/// among the hyperbolic ones.
Value FavorDecomposer::addEps(Value logs, Value input, bool isKey) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, logs);
  Value products = buildProducts(input);
  if (op.getKind() == FavorKind::Hyperbolic)
    products = buildGeneric(
        products, makeEmpty(tensor::getMixedSizes(builder, loc, products), f64),
        {{0, 1, 2, 3}, {0, 1, 2, 3}}, 4, [&](ValueRange args) -> Value {
          return math::AbsFOp::create(builder, loc, args[0]);
        });
  SmallVector<int64_t> kept = {0, 1};
  Value max;
  if (isKey) {
    max = buildMaxOfKeys(products);
  } else {
    kept.push_back(2);
    max = buildGeneric(products,
                       makeFilled(ArrayRef(sizes).take_front(3), -infinity),
                       {{0, 1, 2, 3}, kept}, 4, [&](ValueRange args) {
                         return apply<arith::MaximumFOp>(args[1], args[0]);
                       });
  }
  Value count = arith::SIToFPOp::create(
      builder, loc, f64,
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                 getDim(logs, 3)));
  Value half = apply<arith::MulFOp>(math::LogOp::create(builder, loc, count),
                                    makeFloat(0.5));
  Value eps = makeFloat(op.getEps()->convertToDouble());
  return buildGeneric(
      {logs, max}, makeEmpty(sizes, f64), {{0, 1, 2, 3}, kept, {0, 1, 2, 3}}, 4,
      [&](ValueRange args) -> Value {
        Value log =
            apply<arith::SubFOp>(apply<arith::AddFOp>(args[0], half), args[1]);
        Value feature =
            apply<arith::AddFOp>(math::ExpOp::create(builder, loc, log), eps);
        return math::LogOp::create(builder, loc, feature);
      });
}

Value FavorDecomposer::buildFeatures(Value input, bool isKey) {
  if (op.getKind() == FavorKind::Trigonometric)
    return buildProducts(input);
  MLIRContext *context = builder.getContext();
  FeatureMap map;
  map.projection = op.getProjection();
  map.scale = math::SqrtOp::create(builder, loc, scale);
  switch (op.getKind()) {
  case FavorKind::Positive:
    map.kind = PositiveAttr::get(context);
    map.log = true;
    break;
  case FavorKind::Hyperbolic:
    map.kind = HyperbolicAttr::get(context);
    map.log = true;
    break;
  case FavorKind::Trigonometric:
    llvm_unreachable("has no logarithms");
  case FavorKind::Relu:
    map.kind = ReluAttr::get(context, op.getEpsAttr());
    break;
  }
  Value features = FeatureBuilder(builder, loc, map).build(input);
  if (op.getKind() != FavorKind::Relu)
    return hasEps() ? addEps(features, input, isKey) : features;
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, features);
  return buildGeneric(features, makeEmpty(sizes, f64),
                      {{0, 1, 2, 3}, {0, 1, 2, 3}}, 4,
                      [&](ValueRange args) -> Value {
                        return math::LogOp::create(builder, loc, args[0]);
                      });
}

/// halfNorms[b,h,j] = |y_j|^2 / 2
Value FavorDecomposer::buildHalfNorms() {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, op.getKey());
  sizes.pop_back();
  Value half = apply<arith::MulFOp>(scale, makeFloat(0.5));
  return buildGeneric(op.getKey(), makeFilled(sizes, 0.0),
                      {{0, 1, 2, 3}, {0, 1, 2}}, 4, [&](ValueRange args) {
                        Value k = widenFloat(builder, loc, args[0], f64);
                        Value term = apply<arith::MulFOp>(
                            apply<arith::MulFOp>(half, k), k);
                        return apply<arith::AddFOp>(args[1], term);
                      });
}

//===- weights ------------------------------------------------------------===//

/// logs[t,j] = ln sum_r exp(x[t,r] + y[j,r])
Value FavorDecomposer::buildLogSums(Value x, Value y) {
  SmallVector<OpFoldResult> sizes = {tensor::getMixedSize(builder, loc, x, 0),
                                     tensor::getMixedSize(builder, loc, y, 0)};
  Value max =
      buildGeneric({x, y}, makeFilled(sizes, -infinity),
                   {{0, 2}, {1, 2}, {0, 1}}, 3, [&](ValueRange args) {
                     return apply<arith::MaximumFOp>(
                         args[2], apply<arith::AddFOp>(args[0], args[1]));
                   });
  Value sum = buildGeneric(
      {x, y, max}, makeFilled(sizes, 0.0), {{0, 2}, {1, 2}, {0, 1}, {0, 1}}, 3,
      [&](ValueRange args) {
        Value log = apply<arith::AddFOp>(args[0], args[1]);
        return apply<arith::AddFOp>(args[3], makeWeight(log, args[2]));
      });
  return buildGeneric({max, sum}, makeEmpty(sizes, f64),
                      {{0, 1}, {0, 1}, {0, 1}}, 2, [&](ValueRange args) {
                        return apply<arith::AddFOp>(
                            args[0],
                            math::LogOp::create(builder, loc, args[1]));
                      });
}

/// sum_r cos(w_r.x_t) cos(w_r.y_j) + sin(w_r.x_t) sin(w_r.y_j) is that of
/// cos(w_r.x_t - w_r.y_j), and |x_t|^2 cancels in the average. With eps it is
/// added to each of the four, those of keys times exp(|y_j|^2 / 2 - max).
FavorDecomposer::Weights
FavorDecomposer::buildTrigonometric(Value b, Value keyHead, Value x, Value y) {
  SmallVector<OpFoldResult> sizes = {tensor::getMixedSize(builder, loc, x, 0),
                                     tensor::getMixedSize(builder, loc, y, 0)};
  if (hasEps())
    return {makeFilled(sizes, 0.0), buildWavesWithEps(b, keyHead, x, y)};
  Value logs =
      buildGeneric(ValueRange(), makeEmpty(sizes, f64), {{0, 1}}, 2,
                   [&](ValueRange) -> Value {
                     Value j = linalg::IndexOp::create(builder, loc, 1);
                     return tensor::ExtractOp::create(
                         builder, loc, keyHalfNorms, ValueRange{b, keyHead, j});
                   });
  Value factors =
      buildGeneric({x, y}, makeFilled(sizes, 0.0), {{0, 2}, {1, 2}, {0, 1}}, 3,
                   [&](ValueRange args) {
                     Value angle = apply<arith::SubFOp>(args[0], args[1]);
                     return apply<arith::AddFOp>(
                         args[2], math::CosOp::create(builder, loc, angle));
                   });
  return {logs, factors};
}

Value FavorDecomposer::buildWavesWithEps(Value b, Value keyHead, Value x,
                                         Value y) {
  SmallVector<OpFoldResult> sizes = {tensor::getMixedSize(builder, loc, x, 0),
                                     tensor::getMixedSize(builder, loc, y, 0)};
  Value max = tensor::ExtractOp::create(builder, loc, maxHalfNorms,
                                        ValueRange{b, keyHead});
  Value eps = makeFloat(op.getEps()->convertToDouble());
  auto plusEps = [&](Value feature) {
    return apply<arith::AddFOp>(feature, eps);
  };
  auto product = [&](Value left, Value right, Value factor) {
    return apply<arith::MulFOp>(plusEps(left),
                                plusEps(apply<arith::MulFOp>(right, factor)));
  };
  return buildGeneric(
      {x, y}, makeFilled(sizes, 0.0), {{0, 2}, {1, 2}, {0, 1}}, 3,
      [&](ValueRange args) {
        Value j = linalg::IndexOp::create(builder, loc, 1);
        Value halfNorm = tensor::ExtractOp::create(builder, loc, keyHalfNorms,
                                                   ValueRange{b, keyHead, j});
        Value factor = math::ExpOp::create(builder, loc,
                                           apply<arith::SubFOp>(halfNorm, max));
        Value cosines =
            product(math::CosOp::create(builder, loc, args[0]),
                    math::CosOp::create(builder, loc, args[1]), factor);
        Value sines =
            product(math::SinOp::create(builder, loc, args[0]),
                    math::SinOp::create(builder, loc, args[1]), factor);
        return apply<arith::AddFOp>(args[2],
                                    apply<arith::AddFOp>(cosines, sines));
      });
}

/// -inf where row t doesn't see key j.
Value FavorDecomposer::buildMasked(Value logs, Value b) {
  Value length = buildLength(op.getLengths(), b, getDim(op.getKey(), 2));
  return buildGeneric(
      logs, makeEmpty(tensor::getMixedSizes(builder, loc, logs), f64),
      {{0, 1}, {0, 1}}, 2, [&](ValueRange args) {
        Value t = linalg::IndexOp::create(builder, loc, 0);
        Value j = linalg::IndexOp::create(builder, loc, 1);
        Value isSeen =
            arith::CmpIOp::create(builder, loc, CmpIPredicate::slt, j, length);
        if (op.getCausal())
          isSeen = apply<arith::AndIOp>(
              isSeen,
              arith::CmpIOp::create(builder, loc, CmpIPredicate::sle, j, t));
        return select(isSeen, args[0], makeFloat(-infinity));
      });
}

FavorDecomposer::Weights FavorDecomposer::buildWeights(Value b, Value keyHead,
                                                       Value x, Value y) {
  Weights weights;
  if (op.getKind() == FavorKind::Trigonometric)
    weights = buildTrigonometric(b, keyHead, x, y);
  else
    weights.logs = buildLogSums(x, y);
  weights.logs = buildMasked(weights.logs, b);
  return weights;
}

//===- the average --------------------------------------------------------===//

/// o[t,c] = sum_j w[t,j] v[j,c] / sum_j w[t,j], 0 where the divisor is 0. A key
/// that isn't seen adds 0, not 0 times whatever its value row holds.
Value FavorDecomposer::buildAverage(const Weights &weights, Value value) {
  OpFoldResult rows = tensor::getMixedSize(builder, loc, weights.logs, 0);
  OpFoldResult columns = tensor::getMixedSize(builder, loc, value, 1);
  Value max = buildGeneric(weights.logs, makeFilled(rows, -infinity),
                           {{0, 1}, {0}}, 2, [&](ValueRange args) {
                             return apply<arith::MaximumFOp>(args[0], args[1]);
                           });
  SmallVector<Value> inputs = {weights.logs, max};
  SmallVector<ArrayRef<int64_t>> maps;
  int64_t pair[] = {0, 1}, row[] = {0};
  maps.append({pair, row, pair});
  if (weights.factors) {
    inputs.push_back(weights.factors);
    maps.push_back(pair);
  }
  Value scaled = buildGeneric(
      inputs, makeEmpty(tensor::getMixedSizes(builder, loc, weights.logs), f64),
      maps, 2, [&](ValueRange args) {
        Value weight = makeWeight(args[0], args[1]);
        if (!weights.factors)
          return weight;
        Value product = apply<arith::MulFOp>(weight, args[2]);
        return select(isEqual(args[0], -infinity), makeFloat(0.0), product);
      });
  Value sum = buildGeneric(
      scaled, makeFilled(rows, 0.0), {{0, 1}, {0}}, 2,
      [&](ValueRange args) { return apply<arith::AddFOp>(args[1], args[0]); });
  Value total = buildGeneric(
      {weights.logs, scaled, value}, makeFilled({rows, columns}, 0.0),
      {{0, 2}, {0, 2}, {2, 1}, {0, 1}}, 3, [&](ValueRange args) {
        Value product = apply<arith::MulFOp>(
            args[1], widenFloat(builder, loc, args[2], f64));
        Value term =
            select(isEqual(args[0], -infinity), makeFloat(0.0), product);
        return apply<arith::AddFOp>(args[3], term);
      });
  Value quotients = buildGeneric(
      {total, sum}, makeEmpty({rows, columns}, f64), {{0, 1}, {0}, {0, 1}}, 2,
      [&](ValueRange args) {
        Value quotient = apply<arith::DivFOp>(args[0], args[1]);
        return select(isEqual(args[1], 0.0), makeFloat(0.0), quotient);
      });
  return roundAll(quotients, getElementTypeOrSelf(op.getType()));
}

//===- heads --------------------------------------------------------------===//

Value FavorDecomposer::extractHead(Value tensor, Value b, Value h) {
  auto type = cast<RankedTensorType>(tensor.getType());
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor);
  sizes[0] = sizes[1] = one;
  auto headType = RankedTensorType::get(type.getShape().drop_front(2),
                                        type.getElementType());
  return tensor::ExtractSliceOp::create(
      builder, loc, headType, tensor, ArrayRef<OpFoldResult>{b, h, zero, zero},
      sizes, SmallVector<OpFoldResult>(4, one));
}

/// `output` with head h of batch entry b.
Value FavorDecomposer::buildHead(Value b, Value h, Value output) {
  Value group =
      apply<arith::DivUIOp>(getDim(op.getQuery(), 1), getDim(op.getKey(), 1));
  Value keyHead = apply<arith::DivUIOp>(h, group);
  Value x = extractHead(query, b, h), y = extractHead(key, b, keyHead);
  Value average = buildAverage(buildWeights(b, keyHead, x, y),
                               extractHead(op.getValue(), b, keyHead));
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  SmallVector<OpFoldResult> sizes = {
      one, one, tensor::getMixedSize(builder, loc, average, 0),
      tensor::getMixedSize(builder, loc, average, 1)};
  return tensor::InsertSliceOp::create(
      builder, loc, average, output, ArrayRef<OpFoldResult>{b, h, zero, zero},
      sizes, SmallVector<OpFoldResult>(4, one));
}

Value FavorDecomposer::build() {
  scale = buildScale();
  query = buildFeatures(op.getQuery(), /*isKey=*/false);
  key = buildFeatures(op.getKey(), /*isKey=*/true);
  if (op.getKind() == FavorKind::Trigonometric) {
    keyHalfNorms = buildHalfNorms();
    if (hasEps())
      maxHalfNorms = buildMaxOfKeys(keyHalfNorms);
  }
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, op.getQuery());
  sizes[3] = tensor::getMixedSize(builder, loc, op.getValue(), 3);
  Value output = makeEmpty(sizes, getElementTypeOrSelf(op.getType()));
  return buildLoop(
      getDim(op.getQuery(), 0), output, [&](Value b, ValueRange carried) {
        return buildLoop(
            getDim(op.getQuery(), 1), carried,
            [&](Value h, ValueRange carried) -> SmallVector<Value> {
              return {buildHead(b, h, carried[0])};
            });
      })[0];
}

namespace {

struct DecomposeFavorPass
    : public attn::impl::DecomposeFavorBase<DecomposeFavorPass> {
  void runOnOperation() override {
    SmallVector<FavorOp> ops;
    getOperation().walk([&](FavorOp op) { ops.push_back(op); });
    for (FavorOp op : ops) {
      OpBuilder builder(op);
      Value output = FavorDecomposer(op, builder).build();
      op->replaceAllUsesWith(castToResults(builder, op, output));
      op->erase();
    }
  }
};

} // namespace
