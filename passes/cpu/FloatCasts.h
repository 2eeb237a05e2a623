// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Casts between the type of elements and the one that kernels compute in, for
// scalars and lane vectors.

#ifndef ATTN_PASSES_CPU_FLOATCASTS_H
#define ATTN_PASSES_CPU_FLOATCASTS_H

#include "passes/cpu/KernelBuilder.h"

namespace mlir::attn {

/// f16, bf16 or f32 as f32, exactly.
Value emitToF32(const KernelBuilder &kb, Value x);

/// Elements of any type as `kb.wide`, which holds them exactly.
Value emitWiden(const KernelBuilder &kb, Value x);

/// Of `kb.wide` rounded once to `element`, ties to even; NaN stays NaN. From
/// f64 there is no way to f16 or bf16.
Value emitRound(const KernelBuilder &kb, Value x, Type element);

} // namespace mlir::attn

#endif // ATTN_PASSES_CPU_FLOATCASTS_H
