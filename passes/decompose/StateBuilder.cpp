// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See StateBuilder.h.

#include "passes/decompose/StateBuilder.h"

#include "passes/decompose/WidenRegion.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::attn;

//===- vectors ------------------------------------------------------------===//

Value StateBuilder::getRow(Value tensor, ArrayRef<Value> leading) {
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

Value StateBuilder::insertRow(Value row, Value tensor,
                              ArrayRef<Value> leading) {
  SmallVector<OpFoldResult> offsets(leading.begin(), leading.end());
  SmallVector<OpFoldResult> sizes(leading.size(), builder.getIndexAttr(1));
  offsets.push_back(builder.getIndexAttr(0));
  sizes.push_back(tensor::getMixedSize(builder, loc, row, 0));
  SmallVector<OpFoldResult> strides(offsets.size(), builder.getIndexAttr(1));
  return tensor::InsertSliceOp::create(builder, loc, row, tensor, offsets,
                                       sizes, strides);
}

Value StateBuilder::getScalar(Value tensor, ArrayRef<Value> at) {
  return widenFloat(builder, loc,
                    tensor::ExtractOp::create(builder, loc, tensor, at), f64);
}

Value StateBuilder::buildVector(ValueRange vectors,
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

Value StateBuilder::buildRoots(Value g, OpFoldResult size) {
  // Two factors of this size make an infinity of any number but 0.
  constexpr double kMost = 709.7;
  auto build = [&](Value x) -> Value {
    Value half = apply<arith::MulFOp>(x, makeFloat(0.5));
    return math::ExpOp::create(
        builder, loc, apply<arith::MinimumFOp>(half, makeFloat(kMost)));
  };
  if (isa<RankedTensorType>(g.getType()))
    return buildVector(g, [&](ValueRange args) { return build(args[0]); });
  return linalg::FillOp::create(builder, loc, build(g), makeEmpty(size, f64))
      .getResult(0);
}

//===- the state ----------------------------------------------------------===//

void StateBuilder::applyDeltaRule(Token &token, Value beta) {
  token.a = token.k;
  token.readsDecayed = true;
  Value negated = arith::NegFOp::create(builder, loc, beta);
  token.b = buildVector(token.k, [&](ValueRange args) {
    return apply<arith::MulFOp>(negated, args[0]);
  });
  token.v = buildVector(token.v, [&](ValueRange args) {
    return apply<arith::MulFOp>(beta, args[0]);
  });
}

/// roots[r] roots[r] state[r,c]
Value StateBuilder::buildDecayed(Value roots, Value state) {
  return buildGeneric(roots, state, {{0}, {0, 1}}, 2, [&](ValueRange args) {
    return apply<arith::MulFOp>(args[0],
                                apply<arith::MulFOp>(args[0], args[1]));
  });
}

/// state[r,c] + features[r] columns[c]
Value StateBuilder::buildOuter(Value features, Value columns, Value state) {
  return buildGeneric({features, columns}, state, {{0}, {1}, {0, 1}}, 2,
                      [&](ValueRange args) {
                        Value product = apply<arith::MulFOp>(
                            widenFloat(builder, loc, args[0], f64), args[1]);
                        return apply<arith::AddFOp>(args[2], product);
                      });
}

Value StateBuilder::buildNext(const Token &token, Value state) {
  Value next = token.roots ? buildDecayed(token.roots, state) : state;
  if (token.b) {
    Value read = buildProduct(token.a, token.readsDecayed ? next : state);
    next = buildOuter(token.b, read, next);
  }
  return buildOuter(token.k, token.v, next);
}

//===- the output ---------------------------------------------------------===//

/// product[c] = sum_r features[r] state[r,c]
Value StateBuilder::buildProduct(Value features, Value state) {
  OpFoldResult columns = tensor::getMixedSize(builder, loc, state, 1);
  return buildGeneric({features, state}, makeFilled(columns, 0.0),
                      {{1}, {1, 0}, {0}}, 2, [&](ValueRange args) {
                        Value product = apply<arith::MulFOp>(
                            widenFloat(builder, loc, args[0], f64), args[1]);
                        return apply<arith::AddFOp>(args[2], product);
                      });
}

/// total[c] + (sum_r q[r] bonus[r] k[r]) v[c]
Value StateBuilder::buildBonus(Value q, const Token &token, Value total) {
  Value sum =
      buildGeneric({q, token.bonus, token.k}, makeFilled({}, 0.0),
                   {{0}, {0}, {0}, {}}, 1, [&](ValueRange args) {
                     SmallVector<Value> wide;
                     for (Value arg : args)
                       wide.push_back(widenFloat(builder, loc, arg, f64));
                     Value product = apply<arith::MulFOp>(
                         wide[0], apply<arith::MulFOp>(wide[1], wide[2]));
                     return apply<arith::AddFOp>(wide[3], product);
                   });
  Value weight = tensor::ExtractOp::create(builder, loc, sum, ValueRange());
  return buildVector({total, token.v}, [&](ValueRange args) {
    return apply<arith::AddFOp>(args[0], apply<arith::MulFOp>(weight, args[1]));
  });
}

/// bonus[r] k[r]
Value StateBuilder::buildScaledKey(const Token &token) {
  return buildVector({token.bonus, token.k}, [&](ValueRange args) {
    return apply<arith::MulFOp>(args[0], args[1]);
  });
}

/// q[r] / state[r,column], 0 where that is 0.
Value StateBuilder::buildDivided(Value q, Value state, Value column) {
  OpFoldResult one = builder.getIndexAttr(1), zero = builder.getIndexAttr(0);
  OpFoldResult features = tensor::getMixedSize(builder, loc, state, 0);
  auto type = RankedTensorType::get(
      cast<RankedTensorType>(state.getType()).getShape().take_front(), f64);
  Value sums = tensor::ExtractSliceOp::create(
      builder, loc, type, state,
      ArrayRef<OpFoldResult>{zero, getAsOpFoldResult(column)},
      ArrayRef<OpFoldResult>{features, one}, ArrayRef<OpFoldResult>{one, one});
  return buildVector({q, sums}, [&](ValueRange args) {
    Value quotient = apply<arith::DivFOp>(args[0], args[1]);
    return select(isEqual(args[1], 0.0), makeFloat(0.0), quotient);
  });
}

Value StateBuilder::buildRow(Value q, Value state, const Token *token,
                             const Readout &readout) {
  Value divided = q;
  if (readout.normalize == Normalizer::Feature) {
    // The bonus is in the divisors, too: it changes the state that is read.
    if (token && token->bonus)
      state = buildOuter(buildScaledKey(*token), token->v, state);
    divided = buildDivided(q, state, readout.divisor);
  }
  Value total = buildProduct(divided, state);
  if (token && token->bonus && readout.normalize != Normalizer::Feature)
    total = buildBonus(q, *token, total);
  Value scaled = buildVector(total, [&](ValueRange args) {
    return apply<arith::MulFOp>(args[0], makeFloat(readout.scale));
  });
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  Value row = tensor::ExtractSliceOp::create(
      builder, loc, scaled, zero, getAsOpFoldResult(readout.columns), one);
  if (readout.normalize != Normalizer::Token)
    return row;
  Value divisor = getScalar(scaled, readout.divisor);
  return buildVector(row, [&](ValueRange args) {
    Value quotient = apply<arith::DivFOp>(args[0], divisor);
    return select(isEqual(divisor, 0.0), makeFloat(0.0), quotient);
  });
}
