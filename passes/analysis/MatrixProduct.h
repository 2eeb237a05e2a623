// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognises products of matrices, whatever linalg op they are written as.

#ifndef ATTN_PASSES_ANALYSIS_MATRIXPRODUCT_H
#define ATTN_PASSES_ANALYSIS_MATRIXPRODUCT_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::attn {

/// One operand of a product.
struct MatrixFactor {
  Value tensor;
  /// The loops of its leading dimensions.
  SmallVector<unsigned> leading;
  bool isTransposed = false;
};

/// C[b.., m, n] += sum_{r.., k} A[.., m, k] B[.., k, n], where either operand
/// may be transposed. In front they have any of the dimensions b and r.
struct MatrixProduct {
  MatrixFactor left, right;
  SmallVector<unsigned> batch;             ///< the loops b
  SmallVector<unsigned> reductions;        ///< the loops r
  unsigned row = 0, column = 0, depth = 0; ///< the loops m, n and k
};

/// `op` as a product of matrices that the lane form computes; else tells
/// `rewriter` why it is none.
FailureOr<MatrixProduct> matchMatrixProduct(RewriterBase &rewriter,
                                            linalg::LinalgOp op);

} // namespace mlir::attn

#endif // ATTN_PASSES_ANALYSIS_MATRIXPRODUCT_H
