// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FeatureBuilder.h.

#include "passes/decompose/FeatureBuilder.h"

#include "passes/decompose/WidenRegion.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::attn;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double pi = 3.14159265358979323846;

//===- shorthands ---------------------------------------------------------===//

Value FeatureBuilder::buildMap(Value tensor, Body body) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor);
  return buildGeneric(tensor, makeEmpty(sizes, f64),
                      {{0, 1, 2, 3}, {0, 1, 2, 3}}, 4, body);
}

Value FeatureBuilder::makeCount(Value index) {
  return arith::SIToFPOp::create(
      builder, loc, f64,
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index));
}

Value FeatureBuilder::insertFeatures(Value features, Value into,
                                     OpFoldResult at) {
  OpFoldResult zero = builder.getIndexAttr(0);
  SmallVector<OpFoldResult> strides(4, builder.getIndexAttr(1));
  return tensor::InsertSliceOp::create(
      builder, loc, features, into,
      ArrayRef<OpFoldResult>{zero, zero, zero, at},
      tensor::getMixedSizes(builder, loc, features), strides);
}

Value FeatureBuilder::buildDoubled(Value entries, Body first, Body second) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, entries);
  OpFoldResult count = sizes[3];
  AffineExpr twice = getAffineDimExpr(0, builder.getContext()) * 2;
  sizes[3] = affine::makeComposedFoldedAffineApply(builder, loc, twice, count);
  Value features = insertFeatures(
      buildMap(entries, first), makeEmpty(sizes, f64), builder.getIndexAttr(0));
  return insertFeatures(buildMap(entries, second), features, count);
}

Value FeatureBuilder::buildSoftmax(Value entries, ArrayRef<int64_t> kept) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, entries);
  SmallVector<OpFoldResult> keptSizes =
      llvm::map_to_vector(kept, [&](int64_t dim) { return sizes[dim]; });
  SmallVector<int64_t> all = {0, 1, 2, 3};
  Value max = buildGeneric(entries, makeFilled(keptSizes, -infinity),
                           {all, kept}, 4, [&](ValueRange args) -> Value {
                             return arith::MaximumFOp::create(builder, loc,
                                                              args[0], args[1]);
                           });
  Value weights = buildGeneric(
      {entries, max}, makeEmpty(sizes, f64), {all, kept, all}, 4,
      [&](ValueRange args) { return makeWeight(args[0], args[1]); });
  Value sum = buildGeneric(weights, makeFilled(keptSizes, 0.0), {all, kept}, 4,
                           [&](ValueRange args) -> Value {
                             return arith::AddFOp::create(builder, loc, args[1],
                                                          args[0]);
                           });
  return buildGeneric({weights, sum}, makeEmpty(sizes, f64), {all, kept, all},
                      4, [&](ValueRange args) -> Value {
                        return arith::DivFOp::create(builder, loc, args[0],
                                                     args[1]);
                      });
}

//===- what goes into a map -----------------------------------------------===//

Value FeatureBuilder::buildScaled(Value input) {
  return buildMap(input, [&](ValueRange args) -> Value {
    Value x = widenFloat(builder, loc, args[0], f64);
    if (!map.scale)
      return x;
    return arith::MulFOp::create(builder, loc, x, map.scale);
  });
}

/// projected[b,h,s,r] = sum_d W[r,d] x[b,h,s,d]
Value FeatureBuilder::buildProjected(Value vectors) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, vectors);
  sizes[3] = tensor::getMixedSize(builder, loc, map.projection, 0);
  return buildGeneric(
      {map.projection, vectors}, makeFilled(sizes, 0.0),
      {{3, 4}, {0, 1, 2, 4}, {0, 1, 2, 3}}, 5, [&](ValueRange args) -> Value {
        Value product = arith::MulFOp::create(
            builder, loc, widenFloat(builder, loc, args[0], f64), args[1]);
        return arith::AddFOp::create(builder, loc, args[2], product);
      });
}

/// halfNorms[b,h,s] = |x|^2 / 2
Value FeatureBuilder::buildHalfNorms(Value vectors) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, vectors);
  sizes.pop_back();
  return buildGeneric(
      vectors, makeFilled(sizes, 0.0), {{0, 1, 2, 3}, {0, 1, 2}}, 4,
      [&](ValueRange args) -> Value {
        Value half =
            arith::MulFOp::create(builder, loc, args[0], makeFloat(0.5));
        Value square = arith::MulFOp::create(builder, loc, half, args[0]);
        return arith::AddFOp::create(builder, loc, args[1], square);
      });
}

//===- the maps -----------------------------------------------------------===//

Value FeatureBuilder::buildSoftmaxOfFeatures(Value entries) {
  return buildSoftmax(entries, {0, 1, 2});
}

