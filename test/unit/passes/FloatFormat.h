// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formats of floats, and how numbers are rounded to them and read from
// their bits.

#ifndef ATTN_TEST_UNIT_PASSES_FLOATFORMAT_H
#define ATTN_TEST_UNIT_PASSES_FLOATFORMAT_H

#include "runtime/DType.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace attn {

/// "f16" and so on with conversions to double and from it.
struct Format {
  const char *name;
  DType dtype;
  int digits, minExponent, maxExponent; ///< as std::numeric_limits has them
};
constexpr Format kF16{"f16", DType::f16, 11, -13, 16};
constexpr Format kBF16{"bf16", DType::bf16, 8, -125, 128};
constexpr Format kF32{"f32", DType::f32, 24, -125, 128};
constexpr Format kF64{"f64", DType::f64, 53, -1021, 1024};

/// x as the format holds it, rounded to nearest.
inline long double round(const Format &format, long double x) {
  if (x == 0 || !std::isfinite(x))
    return x;
  int exponent;
  std::frexp(x, &exponent);
  int last = std::max(exponent, format.minExponent) - format.digits;
  long double rounded = std::ldexp(std::nearbyint(std::ldexp(x, -last)), last);
  return std::fabs(rounded) < std::ldexp(1.0L, format.maxExponent)
             ? rounded
             : std::copysign(std::numeric_limits<long double>::infinity(), x);
}

/// The number whose bits in the format are the low ones of `bits`.
inline double fromBits(const Format &format, uint64_t bits) {
  if (format.dtype == DType::f64) {
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }
  uint32_t single = static_cast<uint32_t>(bits);
  if (format.dtype == DType::bf16)
    single <<= 16;
  if (format.dtype == DType::f16) {
    uint32_t exponent = (single >> 10) & 31, fraction = single & 1023;
    double x = exponent == 0 ? std::ldexp(fraction, -24)
                             : std::ldexp(1024 + fraction, int(exponent) - 25);
    if (exponent == 31)
      x = fraction ? std::numeric_limits<double>::quiet_NaN()
                   : std::numeric_limits<double>::infinity();
    return single & 0x8000 ? -x : x;
  }
  float x;
  std::memcpy(&x, &single, sizeof x);
  return x;
}

} // namespace attn

#endif // ATTN_TEST_UNIT_PASSES_FLOATFORMAT_H
