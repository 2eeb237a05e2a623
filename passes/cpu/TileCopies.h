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
/// `map` must give the same value for an element whenever it is asked. What
/// lies `prefetchDistance` rows ahead is on its way into a cache afterwards; it
/// may be beyond the end.
void emitRowCopy(const KernelBuilder &kb, Value from, ValueRange fromRow,
                 Value to, ValueRange toRow, Value count, ElementMap map,
                 Value prefetchDistance = Value());

/// The same for rows of bf16, unmapped and in pairs: `to` is of bf16, or of f32
/// whose bits are a pair. Up to a whole vector of pairs there are zeros behind.
void emitPairRowCopy(const KernelBuilder &kb, Value from, ValueRange fromRow,
                     Value to, ValueRange toRow, Value count);

/// to[pair, 2 c + p] = map(from[row + 2 pair + p, column + c]), of bf16, for
/// `count` rows and `columns` columns, with zeros behind an odd last row. `map`
/// may be left out. Rows that lie `prefetchDistance` ahead are on their way
/// into a cache afterwards; they may be beyond its end.
void emitInterleavedRows(const KernelBuilder &kb, Value from, Value row,
                         Value count, Value column, Value columns, Value to,
                         ElementMap map = nullptr,
                         Value prefetchDistance = Value());

/// Stores the lane vector `vector` all over the buffer `to` of two dimensions
/// or one, the last being a multiple of the vector width.
void emitFill(const KernelBuilder &kb, Value vector, Value to);

/// to[c, r] = from[r, c] for all of `from`, f32 buffers of which the sizes of
/// `from` are multiples of the vector width. Either may be of bf16: an f32 is
/// then the bits of a pair. Columns of `from` that lie `prefetchDistance` ahead
/// are on their way into a cache afterwards; they may be beyond its end.
void emitTranspose(const KernelBuilder &kb, Value from, Value to,
                   Value prefetchDistance = Value());

/// Swaps the lanes of x and y whose numbers differ in the bit `step`: where it
/// is 1 in x with where it is 0 in y.
std::pair<Value, Value> exchangeLanes(const KernelBuilder &kb, Value x, Value y,
                                      int64_t step);

/// Transposes W vectors of W lanes in log2(W) steps.
void transposeInRegisters(const KernelBuilder &kb,
                          SmallVectorImpl<Value> &rows);

} // namespace mlir::attn

#endif // ATTN_PASSES_CPU_TILECOPIES_H
