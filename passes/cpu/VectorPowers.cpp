// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Powers and what is made of e^x, by pairs of f64.

#include "passes/cpu/PairMath.h"
#include "passes/cpu/VectorMath.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;
using arith::CmpFPredicate;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// 1 / n! from 14 to 2: (e^r - 1 - r) / r^2 for |r| <= ln2 / 2, to 5e-18, and
// the last seven to 2e-9.
static constexpr double kExpTerms[] = {1.0 / 87178291200,
                                       1.0 / 6227020800,
                                       1.0 / 479001600,
                                       1.0 / 39916800,
                                       1.0 / 3628800,
                                       1.0 / 362880,
                                       1.0 / 40320,
                                       1.0 / 5040,
                                       1.0 / 720,
                                       1.0 / 120,
                                       1.0 / 24,
                                       1.0 / 6,
                                       1.0 / 2};

// 1 / n! for odd n from 21 to 3: (sinh(x) / x - 1) / x^2 of x^2 for |x| < 1, to
// 4e-23, and the last five to 2e-11.
static constexpr double kSinhTerms[] = {1.0 / 51090942171709440000.0,
                                        1.0 / 121645100408832000.0,
                                        1.0 / 355687428096000.0,
                                        1.0 / 1307674368000.0,
                                        1.0 / 6227020800.0,
                                        1.0 / 39916800,
                                        1.0 / 362880,
                                        1.0 / 5040,
                                        1.0 / 120,
                                        1.0 / 6};

ExpParts attn::emitExpParts(const PairMath &m, const Pair &x) {
  const MathConstants &c = m.constants;
  ArrayRef<double> terms(kExpTerms);
  Value shifted = m.add(m.mul(x.hi, m.f(llvm::numbers::log2e)), m.f(c.round()));
  Value n = m.sub(shifted, m.f(c.round()));
  // Exact, n ln2High having few bits.
  Value high = m.sub(x.hi, m.mul(n, m.f(c.ln2High)));
  Pair r = m.addTo(m.fastTwoSum(high, m.negate(m.mul(n, m.f(c.ln2Low)))), x.lo);
  Value tail = m.mul(m.mul(r.hi, r.hi),
                     m.polynomial(r.hi, m.choose(terms, terms.take_back(7))));
  // What r.lo adds to e^r.
  if (r.lo)
    tail = m.add(tail, m.kb.fma(r.hi, r.lo, r.lo));
  return {m.roundedToInt(shifted), m.fastTwoSum(r.hi, tail)};
}

Pair attn::emitMantissa(const PairMath &m, const ExpParts &parts) {
  return m.addTo(m.fastTwoSum(m.f(1.0), parts.rest.hi), parts.rest.lo);
}

Value attn::emitExpm1(const PairMath &m, Value x) {
  Value low = m.clamp(CmpFPredicate::OLT, x, -50.0);
  Value bounded = m.clamp(CmpFPredicate::OGT, low, 710.0);
  ExpParts parts = emitExpParts(m, {bounded, Value()});
  // 2^n (rest + (1 - 2^-n)); from 2^60 on the 1 has no effect.
  Value few = arith::MinSIOp::create(m.kb.b, m.kb.loc, parts.n, m.i(60));
  Value less = m.sub(m.f(1.0), m.power(m.op<arith::SubIOp>(m.i(0), few)));
  Pair sum = m.addTo(m.fastTwoSum(less, parts.rest.hi), parts.rest.lo);
  Value isTiny = m.compare(CmpFPredicate::OLT, m.abs(x), 0x1p-54);
  return m.select(isTiny, x, m.scale(m.sum(sum), parts.n));
}

namespace {
/// e^|x| / 2 and e^-|x| / 2.
struct Halves {
  Pair grown;
  Value shrunk;
};
} // namespace

static Halves emitHalves(const PairMath &m, Value magnitude) {
  ExpParts parts =
      emitExpParts(m, {m.clamp(CmpFPredicate::OGT, magnitude, 711.0), Value()});
  Pair mantissa = emitMantissa(m, parts);
  Value n = m.op<arith::SubIOp>(parts.n, m.i(1));
  Pair grown{m.scale(mantissa.hi, n),
             mantissa.lo ? m.scale(mantissa.lo, n) : Value()};
  return {grown, m.div(m.f(0.25), grown.hi)};
}

