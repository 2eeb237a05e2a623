// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What elementary functions need to know of f32 and f64. The coefficients of
// polynomials are Chebyshev fits, made in 40 digits or more and rounded; the
// highest power stands first.

#ifndef ATTN_PASSES_CPU_MATHCONSTANTS_H
#define ATTN_PASSES_CPU_MATHCONSTANTS_H

#include "mlir/Support/LLVM.h"

namespace mlir::attn {

struct MathConstants {
  int bits, fractionBits, bias;
  /// The bits of sqrt(1/2).
  int64_t rootHalfBits;
  /// ln2 in so few bits that products with exponents are exact, and the rest.
  double ln2High, ln2Low;
  /// e^x rounds to 0 below, is infinite above.
  double expLow, expHigh;
  /// tanh(x) rounds to 1 from here on.
  double tanhIsOne;
  ArrayRef<double> exp2; ///< 2^r on [-1/2, 1/2]
  ArrayRef<double> tanh; ///< (tanh(x) / x - 1) / x^2 of x^2 for |x| < 0.55
  ArrayRef<double> log;  ///< (ln((1 + s) / (1 - s)) - 2s) / s^3 of s^2 for
                         ///< (1 + s) / (1 - s) in [sqrt(1/2), sqrt(2)]

  /// Adding this to a smaller x rounds x to an integer, held in the low bits of
  /// the sum.
  double round() const {
    return 1.5 * static_cast<double>(int64_t(1) << fractionBits);
  }
  /// Its bits.
  int64_t roundBits() const {
    return (int64_t(bias + fractionBits) << fractionBits) |
           (int64_t(1) << (fractionBits - 1));
  }
  /// The bits of 1.
  int64_t oneBits() const { return int64_t(bias) << fractionBits; }
};

const MathConstants &getMathConstants(bool isF64);

/// 2^r on [0, 1) in f32, relative error 2e-9; exact at 0.
extern const ArrayRef<double> kExp2FromZero;

/// The same with relative error 9e-5, a fortieth of a bf16 rounding.
extern const ArrayRef<double> kExp2FromZeroShort;

} // namespace mlir::attn

#endif // ATTN_PASSES_CPU_MATHCONSTANTS_H
