// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The body of a linalg operation that sums, in a wider type.

#ifndef ATTN_PASSES_CONVENTION_SUMBODY_H
#define ATTN_PASSES_CONVENTION_SUMBODY_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::attn {

/// Computes sums of `op` in floats of at least type `wide`, and rounds them
/// once: its results have the values of the body without the rounding of each
/// step. Sums that are as wide already stay as they are.
LogicalResult widenSums(RewriterBase &rewriter, linalg::LinalgOp op,
                        FloatType wide);

/// A body in floats of at least one type. Two kinds of casts to less are no
/// part of what is summed, and left out: those that the sum itself goes
/// through, and those that round arithmetic in the type of a narrow sum.
class SumBody {
public:
  SumBody(linalg::LinalgOp op, FloatType wide);

  /// False if an operation has regions.
  bool canWiden();

  /// Builds the body on `args`, of which those of results are wide. Returns the
  /// new elements as `types`.
  SmallVector<Value> build(OpBuilder &builder, ValueRange args,
                           TypeRange types);

private:
  FloatType widen(Type type);
  /// True if `cast` is no part of what is summed.
  bool isDropped(arith::TruncFOp cast);
  Value lookup(OpBuilder &builder, Value value);
  void clone(OpBuilder &builder, Operation *op);
  Value buildCast(OpBuilder &builder, Operation *op);

  linalg::LinalgOp op;
  FloatType wide;
  IRMapping mapping;
  DenseSet<Value> sums; ///< what depends on the elements of results
};

} // namespace mlir::attn

#endif // ATTN_PASSES_CONVENTION_SUMBODY_H
