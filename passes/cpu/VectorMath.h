// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementary functions as vector code, for f32 scalars and lane vectors. The
// math library would be called once per lane.

#ifndef ATTN_PASSES_CPU_VECTORMATH_H
#define ATTN_PASSES_CPU_VECTORMATH_H

#include "passes/cpu/KernelBuilder.h"

namespace mlir::attn {

enum class ExpAccuracy {
  f32,  ///< 2 ulp of f32
  bf16, ///< relative error 9e-5 where the target gains by it, else as f32
};

/// 2^x for x <= 0, NaN for NaN, to `accuracy` down to the smallest normal
/// result; below that it goes to 0. The kernel's own exponential.
Value emitExp2OfNonPositive(const KernelBuilder &kb, Value x,
                            ExpAccuracy accuracy = ExpAccuracy::f32);

/// e^(x - y) for x <= y, to the same accuracy. Subtracts before it scales to
/// base 2, for which a finite x may be too large.
Value emitExpOfDifference(const KernelBuilder &kb, Value x, Value y,
                          ExpAccuracy accuracy = ExpAccuracy::f32);

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

/// A scalar or lane vector of f16, bf16 or f32 as f32, exactly.
Value emitToF32(const KernelBuilder &kb, Value x);

/// A lane vector of f32 rounded to bf16, ties to even; NaN stays NaN.
Value emitTruncateToBF16(const KernelBuilder &kb, Value x);

} // namespace mlir::attn

#endif // ATTN_PASSES_CPU_VECTORMATH_H
