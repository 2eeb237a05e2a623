// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the mode of compiled code (docs/embedding.md, "Numbers near 0") makes of
// the value that a function should have: subnormal operands and results are 0
// with their sign. The tests of functions and casts share it.

#ifndef ATTN_TEST_UNIT_PASSES_FLOATMODE_H
#define ATTN_TEST_UNIT_PASSES_FLOATMODE_H

#include <algorithm>
#include <cmath>

namespace attn {

/// The least normal number of a format with the given
/// std::numeric_limits::min_exponent; for f16 that of f32, in which it is
/// computed.
inline long double leastNormal(int minExponent) {
  return std::ldexp(1.0L, std::min(minExponent, -125) - 1);
}

inline bool isSubnormal(int minExponent, long double x) {
  return x != 0 && std::fabs(x) < leastNormal(minExponent);
}

/// x, or 0 with its sign where x is subnormal.
inline long double flushed(int minExponent, long double x) {
  return isSubnormal(minExponent, x) ? std::copysign(0.0L, x) : x;
}

/// Whether the result `got` is the 0 that stands for `exact`. An error of
/// `limit` units of a format of `digits` may take `exact` below the least
/// normal number.
inline bool isFlushed(int digits, int minExponent, long double got,
                      long double exact, double limit) {
  long double least = leastNormal(minExponent);
  long double unit = std::ldexp(least, 1 - digits);
  return got == 0 && exact != 0 && std::fabs(exact) < least + limit * unit &&
         std::signbit(got) == std::signbit(exact);
}

} // namespace attn

#endif // ATTN_TEST_UNIT_PASSES_FLOATMODE_H
