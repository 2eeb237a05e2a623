// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies between row-major operands and the buffers of CPU kernels: rows in
// f32, and tiles with queries as lanes.

#ifndef ATTN_PASSES_CPU_TILECOPIES_H
#define ATTN_PASSES_CPU_TILECOPIES_H

#include "passes/cpu/KernelBuilder.h"

namespace mlir::attn {

/// Maps a lane vector or scalar to another of the same shape.
using ElementMap = llvm::function_ref<Value(Value)>;

/// to[toRow, 0..count) = map(from[fromRow, 0..count)) in lane vectors. The last
/// vector overlaps the one before it; rows shorter than a vector go by element.
/// `map` must give the same value for an element whenever it is asked.
void emitRowCopy(const KernelBuilder &kb, Value from, ValueRange fromRow,
                 Value to, ValueRange toRow, Value count, ElementMap map);

/// Stores the lane vector `vector` all over the buffer `to` of two dimensions
/// or one, the last being a multiple of the vector width.
void emitFill(const KernelBuilder &kb, Value vector, Value to);

/// The same for rows of bf16 into rows of their pairs, each pair the bits of an
/// f32. The pair behind an odd last element is 0.
void emitPairRowCopy(const KernelBuilder &kb, Value from, ValueRange fromRow,
                     Value to, ValueRange toRow, Value count);

/// to[c, r] = from[r, c] for all of `from`, f32 buffers of which the sizes of
/// `from` are multiples of the vector width. Either may be of bf16: an f32 is
/// then the bits of a pair. Columns of `from` that lie `prefetchDistance` ahead
/// are on their way into a cache afterwards; they may be beyond its end.
void emitTranspose(const KernelBuilder &kb, Value from, Value to,
                   Value prefetchDistance = Value());

/// Transposes W vectors of W lanes in log2(W) steps.
void transposeInRegisters(const KernelBuilder &kb,
                          SmallVectorImpl<Value> &rows);

} // namespace mlir::attn

#endif // ATTN_PASSES_CPU_TILECOPIES_H
