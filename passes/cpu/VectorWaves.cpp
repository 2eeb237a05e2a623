// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sine, cosine and tangent. x = n pi/2 + r with |r| <= pi/4, pi/2 being a sum
// of parts whose products with n are exact; a polynomial of r is one of the
// two, by n. Where an |x| is too large for it, the vector goes to the math
// library.

#include "passes/cpu/PairMath.h"
#include "passes/cpu/VectorMath.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::attn;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

// pi/2 in 33 bits, the next 33, and the rest; and all but the first.
static constexpr double kHalfPi[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34,
                                     0x1.3198a2e037073p-69};
static constexpr double kHalfPiRest = 0x1.0b4611a626331p-34;
static constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
/// Below it n has at most 20 bits, so that its products with 33 are exact.
static constexpr double kLargest = 1 << 20;

// (sin(r) / r - 1) / r^2 and (cos(r) - 1 + r^2 / 2) / r^4 of r^2, by their
// series: the error is 3e-9 and 2e-10 in f32, 2e-19 and 3e-18 in f64.
static constexpr double kSine[] = {1.0 / 355687428096000,
                                   -1.0 / 1307674368000,
                                   1.0 / 6227020800,
                                   -1.0 / 39916800,
                                   1.0 / 362880,
                                   -1.0 / 5040,
                                   1.0 / 120,
                                   -1.0 / 6};
static constexpr double kCosine[] = {
    1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800,
    1.0 / 40320,          -1.0 / 720,         1.0 / 24};

namespace {
struct Reduced {
  Value r;    ///< in the type of x
  Value rest; ///< what f64 lacks of it; null for f32, which is rounded once
  Value n;    ///< an integer of as many bits, its low ones being right
};
} // namespace

/// Always in f64, in which an f32 has bits to spare.
static Reduced reduce(const MathBuilder &m, Value x) {
  const KernelBuilder &kb = m.kb;
  bool isF64 = m.constants.bits == 64;
  Type f64 = m.withElement(kb.b.getF64Type());
  MathBuilder wide(kb, f64);
  Value w = isF64 ? x : arith::ExtFOp::create(kb.b, kb.loc, f64, x).getResult();
  Value shifted =
      kb.addf(kb.mulf(w, wide.f(kTwoOverPi)), wide.f(wide.constants.round()));
  Value n = kb.subf(shifted, wide.f(wide.constants.round()));
  Value r = kb.subf(w, kb.mulf(n, wide.f(kHalfPi[0])));
  if (!isF64) {
    r = kb.subf(r, kb.mulf(n, wide.f(kHalfPiRest)));
    return {
        arith::TruncFOp::create(kb.b, kb.loc, m.type, r), Value(),
        arith::TruncIOp::create(kb.b, kb.loc, m.intType, wide.toInt(shifted))};
  }
  // So far it is exact. What the next two steps round off is the rest.
  Value second = kb.mulf(n, wide.f(kHalfPi[1]));
  Value high = kb.subf(r, second);
  Value lost = kb.subf(kb.subf(r, high), second);
  Value low = kb.subf(lost, kb.mulf(n, wide.f(kHalfPi[2])));
  Value sum = kb.addf(high, low);
  return {sum, kb.addf(kb.subf(high, sum), low), wide.toInt(shifted)};
}

