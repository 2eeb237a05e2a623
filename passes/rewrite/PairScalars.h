// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalars in the bodies of elementwise operations that depend on where a pair
// of a row and a key is: positions, causal masks, exponents of decays.

#ifndef ATTN_PASSES_REWRITE_PAIRSCALARS_H
#define ATTN_PASSES_REWRITE_PAIRSCALARS_H

#include "passes/rewrite/ScoreWeights.h"

namespace mlir::attn {

/// The body of an elementwise operation: the loops of a product that its own
/// loops are, and which of those are the row and the key.
struct PairBody {
  linalg::LinalgOp op;
  SmallVector<unsigned> loops;
  unsigned row, key;

  /// The body of `op` where its result `number` is read at `loops`; none if
  /// `op` is not elementwise.
  static std::optional<PairBody> get(linalg::LinalgOp op, unsigned number,
                                     ArrayRef<unsigned> loops, unsigned row,
                                     unsigned key);

  /// Whether `value` is an argument of the body.
  bool isArgument(Value value) const;
  /// What an argument of the body is.
  TensorRead getRead(Value argument) const;
  /// Whether `value` is computed outside of the body.
  bool isOutside(Value value) const;
  /// Whether `read` depends on row or key.
  bool readsPair(const TensorRead &read) const {
    return read.reads(row) || read.reads(key);
  }
};

/// `value` without changes of precision.
Value stripFloatCasts(Value value);

/// Null if `condition` is j <= i, the other way round if `isNegated`; else why
/// not.
const char *whyNotCausal(Value condition, const PairBody &body, bool isNegated);

/// The decay that `op`, an exponential or a power, is. `isCausal` is set if it
/// is 0 unless j <= i.
std::optional<PairDecay> readDecay(Operation *op, const PairBody &body,
                                   bool &isCausal);

} // namespace mlir::attn

#endif // ATTN_PASSES_REWRITE_PAIRSCALARS_H
