// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers of attn.random_features: their distribution, what they depend on,
// and their bits, which stay as they are: results that were computed with a
// seed are to be had again from it, on any machine and in any later version.

#include "passes/analysis/RandomFeatures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

using mlir::attn::makeRandomFeatures;
using mlir::attn::Norms;

namespace {

double dot(const double *x, const double *y, int64_t count) {
  double sum = 0;
  for (int64_t k = 0; k < count; ++k)
    sum += x[k] * y[k];
  return sum;
}

/// Q of the QR decomposition of a matrix whose columns are the rows of `g`, by
/// Householder reflections as LAPACK does it; Q's columns are in the rows of
/// the result. R then has a diagonal of both signs, which `fixSigns` corrects.
std::vector<double> householder(const std::vector<double> &g, int64_t d,
                                bool fixSigns) {
  std::vector<double> columns = g;
  std::vector<std::vector<double>> reflectors;
  std::vector<double> signs;
  auto reflect = [&](const std::vector<double> &v, double *x) {
    double part = 2 * dot(v.data(), x, d) / dot(v.data(), v.data(), d);
    for (int64_t k = 0; k < d; ++k)
      x[k] -= part * v[k];
  };
  for (int64_t c = 0; c < d; ++c) {
    double *x = &columns[c * d];
    for (const std::vector<double> &v : reflectors)
      reflect(v, x);
    if (c == d - 1) {
      signs.push_back(x[c] < 0 ? -1 : 1);
      break;
    }
    std::vector<double> v(d, 0.0);
    for (int64_t k = c; k < d; ++k)
      v[k] = x[k];
    double alpha = std::sqrt(dot(v.data(), v.data(), d));
    double pivot = x[c];
    v[c] += pivot < 0 ? -alpha : alpha;
    signs.push_back(pivot < 0 ? 1 : -1); // the sign of R's entry
    reflectors.push_back(v);
  }
  std::vector<double> q(d * d, 0.0);
  for (int64_t c = 0; c < d; ++c) {
    double *x = &q[c * d];
    x[c] = 1;
    for (int64_t r = static_cast<int64_t>(reflectors.size()) - 1; r >= 0; --r)
      reflect(reflectors[r], x);
    if (fixSigns && signs[c] < 0)
      for (int64_t k = 0; k < d; ++k)
        x[k] = -x[k];
  }
  return q;
}

struct Estimate {
  double mean, error; ///< of an average, and its standard error
};

Estimate average(const std::vector<double> &samples) {
  double sum = 0, squares = 0;
  for (double x : samples)
    sum += x, squares += x * x;
  double n = static_cast<double>(samples.size()), mean = sum / n;
  return {mean, std::sqrt((squares / n - mean * mean) / n)};
}

using MakeBlock = std::vector<double> (*)(uint64_t seed, int64_t d);

/// E[exp(w.z - |z|^2 / 2)], which is 1 for rows w ~ N(0, I), along the diagonal
/// direction of the given sign, with |z| = 2. A sample is the average over a
/// block, whose rows depend on each other.
Estimate measureBias(MakeBlock makeBlock, int64_t d, double sign, int blocks) {
  std::vector<double> samples;
  double entry = sign * 2.0 / std::sqrt(static_cast<double>(d));
  for (int block = 0; block < blocks; ++block) {
    std::vector<double> w = makeBlock(1000 + block, d);
    double sum = 0;
    for (int64_t r = 0; r < d; ++r) {
      double product = 0;
      for (int64_t k = 0; k < d; ++k)
        product += w[r * d + k] * entry;
      sum += std::exp(product - 2.0);
    }
    samples.push_back(sum / static_cast<double>(d));
  }
  return average(samples);
}

std::vector<double> makeBlock(uint64_t seed, int64_t d) {
  return makeRandomFeatures(seed, d, d, /*orthogonal=*/true, Norms::Chi);
}

/// The same from a QR decomposition whose signs are left as they come.
std::vector<double> makeUnfixedBlock(uint64_t seed, int64_t d) {
  std::vector<double> gaussian =
      makeRandomFeatures(seed, d, d, /*orthogonal=*/false, Norms::Chi);
  std::vector<double> lengths =
      makeRandomFeatures(~seed, d, d, /*orthogonal=*/false, Norms::Chi);
  std::vector<double> q = householder(gaussian, d, /*fixSigns=*/false);
  for (int64_t r = 0; r < d; ++r) {
    double length = std::sqrt(dot(&lengths[r * d], &lengths[r * d], d));
    for (int64_t k = 0; k < d; ++k)
      q[r * d + k] *= length;
  }
  return q;
}

bool isBiased(MakeBlock makeBlock, int64_t d) {
  for (double sign : {1.0, -1.0}) {
    Estimate bias = measureBias(makeBlock, d, sign, d == 16 ? 4000 : 400);
    if (std::abs(bias.mean - 1.0) > 4 * bias.error)
      return true;
  }
  return false;
}

TEST(RandomFeatures, RowsOfABlockAreOrthogonal) {
  for (int64_t d : {1, 2, 7, 16, 64}) {
    int64_t rows = 2 * d + d / 2;
    std::vector<double> w = makeRandomFeatures(3, rows, d, true, Norms::Chi);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t s = r - r % d; s < r; ++s) {
        double scale = std::sqrt(dot(&w[r * d], &w[r * d], d) *
                                 dot(&w[s * d], &w[s * d], d));
        EXPECT_LT(std::abs(dot(&w[r * d], &w[s * d], d)), 1e-14 * scale)
            << "d " << d << " rows " << r << " " << s;
      }
  }
}