/// Over the rows in use; the others give 0, whatever they hold.
Value FeatureBuilder::buildSoftmaxOfPositions(Value entries) {
  if (!map.lengths)
    return buildSoftmax(entries, {0, 1, 3});
  Value rows = getDim(entries, 2);
  auto selectUsed = [&](Value x, double other) {
    Value b = linalg::IndexOp::create(builder, loc, 0);
    Value s = linalg::IndexOp::create(builder, loc, 2);
    Value isUsed = arith::CmpIOp::create(builder, loc, CmpIPredicate::slt, s,
                                         buildLength(map.lengths, b, rows));
    return select(isUsed, x, makeFloat(other));
  };
  Value used = buildMap(
      entries, [&](ValueRange args) { return selectUsed(args[0], -infinity); });
  return buildMap(buildSoftmax(used, {0, 1, 3}),
                  [&](ValueRange args) { return selectUsed(args[0], 0.0); });
}

/// (x, -x)
Value FeatureBuilder::buildNegated(Value entries) {
  return buildDoubled(
      entries, [](ValueRange args) { return args[0]; },
      [&](ValueRange args) -> Value {
        return arith::NegFOp::create(builder, loc, args[0]);
      });
}

/// max(x, 0) times the cosine and the sine of pi i / 2 M at position i.
Value FeatureBuilder::buildCosformer(Value entries) {
  Value step;
  if (std::optional<int64_t> length =
          cast<CosformerAttr>(map.kind).getLength()) {
    step = makeFloat(pi / (2.0 * static_cast<double>(*length)));
  } else {
    Value count = arith::MaxSIOp::create(
        builder, loc, map.length ? map.length : getDim(entries, 2),
        makeIndex(1));
    step = arith::DivFOp::create(builder, loc, makeFloat(pi / 2.0),
                                 makeCount(count));
  }
  auto buildAngle = [&]() -> Value {
    Value position = linalg::IndexOp::create(builder, loc, 2);
    if (map.offset)
      position = arith::AddIOp::create(builder, loc, position, map.offset);
    return arith::MulFOp::create(builder, loc, makeCount(position), step);
  };
  auto buildHalf = [&](Value x, Value factor) -> Value {
    Value positive = arith::MaximumFOp::create(builder, loc, x, makeFloat(0.0));
    return arith::MulFOp::create(builder, loc, positive, factor);
  };
  return buildDoubled(
      entries,
      [&](ValueRange args) {
        return buildHalf(args[0],
                         math::CosOp::create(builder, loc, buildAngle()));
      },
      [&](ValueRange args) {
        return buildHalf(args[0],
                         math::SinOp::create(builder, loc, buildAngle()));
      });
}

/// 1, x_i / d^(1/4), x_i^2 / sqrt(2 d), and x_i x_j / sqrt(d) for i < j, one
/// row i of them after the other.
Value FeatureBuilder::buildTaylor2(Value entries) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, entries);
  int64_t dim = *getConstantIntValue(sizes[3]);
  auto d = static_cast<double>(dim);
  auto buildTimes = [&](Value x, double factor) -> Value {
    return arith::MulFOp::create(builder, loc, x, makeFloat(factor));
  };
  sizes[3] = builder.getIndexAttr(map.kind.getNumFeatures(dim));
  Value features = makeFilled(sizes, 1.0);
  Value linear = buildMap(entries, [&](ValueRange args) {
    return buildTimes(args[0], std::pow(d, -0.25));
  });
  features = insertFeatures(linear, features, builder.getIndexAttr(1));
  Value squares = buildMap(entries, [&](ValueRange args) {
    Value square = arith::MulFOp::create(builder, loc, args[0], args[0]);
    return buildTimes(square, 1.0 / std::sqrt(2.0 * d));
  });
  features = insertFeatures(squares, features, builder.getIndexAttr(1 + dim));

  // Row i has d - 1 - i products and starts behind those of the rows before.
  Value start = makeIndex(1 + 2 * dim), one = makeIndex(1);
  return buildLoop(
      makeIndex(dim), {features, start},
      [&](Value i, ValueRange carried) -> SmallVector<Value> {
        Value count =
            arith::SubIOp::create(builder, loc, makeIndex(dim - 1), i);
        Value next = arith::AddIOp::create(builder, loc, i, one);
        OpFoldResult zero = builder.getIndexAttr(0);
        SmallVector<OpFoldResult> offsets = {zero, zero, zero, next};
        SmallVector<OpFoldResult> rowSizes(sizes);
        rowSizes[3] = count;
        SmallVector<OpFoldResult> strides(4, builder.getIndexAttr(1));
        Value others = tensor::ExtractSliceOp::create(
            builder, loc, entries, offsets, rowSizes, strides);
        Value row = buildMap(others, [&](ValueRange args) {
          SmallVector<Value> at;
          for (int64_t loop = 0; loop < 3; ++loop)
            at.push_back(linalg::IndexOp::create(builder, loc, loop));
          at.push_back(i);
          Value x = tensor::ExtractOp::create(builder, loc, entries, at);
          return buildTimes(arith::MulFOp::create(builder, loc, x, args[0]),
                            1.0 / std::sqrt(d));
        });
        return {insertFeatures(row, carried[0], carried[1]),
                arith::AddIOp::create(builder, loc, carried[1], count)};
      })[0];
}

