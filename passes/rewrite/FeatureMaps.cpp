// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FeatureMaps.h.

#include "passes/rewrite/FeatureMaps.h"

#include "passes/decompose/WidenRegion.h"

using namespace mlir;
using namespace mlir::attn;

//===- cosformer ----------------------------------------------------------===//

Value attn::buildAngleStep(RowBuilder &rows, Value length) {
  OpBuilder &b = rows.builder;
  Location loc = rows.loc;
  // Without rows there is no angle.
  length = b.createOrFold<arith::MaxSIOp>(
      loc, length, arith::ConstantIndexOp::create(b, loc, 1));
  Value integer = arith::IndexCastOp::create(b, loc, b.getI64Type(), length);
  return rows.apply<arith::DivFOp>(
      rows.makeFloat(M_PI / 2),
      arith::SIToFPOp::create(b, loc, rows.type, integer));
}

/// The angle of each row.
static Value buildAngles(RowBuilder &rows, Value entries,
                         const CosformerRows &options) {
  OpBuilder &b = rows.builder;
  Location loc = rows.loc;
  Value step;
  if (options.length)
    step = rows.makeFloat(M_PI / 2 / static_cast<double>(*options.length));
  else if (options.lengthValue)
    step = buildAngleStep(rows, options.lengthValue);
  else
    step = buildAngleStep(rows, b.createOrFold<tensor::DimOp>(loc, entries, 2));
  return buildPlainGeneric(
      b, loc, {}, rows.empty({rows.sizes(entries)[2]}, rows.type), {{0}}, 1,
      [&](ValueRange) {
        Value position = linalg::IndexOp::create(b, loc, 0);
        if (options.offset)
          position = arith::AddIOp::create(b, loc, position, options.offset);
        Value integer =
            arith::IndexCastOp::create(b, loc, b.getI64Type(), position);
        return rows.mul(arith::SIToFPOp::create(b, loc, rows.type, integer),
                        step);
      });
}

/// max(x, 0) times the cosine and the sine of the position's angle.
Value attn::buildCosformer(RowBuilder &rows, Value entries,
                           const CosformerRows &options, FloatType result) {
  OpBuilder &b = rows.builder;
  Location loc = rows.loc;
  Value angles =
      options.angles ? options.angles : buildAngles(rows, entries, options);
  auto wave = [&](bool isSine) {
    return rows.map({angles}, angles, rows.type, [&](ValueRange args) {
      return isSine ? Value(math::SinOp::create(b, loc, args[0]))
                    : Value(math::CosOp::create(b, loc, args[0]));
    });
  };
  SmallVector<Value> parts;
  for (bool isSine : {false, true})
    parts.push_back(buildPlainGeneric(
        b, loc, {entries, wave(isSine)},
        rows.empty(rows.sizes(entries), result),
        {{0, 1, 2, 3}, {2}, {0, 1, 2, 3}}, 4, [&](ValueRange args) {
          Value x = widenFloat(b, loc, args[0], rows.type);
          if (options.scale != 1.0)
            x = rows.mul(x, rows.makeFloat(options.scale));
          Value positive =
              rows.apply<arith::MaximumFOp>(x, rows.makeFloat(0.0));
          return roundOnce(b, loc, rows.mul(positive, args[1]), result);
        }));
  return rows.concat(parts);
}

//===- taylor2 ------------------------------------------------------------===//

namespace {

/// Emits the tables of the features of vectors of `dim` entries: feature f is
/// c[f] x[i[f]] x[j[f]]. They are loops, not constants, since there are
/// features by the square of `dim`.
class TaylorTables {
public:
  TaylorTables(RowBuilder &rows, int64_t dim)
      : rows(rows), b(rows.builder), loc(rows.loc), dim(dim),
        count(1 + dim + dim * (dim + 1) / 2) {}

  int64_t getCount() const { return count; }
  /// i or j, an i64 each; any of the entries where a feature takes none.
  Value buildEntries(bool isLeft);
  /// c, for the factors of linear features, squares and products.
  Value buildFactors(double linear, double square, double product);

private:
  Value number(int64_t x) {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(x));
  }
  template <typename OpTy> Value apply(Value x, Value y) {
    return OpTy::create(b, loc, x, y);
  }
  Value isUpTo(Value feature, int64_t last) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, feature,
                                 number(last));
  }
  /// The number of the feature that a body is at.
  Value getFeature() {
    return arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                      linalg::IndexOp::create(b, loc, 0));
  }
  /// k (k + 1) / 2
  Value triangle(Value k) {
    return apply<arith::ShRSIOp>(
        apply<arith::MulIOp>(k, apply<arith::AddIOp>(k, number(1))), number(1));
  }
  Value buildPair(Value feature, bool isLeft);

  RowBuilder &rows;
  OpBuilder &b;
  Location loc;
  int64_t dim, count;
};

} // namespace

