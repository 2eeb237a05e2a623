// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on ranges as IR: sums, products, quotients and shifts. Bits,
// truth values and compares are in IntervalLogic.cpp.
//
// Most rules take the extremes at the corners of the two ranges: an operation
// that is monotone in each operand, in whichever direction, has them there.

#include "passes/analysis/Interval.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;
using arith::CmpIPredicate;

static constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

Value IntervalEmitter::constant(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, /*width=*/64);
}

Value IntervalEmitter::flag(bool value) {
  return arith::ConstantIntOp::create(builder, loc, value, /*width=*/1);
}

Value IntervalEmitter::logicalNot(Value value) {
  return emit<arith::XOrIOp>(value, flag(true));
}

Interval IntervalEmitter::full(unsigned width) {
  return {constant(llvm::minIntN(width)), constant(llvm::maxIntN(width))};
}

Value IntervalEmitter::toInt64(Value value, bool isSigned) {
  Type int64 = builder.getI64Type();
  if (value.getType() == int64)
    return value;
  if (value.getType().isIndex())
    return emit<arith::IndexCastOp>(int64, value);
  return isSigned ? emit<arith::ExtSIOp>(int64, value)
                  : emit<arith::ExtUIOp>(int64, value);
}

Interval IntervalEmitter::guard(Interval a, Value ok, unsigned width) {
  Interval all = full(width);
  if (width < 64) {
    Value above = compareValues(CmpIPredicate::sge, a.lo, all.lo);
    Value below = compareValues(CmpIPredicate::sle, a.hi, all.hi);
    ok = emit<arith::AndIOp>(ok, emit<arith::AndIOp>(above, below));
  }
  return {emit<arith::SelectOp>(ok, a.lo, all.lo),
          emit<arith::SelectOp>(ok, a.hi, all.hi)};
}

Interval IntervalEmitter::ordered(Interval a) {
  return guard(a, compareValues(CmpIPredicate::sle, a.lo, a.hi), /*width=*/64);
}

Interval IntervalEmitter::hull(ArrayRef<Value> corners) {
  Interval result{corners.front(), corners.front()};
  for (Value corner : corners.drop_front()) {
    result.lo = emit<arith::MinSIOp>(result.lo, corner);
    result.hi = emit<arith::MaxSIOp>(result.hi, corner);
  }
  return result;
}

//===- sums ---------------------------------------------------------------===//

Interval IntervalEmitter::add(Interval a, Interval b, unsigned width) {
  Interval sum{emit<arith::AddIOp>(a.lo, b.lo),
               emit<arith::AddIOp>(a.hi, b.hi)};
  // The sum of two narrower integers fits 64 bits.
  if (width < 64)
    return guard(sum, flag(true), width);
  // A sum has wrapped if its sign is that of neither operand.
  auto wrapped = [&](Value x, Value y, Value s) {
    return emit<arith::AndIOp>(emit<arith::XOrIOp>(x, s),
                               emit<arith::XOrIOp>(y, s));
  };
  Value signs = emit<arith::OrIOp>(wrapped(a.lo, b.lo, sum.lo),
                                   wrapped(a.hi, b.hi, sum.hi));
  return guard(sum, compareValues(CmpIPredicate::sge, signs, constant(0)),
               width);
}

Interval IntervalEmitter::sub(Interval a, Interval b, unsigned width) {
  Interval difference{emit<arith::SubIOp>(a.lo, b.hi),
                      emit<arith::SubIOp>(a.hi, b.lo)};
  if (width < 64)
    return guard(difference, flag(true), width);
  auto wrapped = [&](Value x, Value y, Value d) {
    return emit<arith::AndIOp>(emit<arith::XOrIOp>(x, y),
                               emit<arith::XOrIOp>(x, d));
  };
  Value signs = emit<arith::OrIOp>(wrapped(a.lo, b.hi, difference.lo),
                                   wrapped(a.hi, b.lo, difference.hi));
  return guard(difference,
               compareValues(CmpIPredicate::sge, signs, constant(0)), width);
}

//===- products -----------------------------------------------------------===//

Value IntervalEmitter::checkedMul(Value a, Value b, Value &ok) {
  SmallVector<Value, 2> halves;
  builder.createOrFold<arith::MulSIExtendedOp>(halves, loc, a, b);
  Value sign = emit<arith::ShRSIOp>(halves[0], constant(63));
  ok = emit<arith::AndIOp>(ok,
                           compareValues(CmpIPredicate::eq, halves[1], sign));
  return halves[0];
}

