// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads what stands between two products of matrices: numbers, and weights of
// pairs of a row and a key, written as elementwise linalg operations.

#ifndef ATTN_PASSES_REWRITE_SCOREWEIGHTS_H
#define ATTN_PASSES_REWRITE_SCOREWEIGHTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::attn {

/// An element of a tensor: the loop of a product that each dimension is read
/// at. A scalar has no dimension.
struct TensorRead {
  Value tensor;
  SmallVector<unsigned> loops;

  bool reads(unsigned loop) const { return llvm::is_contained(loops, loop); }
  bool operator==(const TensorRead &other) const {
    return tensor == other.tensor && loops == other.loops;
  }
};

/// exp(c_i - c_j), or exp(factor slope (i - j)) without a slope or with one per
/// batch entry, or the logarithm of one.
struct PairDecay {
  std::optional<TensorRead> sums; ///< c, read at the row
  std::optional<TensorRead> slope;
  double factor = 1;
  bool isLogOfSlope = false;
};

/// A number that all pairs are multiplied with, or divided by.
struct NumberFactor {
  Value number;
  bool isDivisor = false;
};

/// What a score is multiplied with on its way from one product to the next.
struct ScoreWeights {
  double scale = 1;
  SmallVector<NumberFactor> numbers;
  bool isCausal = false; ///< 0 unless j <= i
  std::optional<PairDecay> decay;
  int64_t passes = 0; ///< elementwise operations

  bool isNumber() const { return !isCausal && !decay; }
};

/// Whether `value` may come from a product of matrices through elementwise
/// operations and functions of rows.
bool hasProductBehind(Value value);

/// Reads `read`, the scores as another product reads them at the loops `row`
/// and `key`, back to the product that they come from, the result, which is
/// read at `loops`. Else tells `rewriter` why that is not possible, as a
/// failure of `op`.
FailureOr<linalg::LinalgOp>
readScoreWeights(RewriterBase &rewriter, Operation *op, const TensorRead &read,
                 unsigned row, unsigned key, ScoreWeights &weights,
                 SmallVectorImpl<unsigned> &loops);

} // namespace mlir::attn

#endif // ATTN_PASSES_REWRITE_SCOREWEIGHTS_H
