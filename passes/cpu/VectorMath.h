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

} // namespace mlir::attn

#endif // ATTN_PASSES_CPU_VECTORMATH_H
