// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognises products of matrices one of which reads the other's result.

#ifndef ATTN_PASSES_REWRITE_PRODUCTCHAIN_H
#define ATTN_PASSES_REWRITE_PRODUCTCHAIN_H

#include "passes/analysis/CostModel.h"
#include "passes/rewrite/ScoreWeights.h"

namespace mlir::attn {

/// O[b.., i, d] = sum_j (sum_k A[b.., i, k] B[b.., j, k] w(i, j)) V[b.., j, d],
/// where each tensor has its dimensions in any order. Loops are those of the
/// outer product; k, which it has not, is a number of its own.
struct ProductChain {
  linalg::LinalgOp outer, inner;
  TensorRead a, b, v, o;
  SmallVector<unsigned> batch; ///< in the order of O
  unsigned row, key, column, feature;
  ScoreWeights weights;
  bool isScoreLeft; ///< whether the outer product is (A B) V, not V (B A)
  /// The type in which the outer product reads the scores.
  FloatType scoreType;

  ChainShape getShape() const;
  /// Whether the number of rows, or that of keys, is one that only a call
  /// knows.
  bool hasUnknownLength() const;
  /// The size of a dimension, which may be dynamic.
  int64_t getSize(unsigned loop) const;
};

/// The chain that ends in `outer`, whose left or right operand is the scores;
/// else tells `rewriter` why there is none.
FailureOr<ProductChain> matchProductChain(RewriterBase &rewriter,
                                          linalg::LinalgOp outer,
                                          bool isScoreLeft);

/// Whether `value` is 0 everywhere.
bool isZeroTensor(Value value);

} // namespace mlir::attn

#endif // ATTN_PASSES_REWRITE_PRODUCTCHAIN_H
