// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over packed sequences, each of which takes some rows of its operands.

#ifndef ATTN_PASSES_DECOMPOSE_PACKEDROWS_H
#define ATTN_PASSES_DECOMPOSE_PACKEDROWS_H

#include "dialect/Attn.h"

namespace mlir::attn {

/// The rows of one sequence, and its number.
struct SequenceRows {
  Value number;
  OpFoldResult first, count;
};

/// A loop over the sequences that begin at the `starts` of each operand, of
/// `sizes` rows; all have as many starts. `body` gives the values that the loop
/// carries from the rows in each operand and the values before. Starts are
/// clamped to the operand, and one that is less than those before it counts as
/// the greatest of them.
SmallVector<Value> buildSequenceLoop(
    OpBuilder &builder, Location loc, ValueRange starts, ValueRange sizes,
    ValueRange inits,
    function_ref<SmallVector<Value>(ArrayRef<SequenceRows>, ValueRange)> body);

/// The part of `tensor` from `first` on in dimension `dim`; all of the others.
Value slicePart(OpBuilder &builder, Location loc, Value tensor, int64_t dim,
                OpFoldResult first, OpFoldResult count);
/// `into` with `part` there.
Value insertPart(OpBuilder &builder, Location loc, Value part, Value into,
                 int64_t dim, OpFoldResult first);

/// Replaces `op`, of packed sequences, by one for each of them on its rows.
///
/// %o = attn.linear %q, %k, %v query_starts(%s) ...
///   ->
/// %o = scf.for %n iter_args(%o) {
///   attn.linear %q[s_n .. s_n+1], ... -> %o[s_n .. s_n+1]
/// }
void unpackLinear(OpBuilder &builder, LinearOp op);

} // namespace mlir::attn

#endif // ATTN_PASSES_DECOMPOSE_PACKEDROWS_H
