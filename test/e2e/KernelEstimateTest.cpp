// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random features over many draws of W: their products estimate the softmax
// kernel exp(x.y) without a bias and with the variance of Choromanski et al.
// 2021, "Rethinking Attention with Performers", lemmas 1 and 2 and theorem 2.

#include "test/e2e/Harness.h"
#include "test/e2e/PoisonedCall.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace attn;
using namespace attn::test;

namespace {

constexpr int64_t kDim = 8, kBlocks = 1 << 14, kRows = kDim * kBlocks;

struct Vectors {
  std::vector<double> x, y;
  double kernel, sum, difference; ///< e^(x.y), |x + y|^2, |x - y|^2
  double norms;                   ///< |x|^2 + |y|^2
};

Vectors makeVectors() {
  Vectors v;
  v.x = randomValues(kDim, 5);
  v.y = randomValues(kDim, 6);
  double product = 0;
  v.sum = v.difference = v.norms = 0;
  for (int64_t k = 0; k < kDim; ++k) {
    v.x[k] *= 0.4;
    v.y[k] *= 0.4;
    product += v.x[k] * v.y[k];
    v.sum += (v.x[k] + v.y[k]) * (v.x[k] + v.y[k]);
    v.difference += (v.x[k] - v.y[k]) * (v.x[k] - v.y[k]);
    v.norms += v.x[k] * v.x[k] + v.y[k] * v.y[k];
  }
  v.kernel = std::exp(product);
  return v;
}

/// Mean and variance of the estimates of m = kDim rows, and four standard
/// errors of the variance.
struct Moments {
  double mean = 0, variance = 0, slack = 0;
};

Moments momentsOf(const std::vector<double> &estimates) {
  Moments m;
  double n = static_cast<double>(estimates.size()), fourth = 0;
  for (double e : estimates)
    m.mean += e / n;
  for (double e : estimates) {
    double square = (e - m.mean) * (e - m.mean);
    m.variance += square / n;
    fourth += square * square / n;
  }
  m.slack = 4 * std::sqrt((fourth - m.variance * m.variance) / n);
  return m;
}

/// Each block of rows of one large W is a draw.
Moments estimate(const std::string &feature, bool orthogonal,
                 const Vectors &vectors) {
  int64_t halves = feature == "positive" ? 1 : 2;
  std::string vector = "tensor<1x1x1x" + std::to_string(kDim) + "xf64>";
  std::string w =
      "tensor<" + std::to_string(kRows) + "x" + std::to_string(kDim) + "xf64>";
  std::string result =
      "tensor<1x1x1x" + std::to_string(halves * kRows) + "xf64>";
  std::string map = "attn.feature_map %VECTOR feature(#attn." + feature +
                    ") projection(%w : " + w + ") : " + vector + " -> " +
                    result + "\n";
  std::string ofX = map, ofY = map;
  ofX.replace(ofX.find("VECTOR"), 6, "x");
  ofY.replace(ofY.find("VECTOR"), 6, "y");
  std::string ir = "func.func @main(%x: " + vector + ", %y: " + vector +
                   ") -> (" + result + ", " + result +
                   ") {\n  %w = attn.random_features seed(21)" +
                   (orthogonal ? " orthogonal" : "") + " : " + w +
                   "\n  %fx = " + ofX + "  %fy = " + ofY +
                   "  return %fx, %fy : " + result + ", " + result + "\n}\n";
  EngineOptions options;
  options.cacheDir = "";
  Result<Program> program = Engine(options).compileText(ir);
  if (!program) {
    ADD_FAILURE() << program.error().message;
    return {};
  }
  Arguments arguments;
  arguments.add(DType::f64, {1, 1, 1, kDim}, vectors.x);
  arguments.add(DType::f64, {1, 1, 1, kDim}, vectors.y);
  Result<std::vector<Tensor>> got =
      callPoisoned(*program, "main", arguments.values);
  if (!got) {
    ADD_FAILURE() << got.error().message;
    return {};
  }
  std::vector<double> fx = toDoubles((*got)[0].view());
  std::vector<double> fy = toDoubles((*got)[1].view());
  // Features of all rows have the factor kRows^(-1/2), not kDim^(-1/2).
  double factor = static_cast<double>(kRows) / kDim;
  std::vector<double> estimates(kBlocks, 0.0);
  for (int64_t half = 0; half < halves; ++half)
    for (int64_t row = 0; row < kRows; ++row) {
      int64_t n = half * kRows + row;
      estimates[row / kDim] += factor * fx[n] * fy[n];
    }
  return momentsOf(estimates);
}

/// The variances of kDim independent rows.
double varianceOfPositive(const Vectors &v) {
  return std::exp(v.sum) * v.kernel * v.kernel * (1 - std::exp(-v.sum)) / kDim;
}
double varianceOfHyperbolic(const Vectors &v) {
  return 0.5 * (1 - std::exp(-v.sum)) * varianceOfPositive(v);
}
double varianceOfTrigonometric(const Vectors &v) {
  double lost = 1 - std::exp(-v.difference);
  return std::exp(v.sum) / (v.kernel * v.kernel) * lost * lost / (2 * kDim);
}

/// Whether mean and variance are what they should be.
bool isEstimate(const Moments &moments, const Vectors &v, double variance) {
  return std::abs(moments.mean - v.kernel) <=
             4 * std::sqrt(variance / kBlocks) &&
         std::abs(moments.variance - variance) <= moments.slack;
}

TEST(KernelEstimate, HasTheKnownVariance) {
  Vectors v = makeVectors();
  EXPECT_TRUE(
      isEstimate(estimate("positive", false, v), v, varianceOfPositive(v)));
  EXPECT_TRUE(
      isEstimate(estimate("hyperbolic", false, v), v, varianceOfHyperbolic(v)));
  EXPECT_TRUE(isEstimate(estimate("trigonometric", false, v), v,
                         varianceOfTrigonometric(v)));
}

TEST(KernelEstimate, MustFailWithAnotherVariance) {
  Vectors v = makeVectors();
  Moments moments = estimate("hyperbolic", false, v);
  EXPECT_FALSE(isEstimate(moments, v, varianceOfPositive(v)));
  moments.mean *= 1.1;
  EXPECT_FALSE(isEstimate(moments, v, varianceOfHyperbolic(v)));
}

TEST(KernelEstimate, OrthogonalRowsAreBetter) {
  Vectors v = makeVectors();
  double positive = varianceOfPositive(v);
  double gain = v.kernel - std::exp(-v.norms / 2);
  double bound =
      positive - 2.0 * (kDim - 1) / (kDim * (kDim + 2.0)) * gain * gain;
  Moments moments = estimate("positive", true, v);
  EXPECT_LE(std::abs(moments.mean - v.kernel), 4 * std::sqrt(bound / kBlocks));
  EXPECT_LE(moments.variance, bound);
  EXPECT_LT(bound, positive);
}

} // namespace
