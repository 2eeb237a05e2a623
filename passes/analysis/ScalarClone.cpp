// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations of a mask or score region on one position, as scalar code that
// neither traps nor reads out of bounds.

#include "passes/analysis/ScalarClone.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;
using arith::CmpIPredicate;

/// A constant of an integer type or index.
static Value getInteger(OpBuilder &builder, Location loc, Type type,
                        const APInt &value) {
  return arith::ConstantOp::create(builder, loc, IntegerAttr::get(type, value));
}

static unsigned getWidth(Type type) {
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

Value attn::getSize(OpBuilder &builder, Location loc, Value shaped,
                    int64_t dim) {
  auto type = cast<ShapedType>(shaped.getType());
  if (!type.isDynamicDim(dim))
    return arith::ConstantIndexOp::create(builder, loc, type.getDimSize(dim));
  if (isa<MemRefType>(type))
    return builder.createOrFold<memref::DimOp>(loc, shaped, dim);
  return builder.createOrFold<tensor::DimOp>(loc, shaped, dim);
}

Value attn::clampIndex(OpBuilder &builder, Location loc, Value index,
                       Value shaped, int64_t dim) {
  Type type = index.getType();
  Value size = getSize(builder, loc, shaped, dim);
  if (!type.isIndex())
    size = builder.createOrFold<arith::IndexCastOp>(loc, type, size);
  Value one = getInteger(builder, loc, type, APInt(getWidth(type), 1));
  Value zero = getInteger(builder, loc, type, APInt(getWidth(type), 0));
  Value last = builder.createOrFold<arith::SubIOp>(loc, size, one);
  Value below = builder.createOrFold<arith::MinSIOp>(loc, index, last);
  return builder.createOrFold<arith::MaxSIOp>(loc, below, zero);
}

/// 1 instead of a divisor that is 0 or, for signed operations, takes the least
/// number to one that does not exist.
static Value guardDivisor(OpBuilder &builder, Location loc, Value dividend,
                          Value divisor, bool isSigned) {
  Type type = divisor.getType();
  unsigned width = getWidth(type);
  auto equals = [&](Value value, const APInt &number) {
    return builder.createOrFold<arith::CmpIOp>(
        loc, CmpIPredicate::eq, value, getInteger(builder, loc, type, number));
  };
  Value bad = equals(divisor, APInt::getZero(width));
  if (isSigned) {
    Value wraps = builder.createOrFold<arith::AndIOp>(
        loc, equals(dividend, APInt::getSignedMinValue(width)),
        equals(divisor, APInt::getAllOnes(width)));
    bad = builder.createOrFold<arith::OrIOp>(loc, bad, wraps);
  }
  // An i1 of 1 is -1, which is why it's the least number's divisor only above.
  Value one = getInteger(builder, loc, type, APInt(width, 1));
  return builder.createOrFold<arith::SelectOp>(loc, bad, one, divisor);
}

/// 0 instead of a number that `type` does not hold, or NaN.
static Value guardFloatToInt(OpBuilder &builder, Location loc, Value number,
                             Type type) {
  auto floatType = cast<FloatType>(number.getType());
  auto getFloat = [&](double value) -> Value {
    APFloat result(value);
    bool losesInfo;
    result.convert(floatType.getFloatSemantics(), APFloat::rmTowardZero,
                   &losesInfo);
    return arith::ConstantOp::create(builder, loc,
                                     FloatAttr::get(floatType, result));
  };
  double limit = std::ldexp(1.0, getWidth(type) - 1);
  Value above = builder.createOrFold<arith::CmpFOp>(
      loc, arith::CmpFPredicate::OGE, number, getFloat(-limit));
  Value below = builder.createOrFold<arith::CmpFOp>(
      loc, arith::CmpFPredicate::OLT, number, getFloat(limit));
  Value fits = builder.createOrFold<arith::AndIOp>(loc, above, below);
  return builder.createOrFold<arith::SelectOp>(loc, fits, number, getFloat(0));
}

/// Replaces operands for which `op` would not be defined.
static void guardOperands(OpBuilder &builder, Location loc, Operation &op,
                          MutableArrayRef<Value> operands) {
  if (isa<tensor::ExtractOp, memref::LoadOp>(op)) {
    for (auto [dim, index] : llvm::enumerate(operands.drop_front()))
      index = clampIndex(builder, loc, index, operands.front(), dim);
  } else if (isa<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
                 arith::RemSIOp>(op)) {
    operands[1] = guardDivisor(builder, loc, operands[0], operands[1],
                               /*isSigned=*/true);
  } else if (isa<arith::DivUIOp, arith::CeilDivUIOp, arith::RemUIOp>(op)) {
    operands[1] = guardDivisor(builder, loc, operands[0], operands[1],
                               /*isSigned=*/false);
  } else if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op)) {
    Type type = operands[1].getType();
    unsigned width = getWidth(type);
    Value last = getInteger(builder, loc, type, APInt(width, width - 1));
    operands[1] = builder.createOrFold<arith::MinUIOp>(loc, operands[1], last);
  } else if (isa<arith::FPToSIOp>(op)) {
    operands[0] =
        guardFloatToInt(builder, loc, operands[0], op.getResult(0).getType());
  }
}

Value attn::cloneScalar(OpBuilder &builder, Location loc, Operation &op,
                        ValueRange operands) {
  SmallVector<Value> safe(operands);
  guardOperands(builder, loc, op, safe);
  Operation *clone = op.clone();
  clone->setLoc(loc);
  for (auto [operand, value] : llvm::zip(clone->getOpOperands(), safe))
    operand.set(value);
  // As createOrFold: listeners are told only of what stays.
  builder.getBlock()->getOperations().insert(builder.getInsertionPoint(),
                                             clone);
  SmallVector<Value, 1> folded;
  // Nothing is returned for a fold in place.
  if (succeeded(builder.tryFold(clone, folded)) && !folded.empty() &&
      folded.front() != clone->getResult(0)) {
    clone->erase();
    return folded.front();
  }
  if (OpBuilder::Listener *listener = builder.getListener())
    listener->notifyOperationInserted(clone, {});
  return clone->getResult(0);
}