/// i or j of a product x_i x_j, i < j, of which rows i lie one after the other.
/// Counted from the last product, row k from the end has the k + 1 products
/// from k (k + 1) / 2 on.
Value TaylorTables::buildPair(Value feature, bool isLeft) {
  Type f64 = b.getF64Type();
  Value fromEnd = apply<arith::SubIOp>(number(count - 1), feature);
  auto real = [&](double x) -> Value {
    return arith::ConstantOp::create(b, loc, b.getF64FloatAttr(x));
  };
  Value wide = arith::SIToFPOp::create(b, loc, f64, fromEnd);
  Value root = math::SqrtOp::create(
      b, loc,
      apply<arith::AddFOp>(apply<arith::MulFOp>(wide, real(8.0)), real(1.0)));
  Value near = arith::FPToSIOp::create(
      b, loc, b.getI64Type(),
      apply<arith::MulFOp>(apply<arith::SubFOp>(root, real(1.0)), real(0.5)));
  // The root is rounded: the row may be one beside.
  Value one = number(1), next = apply<arith::AddIOp>(near, one);
  Value isBelow = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt,
                                        triangle(near), fromEnd);
  Value isAbove = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle,
                                        triangle(next), fromEnd);
  Value row = rows.select(isBelow, apply<arith::SubIOp>(near, one),
                          rows.select(isAbove, next, near));
  if (isLeft)
    return apply<arith::SubIOp>(number(dim - 2), row);
  Value column = apply<arith::SubIOp>(fromEnd, triangle(row));
  return apply<arith::SubIOp>(number(dim - 1), column);
}

Value TaylorTables::buildEntries(bool isLeft) {
  return buildPlainGeneric(
      b, loc, {}, rows.empty({b.getIndexAttr(count)}, b.getI64Type()), {{0}}, 1,
      [&](ValueRange) {
        Value feature = getFeature();
        // 1, the linear features, then the squares.
        Value linear = apply<arith::MaxSIOp>(
            apply<arith::SubIOp>(feature, number(1)), number(0));
        Value square = apply<arith::SubIOp>(feature, number(1 + dim));
        return rows.select(isUpTo(feature, dim), linear,
                           rows.select(isUpTo(feature, 2 * dim), square,
                                       buildPair(feature, isLeft)));
      });
}

Value TaylorTables::buildFactors(double linear, double square, double product) {
  return buildPlainGeneric(
      b, loc, {}, rows.empty({b.getIndexAttr(count)}, rows.type), {{0}}, 1,
      [&](ValueRange) {
        Value feature = getFeature();
        Value factor =
            rows.select(isUpTo(feature, 2 * dim), rows.makeFloat(square),
                        rows.makeFloat(product));
        factor =
            rows.select(isUpTo(feature, dim), rows.makeFloat(linear), factor);
        return rows.select(isUpTo(feature, 0), rows.makeFloat(1.0), factor);
      });
}

/// 1, x_i / d^(1/4), x_i^2 / sqrt(2 d), and x_i x_j / sqrt(d) for i < j, by the
/// tables of i, j and the factors.
Value attn::buildTaylor2(RowBuilder &rows, Value entries, double scale,
                         FloatType result) {
  OpBuilder &b = rows.builder;
  Location loc = rows.loc;
  int64_t dim = cast<RankedTensorType>(entries.getType()).getDimSize(3);
  double d = static_cast<double>(dim);
  TaylorTables tables(rows, dim);
  Value left = tables.buildEntries(/*isLeft=*/true);
  Value right = tables.buildEntries(/*isLeft=*/false);
  Value factors = tables.buildFactors(scale / std::sqrt(std::sqrt(d)),
                                      scale * scale / std::sqrt(2 * d),
                                      scale * scale / std::sqrt(d));
  SmallVector<OpFoldResult> sizes = rows.sizes(entries);
  sizes[3] = b.getIndexAttr(tables.getCount());
  return buildPlainGeneric(
      b, loc, {left, right, factors}, rows.empty(sizes, result),
      {{3}, {3}, {3}, {0, 1, 2, 3}}, 4, [&](ValueRange args) {
        auto index = [&](int64_t loop) -> Value {
          return linalg::IndexOp::create(b, loc, loop);
        };
        auto entry = [&](Value at) {
          Value last = arith::IndexCastOp::create(b, loc, b.getIndexType(), at);
          return widenFloat(b, loc,
                            tensor::ExtractOp::create(
                                b, loc, entries,
                                ValueRange{index(0), index(1), index(2), last}),
                            rows.type);
        };
        auto isUpTo = [&](int64_t feature) -> Value {
          return arith::CmpIOp::create(
              b, loc, arith::CmpIPredicate::sle, index(3),
              arith::ConstantIndexOp::create(b, loc, feature));
        };
        Value one = rows.makeFloat(1.0);
        Value first = rows.select(isUpTo(0), one, entry(args[0]));
        Value second = rows.select(isUpTo(dim), one, entry(args[1]));
        Value product = rows.mul(args[2], rows.mul(first, second));
        return roundOnce(b, loc, product, result);
      });
}
