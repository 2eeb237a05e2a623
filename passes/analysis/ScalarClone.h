// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations of a mask or score region on one position, as scalar code that
// neither traps nor reads out of bounds.

#ifndef ATTN_PASSES_ANALYSIS_SCALARCLONE_H
#define ATTN_PASSES_ANALYSIS_SCALARCLONE_H

#include "mlir/IR/Builders.h"

namespace mlir::attn {

/// Clones `op`, an operation of a score or keep region with one result, onto
/// `operands`, or folds it. Indices of reads are clamped to the bounds of what
/// they read; divisors for which there is no quotient become 1, shift amounts
/// and conversions from float are brought into range.
Value cloneScalar(OpBuilder &builder, Location loc, Operation &op,
                  ValueRange operands);

/// Clamps `index` to 0..size-1 of dimension `dim` of `shaped`, a tensor or a
/// memref. The result has the type of `index`, index or i64.
Value clampIndex(OpBuilder &builder, Location loc, Value index, Value shaped,
                 int64_t dim);

/// Size of dimension `dim` of `shaped`, a tensor or a memref.
Value getSize(OpBuilder &builder, Location loc, Value shaped, int64_t dim);

} // namespace mlir::attn

#endif // ATTN_PASSES_ANALYSIS_SCALARCLONE_H
