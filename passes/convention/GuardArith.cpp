// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives every arithmetic operation of a program a result for all operands. Runs
// on the source, so that every device computes the same, none traps, and LLVM
// finds nothing undefined to exploit.

#include "passes/Passes.h"

#include "mlir/IR/Matchers.h"

namespace mlir::attn {
#define GEN_PASS_DEF_GUARDARITH
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

static Value makeInt(OpBuilder &builder, Location loc, Type type,
                     const APInt &value) {
  return arith::ConstantOp::create(builder, loc, type,
                                   builder.getIntegerAttr(type, value));
}

static Value select(OpBuilder &builder, Location loc, Value condition,
                    Value yes, Value no) {
  return arith::SelectOp::create(builder, loc, condition, yes, no);
}

static unsigned getWidth(Type type) {
  return type.isIndex() ? IndexType::kInternalStorageBitWidth
                        : type.getIntOrFloatBitWidth();
}

static std::optional<APInt> getConstant(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant;
  return std::nullopt;
}

/// %r = arith.divsi %a, %b
///   ->  %r = arith.divsi %a, (%b == 0 || (%b == -1 && %a == min) ? 1 : %b)
static void guardDivision(Operation *op, bool isSigned) {
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  std::optional<APInt> divisor = getConstant(rhs);
  if (divisor && !divisor->isZero() && !(isSigned && divisor->isAllOnes()))
    return;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Type type = rhs.getType();
  unsigned width = getWidth(type);
  auto equals = [&](Value value, const APInt &constant) -> Value {
    return arith::CmpIOp::create(builder, loc, CmpIPredicate::eq, value,
                                 makeInt(builder, loc, type, constant));
  };
  Value unsafe = equals(rhs, APInt::getZero(width));
  if (isSigned) {
    Value overflows = arith::AndIOp::create(
        builder, loc, equals(rhs, APInt::getAllOnes(width)),
        equals(lhs, APInt::getSignedMinValue(width)));
    unsafe = arith::OrIOp::create(builder, loc, unsafe, overflows);
  }
  // 1 as a bit pattern: in i1 it is also -1, where no quotient overflows.
  Value one = makeInt(builder, loc, type, APInt(width, 1));
  op->setOperand(1, select(builder, loc, unsafe, one, rhs));
}

/// %r = arith.shli %a, %n  ->  %r = (%n < width ? arith.shli %a, %n : 0)
/// An arithmetic shift to the right goes on giving the sign.
static void guardShift(Operation *op) {
  Value amount = op->getOperand(1);
  Type type = amount.getType();
  unsigned width = getWidth(type);
  std::optional<APInt> constant = getConstant(amount);
  if (constant && constant->ult(width))
    return;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value last = makeInt(builder, loc, type, APInt(width, width - 1));
  Value inside =
      arith::CmpIOp::create(builder, loc, CmpIPredicate::ule, amount, last);
  op->setOperand(1, select(builder, loc, inside, amount, last));
  if (isa<arith::ShRSIOp>(op))
    return;
  builder.setInsertionPointAfter(op);
  Value result = op->getResult(0);
  Value zero = makeInt(builder, loc, type, APInt::getZero(width));
  Value guarded = select(builder, loc, inside, result, zero);
  result.replaceAllUsesExcept(guarded, guarded.getDefiningOp());
}

/// %r = arith.fptosi %x  ->  the nearest integer towards zero that the type
/// has, 0 for NaN.
static void guardConversion(Operation *op, bool isSigned) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value value = op->getOperand(0);
  // Comparisons of f16 and bf16 would be library calls, too.
  if (value.getType().getIntOrFloatBitWidth() == 16)
    value = arith::ExtFOp::create(builder, loc, builder.getF32Type(), value);
  Type type = op->getResult(0).getType();
  auto floatType = cast<FloatType>(value.getType());
  unsigned width = getWidth(type);
  auto makeFloat = [&](const APInt &number, llvm::RoundingMode mode) -> Value {
    APFloat limit(floatType.getFloatSemantics());
    limit.convertFromAPInt(number, isSigned, mode);
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(floatType, limit));
  };
  APInt min =
      isSigned ? APInt::getSignedMinValue(width) : APInt::getZero(width);
  APInt max =
      isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
  auto compare = [&](CmpFPredicate predicate, Value other) -> Value {
    return arith::CmpFOp::create(builder, loc, predicate, value, other);
  };
  // The floats at or outside of the limits, infinite if there is none nearer.
  Value low = makeFloat(min, APFloat::rmTowardNegative);
  Value high = makeFloat(max, APFloat::rmTowardPositive);
  Value below = compare(CmpFPredicate::OLE, low);
  Value above = compare(CmpFPredicate::OGE, high);
  Value unordered = compare(CmpFPredicate::UNO, value);
  Value outside = arith::OrIOp::create(
      builder, loc, arith::OrIOp::create(builder, loc, below, above),
      unordered);
  Value zero = makeFloat(APInt::getZero(width), APFloat::rmTowardZero);
  op->setOperand(0, select(builder, loc, outside, zero, value));
  builder.setInsertionPointAfter(op);
  Value result = op->getResult(0);
  Value atMin =
      select(builder, loc, below, makeInt(builder, loc, type, min), result);
  Value guarded =
      select(builder, loc, above, makeInt(builder, loc, type, max), atMin);
  result.replaceAllUsesExcept(guarded, atMin.getDefiningOp());
}

