// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How far two tensors are apart, how far they may be, and tensors as text.

#ifndef ATTN_RUNTIME_DIFFERENCE_H
#define ATTN_RUNTIME_DIFFERENCE_H

#include "runtime/Signature.h"
#include "runtime/Tensor.h"

namespace attn {

struct Difference {
  /// Largest |got - expected| where both are finite.
  double maxAbs = 0;
  /// sqrt(sum (got - expected)^2 / sum expected^2) where both are finite; the
  /// absolute RMS where the expected values are all 0.
  double relativeRms = 0;
  /// Elements where one is NaN or infinite and the other isn't the same.
  int64_t kindMismatches = 0;
  /// Elements beyond absolute + relative * |expected|, mismatches included.
  int64_t outside = 0;
  /// The first element of a kind mismatch, or the one with the largest error;
  /// -1 for empty tensors.
  int64_t worst = -1;
};

/// Both tensors must have the same sizes; dtypes may differ.
Difference compare(const Tensor &got, const Tensor &expected,
                   double absolute = 0, double relative = 0);

/// How far a result may be from the value computed in f64.
struct Tolerance {
  enum class Kind { relativeRms, maxAbs };
  Kind kind = Kind::relativeRms;
  double bound = 0;
};

/// The bound for a result of this type: relative RMS by dtype, and for a
/// log-sum-exp the largest difference. `input` is the type of the attention's
/// operands.
Tolerance defaultTolerance(const Parameter &result, DType input);

bool isWithin(const Difference &difference, Tolerance tolerance);

/// "[[1, 2], [3, 4]]" with as many digits as the type carries.
std::string formatElements(const Tensor &tensor);

} // namespace attn

#endif // ATTN_RUNTIME_DIFFERENCE_H
