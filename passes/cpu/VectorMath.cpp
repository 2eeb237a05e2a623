// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementary functions by range reduction and polynomials, in f32 and f64.

#include "passes/cpu/VectorMath.h"

#include "passes/cpu/MathBuilder.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;
using arith::CmpFPredicate;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// 2^x by vreduceps, which gives x - floor(x), and vscalefps, which multiplies
/// by 2^floor(x): underflow and special values come out right.
static Value emitExp2ByScale(const KernelBuilder &kb, Value x,
                             ArrayRef<double> coefficients) {
  MathBuilder m(kb, x.getType());
  OpBuilder &b = kb.b;
  auto integer = [&](unsigned bits, int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, kb.loc, value, bits);
  };
  constexpr int64_t kRoundDown = 1, kCurrentRounding = 4;
  Value allLanes = integer(16, -1), rounding = integer(32, kCurrentRounding);
  Value fraction =
      kb.callIntrinsic("llvm.x86.avx512.mask.reduce.ps.512", x.getType(),
                       {x, integer(32, kRoundDown), x, allLanes, rounding});
  Value mantissa = m.polynomial(fraction, coefficients);
  return kb.callIntrinsic("llvm.x86.avx512.mask.scalef.ps.512", x.getType(),
                          {mantissa, x, mantissa, allLanes, rounding});
}

/// 2^x for x <= 0 in f32.
static Value emitExp2OfNonPositive(const KernelBuilder &kb, Value x,
                                   ExpAccuracy accuracy) {
  if (kb.target.has(CpuFeatures::avx512) && x.getType() == kb.f32Lanes())
    return emitExp2ByScale(kb, x,
                           accuracy == ExpAccuracy::full
                               ? ArrayRef<double>(kExp2FromZero)
                               : ArrayRef<double>(kExp2FromZeroShort));
  MathBuilder m(kb, x.getType());
  const MathConstants &c = m.constants;
  // 2^-127 comes out as 0: its exponent field is 0.
  Value clamped = m.clamp(CmpFPredicate::OLT, x, -c.bias);
  Value shifted = kb.addf(clamped, m.f(c.round()));
  Value rounded = kb.subf(shifted, m.f(c.round()));
  Value mantissa = m.polynomial(kb.subf(clamped, rounded), c.exp2);
  // The bits of `round` are shifted out.
  return kb.mulf(mantissa, m.power(m.toInt(shifted)));
}

namespace {
/// x = n ln2 + r ln2, where n is an integer and |r| at most about 1/2.
struct BaseTwo {
  Value shifted; ///< n plus `round`
  Value n, r;
};
} // namespace

/// Reduces in base e, where n ln2 is exact in two parts, then goes to base 2.
static BaseTwo splitExponent(const MathBuilder &m, Value x) {
  const KernelBuilder &kb = m.kb;
  const MathConstants &c = m.constants;
  Value log2e = m.f(llvm::numbers::log2e);
  Value shifted = kb.addf(kb.mulf(x, log2e), m.f(c.round()));
  Value n = kb.subf(shifted, m.f(c.round()));
  Value high = kb.subf(x, kb.mulf(n, m.f(c.ln2High)));
  Value r = kb.subf(high, kb.mulf(n, m.f(c.ln2Low)));
  return {shifted, n, kb.mulf(r, log2e)};
}

Value attn::emitExpOfDifference(const KernelBuilder &kb, Value x, Value y,
                                ExpAccuracy accuracy) {
  Value difference = kb.subf(x, y);
  MathBuilder m(kb, x.getType());
  if (m.constants.bits == 32)
    return emitExp2OfNonPositive(
        kb, kb.mulf(difference, m.f(llvm::numbers::log2e)), accuracy);
  // Slightly below -1023 ln2, whose power of two comes out as 0.
  Value clamped = m.clamp(CmpFPredicate::OLT, difference, -709.1);
  BaseTwo split = splitExponent(m, clamped);
  return kb.mulf(m.polynomial(split.r, m.constants.exp2),
                 m.power(m.toInt(split.shifted)));
}

Value attn::emitShift(const KernelBuilder &kb, Value max) {
  MathBuilder m(kb, max.getType());
  return kb.select(m.compare(CmpFPredicate::OEQ, max, -kInfinity), m.f(0.0),
                   max);
}