/// Flags promise what nobody checks: a broken promise has no result.
static void dropFlags(Operation *op) {
  if (auto flags = dyn_cast<arith::ArithFastMathInterface>(op))
    op->setAttr(flags.getFastMathAttrName(),
                arith::FastMathFlagsAttr::get(op->getContext(),
                                              arith::FastMathFlags::none));
  if (auto flags = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op))
    op->setAttr(flags.getIntegerOverflowAttrName(),
                arith::IntegerOverflowFlagsAttr::get(
                    op->getContext(), arith::IntegerOverflowFlags::none));
  for (StringRef name : {"isExact", "nonNeg"})
    op->removeAttr(name);
}

/// %r = arith.mulf %a, %b : bf16
///   ->  %r = arith.truncf (arith.mulf (arith.extf %a), (arith.extf %b) : f32)
/// Where a machine has no such arithmetic, LLVM calls a function that only some
/// runtime libraries have.
static void widenNarrow(Operation *op) {
  auto isNarrow = [](Type type) { return type.isBF16() || type.isF16(); };
  OpBuilder builder(op);
  Location loc = op->getLoc();
  // Casts round once, which is not by way of f32.
  if (isa<arith::ConstantOp, arith::ExtFOp, arith::TruncFOp, arith::SelectOp,
          arith::BitcastOp, arith::SIToFPOp, arith::UIToFPOp>(op))
    return;
  Type f32 = builder.getF32Type();
  for (OpOperand &operand : op->getOpOperands())
    if (isNarrow(operand.get().getType()))
      operand.set(arith::ExtFOp::create(builder, loc, f32, operand.get()));
  Value result = op->getResult(0);
  Type narrow = result.getType();
  if (!isNarrow(narrow))
    return;
  result.setType(f32);
  builder.setInsertionPointAfter(op);
  Value rounded = arith::TruncFOp::create(builder, loc, narrow, result);
  result.replaceAllUsesExcept(rounded, rounded.getDefiningOp());
}

/// %s, %c = math.sincos %x  ->  %s = math.sin %x, %c = math.cos %x
static SmallVector<Operation *> splitSincos(math::SincosOp op) {
  OpBuilder builder(op);
  auto sine = math::SinOp::create(builder, op.getLoc(), op.getOperand());
  auto cosine = math::CosOp::create(builder, op.getLoc(), op.getOperand());
  op.getSin().replaceAllUsesWith(sine);
  op.getCos().replaceAllUsesWith(cosine);
  op.erase();
  return {sine, cosine};
}

/// %r = math.clampf %x to [%a, %b]
///   ->  %r = arith.minimumf (arith.maximumf %x, %a), %b
static SmallVector<Operation *> splitClamp(math::ClampFOp op) {
  OpBuilder builder(op);
  auto max = arith::MaximumFOp::create(builder, op.getLoc(), op.getValue(),
                                       op.getMin());
  auto min = arith::MinimumFOp::create(builder, op.getLoc(), max, op.getMax());
  op.getResult().replaceAllUsesWith(min);
  op.erase();
  return {max, min};
}

/// %r = math.isnormal %x : f16
///   ->  %r = |%x| >= 2^-14 && |%x| < inf
/// and the like, before an f16 becomes an f32, which is normal where the f16 is
/// subnormal.
static SmallVector<Operation *> splitClassification(Operation *op) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value x = op->getOperand(0);
  auto type = cast<FloatType>(x.getType());
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  SmallVector<Operation *> parts;
  auto compare = [&](CmpFPredicate predicate, const APFloat &limit) {
    Value magnitude = math::AbsFOp::create(builder, loc, x);
    Value constant = arith::ConstantOp::create(
        builder, loc, builder.getFloatAttr(type, limit));
    Value result =
        arith::CmpFOp::create(builder, loc, predicate, magnitude, constant);
    parts.append({magnitude.getDefiningOp(), result.getDefiningOp()});
    return result;
  };
  APFloat infinity = APFloat::getInf(semantics);
  Value result;
  if (isa<math::IsNaNOp>(op)) {
    result = arith::CmpFOp::create(builder, loc, CmpFPredicate::UNO, x, x);
    parts.push_back(result.getDefiningOp());
  } else if (isa<math::IsInfOp>(op)) {
    result = compare(CmpFPredicate::OEQ, infinity);
  } else {
    result = compare(CmpFPredicate::OLT, infinity);
    if (isa<math::IsNormalOp>(op)) {
      Value isLarge = compare(CmpFPredicate::OGE,
                              APFloat::getSmallestNormalized(semantics));
      result = arith::AndIOp::create(builder, loc, result, isLarge);
    }
  }
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return parts;
}

static void guard(Operation *op) {
  SmallVector<Operation *> parts;
  if (auto sincos = dyn_cast<math::SincosOp>(op))
    parts = splitSincos(sincos);
  else if (auto clamp = dyn_cast<math::ClampFOp>(op))
    parts = splitClamp(clamp);
  else if (isa<math::IsFiniteOp, math::IsInfOp, math::IsNaNOp,
               math::IsNormalOp>(op))
    parts = splitClassification(op);
  if (!parts.empty()) {
    for (Operation *part : parts)
      guard(part);
    return;
  }
  if (op->getNumResults() != 1 ||
      !op->getResult(0).getType().isIntOrIndexOrFloat())
    return;
  dropFlags(op);
  if (isa<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp,
          arith::CeilDivSIOp>(op))
    guardDivision(op, /*isSigned=*/true);
  else if (isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op))
    guardDivision(op, /*isSigned=*/false);
  else if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
    guardShift(op);
  else if (isa<arith::FPToSIOp>(op))
    guardConversion(op, /*isSigned=*/true);
  else if (isa<arith::FPToUIOp>(op))
    guardConversion(op, /*isSigned=*/false);
  widenNarrow(op);
}

namespace {

struct GuardArithPass : public attn::impl::GuardArithBase<GuardArithPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
              op->getDialect()))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      guard(op);
  }
};

} // namespace
