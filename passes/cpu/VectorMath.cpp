// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementary functions by range reduction and polynomials. The coefficients are
// Chebyshev fits, made in 40 digits and rounded to f32.

#include "passes/cpu/VectorMath.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;
using arith::CmpFPredicate;

namespace {

/// KernelBuilder plus what elementary functions need on one type.
struct MathBuilder {
  const KernelBuilder &kb;
  Type type;
  Type intType;

  MathBuilder(const KernelBuilder &kb, Type type)
      : kb(kb), type(type), intType(withElement(kb.b.getI32Type())) {}

  Type withElement(Type element) const {
    if (auto vector = dyn_cast<VectorType>(type))
      return vector.clone(element);
    return element;
  }
  Value f(double x) const { return kb.constant(type, x); }
  Value i(int32_t x) const {
    Attribute value = kb.b.getI32IntegerAttr(x);
    if (auto vector = dyn_cast<VectorType>(intType))
      value = DenseElementsAttr::get(vector, value);
    return arith::ConstantOp::create(kb.b, kb.loc, cast<TypedAttr>(value));
  }
  template <typename OpTy> Value op(Value x, Value y) const {
    return OpTy::create(kb.b, kb.loc, x, y);
  }
  Value toInt(Value x) const {
    return arith::BitcastOp::create(kb.b, kb.loc, intType, x);
  }
  Value toFloat(Value x) const {
    return arith::BitcastOp::create(kb.b, kb.loc, type, x);
  }
  /// c[0] x^n + ... + c[n].
  Value polynomial(Value x, ArrayRef<double> coefficients) const {
    Value result = f(coefficients.front());
    for (double c : coefficients.drop_front())
      result = kb.fma(result, x, f(c));
    return result;
  }
  Value compare(CmpFPredicate predicate, Value x, double y) const {
    return kb.cmpf(predicate, x, f(y));
  }
};

} // namespace

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Adding 1.5 * 2^23 to |x| < 2^22 rounds x to an integer, held in the low bits
// of the sum.
static constexpr double kRoundMagic = 12582912.0;

// 2^r on [-1/2, 1/2], relative error 2e-9.
static constexpr double kExp2[] = {0.000154614446986,
                                   0.00134004281776,
                                   0.00961805667852,
                                   0.0555032722667,
                                   0.240226509223,
                                   0.693147206703,
                                   1.0};

// 2^r on [0, 1), relative error 2e-9; exact at 0.
static constexpr double kExp2FromZero[] = {0.000216129190491,
                                           0.00124678450955,
                                           0.00967545173579,
                                           0.0554852805202,
                                           0.240229305578,
                                           0.693147044441,
                                           1.0};

// The same with relative error 9e-5, a fortieth of a bf16 rounding.
static constexpr double kExp2FromZeroShort[] = {0.0770670845567, 0.227644917449,
                                                0.695116817011, 1.0};

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

Value attn::emitExp2OfNonPositive(const KernelBuilder &kb, Value x,
                                  ExpAccuracy accuracy) {
  if (kb.target.has(CpuFeatures::avx512) && x.getType() == kb.f32Lanes())
    return emitExp2ByScale(kb, x,
                           accuracy == ExpAccuracy::f32
                               ? ArrayRef<double>(kExp2FromZero)
                               : ArrayRef<double>(kExp2FromZeroShort));
  MathBuilder m(kb, x.getType());
  // 2^-127 comes out as 0: its exponent field is 0. A NaN passes the select.
  Value clamped =
      kb.select(m.compare(CmpFPredicate::OLT, x, -127.0), m.f(-127.0), x);
  Value shifted = kb.addf(clamped, m.f(kRoundMagic));
  Value rounded = kb.subf(shifted, m.f(kRoundMagic));
  Value r = kb.subf(clamped, rounded);
  Value mantissa = m.polynomial(r, kExp2);
  // n << 23 plus the bits of 1.0 is 2^n; the magic's own bits are shifted out.
  Value exponent = m.op<arith::ShLIOp>(m.toInt(shifted), m.i(23));
  Value scale = m.toFloat(m.op<arith::AddIOp>(exponent, m.i(0x3f800000)));
  return kb.mulf(mantissa, scale);
}

Value attn::emitExpOfDifference(const KernelBuilder &kb, Value x, Value y,
                                ExpAccuracy accuracy) {
  Value difference = kb.subf(x, y);
  Value scale = kb.constant(x.getType(), llvm::numbers::log2e);
  return emitExp2OfNonPositive(kb, kb.mulf(difference, scale), accuracy);
}

