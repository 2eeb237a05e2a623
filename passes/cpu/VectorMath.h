// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementary functions as vector code, for scalars and lane vectors of f32 and
// f64. The math library would be called once per lane.

#ifndef ATTN_PASSES_CPU_VECTORMATH_H
#define ATTN_PASSES_CPU_VECTORMATH_H

#include "passes/cpu/KernelBuilder.h"

namespace mlir::attn {

enum class ExpAccuracy {
  full, ///< 2 ulp
  bf16, ///< relative error 9e-5 where the target gains by it, else full
};

/// e^(x - y) for x <= y, NaN for NaN, down to the smallest normal result; below
/// that it goes to 0. The kernel's own exponential. In f32 the product of the
/// difference with log2(e) is rounded, which adds half an ulp of it; in f64 it
/// is not.
Value emitExpOfDifference(const KernelBuilder &kb, Value x, Value y,
                          ExpAccuracy accuracy = ExpAccuracy::full);

/// What is subtracted from logits before the exponential: their maximum `max`,
/// or 0 where that is -inf because there is no logit, for -inf - -inf is NaN.
Value emitShift(const KernelBuilder &kb, Value max);

/// 2^x, at most 2 ulp of a normal result; overflows to infinity, underflows
/// gradually to 0.
Value emitExp2(const KernelBuilder &kb, Value x);

/// e^x, at most 2 ulp, by splitting x log2(e) into two floats.
Value emitExp(const KernelBuilder &kb, Value x);

/// tanh(x), at most 2 ulp.
Value emitTanh(const KernelBuilder &kb, Value x);

/// ln(x), at most 2 ulp; -inf at 0, NaN below.
Value emitLog(const KernelBuilder &kb, Value x);

/// sin(x) and cos(x), at most 2 ulp. A vector in which any |x| is above 2^20
/// takes the functions of the math library.
Value emitSin(const KernelBuilder &kb, Value x);
Value emitCos(const KernelBuilder &kb, Value x);

// What follows computes in f64 and takes or gives f32 only through it: `x` is
// of f64 or lane vectors of it. Each is within 2 ulp, with the special values
// of C's annex F.

struct PairMath;

/// log2(x) and log10(x), exact at powers; -inf at 0, NaN below.
Value emitLog2(const PairMath &m, Value x);
Value emitLog10(const PairMath &m, Value x);
/// ln(1 + x); -inf at -1, NaN below.
Value emitLog1p(const PairMath &m, Value x);
/// The inverses of sinh, cosh and tanh.
Value emitAsinh(const PairMath &m, Value x);
Value emitAcosh(const PairMath &m, Value x);
Value emitAtanh(const PairMath &m, Value x);
/// e^x - 1.
Value emitExpm1(const PairMath &m, Value x);
Value emitSinh(const PairMath &m, Value x);
Value emitCosh(const PairMath &m, Value x);
/// x^y, and that with an integer y of 64 bits.
Value emitPowF(const PairMath &m, Value x, Value y);
Value emitFPowI(const PairMath &m, Value x, Value y);
/// The third root.
Value emitCbrt(const PairMath &m, Value x);
/// The error function and 1 less it.
Value emitErf(const PairMath &m, Value x);
Value emitErfc(const PairMath &m, Value x);
/// The inverses of sin, cos and tan, and the angle of a point.
Value emitAsin(const PairMath &m, Value x);
Value emitAcos(const PairMath &m, Value x);
Value emitAtan(const PairMath &m, Value x);
Value emitAtan2(const PairMath &m, Value y, Value x);
/// tan(x); for large |x| as emitSin.
Value emitTan(const PairMath &m, Value x);

} // namespace mlir::attn

#endif // ATTN_PASSES_CPU_VECTORMATH_H
