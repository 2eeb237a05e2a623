// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on ranges as IR: unsigned readings, minimum and maximum, bits,
// changes of width, compares and truth values.

#include "passes/analysis/Interval.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;
using arith::CmpIPredicate;

//===- unsigned readings --------------------------------------------------===//

/// A range of one sign is a range of unsigned numbers too; one that holds -1
/// and 0 holds both ends of them.
Interval IntervalEmitter::toUnsigned(Interval a, unsigned width) {
  int64_t mask = width < 64 ? llvm::maskTrailingOnes<uint64_t>(width) : -1;
  Value sameSign = compareValues(CmpIPredicate::sge,
                                 emit<arith::XOrIOp>(a.lo, a.hi), constant(0));
  auto pattern = [&](Value value) {
    return width < 64 ? emit<arith::AndIOp>(value, constant(mask)) : value;
  };
  return {emit<arith::SelectOp>(sameSign, pattern(a.lo), constant(0)),
          emit<arith::SelectOp>(sameSign, pattern(a.hi), constant(mask))};
}

Interval IntervalEmitter::fromUnsigned(Interval a, Value ok, unsigned width) {
  if (width < 64) {
    Value unused = constant(64 - width);
    auto extend = [&](Value value) {
      return emit<arith::ShRSIOp>(emit<arith::ShLIOp>(value, unused), unused);
    };
    a = {extend(a.lo), extend(a.hi)};
  }
  // Ends of different sign: the range goes over the largest signed number.
  ok = emit<arith::AndIOp>(ok, compareValues(CmpIPredicate::sle, a.lo, a.hi));
  return guard(a, ok, width);
}

Interval IntervalEmitter::zeroExtend(Interval a, unsigned width) {
  return toUnsigned(a, width);
}

Interval IntervalEmitter::truncate(Interval a, unsigned width) {
  return guard(a, flag(true), width);
}

//===- minimum and maximum ------------------------------------------------===//

template <typename MinMaxOpTy>
Interval IntervalEmitter::minMaxSigned(Interval a, Interval b) {
  return {emit<MinMaxOpTy>(a.lo, b.lo), emit<MinMaxOpTy>(a.hi, b.hi)};
}

template <typename MinMaxOpTy>
Interval IntervalEmitter::minMaxUnsigned(Interval a, Interval b,
                                         unsigned width) {
  a = toUnsigned(a, width);
  b = toUnsigned(b, width);
  return fromUnsigned(minMaxSigned<MinMaxOpTy>(a, b), flag(true), width);
}

template Interval IntervalEmitter::minMaxSigned<arith::MinSIOp>(Interval,
                                                                Interval);
template Interval IntervalEmitter::minMaxSigned<arith::MaxSIOp>(Interval,
                                                                Interval);
template Interval
IntervalEmitter::minMaxUnsigned<arith::MinUIOp>(Interval, Interval, unsigned);
template Interval
IntervalEmitter::minMaxUnsigned<arith::MaxUIOp>(Interval, Interval, unsigned);

Interval IntervalEmitter::abs(Interval a, unsigned width) {
  Value zero = constant(0);
  Value negLo = emit<arith::SubIOp>(zero, a.lo);
  Value negHi = emit<arith::SubIOp>(zero, a.hi);
  Interval result{emit<arith::MaxSIOp>(zero, emit<arith::MaxSIOp>(a.lo, negHi)),
                  emit<arith::MaxSIOp>(negLo, a.hi)};
  // The least number has no absolute value.
  Value ok = compareValues(CmpIPredicate::sgt, a.lo, full(width).lo);
  return guard(result, ok, width);
}

//===- bits ---------------------------------------------------------------===//

/// The value of an exact constant range.
static std::optional<int64_t> getConstant(Interval a) {
  std::optional<int64_t> lo = getConstantIntValue(a.lo);
  return lo == getConstantIntValue(a.hi) ? lo : std::nullopt;
}

Interval IntervalEmitter::bitAnd(Interval a, Interval b, unsigned width) {
  if (getConstant(a))
    std::swap(a, b);
  if (std::optional<int64_t> mask = getConstant(b)) {
    // Low bits are a remainder, high bits a multiple, by a power of two.
    if (*mask >= 0 && *mask < (int64_t(1) << 62) &&
        llvm::isPowerOf2_64(*mask + 1) &&
        (width == 64 || *mask + 1 <= llvm::maxIntN(width)))
      return remUnsigned(a, point(constant(*mask + 1)), width);
    if (*mask < 0 && llvm::isPowerOf2_64(-static_cast<uint64_t>(*mask)))
      return {emit<arith::AndIOp>(a.lo, b.lo), emit<arith::AndIOp>(a.hi, b.lo)};
  }
  // Not above an operand that is not negative.
  Interval all = full(width);
  Value zero = constant(0);
  Value aIsNatural = compareValues(CmpIPredicate::sge, a.lo, zero);
  Value bIsNatural = compareValues(CmpIPredicate::sge, b.lo, zero);
  Value either = emit<arith::OrIOp>(aIsNatural, bIsNatural);
  Value below =
      emit<arith::MinSIOp>(emit<arith::SelectOp>(aIsNatural, a.hi, all.hi),
                           emit<arith::SelectOp>(bIsNatural, b.hi, all.hi));
  return {emit<arith::SelectOp>(either, zero, all.lo), below};
}

