// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See NumberChecks.h.

#include "passes/convention/NumberChecks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::attn;
using arith::CmpFPredicate;

Value attn::buildHolds(OpBuilder &builder, Location loc, const NumberRule &rule,
                       Value number) {
  auto constant = [&](FloatType type, double value) -> Value {
    APFloat rounded(value);
    bool losesInfo;
    rounded.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(type, rounded));
  };
  // Ordered: false for NaN.
  auto isBelow = [&](Value left, Value right) -> Value {
    return arith::CmpFOp::create(builder, loc, CmpFPredicate::OLT, left, right);
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  FloatType f32 = builder.getF32Type(), f64 = builder.getF64Type();
  Value isFinite = isBelow(number, constant(f32, infinity));
  bool isPositive = rule.kind == NumberRule::Kind::PositiveWithReciprocal;
  Value isAbove = isBelow(constant(f32, isPositive ? 0.0 : -infinity), number);
  Value holds = arith::AndIOp::create(builder, loc, isFinite, isAbove);
  // Of f64 is the reciprocal of every number of f32.
  if (!isPositive || rule.type.isF64())
    return holds;
  Value wide = arith::ExtFOp::create(builder, loc, f64, number);
  Value reciprocal =
      arith::DivFOp::create(builder, loc, constant(f64, 1.0), wide);
  // Of f32, as it is rounded.
  Value rounded = arith::TruncFOp::create(builder, loc, f32, reciprocal);
  return arith::AndIOp::create(builder, loc, holds,
                               isBelow(rounded, constant(f32, infinity)));
}