Interval IntervalEmitter::mul(Interval a, Interval b, unsigned width) {
  if (getConstantIntValue(a.lo) && a.lo == a.hi)
    std::swap(a, b);
  Value ok = flag(true);
  std::optional<int64_t> lo = getConstantIntValue(b.lo);
  std::optional<int64_t> hi = getConstantIntValue(b.hi);
  // A factor of known sign and value needs no minimum and maximum.
  if (lo && lo == hi) {
    Value first = checkedMul(a.lo, b.lo, ok);
    Value last = checkedMul(a.hi, b.lo, ok);
    return guard(*lo < 0 ? Interval{last, first} : Interval{first, last}, ok,
                 width);
  }
  SmallVector<Value> corners{checkedMul(a.lo, b.lo, ok),
                             checkedMul(a.hi, b.lo, ok)};
  if (b.lo != b.hi) {
    corners.push_back(checkedMul(a.lo, b.hi, ok));
    corners.push_back(checkedMul(a.hi, b.hi, ok));
  }
  return guard(hull(corners), ok, width);
}

//===- quotients ----------------------------------------------------------===//

template <typename DivOpTy>
Interval IntervalEmitter::divSigned(Interval a, Interval b, unsigned width) {
  Value zero = constant(0), one = constant(1);
  // A divisor of one sign, and not the one quotient that wraps.
  Value positive = compareValues(CmpIPredicate::sgt, b.lo, zero);
  Value negative = compareValues(CmpIPredicate::slt, b.hi, zero);
  Value wraps = emit<arith::AndIOp>(
      compareValues(CmpIPredicate::eq, a.lo, constant(kMin)),
      compareValues(CmpIPredicate::eq, b.hi, constant(-1)));
  Value ok = emit<arith::AndIOp>(emit<arith::OrIOp>(positive, negative),
                                 logicalNot(wraps));
  Value lo = emit<arith::SelectOp>(ok, b.lo, one);
  if (std::optional<int64_t> divisor = getConstantIntValue(lo);
      divisor && b.lo == b.hi) {
    Value first = emit<DivOpTy>(a.lo, lo), last = emit<DivOpTy>(a.hi, lo);
    return guard(*divisor < 0 ? Interval{last, first} : Interval{first, last},
                 ok, width);
  }
  SmallVector<Value> corners{emit<DivOpTy>(a.lo, lo), emit<DivOpTy>(a.hi, lo)};
  if (b.lo != b.hi) {
    Value hi = emit<arith::SelectOp>(ok, b.hi, one);
    corners.push_back(emit<DivOpTy>(a.lo, hi));
    corners.push_back(emit<DivOpTy>(a.hi, hi));
  }
  return guard(hull(corners), ok, width);
}

template <typename DivOpTy>
Interval IntervalEmitter::divUnsigned(Interval a, Interval b, unsigned width) {
  Value one = constant(1);
  a = toUnsigned(a, width);
  b = toUnsigned(b, width);
  Value ok = compareValues(CmpIPredicate::ne, b.lo, constant(0));
  Value lo = emit<arith::SelectOp>(ok, b.lo, one);
  Value hi = emit<arith::SelectOp>(ok, b.hi, one);
  return fromUnsigned({emit<DivOpTy>(a.lo, hi), emit<DivOpTy>(a.hi, lo)}, ok,
                      width);
}

/// a - b * trunc(a / b): its sign is that of a, its size below that of b and
/// not above that of a, and while the quotient is one number it grows with a.
Interval IntervalEmitter::remSigned(Interval a, Interval b, unsigned width) {
  Value zero = constant(0), one = constant(1), minusOne = constant(-1);
  Value ok = emit<arith::OrIOp>(compareValues(CmpIPredicate::sgt, b.lo, zero),
                                compareValues(CmpIPredicate::slt, b.hi, zero));
  // |y| - 1, which does not wrap: ~y for a negative y.
  auto largest = [&](Value y) {
    return emit<arith::SelectOp>(compareValues(CmpIPredicate::slt, y, zero),
                                 emit<arith::XOrIOp>(y, minusOne),
                                 emit<arith::SubIOp>(y, one));
  };
  Value bound = largest(b.lo);
  if (b.lo != b.hi)
    bound = emit<arith::MaxSIOp>(bound, largest(b.hi));
  Interval result{
      emit<arith::MaxSIOp>(emit<arith::MinSIOp>(a.lo, zero),
                           emit<arith::SubIOp>(zero, bound)),
      emit<arith::MinSIOp>(emit<arith::MaxSIOp>(a.hi, zero), bound)};
  if (b.lo == b.hi) {
    // A divisor of -1 leaves 0, as does 1, and could trap.
    Value safe = emit<arith::AndIOp>(
        ok, compareValues(CmpIPredicate::ne, b.lo, minusOne));
    Value divisor = emit<arith::SelectOp>(safe, b.lo, one);
    Value same =
        compareValues(CmpIPredicate::eq, emit<arith::DivSIOp>(a.lo, divisor),
                      emit<arith::DivSIOp>(a.hi, divisor));
    result.lo = emit<arith::SelectOp>(same, emit<arith::RemSIOp>(a.lo, divisor),
                                      result.lo);
    result.hi = emit<arith::SelectOp>(same, emit<arith::RemSIOp>(a.hi, divisor),
                                      result.hi);
  }
  return guard(result, ok, width);
}

