// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Logarithms and what is a logarithm of something simple, by pairs of f64.

#include "passes/cpu/PairMath.h"
#include "passes/cpu/VectorMath.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;
using arith::CmpFPredicate;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Above it 1 + x^2 is x^2.
static constexpr double kLarge = 1 << 28;
/// Below it x is the result of functions with slope 1 at 0.
static constexpr double kTiny = 0x1p-54;

/// The coefficients without the constant one, for f64 or for f32.
static ArrayRef<double> getLogTerms(const PairMath &m) {
  ArrayRef<double> all = getMathConstants(/*isF64=*/true).log;
  return m.choose(all, all.take_back(5)).drop_back();
}

/// ln((1 + s) / (1 - s)) - 2 s.hi
static Pair emitLogOfRatio(const PairMath &m, const Pair &s) {
  // s^3 (2/3 + s^2 Q(s^2)): the first two terms decide the last place.
  Pair square = m.mul(s, s);
  Value rest = m.mul(square.hi, m.polynomial(square.hi, getLogTerms(m)));
  Pair terms = m.addTo(m.constant(2.0 / 3, 0x1.5555555555555p-55), rest);
  return m.mul(m.mul(s, square), terms);
}

LogParts attn::emitLogParts(const PairMath &m, const Pair &x, Value more) {
  const MathConstants &c = m.constants;
  // x = 2^n y with y in [sqrt(1/2), sqrt(2)).
  Value bits = m.op<arith::SubIOp>(m.toInt(x.hi), m.i(c.rootHalfBits));
  Value exponent = m.op<arith::ShRSIOp>(bits, m.i(c.fractionBits));
  Value shifted = m.toFloat(m.op<arith::AddIOp>(exponent, m.i(c.roundBits())));
  Value n = m.sub(shifted, m.f(c.round()));
  Value fraction = m.both(bits, m.i((int64_t(1) << c.fractionBits) - 1));
  Value y = m.toFloat(m.op<arith::AddIOp>(fraction, m.i(c.rootHalfBits)));
  Pair f{m.sub(y, m.f(1.0)), Value()};
  if (x.lo && !m.isShort) {
    // Of larger numbers the rest has no effect.
    Value few = arith::MinSIOp::create(m.kb.b, m.kb.loc, exponent, m.i(60));
    Value inverse = m.power(m.op<arith::SubIOp>(m.i(0), few));
    Value isFew = m.compare(CmpFPredicate::OLT, x.hi, 0x1p60);
    f = m.twoSum(f.hi, m.select(isFew, m.mul(x.lo, inverse), m.f(0.0)));
  }
  Pair s = m.div(f, m.addTo(m.twoSum(m.f(2.0), f.hi), f.lo));
  Pair tail = emitLogOfRatio(m, s);
  Pair twice{m.add(s.hi, s.hi), s.lo ? m.add(s.lo, s.lo) : Value()};
  Pair ln =
      m.addTo(m.fastTwoSum(twice.hi, tail.hi), m.addLow(twice.lo, tail.lo));
  return {more ? m.add(n, more) : n, ln};
}

Pair attn::emitLogSum(const PairMath &m, const LogParts &parts) {
  Value high = m.mul(parts.n, m.f(m.constants.ln2High));
  Value low = m.mul(parts.n, m.f(m.constants.ln2Low));
  return m.addTo(m.fastTwoSum(high, parts.ln.hi), m.addLow(low, parts.ln.lo));
}

/// Infinity and NaN stay, 0 gives -inf, below it NaN.
static Value finishLog(const PairMath &m, Value x, Value result) {
  result = m.select(m.compare(CmpFPredicate::OLT, x, kInfinity), result, x);
  result =
      m.select(m.compare(CmpFPredicate::OEQ, x, 0.0), m.f(-kInfinity), result);
  return m.select(m.compare(CmpFPredicate::OLT, x, 0.0), m.f(kNaN), result);
}

Value attn::emitLog2(const PairMath &m, Value x) {
  LogParts parts = emitLogParts(m, {x, Value()});
  Pair log2 =
      m.mul(parts.ln, m.constant(0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56));
  return finishLog(m, x,
                   m.sum(m.addTo(m.fastTwoSum(parts.n, log2.hi), log2.lo)));
}

Value attn::emitLog10(const PairMath &m, Value x) {
  LogParts parts = emitLogParts(m, {x, Value()});
  // log10(2) in 39 bits, whose products with exponents are exact, and the rest.
  constexpr double high = 0x1.34413509f6p-2, low = 0x1.9fef311f12b36p-42;
  Pair log10 =
      m.mul(parts.ln, m.constant(0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57));
  Pair sum = m.fastTwoSum(m.mul(parts.n, m.f(high)), log10.hi);
  Value rest = m.addLow(m.mul(parts.n, m.f(low)), log10.lo);
  return finishLog(m, x, m.sum(m.addTo(sum, rest)));
}

/// ln(1 + t) for t >= 0 times 2^more.
static Value emitLogOfMore(const PairMath &m, const Pair &sum, Value more) {
  return m.sum(emitLogSum(m, emitLogParts(m, sum, more)));
}

