// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SumBody.h.

#include "passes/convention/SumBody.h"

#include "passes/decompose/WidenRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

SumBody::SumBody(linalg::LinalgOp op, FloatType wide) : op(op), wide(wide) {
  Block *block = op.getBlock();
  for (BlockArgument sum : op.getRegionOutputArgs())
    sums.insert(sum);
  for (Operation &inner : block->without_terminator())
    if (llvm::any_of(inner.getOperands(),
                     [&](Value operand) { return sums.contains(operand); }))
      sums.insert_range(inner.getResults());
}

bool SumBody::canWiden() {
  return llvm::all_of(
      op.getBlock()->without_terminator(), [](Operation &inner) {
        return inner.getNumRegions() == 0 && inner.getNumResults() == 1;
      });
}

FloatType SumBody::widen(Type type) {
  auto written = cast<FloatType>(type);
  return written.getWidth() < wide.getWidth() ? wide : written;
}

/// True if `value` is arithmetic on operands of `type`: pass attn-guard-arith
/// makes that of f16 and bf16 arithmetic of f32 which is rounded.
static bool isArithmeticIn(Value value, Type type) {
  Operation *op = value.getDefiningOp();
  if (!op || isa<arith::ExtFOp, arith::TruncFOp, arith::ConstantOp>(op) ||
      !isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
          op->getDialect()))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    if (operand.getDefiningOp<arith::ConstantOp>())
      return true;
    auto cast = operand.getDefiningOp<arith::ExtFOp>();
    return cast && cast.getIn().getType() == type;
  });
}

bool SumBody::isDropped(arith::TruncFOp cast) {
  if (sums.contains(cast.getIn()))
    return true;
  Type type = cast.getType();
  bool isOfSum = llvm::any_of(op.getDpsInits(), [&](Value init) {
    return getElementTypeOrSelf(init.getType()) == type;
  });
  return isOfSum && type.getIntOrFloatBitWidth() == 16 &&
         isArithmeticIn(cast.getIn(), type);
}

Value SumBody::lookup(OpBuilder &builder, Value value) {
  Value mapped = mapping.lookupOrDefault(value);
  if (!isa<FloatType>(mapped.getType()))
    return mapped;
  return convertFloat(builder, op.getLoc(), mapped, widen(mapped.getType()));
}

/// A cast between floats, or between a float and its bits.
Value SumBody::buildCast(OpBuilder &builder, Operation *inner) {
  Location loc = inner->getLoc();
  Value operand = lookup(builder, inner->getOperand(0));
  Type from = inner->getOperand(0).getType();
  Type to = inner->getResult(0).getType();
  if (isa<arith::BitcastOp>(inner)) {
    if (isa<FloatType>(from))
      operand = roundOnce(builder, loc, operand, cast<FloatType>(from));
    return arith::BitcastOp::create(builder, loc, to, operand);
  }
  if (auto cast = dyn_cast<arith::TruncFOp>(inner); cast && !isDropped(cast))
    return roundOnce(builder, loc, operand, mlir::cast<FloatType>(to));
  return convertFloat(builder, loc, operand, widen(to));
}

void SumBody::clone(OpBuilder &builder, Operation *inner) {
  Value result = inner->getResult(0);
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::BitcastOp>(inner)) {
    mapping.map(result, buildCast(builder, inner));
    return;
  }
  // What reads memory or is a number has the type that it has.
  if (inner->getNumOperands() == 0 ||
      llvm::any_of(inner->getOperandTypes(), llvm::IsaPred<ShapedType>)) {
    builder.clone(*inner, mapping);
    return;
  }
  SmallVector<Value> operands;
  for (Value operand : inner->getOperands())
    operands.push_back(lookup(builder, operand));
  Type type = result.getType();
  if (isa<FloatType>(type))
    type = widen(type);
  OperationState state(inner->getLoc(), inner->getName(), operands, type,
                       inner->getAttrs());
  state.propertiesAttr = inner->getPropertiesAsAttribute();
  mapping.map(result, builder.create(state)->getResult(0));
}

SmallVector<Value> SumBody::build(OpBuilder &builder, ValueRange args,
                                  TypeRange types) {
  Block *block = op.getBlock();
  for (auto [parameter, arg] : llvm::zip_equal(block->getArguments(), args))
    mapping.map(parameter, arg);
  for (Operation &inner : block->without_terminator())
    clone(builder, &inner);
  SmallVector<Value> results;
  for (auto [value, type] :
       llvm::zip_equal(block->getTerminator()->getOperands(), types)) {
    Value result = lookup(builder, value);
    if (isa<FloatType>(type))
      result = roundOnce(builder, op.getLoc(), result, cast<FloatType>(type));
    results.push_back(result);
  }
  return results;
}
