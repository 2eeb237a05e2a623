// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic of f64 on numbers that are sums of two floats, for elementary
// functions whose last place needs more than one float has. What ends in an f32
// needs no second float: then it is null, and nothing is computed for it.

#ifndef ATTN_PASSES_CPU_PAIRMATH_H
#define ATTN_PASSES_CPU_PAIRMATH_H

#include "passes/cpu/MathBuilder.h"

#include <limits>

namespace mlir::attn {

/// hi + lo, where lo is at most a rounding of hi; null is 0.
struct Pair {
  Value hi, lo;
};

/// MathBuilder on f64 plus pairs.
struct PairMath : public MathBuilder {
  bool isShort; ///< what is computed is rounded to f32

  PairMath(const KernelBuilder &kb, Type type, bool isShort)
      : MathBuilder(kb, type), isShort(isShort) {}

  /// The coefficients for f64 or those that are enough for f32.
  ArrayRef<double> choose(ArrayRef<double> all, ArrayRef<double> few) const {
    return isShort ? few : all;
  }
  Pair constant(double hi, double lo) const {
    return {f(hi), isShort ? Value() : f(lo)};
  }
  Value sum(const Pair &x) const { return x.lo ? add(x.hi, x.lo) : x.hi; }
  /// x + y for small numbers, any of which may be null.
  Value addLow(Value x, Value y) const {
    if (!x || !y)
      return x ? x : y;
    return add(x, y);
  }
  Value negate(Value x) const {
    return toFloat(op<arith::XOrIOp>(toInt(x), i(INT64_MIN)));
  }
  Pair negate(const Pair &x) const {
    return {negate(x.hi), x.lo ? negate(x.lo) : Value()};
  }
  Pair select(Value condition, const Pair &x, const Pair &y) const {
    Pair result{kb.select(condition, x.hi, y.hi), Value()};
    if (x.lo || y.lo)
      result.lo =
          kb.select(condition, x.lo ? x.lo : f(0.0), y.lo ? y.lo : f(0.0));
    return result;
  }
  using MathBuilder::select;

  /// x + y for any x and y.
  Pair twoSum(Value x, Value y) const {
    Value hi = add(x, y);
    if (isShort)
      return {hi, Value()};
    Value part = sub(hi, x);
    return {hi, add(sub(x, sub(hi, part)), sub(y, part))};
  }
  /// x + y where |x| >= |y| or x is 0.
  Pair fastTwoSum(Value x, Value y) const {
    Value hi = add(x, y);
    return {hi, isShort ? Value() : sub(y, sub(hi, x))};
  }
  /// The upper half of x, whose square is exact.
  Value upperHalf(Value x) const {
    Value scaled = mul(x, f(134217729.0));
    return sub(scaled, sub(scaled, x));
  }
  /// x y - product, exactly, where that is rounded x y.
  Value productRest(Value x, Value y, Value product) const {
    if (kb.target.has(CpuFeatures::fma))
      return kb.fma(x, y, negate(product));
    Value xh = upperHalf(x), yh = upperHalf(y);
    Value xl = sub(x, xh), yl = sub(y, yh);
    Value rest = sub(mul(xh, yh), product);
    rest = add(add(rest, mul(xh, yl)), mul(xl, yh));
    return add(rest, mul(xl, yl));
  }
  Pair twoProduct(Value x, Value y) const {
    Value hi = mul(x, y);
    return {hi, isShort ? Value() : productRest(x, y, hi)};
  }

  /// x + y for any x and y.
  Pair add(const Pair &x, const Pair &y) const {
    Pair result = twoSum(x.hi, y.hi);
    return addTo(result, addLow(x.lo, y.lo));
  }
  Value add(Value x, Value y) const { return MathBuilder::add(x, y); }
  /// x + small, where |small| is far below |x|.
  Pair addTo(const Pair &x, Value small) const {
    if (!small || isShort)
      return {small ? add(x.hi, small) : x.hi, x.lo};
    return fastTwoSum(x.hi, addLow(x.lo, small));
  }
  Pair mul(const Pair &x, const Pair &y) const {
    Pair result = twoProduct(x.hi, y.hi);
    Value low;
    if (y.lo)
      low = mul(x.hi, y.lo);
    if (x.lo)
      low = addLow(low, mul(x.lo, y.hi));
    return addTo(result, low);
  }
  Value mul(Value x, Value y) const { return MathBuilder::mul(x, y); }
  /// x / y for finite quotients.
  Pair div(const Pair &x, const Pair &y) const {
    Value quotient = div(x.hi, y.hi);
    if (isShort)
      return {quotient, Value()};
    Pair product = twoProduct(quotient, y.hi);
    Value rest = sub(sub(x.hi, product.hi), product.lo);
    rest = addLow(rest, x.lo);
    if (y.lo)
      rest = sub(rest, mul(quotient, y.lo));
    return fastTwoSum(quotient, div(rest, y.hi));
  }
  Value div(Value x, Value y) const { return MathBuilder::div(x, y); }
  /// The root of x > 0.
  Pair root(const Pair &x) const {
    Value hi = sqrt(x.hi);
    if (isShort)
      return {hi, Value()};
    Pair square = twoProduct(hi, hi);
    Value rest = addLow(sub(sub(x.hi, square.hi), square.lo), x.lo);
    return fastTwoSum(hi, div(rest, add(hi, hi)));
  }
  /// x 2^n for integers |n| <= 2044, in two factors, each of which has an
  /// exponent field.
  Value scale(Value x, Value n) const {
    Value half = op<arith::ShRSIOp>(n, i(1));
    return mul(mul(x, power(half)), power(op<arith::SubIOp>(n, half)));
  }
  Value either(Value x, Value y) const { return op<arith::OrIOp>(x, y); }
  Value both(Value x, Value y) const { return op<arith::AndIOp>(x, y); }
};

/// ln x = n ln2 + ln, where |ln| is at most ln2 / 2.
struct LogParts {
  Value n; ///< an integer, as a float
  Pair ln;
};
/// For positive finite x; `more` is added to the exponent. For others the
/// result is finite and means nothing.
LogParts emitLogParts(const PairMath &m, const Pair &x, Value more = Value());

/// n ln2 + ln.
Pair emitLogSum(const PairMath &m, const LogParts &parts);

/// e^x = 2^n (1 + rest).
struct ExpParts {
  Value n; ///< an integer
  Pair rest;
};
/// For |x.hi| <= 760.
ExpParts emitExpParts(const PairMath &m, const Pair &x);

/// 1 + rest.
Pair emitMantissa(const PairMath &m, const ExpParts &parts);

} // namespace mlir::attn

#endif // ATTN_PASSES_CPU_PAIRMATH_H