Value attn::emitShift(const KernelBuilder &kb, Value max) {
  MathBuilder m(kb, max.getType());
  return kb.select(m.compare(CmpFPredicate::OEQ, max, -kInfinity), m.f(0.0),
                   max);
}

/// 2^(hi + lo) for a small lo, over the whole range.
static Value emitExp2Sum(const KernelBuilder &kb, Value hi, Value lo) {
  MathBuilder m(kb, hi.getType());
  // 2^-151 rounds to 0, 2^128 to infinity. A NaN passes the selects.
  Value low =
      kb.select(m.compare(CmpFPredicate::OLT, hi, -151.0), m.f(-151.0), hi);
  Value clamped =
      kb.select(m.compare(CmpFPredicate::OGT, low, 128.0), m.f(128.0), low);
  Value shifted = kb.addf(clamped, m.f(kRoundMagic));
  Value rounded = kb.subf(shifted, m.f(kRoundMagic));
  Value r = kb.subf(clamped, rounded);
  if (lo)
    r = kb.addf(r, lo);
  Value mantissa = m.polynomial(r, kExp2);
  // 2^n in two factors, each of which has an exponent field.
  constexpr int32_t kMagicBits = 0x4b400000;
  Value n = m.op<arith::SubIOp>(m.toInt(shifted), m.i(kMagicBits));
  Value half = m.op<arith::ShRSIOp>(n, m.i(1));
  Value rest = m.op<arith::SubIOp>(n, half);
  auto power = [&](Value exponent) {
    Value biased = m.op<arith::AddIOp>(exponent, m.i(127));
    return m.toFloat(m.op<arith::ShLIOp>(biased, m.i(23)));
  };
  return kb.mulf(kb.mulf(mantissa, power(half)), power(rest));
}

Value attn::emitExp2(const KernelBuilder &kb, Value x) {
  return emitExp2Sum(kb, x, Value());
}

Value attn::emitExp(const KernelBuilder &kb, Value x) {
  MathBuilder m(kb, x.getType());
  // x log2(e) = hi + lo, where hi is the integer part: reduce in base e, where
  // n ln2 is exact in two parts, then go to base 2.
  Value clampLow =
      kb.select(m.compare(CmpFPredicate::OLT, x, -105.0), m.f(-105.0), x);
  Value clamped = kb.select(m.compare(CmpFPredicate::OGT, clampLow, 89.0),
                            m.f(89.0), clampLow);
  Value shifted =
      kb.addf(kb.mulf(clamped, m.f(llvm::numbers::log2e)), m.f(kRoundMagic));
  Value n = kb.subf(shifted, m.f(kRoundMagic));
  // ln2 in 12 bits and the rest: n * high is exact.
  constexpr double kLn2High = 0.693359375,
                   kLn2Low = llvm::numbers::ln2 - 0.693359375;
  Value r = kb.subf(kb.subf(clamped, kb.mulf(n, m.f(kLn2High))),
                    kb.mulf(n, m.f(kLn2Low)));
  return emitExp2Sum(kb, n, kb.mulf(r, m.f(llvm::numbers::log2e)));
}

Value attn::emitTanh(const KernelBuilder &kb, Value x) {
  MathBuilder m(kb, x.getType());
  // |x| < 0.55: x + x^3 P(x^2), relative error 4e-9.
  Value square = kb.mulf(x, x);
  Value p =
      m.polynomial(square, {-0.00661022783111, 0.0213093886644,
                            -0.0539094288275, 0.13333113729, -0.33333332008});
  Value small = kb.fma(kb.mulf(x, square), p, x);
  // Else 1 - 2 / (1 + e^2|x|), with the sign of x. At 10 it is 1 in f32.
  Value magnitudeBits = m.op<arith::AndIOp>(m.toInt(x), m.i(0x7fffffff));
  Value magnitude = m.toFloat(magnitudeBits);
  Value bounded = kb.select(m.compare(CmpFPredicate::OGT, magnitude, 10.0),
                            m.f(10.0), magnitude);
  Value e = emitExp(kb, kb.addf(bounded, bounded));
  Value large =
      kb.subf(m.f(1.0), m.op<arith::DivFOp>(m.f(2.0), kb.addf(e, m.f(1.0))));
  Value sign = m.op<arith::AndIOp>(m.toInt(x), m.i(INT32_MIN));
  Value signedLarge = m.toFloat(m.op<arith::OrIOp>(m.toInt(large), sign));
  // A NaN takes the polynomial, which keeps it.
  return kb.select(m.compare(CmpFPredicate::OGE, magnitude, 0.55), signedLarge,
                   small);
}

