// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rounding to f16 and bf16, error metrics against f64 values, and the
// tolerances that every numeric test uses.

#ifndef ATTN_TEST_ORACLE_COMPARE_H
#define ATTN_TEST_ORACLE_COMPARE_H

#include <cstdint>
#include <string>
#include <vector>

namespace attn::oracle {

/// To bf16, round to nearest, ties to even; a NaN stays a (quiet) NaN.
uint16_t toBf16(float value);
float fromBf16(uint16_t bits);
/// The same for f16, rounded once from f64.
uint16_t toF16(double value);
double fromF16(uint16_t bits);

/// Bounds on the difference from f64: `relativeRms` and `maxAbs` (the latter
/// times the largest finite expected magnitude) for O, `lseAbs` for LSE.
struct Tolerance {
  double relativeRms, maxAbs, lseAbs;
};
/// f32 results of f32 inputs.
inline constexpr Tolerance f32Tolerance{1e-5, 5e-5, 1e-5};
/// bf16 results of bf16 inputs, computed in f32 and rounded once.
inline constexpr Tolerance bf16Tolerance{8e-3, 1.6e-2, 4e-3};
/// The same for f16.
inline constexpr Tolerance f16Tolerance{1e-3, 2e-3, 4e-3};
/// f64 results of f64 inputs. What the expected values, sums in f64 themselves,
/// are off is a hundredth of it.
inline constexpr Tolerance f64Tolerance{1e-13, 5e-13, 1e-13};

struct Difference {
  /// sqrt(sum (got - want)^2 / sum want^2) over the finite expected entries;
  /// the absolute RMS where every finite expected entry is 0.
  double relativeRms = 0.0;
  /// Largest |got - want| over the finite expected entries.
  double maxAbs = 0.0;
  /// Largest |want| over the finite expected entries.
  double maxWant = 0.0;
  /// Entries that differ in kind: NaN against a number, an infinity against
  /// anything but the same infinity.
  int64_t kindMismatches = 0;
  /// The first of those, or else the entry with the largest error.
  int64_t worst = -1;
  bool sizesDiffer = false;
};
Difference compare(const std::vector<double> &got,
                   const std::vector<double> &want);

/// Empty if `got` is O (or LSE) within the tolerance, else what is wrong.
std::string checkOutput(const std::vector<double> &got,
                        const std::vector<double> &want, Tolerance tolerance);
std::string checkLse(const std::vector<double> &got,
                     const std::vector<double> &want, Tolerance tolerance);

} // namespace attn::oracle

#endif // ATTN_TEST_ORACLE_COMPARE_H
