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
  // The numbers of f32 that are normal, as their reciprocals are, or finite.
  bool isPositive = rule.kind == NumberRule::Kind::PositiveWithReciprocal;
  APFloat most = isPositive ? APFloat(0x1p126f)
                            : APFloat::getLargest(APFloat::IEEEsingle());
  APFloat least = isPositive ? APFloat(0x1p-126f) : -most;
  // Ordered: false for NaN.
  auto isAtMost = [&](Value left, Value right) -> Value {
    return arith::CmpFOp::create(builder, loc, CmpFPredicate::OLE, left, right);
  };
  auto constant = [&](const APFloat &value) -> Value {
    return arith::ConstantOp::create(
        builder, loc, builder.getFloatAttr(builder.getF32Type(), value));
  };
  return arith::AndIOp::create(builder, loc, isAtMost(constant(least), number),
                               isAtMost(number, constant(most)));
}