Value attn::emitLog(const KernelBuilder &kb, Value x) {
  MathBuilder m(kb, x.getType());
  // Subnormals are scaled by 2^23 into the normal range.
  Value isTiny = m.compare(CmpFPredicate::OLT, x, 1.17549435e-38);
  Value scaled = kb.select(isTiny, kb.mulf(x, m.f(8388608.0)), x);
  Value bias = kb.select(isTiny, m.f(-23.0), m.f(0.0));
  // x = 2^n y with y in [sqrt(1/2), sqrt(2)): subtract the bits of sqrt(1/2)
  // before the exponent is split off.
  Value bits = m.op<arith::SubIOp>(m.toInt(scaled), m.i(0x3f3504f3));
  Value exponent = m.op<arith::ShRSIOp>(bits, m.i(23));
  Value n =
      kb.addf(arith::SIToFPOp::create(kb.b, kb.loc, m.type, exponent), bias);
  Value y = m.toFloat(m.op<arith::AddIOp>(
      m.op<arith::AndIOp>(bits, m.i(0x007fffff)), m.i(0x3f3504f3)));
  // ln y = 2s + s^3 Q(s^2), s = (y - 1) / (y + 1), relative error 2e-11.
  Value s = m.op<arith::DivFOp>(kb.subf(y, m.f(1.0)), kb.addf(y, m.f(1.0)));
  Value square = kb.mulf(s, s);
  Value q = m.polynomial(
      square, {0.233304672163, 0.28550820816, 0.400001218398, 0.666666665545});
  Value fraction = kb.fma(kb.mulf(s, square), q, kb.addf(s, s));
  constexpr double kLn2High = 0.693359375,
                   kLn2Low = llvm::numbers::ln2 - 0.693359375;
  Value result =
      kb.addf(kb.mulf(n, m.f(kLn2High)), kb.fma(n, m.f(kLn2Low), fraction));
  // Special values: infinity and NaN stay, 0 gives -inf, below it NaN.
  result = kb.select(m.compare(CmpFPredicate::OLT, x, kInfinity), result, x);
  result =
      kb.select(m.compare(CmpFPredicate::OEQ, x, 0.0), m.f(-kInfinity), result);
  return kb.select(m.compare(CmpFPredicate::OLT, x, 0.0),
                   m.f(std::numeric_limits<double>::quiet_NaN()), result);
}

Value attn::emitToF32(const KernelBuilder &kb, Value x) {
  MathBuilder m(kb, x.getType());
  if (getElementTypeOrSelf(x.getType()).isF32())
    return x;
  Type i16 = m.withElement(kb.b.getI16Type());
  Type f32 = m.withElement(kb.b.getF32Type());
  if (getElementTypeOrSelf(x.getType()).isF16())
    return arith::ExtFOp::create(kb.b, kb.loc, f32, x);
  Value bits = arith::BitcastOp::create(kb.b, kb.loc, i16, x);
  Value wide = arith::ExtUIOp::create(kb.b, kb.loc, m.intType, bits);
  Value shifted = m.op<arith::ShLIOp>(wide, m.i(16));
  return arith::BitcastOp::create(kb.b, kb.loc, f32, shifted);
}

Value attn::emitTruncateToBF16(const KernelBuilder &kb, Value x) {
  MathBuilder m(kb, x.getType());
  Value bits = m.toInt(x);
  Value upper = m.op<arith::ShRUIOp>(bits, m.i(16));
  Value odd = m.op<arith::AndIOp>(upper, m.i(1));
  Value rounding = m.op<arith::AddIOp>(odd, m.i(0x7fff));
  Value rounded =
      m.op<arith::ShRUIOp>(m.op<arith::AddIOp>(bits, rounding), m.i(16));
  // Rounding may carry a NaN into infinity: keep its upper bits, made quiet.
  Value quiet = m.op<arith::OrIOp>(upper, m.i(0x40));
  Value isNaN = kb.cmpf(CmpFPredicate::UNO, x, x);
  Value result = kb.select(isNaN, quiet, rounded);
  Value narrow = arith::TruncIOp::create(
      kb.b, kb.loc, m.withElement(kb.b.getI16Type()), result);
  return arith::BitcastOp::create(kb.b, kb.loc,
                                  m.withElement(kb.b.getBF16Type()), narrow);
}