TEST(RandomFeatures, MustFailWithoutOrthogonality) {
  std::vector<double> w = makeRandomFeatures(3, 64, 64, false, Norms::Chi);
  double worst = 0;
  for (int64_t s = 1; s < 64; ++s)
    worst = std::max(worst, std::abs(dot(&w[0], &w[s * 64], 64)));
  EXPECT_GT(worst, 1.0);
}

TEST(RandomFeatures, EntriesAreStandardNormal) {
  std::vector<double> w = makeRandomFeatures(11, 4000, 25, false, Norms::Chi);
  double moments[5] = {};
  for (double x : w)
    for (int k = 1; k <= 4; ++k)
      moments[k] += std::pow(x, k);
  double n = static_cast<double>(w.size());
  // Mean 0, variance 1, skewness 0, kurtosis 3, within 4 standard errors.
  EXPECT_LT(std::abs(moments[1] / n), 4 / std::sqrt(n));
  EXPECT_LT(std::abs(moments[2] / n - 1), 4 * std::sqrt(2 / n));
  EXPECT_LT(std::abs(moments[3] / n), 4 * std::sqrt(15 / n));
  EXPECT_LT(std::abs(moments[4] / n - 3), 4 * std::sqrt(96 / n));
}

TEST(RandomFeatures, LengthsAreThoseOfGaussianVectors) {
  constexpr int64_t rows = 4096, d = 32;
  for (bool orthogonal : {false, true}) {
    std::vector<double> w =
        makeRandomFeatures(5, rows, d, orthogonal, Norms::Chi);
    std::vector<double> squares;
    for (int64_t r = 0; r < rows; ++r)
      squares.push_back(dot(&w[r * d], &w[r * d], d));
    // chi^2 with d degrees of freedom: mean d, variance 2 d.
    Estimate length = average(squares);
    EXPECT_LT(std::abs(length.mean - d), 4 * length.error);
    double variance = length.error * length.error * rows;
    EXPECT_NEAR(variance, 2 * d, 4 * 2 * d * std::sqrt(2.0 / rows) * 1.5);

    std::vector<double> regular =
        makeRandomFeatures(5, rows, d, orthogonal, Norms::SqrtDim);
    for (int64_t r = 0; r < rows; ++r)
      EXPECT_NEAR(dot(&regular[r * d], &regular[r * d], d), d, 1e-12 * d);
  }
}