/// exp(+-w.x - |x|^2 / 2) / sqrt(n) of n features, or the logarithm.
Value FeatureBuilder::buildExponential(Value projected, Value halfNorms) {
  Value entries =
      isa<HyperbolicAttr>(map.kind) ? buildNegated(projected) : projected;
  Value count = makeCount(getDim(entries, 3));
  Value shift = arith::MulFOp::create(
      builder, loc, math::LogOp::create(builder, loc, count), makeFloat(0.5));
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, entries);
  return buildGeneric(
      {entries, halfNorms}, makeEmpty(sizes, f64),
      {{0, 1, 2, 3}, {0, 1, 2}, {0, 1, 2, 3}}, 4,
      [&](ValueRange args) -> Value {
        Value log = arith::SubFOp::create(
            builder, loc, arith::SubFOp::create(builder, loc, args[0], args[1]),
            shift);
        if (map.log)
          return log;
        return math::ExpOp::create(builder, loc, log);
      });
}

/// exp(|x|^2 / 2) / sqrt(m) times the cosines and sines of w.x.
Value FeatureBuilder::buildTrigonometric(Value projected, Value halfNorms) {
  Value circles = buildDoubled(
      projected,
      [&](ValueRange args) -> Value {
        return math::CosOp::create(builder, loc, args[0]);
      },
      [&](ValueRange args) -> Value {
        return math::SinOp::create(builder, loc, args[0]);
      });
  Value root =
      math::SqrtOp::create(builder, loc, makeCount(getDim(projected, 3)));
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, circles);
  return buildGeneric(
      {circles, halfNorms}, makeEmpty(sizes, f64),
      {{0, 1, 2, 3}, {0, 1, 2}, {0, 1, 2, 3}}, 4,
      [&](ValueRange args) -> Value {
        Value length = math::ExpOp::create(builder, loc, args[1]);
        Value product = arith::MulFOp::create(builder, loc, length, args[0]);
        return arith::DivFOp::create(builder, loc, product, root);
      });
}

Value FeatureBuilder::build(Value input) {
  Value vectors = buildScaled(input);
  Value entries = map.projection ? buildProjected(vectors) : vectors;
  if (map.region) {
    // f32 is only what the region of an op in f32 happens to be written in.
    bool isF64 = map.region->getArgument(0).getType().isF64();
    FloatType least = isF64 ? builder.getF32Type() : f64;
    return buildMap(entries, [&](ValueRange args) {
      return inlineWidened(*map.region, builder, args[0], least);
    });
  }
  auto buildPositive = [&](Value x) -> Value {
    return arith::MaximumFOp::create(builder, loc, x, makeFloat(0.0));
  };
  return llvm::TypeSwitch<Attribute, Value>(map.kind)
      .Case([&](IdentityAttr) { return entries; })
      .Case([&](Elu1Attr) {
        return buildMap(entries, [&](ValueRange args) {
          Value isPositive = arith::CmpFOp::create(
              builder, loc, CmpFPredicate::OGT, args[0], makeFloat(0.0));
          return select(
              isPositive,
              arith::AddFOp::create(builder, loc, args[0], makeFloat(1.0)),
              math::ExpOp::create(builder, loc, args[0]));
        });
      })
      .Case([&](ReluAttr relu) {
        double eps = relu.getEps() ? relu.getEps().getValueAsDouble() : 0.0;
        return buildMap(entries, [&](ValueRange args) -> Value {
          return arith::AddFOp::create(builder, loc, buildPositive(args[0]),
                                       makeFloat(eps));
        });
      })
      .Case([&](Relu2Attr) {
        return buildMap(entries, [&](ValueRange args) -> Value {
          Value positive = buildPositive(args[0]);
          return arith::MulFOp::create(builder, loc, positive, positive);
        });
      })
      .Case(
          [&](SoftmaxFeaturesAttr) { return buildSoftmaxOfFeatures(entries); })
      .Case([&](SoftmaxPositionsAttr) {
        return buildSoftmaxOfPositions(entries);
      })
      .Case([&](HedgehogAttr) {
        return buildSoftmaxOfFeatures(buildNegated(entries));
      })
      .Case([&](CosformerAttr) { return buildCosformer(entries); })
      .Case([&](Taylor2Attr) { return buildTaylor2(entries); })
      .Case<PositiveAttr, HyperbolicAttr>([&](auto) {
        return buildExponential(entries, buildHalfNorms(vectors));
      })
      .Case([&](TrigonometricAttr) {
        return buildTrigonometric(entries, buildHalfNorms(vectors));
      });
}

Value attn::buildKeyOfKnownDim(OpBuilder &b, LinearOp op) {
  RankedTensorType type = op.getKey().getType();
  SmallVector<int64_t> sizes(type.getShape());
  int64_t dim = op.getQuery().getType().getDimSize(3);
  if (!ShapedType::isDynamic(sizes[3]) || ShapedType::isDynamic(dim))
    return op.getKey();
  sizes[3] = dim;
  return tensor::CastOp::create(b, op.getLoc(), type.clone(sizes), op.getKey());
}
