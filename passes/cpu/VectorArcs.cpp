// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inverses of sine, cosine and tangent, by pairs of f64.

#include "passes/cpu/PairMath.h"
#include "passes/cpu/VectorMath.h"

using namespace mlir;
using namespace mlir::attn;
using arith::CmpFPredicate;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

// (asin(x) / x - 1) / x^2 of x^2 for |x| <= 1/2, relative error 1e-17 and
// 8e-11.
static constexpr double kAsin[] = {
    0.02961201126495512,   -0.01924167174674304, 0.019554513336123378,
    0.0030448799094556773, 0.009319560794767446, 0.009621842970100282,
    0.011566459612121669,  0.01396378001220357,  0.017352816540325496,
    0.02237215744350722,   0.03038194447553234,  0.044642857142551895,
    0.07500000000000118,   0.16666666666666666};
static constexpr double kAsinF32[] = {
    0.02930523970533579,  0.0054431851027481075, 0.019306260869368045,
    0.022132443623426794, 0.030397634130580702,  0.044642358484883196,
    0.07500000598829049,  0.16666666665495086};

// (atan(x) / x - 1) / x^2 of x^2 for |x| <= 7/16, relative error 6e-17 and
// 3e-9.
static constexpr double kAtan[] = {
    0.014773184616983806, -0.033128134256069586, 0.04492259293193656,
    -0.05216679739313656, 0.05876946456755061,   -0.06666241923359964,
    0.07692285554889286,  -0.09090908355602592,  0.11111111096645038,
    -0.14285714285566806, 0.1999999999999941,    -0.3333333333333333};
static constexpr double kAtanF32[] = {
    0.04822303116353981,  -0.08532127449401608, 0.11058227545536063,
    -0.14283400018636427, 0.19999962483847505,  -0.33333333233831486};

static Pair getPi(const PairMath &m) {
  return m.constant(0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53);
}
static Pair getHalfPi(const PairMath &m) {
  return m.constant(0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54);
}

/// atan(below / above) for 0 <= below <= above, both far from over- and
/// underflow.
static Pair emitAtanOfRatio(const PairMath &m, Value below, Value above) {
  // atan(q) = atan(p) + atan((q - p) / (1 + p q)) for p = 0, 1/2, 1.
  Pair q = m.div(Pair{below, Value()}, Pair{above, Value()});
  Value isMiddle = m.compare(CmpFPredicate::OGT, q.hi, 7.0 / 16);
  Value isUpper = m.compare(CmpFPredicate::OGT, q.hi, 11.0 / 16);
  Value p = m.select(isUpper, m.f(1.0), m.select(isMiddle, m.f(0.5), m.f(0.0)));
  Pair known =
      m.select(isUpper, m.constant(0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55),
               m.select(isMiddle,
                        m.constant(0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56),
                        m.constant(0.0, 0.0)));
  Pair difference = m.addTo(m.twoSum(q.hi, m.negate(p)), q.lo);
  Pair scaled{m.mul(p, q.hi), q.lo ? m.mul(p, q.lo) : Value()};
  Pair divisor = m.addTo(m.fastTwoSum(m.f(1.0), scaled.hi), scaled.lo);
  Pair r = m.select(isMiddle, m.div(difference, divisor), q);
  Value square = m.mul(r.hi, r.hi);
  Value series = m.polynomial(square, m.choose(kAtan, kAtanF32));
  Value tail = m.mul(m.mul(r.hi, square), series);
  return m.addTo(
      m.addTo(m.fastTwoSum(known.hi, r.hi), m.addLow(known.lo, r.lo)), tail);
}

Value attn::emitAtan(const PairMath &m, Value x) {
  Value magnitude = m.abs(x);
  // What is larger has the same result; smaller, the quotient has no rest.
  Value low = m.clamp(CmpFPredicate::OLT, magnitude, 0x1p-60);
  Value bounded = m.clamp(CmpFPredicate::OGT, low, 0x1p60);
  Value isSteep = m.compare(CmpFPredicate::OGT, bounded, 1.0);
  Pair angle = emitAtanOfRatio(m, m.select(isSteep, m.f(1.0), bounded),
                               m.select(isSteep, bounded, m.f(1.0)));
  angle = m.select(isSteep, m.add(getHalfPi(m), m.negate(angle)), angle);
  Value result = m.withSign(m.sum(angle), m.signOf(x));
  // Below the limit, and where it is NaN, x stays.
  return m.select(m.compare(CmpFPredicate::OGE, magnitude, 0x1p-30), result, x);
}