TEST(RandomFeatures, NoDirectionIsPreferred) {
  for (int64_t d : {16, 64})
    EXPECT_FALSE(isBiased(makeBlock, d)) << d;
}

TEST(RandomFeatures, MustFailWithoutTheSignFix) {
  for (int64_t d : {16, 64})
    EXPECT_TRUE(isBiased(makeUnfixedBlock, d)) << d;
}

// An orthogonal block is the Q of the QR decomposition of Gaussian entries.
TEST(RandomFeatures, ABlockIsTheQOfAGaussianMatrix) {
  constexpr int64_t d = 12;
  std::vector<double> gaussian = makeRandomFeatures(9, d, d, false, Norms::Chi);
  std::vector<double> q = householder(gaussian, d, /*fixSigns=*/true);
  std::vector<double> w = makeRandomFeatures(9, d, d, true, Norms::SqrtDim);
  for (int64_t k = 0; k < d * d; ++k)
    EXPECT_NEAR(w[k], q[k] * std::sqrt(static_cast<double>(d)), 1e-11) << k;
}

TEST(RandomFeatures, FewerRowsAreAPartOfMore) {
  for (bool orthogonal : {false, true})
    for (Norms norms : {Norms::Chi, Norms::SqrtDim}) {
      std::vector<double> all = makeRandomFeatures(7, 41, 9, orthogonal, norms);
      for (int64_t rows : {0, 1, 8, 9, 10, 40}) {
        std::vector<double> part =
            makeRandomFeatures(7, rows, 9, orthogonal, norms);
        ASSERT_EQ(part.size(), static_cast<size_t>(rows * 9));
        EXPECT_EQ(
            std::memcmp(part.data(), all.data(), part.size() * sizeof(double)),
            0)
            << rows;
      }
    }
}

TEST(RandomFeatures, SeedsGiveOtherNumbers) {
  for (bool orthogonal : {false, true}) {
    std::vector<double> one =
        makeRandomFeatures(1, 8, 8, orthogonal, Norms::Chi);
    std::vector<double> two =
        makeRandomFeatures(uint64_t(1) << 40 | 1, 8, 8, orthogonal, Norms::Chi);
    for (int64_t k = 0; k < 64; ++k)
      EXPECT_NE(one[k], two[k]);
  }
}

// Written down once. Another generator would be as good, but not the same.
TEST(RandomFeatures, BitsStayTheSame) {
  std::vector<double> gaussian = makeRandomFeatures(7, 2, 3, false, Norms::Chi);
  std::vector<double> blocks = makeRandomFeatures(7, 3, 3, true, Norms::Chi);
  const double wantGaussian[] = {-0x1.a8a5ae93848cbp-5, -0x1.f90ba4c099349p+0,
                                 0x1.1cc9161191fc1p+1,  -0x1.5960777cc1355p-2,
                                 -0x1.3095423ded776p+0, -0x1.6c371620be6eap+0};
  const double wantBlocks[] = {
      -0x1.b520ddea1a405p-6, -0x1.03f1e2c37cfdbp+0, 0x1.2527e7df8f21bp+0,
      -0x1.ed2abb3ffc472p-3, -0x1.ed55c19752fb3p-1, -0x1.b851918f420dep-1,
      -0x1.913025bcabd4cp+0, 0x1.e500a728c8f97p-3,  0x1.6347d2db0f70cp-3};
  for (int64_t k = 0; k < 6; ++k)
    EXPECT_EQ(gaussian[k], wantGaussian[k]) << k;
  for (int64_t k = 0; k < 9; ++k)
    EXPECT_EQ(blocks[k], wantBlocks[k]) << k;
}

} // namespace
