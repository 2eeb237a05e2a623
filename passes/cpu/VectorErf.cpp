// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The error function and its complement, by pairs of f64.

#include "passes/cpu/PairMath.h"
#include "passes/cpu/VectorMath.h"

using namespace mlir;
using namespace mlir::attn;
using arith::CmpFPredicate;

// erf(x) / x - 1 of x^2 for |x| <= 1/2, absolute error 2e-17 and 1e-11.
static constexpr double kErf[] = {
    -1.462091340945175e-07, 1.637123442577e-06,     -1.4923003368152099e-05,
    0.00012055286202005714, -0.0008548326510724796, 0.0052239776220169365,
    -0.02686617064499972,   0.1128379167095487,     -0.3761263890318375,
    0.1283791670955126};
static constexpr double kErfF32[] = {
    -0.0007694534279142308, 0.005200413724335493, -0.026863143032249386,
    0.11283774013179539,    -0.37612638525650693, 0.12837916708240948};

// (1 + 2x) e^(x^2) erfc(x) - 1 of (x - 4) / (x + 4) for x from 1/2 to 28,
// absolute error 2e-17 and 3e-9.
static constexpr double kErfc[] = {
    1.5219277812612269e-09,  2.409489044428507e-09,  -1.4704421774400366e-08,
    -1.9736872590355543e-08, 1.105584872255078e-07,  7.714626220432877e-08,
    -8.255322259262831e-07,  2.9184665855580794e-07, 5.709619407460769e-06,
    -1.1221081791490601e-05, -2.439911565558233e-05, 0.00015062138417805605,
    -0.0001992567302266955,  -0.0007577732313710945, 0.005031969984911938,
    -0.016197734064788704,   0.03716751553673969,    -0.06633036581171674,
    0.09373283499839091,     -0.10103906603632293,   0.06809705425469167,
    0.015379652102620016,    -0.1396211168405625,    0.2329951186255525};
static constexpr double kErfcF32[] = {
    -0.0002539200064868431, -0.0005160391629274581, 0.005083314870176971,
    -0.016351571131059697,  0.037145174562749766,   -0.06628451874146607,
    0.09373738434044541,    -0.10104528926270802,   0.06809666957148247,
    0.015379962574164357,   -0.1396211077971656,    0.2329951161052859};

/// erf(x) for |x| < 1/2.
static Pair emitInner(const PairMath &m, Value x) {
  Value series = m.polynomial(m.mul(x, x), m.choose(kErf, kErfF32));
  return m.fastTwoSum(x, m.mul(x, series));
}

// 2 / sqrt(pi), the slope of erf at 0.
static constexpr double kSlope = 1.1283791670955126;
// Below it erf is a line to the last place, and x series may be subnormal.
static constexpr double kLine = 0x1p-30;

namespace {
/// erfc(x) = 2^n value
struct Outer {
  Pair value;
  Value n;
};
} // namespace

/// For x from 1/2 to 28, which other values are taken for.
static Outer emitOuter(const PairMath &m, Value magnitude) {
  Value low = m.clamp(CmpFPredicate::OLT, magnitude, 0.5);
  Value x = m.clamp(CmpFPredicate::OGT, low, 28.0);
  Pair t = m.div(m.twoSum(x, m.f(-4.0)), m.twoSum(x, m.f(4.0)));
  Value series = m.polynomial(t.hi, m.choose(kErfc, kErfcF32));
  Pair p = m.fastTwoSum(m.f(1.0), series);
  // e^(-x^2)
  Pair square = m.twoProduct(x, x);
  ExpParts parts = emitExpParts(m, m.negate(square));
  Pair product = m.mul(p, emitMantissa(m, parts));
  Value twice = m.add(x, x);
  return {m.div(product, m.twoSum(twice, m.f(1.0))), parts.n};
}

Value attn::emitErfc(const PairMath &m, Value x) {
  Value magnitude = m.abs(x);
  // Not through pairs' rests, which would be rounded twice where the result is
  // subnormal.
  Outer outer = emitOuter(m, magnitude);
  Value right = m.scale(m.sum(outer.value), outer.n);
  Value left = m.sub(m.f(2.0), right);
  Value isLeft = m.compare(CmpFPredicate::OLT, x, 0.0);
  Pair inner = m.negate(emitInner(m, x));
  Value near = m.sum(m.addTo(m.fastTwoSum(m.f(1.0), inner.hi), inner.lo));
  // A NaN is near, which keeps it.
  return m.select(m.compare(CmpFPredicate::OGE, magnitude, 0.5),
                  m.select(isLeft, left, right), near);
}

Value attn::emitErf(const PairMath &m, Value x) {
  Value magnitude = m.abs(x);
  Outer outer = emitOuter(m, magnitude);
  Value far = m.sub(m.f(1.0), m.scale(m.sum(outer.value), outer.n));
  Value near = m.select(m.compare(CmpFPredicate::OLT, magnitude, kLine),
                        m.mul(x, m.f(kSlope)), m.sum(emitInner(m, x)));
  // A NaN is near, which keeps it.
  return m.select(m.compare(CmpFPredicate::OGE, magnitude, 0.5),
                  m.withSign(far, m.signOf(x)), near);
}
