// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gaussian numbers by counter, and blocks of orthogonal rows. Only operations
// that IEEE 754 rounds in one way take part: +, -, *, /, the square root, and
// those on exponents. This file is compiled without contraction into fma, and
// every sum has its order written down.

#include "passes/analysis/RandomFeatures.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace mlir::attn;

namespace {
using Words = std::array<uint32_t, 4>;

/// What numbers are for: the entries of rows, or the lengths of rows whose
/// entries only give a direction.
enum class Stream : uint32_t { entries, lengths };
} // namespace

/// Philox4x32-10 (Salmon et al. 2011, "Parallel Random Numbers: As Easy as 1,
/// 2, 3", section 3.3): four random words for each counter and key.
static Words philox(Words counter, uint64_t key) {
  auto low = static_cast<uint32_t>(key),
       high = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t(0xD2511F53) * counter[0];
    uint64_t second = uint64_t(0xCD9E8D57) * counter[2];
    counter = {static_cast<uint32_t>(second >> 32) ^ counter[1] ^ low,
               static_cast<uint32_t>(second),
               static_cast<uint32_t>(first >> 32) ^ counter[3] ^ high,
               static_cast<uint32_t>(first)};
    low += 0x9E3779B9;
    high += 0xBB67AE85;
  }
  return counter;
}

/// Uniform in (-1, 1), never 0: an odd multiple of 2^-52.
static double toSigned(uint32_t high, uint32_t low) {
  uint64_t bits = ((uint64_t(high) << 32) | low) >> 12;
  return (static_cast<double>(bits) + 0.5) * 0x1p-51 - 1.0;
}

/// ln x for a normal x > 0, within about 1 ulp: x = 2^n y with y in
/// [sqrt(1/2), sqrt(2)), ln y = 2 artanh((y - 1) / (y + 1)) by its series.
static double logarithm(double x) {
  constexpr double ln2High = 0x1.62e42feep-1, ln2Low = 0x1.a39ef35793c76p-33;
  constexpr double rootHalf = 0.70710678118654752;
  int exponent;
  double y = std::frexp(x, &exponent);
  if (y < rootHalf) {
    y += y;
    --exponent;
  }
  double s = (y - 1.0) / (y + 1.0), square = s * s;
  // s^2 is below 0.03: the first power that is left out is 1e-19 of the sum.
  double series = 0.0;
  for (int power = 23; power >= 3; power -= 2)
    series = (series + 1.0 / power) * square;
  double n = exponent;
  return n * ln2High + (n * ln2Low + (s + s * series) * 2.0);
}

/// Two independent numbers of N(0, 1), by Marsaglia's polar method.
static std::array<double, 2> drawPair(uint64_t seed, Stream stream, int64_t row,
                                      int64_t pair) {
  for (uint32_t attempt = 0;; ++attempt) {
    Words words =
        philox({static_cast<uint32_t>(row), static_cast<uint32_t>(pair),
                attempt, static_cast<uint32_t>(stream)},
               seed);
    double u = toSigned(words[0], words[1]), v = toSigned(words[2], words[3]);
    double s = u * u + v * v;
    if (s >= 1.0)
      continue;
    double factor = std::sqrt(-2.0 * logarithm(s) / s);
    return {u * factor, v * factor};
  }
}

static void drawRow(uint64_t seed, Stream stream, int64_t row, int64_t dim,
                    double *to) {
  for (int64_t column = 0; column < dim; column += 2) {
    std::array<double, 2> pair = drawPair(seed, stream, row, column / 2);
    to[column] = pair[0];
    if (column + 1 < dim)
      to[column + 1] = pair[1];
  }
}

/// The sum of x[k] y[k], in eight sums that the machine may compute at once.
static double dot(const double *x, const double *y, int64_t count) {
  constexpr int64_t lanes = 8;
  double sums[lanes] = {};
  int64_t k = 0;
  for (; k + lanes <= count; k += lanes)
    for (int64_t lane = 0; lane < lanes; ++lane)
      sums[lane] += x[k + lane] * y[k + lane];
  for (int64_t lane = 0; k < count; ++k, ++lane)
    sums[lane] += x[k] * y[k];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) +
         ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

static double lengthOf(const double *row, int64_t dim) {
  return std::sqrt(dot(row, row, dim));
}

static void scaleRow(double *row, int64_t dim, double factor) {
  for (int64_t k = 0; k < dim; ++k)
    row[k] *= factor;
}

/// Makes `row` orthogonal to the `count` orthonormal rows in front of it, and
/// its length 1: one step of a QR decomposition whose R has a positive
/// diagonal, so that the rows of a block are Haar-distributed. Twice, because
/// what one pass leaves is small against `row` only, not against its remainder.
static void orthonormalize(const double *before, int64_t count, double *row,
                           int64_t dim) {
  for (int pass = 0; pass < 2; ++pass) {
    for (int64_t other = 0; other < count; ++other) {
      const double *unit = before + other * dim;
      double part = dot(unit, row, dim);
      for (int64_t k = 0; k < dim; ++k)
        row[k] -= part * unit[k];
    }
    scaleRow(row, dim, 1.0 / lengthOf(row, dim));
  }
}

std::vector<double> attn::makeRandomFeatures(uint64_t seed, int64_t rows,
                                             int64_t dim, bool orthogonal,
                                             Norms norms) {
  std::vector<double> features(rows * dim), other(dim);
  auto at = [&](int64_t row) { return features.data() + row * dim; };
  for (int64_t row = 0; row < rows; ++row)
    drawRow(seed, Stream::entries, row, dim, at(row));
  if (orthogonal)
    for (int64_t row = 0; row < rows; ++row) {
      int64_t inBlock = row % dim;
      orthonormalize(at(row - inBlock), inBlock, at(row), dim);
    }
  for (int64_t row = 0; row < rows; ++row) {
    if (norms == Norms::SqrtDim) {
      double length = orthogonal ? 1.0 : lengthOf(at(row), dim);
      scaleRow(at(row), dim, std::sqrt(static_cast<double>(dim)) / length);
    } else if (orthogonal) {
      drawRow(seed, Stream::lengths, row, dim, other.data());
      scaleRow(at(row), dim, lengthOf(other.data(), dim));
    }
  }
  return features;
}