Value attn::emitAtan2(const PairMath &m, Value y, Value x) {
  Value width = m.abs(x), height = m.abs(y);
  Value isSteep = m.compare(CmpFPredicate::OGT, height, width);
  Value above = m.select(isSteep, height, width);
  Value below = m.select(isSteep, width, height);
  // Both infinite is a diagonal; both 0 is flat.
  Value isDiagonal = m.compare(CmpFPredicate::OEQ, below, kInfinity);
  below = m.select(isDiagonal, m.f(1.0), below);
  above = m.select(isDiagonal, m.f(1.0), above);
  above = m.select(m.compare(CmpFPredicate::OEQ, above, 0.0), m.f(1.0), above);
  // Into a range where neither quotients nor their rests are lost.
  Value isHuge = m.compare(CmpFPredicate::OGT, above, 0x1p500);
  Value isSmall = m.compare(CmpFPredicate::OLT, above, 0x1p-500);
  Value factor = m.select(isHuge, m.f(0x1p-600),
                          m.select(isSmall, m.f(0x1p500), m.f(1.0)));
  // A quotient so small is the angle.
  Value quotient = m.div(below, above);
  above = m.select(m.compare(CmpFPredicate::OEQ, above, kInfinity),
                   m.f(0x1p1000), above);
  Value scaledBelow = m.mul(below, factor), scaledAbove = m.mul(above, factor);
  Value isFlat = m.compare(CmpFPredicate::OLT, quotient, 0x1p-60);
  Pair angle = emitAtanOfRatio(
      m, m.select(isFlat, m.mul(scaledAbove, m.f(0x1p-60)), scaledBelow),
      scaledAbove);
  angle = m.select(isFlat, Pair{quotient, Value()}, angle);
  angle = m.select(isSteep, m.add(getHalfPi(m), m.negate(angle)), angle);
  // -0 counts as negative.
  Value isLeft = m.isNotZero(m.signOf(x));
  angle = m.select(isLeft, m.add(getPi(m), m.negate(angle)), angle);
  Value result = m.withSign(m.sum(angle), m.signOf(y));
  Value isUnknown = m.kb.cmpf(CmpFPredicate::UNO, x, y);
  return m.select(isUnknown, m.add(x, y), result);
}

namespace {
/// For |x| < 1/2 asin(|x|), else asin(sqrt((1 - |x|) / 2)).
struct Arc {
  Value isOuter;
  Pair inner, outer;
};
} // namespace

static Arc emitArc(const PairMath &m, Value magnitude) {
  Arc arc;
  arc.isOuter = m.compare(CmpFPredicate::OGE, magnitude, 0.5);
  Value half = m.mul(m.sub(m.f(1.0), magnitude), m.f(0.5));
  Value square = m.select(arc.isOuter, half, m.mul(magnitude, magnitude));
  Value series = m.mul(square, m.polynomial(square, m.choose(kAsin, kAsinF32)));
  arc.inner = m.fastTwoSum(magnitude, m.mul(magnitude, series));
  // The root of 0 is taken for one that can be divided by.
  Value isEnd = m.compare(CmpFPredicate::OEQ, half, 0.0);
  Pair root = m.root({m.select(isEnd, m.f(1.0), half), Value()});
  root = m.select(isEnd, m.constant(0.0, 0.0), root);
  arc.outer = m.addTo(root, m.mul(root.hi, series));
  return arc;
}

/// 2x
static Pair twice(const PairMath &m, const Pair &x) {
  return {m.add(x.hi, x.hi), x.lo ? m.add(x.lo, x.lo) : Value()};
}

Value attn::emitAsin(const PairMath &m, Value x) {
  Value magnitude = m.abs(x);
  Arc arc = emitArc(m, magnitude);
  Pair outer = m.add(getHalfPi(m), m.negate(twice(m, arc.outer)));
  Pair angle = m.select(arc.isOuter, outer, arc.inner);
  return m.withSign(m.sum(angle), m.signOf(x));
}

Value attn::emitAcos(const PairMath &m, Value x) {
  Arc arc = emitArc(m, m.abs(x));
  Value isLeft = m.compare(CmpFPredicate::OLT, x, 0.0);
  Pair doubled = twice(m, arc.outer);
  Pair outer = m.select(isLeft, m.add(getPi(m), m.negate(doubled)), doubled);
  Pair signedInner = m.select(isLeft, m.negate(arc.inner), arc.inner);
  Pair inner = m.add(getHalfPi(m), m.negate(signedInner));
  return m.sum(m.select(arc.isOuter, outer, inner));
}