Value attn::emitLog1p(const PairMath &m, Value x) {
  // Where 1 + x is 0 or not finite the special values replace what comes out.
  Pair sum = m.twoSum(m.f(1.0), x);
  Value log = m.sum(emitLogSum(m, emitLogParts(m, sum)));
  if (m.isShort) {
    // There, what 1 + x rounds off is put back to first order.
    Value lost = m.sub(x, m.sub(sum.hi, m.f(1.0)));
    log = m.add(log, m.div(lost, sum.hi));
  }
  Value result = finishLog(m, sum.hi, log);
  Value isTiny = m.compare(CmpFPredicate::OLT, m.abs(x), kTiny);
  return m.select(isTiny, x, result);
}

Value attn::emitAsinh(const PairMath &m, Value x) {
  // ln(|x| + sqrt(1 + x^2)) = ln(1 + (|x| + x^2 / (1 + sqrt(1 + x^2))));
  // ln(2|x|) for large |x|.
  Value magnitude = m.abs(x);
  Value isLarge = m.compare(CmpFPredicate::OGT, magnitude, kLarge);
  Value bounded = m.select(isLarge, m.f(1.0), magnitude);
  Value square = m.mul(bounded, bounded);
  Value root = m.sqrt(m.add(m.f(1.0), square));
  Pair t = m.twoSum(bounded, m.div(square, m.add(m.f(1.0), root)));
  Pair sum = m.addTo(m.twoSum(m.f(1.0), t.hi), t.lo);
  sum = m.select(isLarge, Pair{magnitude, Value()}, sum);
  Value more = m.select(isLarge, m.f(1.0), m.f(0.0));
  Value result = emitLogOfMore(m, sum, more);
  if (m.isShort) {
    // t - t^3 / 6 for what 1 + t rounds off too much of.
    Value cubic = m.sub(bounded, m.mul(m.mul(bounded, square), m.f(1.0 / 6)));
    result = m.select(m.compare(CmpFPredicate::OLT, magnitude, 0x1p-9), cubic,
                      result);
  }
  result = m.withSign(result, m.signOf(x));
  Value isProper = m.both(m.compare(CmpFPredicate::OGE, magnitude, 0x1p-28),
                          m.compare(CmpFPredicate::OLT, magnitude, kInfinity));
  return m.select(isProper, result, x);
}

Value attn::emitAcosh(const PairMath &m, Value x) {
  // ln(1 + (x - 1) + sqrt(x^2 - 1)), ln(2x) for large x.
  Value isLarge = m.compare(CmpFPredicate::OGT, x, kLarge);
  Value bounded = m.select(isLarge, m.f(2.0), x);
  Pair less = m.twoSum(bounded, m.f(-1.0));
  Pair square = m.twoProduct(bounded, bounded);
  Pair radicand = m.isShort
                      ? Pair{m.mul(less.hi, m.add(bounded, m.f(1.0))), Value()}
                      : m.addTo(m.twoSum(square.hi, m.f(-1.0)), square.lo);
  // At 1 the root of 1 stands in.
  Value isOne = m.compare(CmpFPredicate::OEQ, x, 1.0);
  radicand = m.select(isOne, Pair{m.f(1.0), Value()}, radicand);
  Pair t = m.add(m.root(radicand), less);
  Pair sum = m.addTo(m.twoSum(m.f(1.0), t.hi), t.lo);
  sum = m.select(isLarge, Pair{x, Value()}, sum);
  Value more = m.select(isLarge, m.f(1.0), m.f(0.0));
  Value result = emitLogOfMore(m, sum, more);
  result = m.select(m.compare(CmpFPredicate::OLT, x, kInfinity), result, x);
  result = m.select(isOne, m.f(0.0), result);
  return m.select(m.compare(CmpFPredicate::OLT, x, 1.0), m.f(kNaN), result);
}

Value attn::emitAtanh(const PairMath &m, Value x) {
  // ln((1 + x) / (1 - x)) / 2, where |x| is small by its own series.
  Value magnitude = m.abs(x);
  Pair own = emitLogOfRatio(m, {magnitude, Value()});
  Value small = m.add(magnitude, m.mul(own.hi, m.f(0.5)));
  Pair above = m.twoSum(m.f(1.0), magnitude);
  Pair below = m.twoSum(m.f(1.0), m.negate(magnitude));
  Value log = m.sum(emitLogSum(m, emitLogParts(m, m.div(above, below))));
  Value isSmall = m.compare(CmpFPredicate::OLT, magnitude, 0.17);
  Value result = m.select(isSmall, small, m.mul(log, m.f(0.5)));
  result = m.select(m.compare(CmpFPredicate::OEQ, magnitude, 1.0),
                    m.f(kInfinity), result);
  // Also where x is NaN.
  result = m.select(m.compare(CmpFPredicate::OLE, magnitude, 1.0), result,
                    m.f(kNaN));
  return m.withSign(result, m.signOf(x));
}