Interval IntervalEmitter::remUnsigned(Interval a, Interval b, unsigned width) {
  Value zero = constant(0), one = constant(1);
  a = toUnsigned(a, width);
  b = toUnsigned(b, width);
  Value ok = compareValues(CmpIPredicate::ne, b.lo, zero);
  Interval result{zero,
                  emit<arith::MinUIOp>(a.hi, emit<arith::SubIOp>(b.hi, one))};
  // With a range of divisors the ends are not one divisor's; the values are
  // compared, as two casts of one value are two values.
  Value exact = compareValues(CmpIPredicate::eq, b.lo, b.hi);
  Value divisor = emit<arith::SelectOp>(ok, b.lo, one);
  Value same = emit<arith::AndIOp>(
      exact,
      compareValues(CmpIPredicate::eq, emit<arith::DivUIOp>(a.lo, divisor),
                    emit<arith::DivUIOp>(a.hi, divisor)));
  result.lo = emit<arith::SelectOp>(same, emit<arith::RemUIOp>(a.lo, divisor),
                                    result.lo);
  result.hi = emit<arith::SelectOp>(same, emit<arith::RemUIOp>(a.hi, divisor),
                                    result.hi);
  return fromUnsigned(result, ok, width);
}

//===- shifts -------------------------------------------------------------===//

Value IntervalEmitter::checkShift(Interval &b, int64_t limit) {
  Value zero = constant(0);
  Value ok = emit<arith::AndIOp>(
      compareValues(CmpIPredicate::sge, b.lo, zero),
      compareValues(CmpIPredicate::sle, b.hi, constant(limit)));
  bool exact = b.lo == b.hi;
  b.lo = emit<arith::SelectOp>(ok, b.lo, zero);
  b.hi = exact ? b.lo : emit<arith::SelectOp>(ok, b.hi, zero);
  return ok;
}

/// A shift to the left is a product with a power of two, 2^62 at most.
Interval IntervalEmitter::shiftLeft(Interval a, Interval b, unsigned width) {
  Value ok = checkShift(b, std::min<int64_t>(width - 1, 62));
  Value one = constant(1);
  Interval factor{emit<arith::ShLIOp>(one, b.lo), {}};
  factor.hi = b.lo == b.hi ? factor.lo : emit<arith::ShLIOp>(one, b.hi);
  return guard(mul(a, factor, width), ok, width);
}

Interval IntervalEmitter::shiftRightSigned(Interval a, Interval b,
                                           unsigned width) {
  Value ok = checkShift(b, width - 1);
  if (b.lo == b.hi)
    return guard(
        {emit<arith::ShRSIOp>(a.lo, b.lo), emit<arith::ShRSIOp>(a.hi, b.lo)},
        ok, width);
  return guard(
      hull({emit<arith::ShRSIOp>(a.lo, b.lo), emit<arith::ShRSIOp>(a.lo, b.hi),
            emit<arith::ShRSIOp>(a.hi, b.lo),
            emit<arith::ShRSIOp>(a.hi, b.hi)}),
      ok, width);
}

Interval IntervalEmitter::shiftRightUnsigned(Interval a, Interval b,
                                             unsigned width) {
  Value ok = checkShift(b, width - 1);
  a = toUnsigned(a, width);
  return fromUnsigned(
      {emit<arith::ShRUIOp>(a.lo, b.hi), emit<arith::ShRUIOp>(a.hi, b.lo)}, ok,
      width);
}

template Interval IntervalEmitter::divSigned<arith::DivSIOp>(Interval, Interval,
                                                             unsigned);
template Interval
IntervalEmitter::divSigned<arith::FloorDivSIOp>(Interval, Interval, unsigned);
template Interval
IntervalEmitter::divSigned<arith::CeilDivSIOp>(Interval, Interval, unsigned);
template Interval
IntervalEmitter::divUnsigned<arith::DivUIOp>(Interval, Interval, unsigned);
template Interval
IntervalEmitter::divUnsigned<arith::CeilDivUIOp>(Interval, Interval, unsigned);
