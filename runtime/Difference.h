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
  /// Elements that are finite in both, and those that are the same infinity or
  /// NaN in both.
  int64_t finite = 0, sameKind = 0;
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

/// The bound for a result: relative RMS by its type, or by the narrower one
/// that numbers are rounded to on the way, and for a log-sum-exp the largest
/// difference.
Tolerance defaultTolerance(const Parameter &result);

bool isWithin(const Difference &difference, Tolerance tolerance);

/// "max abs error 1e-07, relative rms 2e-08", the numbers of elements that are
/// not finite in front where there are any: "2 of 8 elements differ in NaN or
/// infinity". No error is one of no elements. `relative` leaves out what comes
/// after the first error.
std::string formatErrors(const Difference &difference, bool relative = true);

/// "min 0, max 3, mean 1.5" of the finite elements, with the numbers of others:
/// "2 NaN, 1 infinite"; empty where there is no element.
std::string formatRange(const Tensor &tensor);

/// "[[1, 2], [3, 4]]" with as many digits as the type carries.
std::string formatElements(const Tensor &tensor);

} // namespace attn

#endif // ATTN_RUNTIME_DIFFERENCE_H