/// The sum of the halves, the second with a sign.
static Value addHalves(const PairMath &m, const Halves &halves, Value shrunk) {
  Pair sum = m.fastTwoSum(halves.grown.hi, shrunk);
  if (!sum.lo)
    return sum.hi;
  // Of an infinite sum the rest is NaN.
  Value isFinite = m.compare(CmpFPredicate::OLT, sum.hi, kInfinity);
  Value rest = m.add(sum.lo, halves.grown.lo);
  return m.add(sum.hi, m.select(isFinite, rest, m.f(0.0)));
}

Value attn::emitCosh(const PairMath &m, Value x) {
  Halves halves = emitHalves(m, m.abs(x));
  return addHalves(m, halves, halves.shrunk);
}

Value attn::emitSinh(const PairMath &m, Value x) {
  Value square = m.mul(x, x);
  ArrayRef<double> terms(kSinhTerms);
  Value p = m.polynomial(square, m.choose(terms, terms.take_back(5)));
  Value small = m.add(x, m.mul(m.mul(x, square), p));
  Value magnitude = m.abs(x);
  Halves halves = emitHalves(m, magnitude);
  Value large = addHalves(m, halves, m.negate(halves.shrunk));
  // A NaN takes the series, which keeps it.
  return m.select(m.compare(CmpFPredicate::OGE, magnitude, 1.0),
                  m.withSign(large, m.signOf(x)), small);
}

/// Whether x >= 0 has a fraction.
static Value hasFraction(const PairMath &m, Value x) {
  Value whole = m.sub(m.add(x, m.f(0x1p52)), m.f(0x1p52));
  return m.both(m.compare(CmpFPredicate::OLT, x, 0x1p52),
                m.compare(CmpFPredicate::UNE, whole, x));
}

/// |x|^y without what is special about zeros, infinities and NaN.
static Value emitFinitePower(const PairMath &m, Value magnitude,
                             const Pair &y) {
  Pair log = emitLogSum(m, emitLogParts(m, {magnitude, Value()}));
  // From 2^66 on every power but those of 1 over- or underflows.
  Value low = m.clamp(CmpFPredicate::OLT, y.hi, -0x1p66);
  Pair bounded{m.clamp(CmpFPredicate::OGT, low, 0x1p66), y.lo};
  Pair product = m.mul(log, bounded);
  low = m.clamp(CmpFPredicate::OLT, product.hi, -760.0);
  Value exponent = m.clamp(CmpFPredicate::OGT, low, 760.0);
  if (product.lo)
    product.lo = m.select(m.compare(CmpFPredicate::OEQ, exponent, product.hi),
                          product.lo, m.f(0.0));
  ExpParts parts = emitExpParts(m, {exponent, product.lo});
  return m.scale(m.sum(emitMantissa(m, parts)), parts.n);
}

/// x^y, where y.hi has the sign of y; `isOdd` and `isInteger` tell of y.
static Value emitPower(const PairMath &m, Value x, const Pair &y, Value isOdd,
                       Value isInteger) {
  Value magnitude = m.abs(x);
  Value result = emitFinitePower(m, magnitude, y);
  // 0 and infinity to positive and negative powers.
  Value isBelow = m.compare(CmpFPredicate::OLT, y.hi, 0.0);
  Value isZero = m.compare(CmpFPredicate::OEQ, magnitude, 0.0);
  Value isInfinite = m.compare(CmpFPredicate::OEQ, magnitude, kInfinity);
  Value grows = m.select(isBelow, isZero, isInfinite);
  Value limit = m.select(grows, m.f(kInfinity), m.f(0.0));
  result = m.select(m.either(isZero, isInfinite), limit, result);
  // A negative base has integer powers only.
  Value isNegative = m.compare(CmpFPredicate::OLT, x, 0.0);
  Value isRoot =
      m.both(m.both(isNegative, m.compare(CmpFPredicate::OGT, x, -kInfinity)),
             m.op<arith::XOrIOp>(isInteger, m.isTrue()));
  result = m.select(isRoot, m.f(kNaN), result);
  result = m.select(isOdd, m.withSign(result, m.signOf(x)), result);
  Value isUnknown = m.either(m.compare(CmpFPredicate::UNO, x, x),
                             m.compare(CmpFPredicate::UNO, y.hi, y.hi));
  result = m.select(isUnknown, m.f(kNaN), result);
  // Both of these hold for NaN, too.
  Value isOne = m.either(m.compare(CmpFPredicate::OEQ, y.hi, 0.0),
                         m.compare(CmpFPredicate::OEQ, x, 1.0));
  return m.select(isOne, m.f(1.0), result);
}