/// 2^(hi + lo) for a small lo, over the whole range.
static Value emitExp2Sum(const KernelBuilder &kb, Value hi, Value lo) {
  MathBuilder m(kb, hi.getType());
  const MathConstants &c = m.constants;
  // The first power of two that rounds to 0 and the first that is infinite.
  Value low = m.clamp(CmpFPredicate::OLT, hi, -(c.bias + c.fractionBits + 1));
  Value clamped = m.clamp(CmpFPredicate::OGT, low, c.bias + 1);
  Value shifted = kb.addf(clamped, m.f(c.round()));
  Value rounded = kb.subf(shifted, m.f(c.round()));
  Value r = kb.subf(clamped, rounded);
  if (lo)
    r = kb.addf(r, lo);
  Value mantissa = m.polynomial(r, c.exp2);
  // 2^n in two factors, each of which has an exponent field.
  Value n = m.roundedToInt(shifted);
  Value half = m.op<arith::ShRSIOp>(n, m.i(1));
  Value rest = m.op<arith::SubIOp>(n, half);
  return kb.mulf(kb.mulf(mantissa, m.power(half)), m.power(rest));
}

Value attn::emitExp2(const KernelBuilder &kb, Value x) {
  return emitExp2Sum(kb, x, Value());
}

Value attn::emitExp(const KernelBuilder &kb, Value x) {
  MathBuilder m(kb, x.getType());
  // Beyond what overflows or rounds to 0.
  Value low = m.clamp(CmpFPredicate::OLT, x, m.constants.expLow);
  Value clamped = m.clamp(CmpFPredicate::OGT, low, m.constants.expHigh);
  BaseTwo split = splitExponent(m, clamped);
  return emitExp2Sum(kb, split.n, split.r);
}

Value attn::emitTanh(const KernelBuilder &kb, Value x) {
  MathBuilder m(kb, x.getType());
  const MathConstants &c = m.constants;
  // |x| < 0.55: x + x^3 P(x^2).
  Value square = kb.mulf(x, x);
  Value p = m.polynomial(square, c.tanh);
  Value small = kb.fma(kb.mulf(x, square), p, x);
  // Else 1 - 2 / (1 + e^2|x|).
  Value sign = m.signOf(x), magnitude = m.abs(x);
  Value bounded = m.clamp(CmpFPredicate::OGT, magnitude, c.tanhIsOne);
  Value e = emitExp(kb, kb.addf(bounded, bounded));
  Value large =
      kb.subf(m.f(1.0), m.op<arith::DivFOp>(m.f(2.0), kb.addf(e, m.f(1.0))));
  // A NaN takes the polynomial, which keeps it. The sign is that of x, -0
  // included.
  Value result =
      kb.select(m.compare(CmpFPredicate::OGE, magnitude, 0.55), large, small);
  return m.toFloat(m.op<arith::OrIOp>(m.toInt(result), sign));
}

Value attn::emitLog(const KernelBuilder &kb, Value x) {
  MathBuilder m(kb, x.getType());
  const MathConstants &c = m.constants;
  // x = 2^n y with y in [sqrt(1/2), sqrt(2)): subtract the bits of sqrt(1/2)
  // before the exponent is split off.
  Value bits = m.op<arith::SubIOp>(m.toInt(x), m.i(c.rootHalfBits));
  Value exponent = m.op<arith::ShRSIOp>(bits, m.i(c.fractionBits));
  // An integer to a float the way a float is rounded to one, but backwards.
  Value shifted = m.toFloat(m.op<arith::AddIOp>(exponent, m.i(c.roundBits())));
  Value n = kb.subf(shifted, m.f(c.round()));
  Value fractionMask = m.i((int64_t(1) << c.fractionBits) - 1);
  Value y = m.toFloat(m.op<arith::AddIOp>(
      m.op<arith::AndIOp>(bits, fractionMask), m.i(c.rootHalfBits)));
  // ln y = 2s + s^3 Q(s^2), s = (y - 1) / (y + 1).
  Value s = m.op<arith::DivFOp>(kb.subf(y, m.f(1.0)), kb.addf(y, m.f(1.0)));
  Value square = kb.mulf(s, s);
  Value q = m.polynomial(square, c.log);
  Value fraction = kb.fma(kb.mulf(s, square), q, kb.addf(s, s));
  Value result =
      kb.addf(kb.mulf(n, m.f(c.ln2High)), kb.fma(n, m.f(c.ln2Low), fraction));
  // Special values: infinity and NaN stay, 0 gives -inf, below it NaN.
  result = kb.select(m.compare(CmpFPredicate::OLT, x, kInfinity), result, x);
  result =
      kb.select(m.compare(CmpFPredicate::OEQ, x, 0.0), m.f(-kInfinity), result);
  return kb.select(m.compare(CmpFPredicate::OLT, x, 0.0),
                   m.f(std::numeric_limits<double>::quiet_NaN()), result);
}
