// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lane vectors of pairs of bf16, and parts of rows that may be shorter than a
// vector: what AVX512_BF16 works on.

#ifndef ATTN_PASSES_CPU_PAIRVECTORS_H
#define ATTN_PASSES_CPU_PAIRVECTORS_H

#include "passes/cpu/KernelBuilder.h"

namespace mlir::attn {

/// Pairs that `count` elements fill, the last one perhaps by half.
Value countPairs(const KernelBuilder &kb, Value count);

/// A pair of bf16 in each lane.
VectorType pairLanes(const KernelBuilder &kb);

/// acc + x[2l] y[2l] + x[2l+1] y[2l+1] for each lane l.
Value emitDot(const KernelBuilder &kb, Value x, Value y, Value acc);

/// The pair at `indices` of a bf16 buffer in every lane.
Value broadcastPair(const KernelBuilder &kb, Value memref, ValueRange indices);

/// The pairs of f32 lane vectors, rounded to nearest even.
Value emitPair(const KernelBuilder &kb, Value even, Value odd);

/// The second (if `isOdd`, an i1) or first of each pair in f32.
Value extractFromPairs(const KernelBuilder &kb, Value pairs, Value isOdd);

/// Visits `count` elements in parts of `width`. `mask` is null for a whole
/// part and a vector of i1 for a shorter one, the last.
void forEachPartOfRow(const KernelBuilder &kb, Value count, int64_t width,
                      llvm::function_ref<void(Value column, Value mask)> body);

/// The same for a reduction that carries `init` from part to part.
SmallVector<Value>
reducePartsOfRow(const KernelBuilder &kb, Value count, int64_t width,
                 ValueRange init,
                 llvm::function_ref<SmallVector<Value>(Value column, Value mask,
                                                       ValueRange carried)>
                     body);

/// The part of a row at `indices`, with zeros behind it.
Value loadPart(const KernelBuilder &kb, Value memref, ValueRange indices,
               int64_t width, Value mask);

} // namespace mlir::attn

#endif // ATTN_PASSES_CPU_PAIRVECTORS_H