Value attn::emitPowF(const PairMath &m, Value x, Value y) {
  Value magnitude = m.abs(y);
  Value isInteger = m.op<arith::XOrIOp>(hasFraction(m, magnitude), m.isTrue());
  Value halfHasFraction = hasFraction(m, m.mul(magnitude, m.f(0.5)));
  // An integer of 2^53 or more is even.
  Value isOdd = m.both(isInteger, halfHasFraction);
  isOdd = m.both(isOdd, m.compare(CmpFPredicate::OLT, magnitude, 0x1p53));
  return emitPower(m, x, {y, Value()}, isOdd, isInteger);
}

Value attn::emitFPowI(const PairMath &m, Value x, Value y) {
  // In two parts, each of which a float holds.
  Value low = m.both(y, m.i(0xffffffff));
  Value high = m.toFloatFromInt(m.op<arith::SubIOp>(y, low));
  Pair power = m.fastTwoSum(high, m.toFloatFromInt(low));
  Value isOdd = m.isNotZero(m.both(y, m.i(1)));
  return emitPower(m, x, power, isOdd, m.isTrue());
}

Value attn::emitCbrt(const PairMath &m, Value x) {
  // |x| = 2^(3k) z with z in [0.35, 2.83].
  const MathConstants &c = m.constants;
  Value magnitude = m.abs(x);
  Value bits = m.op<arith::SubIOp>(m.toInt(magnitude), m.i(c.rootHalfBits));
  Value exponent = m.op<arith::ShRSIOp>(bits, m.i(c.fractionBits));
  Value n = m.sub(m.toFloat(m.op<arith::AddIOp>(exponent, m.i(c.roundBits()))),
                  m.f(c.round()));
  Value shifted = m.add(m.mul(n, m.f(1.0 / 3)), m.f(c.round()));
  Value thrice = m.mul(m.sub(shifted, m.f(c.round())), m.f(3.0));
  Value k = m.roundedToInt(shifted);
  Value rest = m.roundedToInt(m.add(m.sub(n, thrice), m.f(c.round())));
  Value fraction = m.both(bits, m.i((int64_t(1) << c.fractionBits) - 1));
  Value y = m.toFloat(m.op<arith::AddIOp>(fraction, m.i(c.rootHalfBits)));
  Value z = m.mul(y, m.power(rest));
  // A quadratic fit to 4e-2, and two steps of Halley's method.
  static constexpr double kStart[] = {-0.06328, 0.47319, 0.57478};
  Value t = m.polynomial(z, kStart);
  for (int step = 0; step < 2; ++step) {
    Value cube = m.mul(m.mul(t, t), t);
    Value above = m.add(cube, m.add(z, z));
    Value below = m.add(m.add(cube, cube), z);
    t = m.mul(t, m.div(above, below));
  }
  if (!m.isShort) {
    // t - (t^3 - z) / 3t^2, with t^3 as a pair.
    Pair square = m.twoProduct(t, t);
    Pair cube = m.mul(square, Pair{t, Value()});
    Value excess = m.add(m.sub(cube.hi, z), cube.lo);
    t = m.sub(t, m.div(excess, m.mul(m.f(3.0), square.hi)));
  }
  Value result = m.withSign(m.mul(t, m.power(k)), m.signOf(x));
  // 0, infinity and NaN stay. The sum makes a subnormal number 0.
  Value isProper = m.both(m.compare(CmpFPredicate::OGT, magnitude, 0.0),
                          m.compare(CmpFPredicate::OLT, magnitude, kInfinity));
  return m.select(isProper, result, m.add(x, x));
}