/// sin(x + quarter pi/2) for |x| <= kLargest.
static Value emitReducedWave(const MathBuilder &m, Value x, int64_t quarter) {
  const KernelBuilder &kb = m.kb;
  auto [r, rest, n] = reduce(m, x);
  // f32 needs the last four terms only.
  bool isF64 = m.constants.bits == 64;
  ArrayRef<double> sineTerms(kSine), cosineTerms(kCosine);
  Value square = kb.mulf(r, r), cube = kb.mulf(r, square);
  Value s = m.polynomial(square, isF64 ? sineTerms : sineTerms.take_back(4));
  Value sine = isF64 ? kb.addf(r, kb.fma(cube, s, rest)) : kb.fma(cube, s, r);
  Value c =
      m.polynomial(square, isF64 ? cosineTerms : cosineTerms.take_back(4));
  Value half = kb.mulf(square, m.f(0.5));
  Value head = kb.subf(m.f(1.0), half);
  Value tail = kb.mulf(kb.mulf(square, square), c);
  if (isF64)
    tail = kb.addf(kb.subf(kb.subf(m.f(1.0), head), half),
                   kb.subf(tail, kb.mulf(r, rest)));
  Value cosine = kb.addf(head, tail);
  Value turned = m.op<arith::AddIOp>(n, m.i(quarter));
  Value isOdd =
      arith::CmpIOp::create(kb.b, kb.loc, CmpIPredicate::ne,
                            m.op<arith::AndIOp>(turned, m.i(1)), m.i(0));
  Value wave = kb.select(isOdd, cosine, sine);
  // Bit 1 of n is the sign.
  Value sign = m.op<arith::ShLIOp>(m.op<arith::AndIOp>(turned, m.i(2)),
                                   m.i(m.constants.bits - 2));
  return m.toFloat(m.op<arith::XOrIOp>(m.toInt(wave), sign));
}

/// tan(x) for |x| <= kLargest in f64: the quotient of two pairs.
static Value emitReducedTan(const PairMath &m, Value x) {
  auto [r, rest, n] = reduce(m, x);
  Value square = m.mul(r, r), cube = m.mul(r, square);
  Pair sine =
      m.fastTwoSum(r, m.add(m.mul(cube, m.polynomial(square, kSine)), rest));
  Value half = m.mul(square, m.f(0.5));
  Pair head = m.fastTwoSum(m.f(1.0), m.negate(half));
  Value tail =
      m.sub(m.mul(m.mul(square, square), m.polynomial(square, kCosine)),
            m.mul(r, rest));
  Pair cosine = m.addTo(head, tail);
  Value isOdd = m.isNotZero(m.both(n, m.i(1)));
  Value result = m.sum(m.div(m.select(isOdd, m.negate(cosine), sine),
                             m.select(isOdd, sine, cosine)));
  // -0 stays, and so do subnormals.
  Value isTiny = m.compare(CmpFPredicate::OLT, m.abs(x), 0x1p-28);
  return m.select(isTiny, x, result);
}

/// `emit()`, or LibraryOp where some |x| is above kLargest.
template <typename LibraryOp>
static Value emitUnlessLarge(const MathBuilder &m, Value x,
                             llvm::function_ref<Value()> emit) {
  const KernelBuilder &kb = m.kb;
  Value isLarge = arith::OrIOp::create(
      kb.b, kb.loc, m.compare(CmpFPredicate::OGT, x, kLargest),
      m.compare(CmpFPredicate::OLT, x, -kLargest));
  if (isa<VectorType>(x.getType()))
    isLarge = vector::ReductionOp::create(kb.b, kb.loc,
                                          vector::CombiningKind::OR, isLarge);
  return kb
      .ifElse(
          isLarge,
          [&]() -> SmallVector<Value> {
            return {LibraryOp::create(kb.b, kb.loc, x.getType(), x)};
          },
          [&]() -> SmallVector<Value> { return {emit()}; })
      .front();
}

template <typename LibraryOp>
static Value emitWave(const KernelBuilder &kb, Value x, int64_t quarter) {
  MathBuilder m(kb, x.getType());
  return emitUnlessLarge<LibraryOp>(
      m, x, [&] { return emitReducedWave(m, x, quarter); });
}

Value attn::emitSin(const KernelBuilder &kb, Value x) {
  MathBuilder m(kb, x.getType());
  Value wave = emitWave<LLVM::SinOp>(kb, x, 0);
  // -0 stays.
  return m.select(m.compare(CmpFPredicate::OEQ, x, 0.0), x, wave);
}

Value attn::emitCos(const KernelBuilder &kb, Value x) {
  return emitWave<LLVM::CosOp>(kb, x, 1);
}

Value attn::emitTan(const PairMath &m, Value x) {
  return emitUnlessLarge<LLVM::TanOp>(m, x,
                                      [&] { return emitReducedTan(m, x); });
}