/// Of natural numbers: x | y <= x + y, and not below either.
Interval IntervalEmitter::bitOr(Interval a, Interval b, unsigned width) {
  Value zero = constant(0);
  Value natural =
      compareValues(CmpIPredicate::sge, emit<arith::MinSIOp>(a.lo, b.lo), zero);
  Interval sum = add(a, b, width);
  return guard({emit<arith::MaxSIOp>(a.lo, b.lo), sum.hi}, natural, width);
}

/// Of natural numbers: x ^ y <= x + y. With -1: -1 - x.
Interval IntervalEmitter::bitXor(Interval a, Interval b, unsigned width) {
  if (getConstant(a))
    std::swap(a, b);
  if (getConstant(b) == -1)
    return {emit<arith::XOrIOp>(a.hi, b.lo), emit<arith::XOrIOp>(a.lo, b.lo)};
  Value zero = constant(0);
  Value natural =
      compareValues(CmpIPredicate::sge, emit<arith::MinSIOp>(a.lo, b.lo), zero);
  return guard({zero, add(a, b, width).hi}, natural, width);
}

//===- truth values -------------------------------------------------------===//

Truth IntervalEmitter::compare(CmpIPredicate predicate, Interval a, Interval b,
                               unsigned width) {
  switch (predicate) {
  case CmpIPredicate::ne: {
    Truth equal = compare(CmpIPredicate::eq, a, b, width);
    return {equal.canBeFalse, equal.canBeTrue};
  }
  case CmpIPredicate::eq: {
    Value overlap =
        emit<arith::AndIOp>(compareValues(CmpIPredicate::sle, a.lo, b.hi),
                            compareValues(CmpIPredicate::sle, b.lo, a.hi));
    Value differ =
        emit<arith::OrIOp>(compareValues(CmpIPredicate::ne, a.lo, b.hi),
                           compareValues(CmpIPredicate::ne, b.lo, a.hi));
    return {overlap, differ};
  }
  case CmpIPredicate::sgt:
  case CmpIPredicate::sge:
  case CmpIPredicate::ugt:
  case CmpIPredicate::uge: {
    bool isSigned =
        predicate == CmpIPredicate::sgt || predicate == CmpIPredicate::sge;
    bool strict =
        predicate == CmpIPredicate::sgt || predicate == CmpIPredicate::ugt;
    return compare(isSigned
                       ? (strict ? CmpIPredicate::slt : CmpIPredicate::sle)
                       : (strict ? CmpIPredicate::ult : CmpIPredicate::ule),
                   b, a, width);
  }
  case CmpIPredicate::ult:
  case CmpIPredicate::ule:
    a = toUnsigned(a, width);
    b = toUnsigned(b, width);
    break;
  case CmpIPredicate::slt:
  case CmpIPredicate::sle:
    break;
  }
  return {compareValues(predicate, a.lo, b.hi),
          logicalNot(compareValues(predicate, a.hi, b.lo))};
}

Truth IntervalEmitter::logicalAnd(Truth a, Truth b) {
  return {emit<arith::AndIOp>(a.canBeTrue, b.canBeTrue),
          emit<arith::OrIOp>(a.canBeFalse, b.canBeFalse)};
}

Truth IntervalEmitter::logicalOr(Truth a, Truth b) {
  return {emit<arith::OrIOp>(a.canBeTrue, b.canBeTrue),
          emit<arith::AndIOp>(a.canBeFalse, b.canBeFalse)};
}

Truth IntervalEmitter::logicalXor(Truth a, Truth b) {
  auto product = [&](Value x, Value y) { return emit<arith::AndIOp>(x, y); };
  return {emit<arith::OrIOp>(product(a.canBeTrue, b.canBeFalse),
                             product(a.canBeFalse, b.canBeTrue)),
          emit<arith::OrIOp>(product(a.canBeTrue, b.canBeTrue),
                             product(a.canBeFalse, b.canBeFalse))};
}

Truth IntervalEmitter::select(Truth which, Truth a, Truth b) {
  auto merge = [&](Value x, Value y) {
    return emit<arith::OrIOp>(emit<arith::AndIOp>(which.canBeTrue, x),
                              emit<arith::AndIOp>(which.canBeFalse, y));
  };
  return {merge(a.canBeTrue, b.canBeTrue), merge(a.canBeFalse, b.canBeFalse)};
}

Interval IntervalEmitter::select(Truth which, Interval a, Interval b) {
  Interval all = hull({a.lo, b.lo, a.hi, b.hi});
  auto choose = [&](Value either, Value x, Value y) {
    Value notSecond = emit<arith::SelectOp>(which.canBeFalse, either, x);
    return emit<arith::SelectOp>(which.canBeTrue, notSecond, y);
  };
  return {choose(all.lo, a.lo, b.lo), choose(all.hi, a.hi, b.hi)};
}

Truth IntervalEmitter::lowestBit(Interval a) {
  Value one = constant(1);
  Value many = compareValues(CmpIPredicate::ne, a.lo, a.hi);
  Value odd =
      compareValues(CmpIPredicate::eq, emit<arith::AndIOp>(a.lo, one), one);
  return {emit<arith::OrIOp>(many, odd),
          emit<arith::OrIOp>(many, logicalNot(odd))};
}
