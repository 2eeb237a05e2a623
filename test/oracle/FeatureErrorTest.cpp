// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How far random features are from softmax attention, as the description of
// attn.favor says.

#include "test/oracle/LinearOracle.h"
#include "gtest/gtest.h"

#include <cmath>
#include <numeric>
#include <random>

using namespace attn::oracle;

/// W of `rows` x `dim` in blocks of orthogonal rows as long as Gaussian ones.
static std::vector<double> drawOrthogonal(int64_t rows, int64_t dim,
                                          std::mt19937_64 &random) {
  std::normal_distribution<double> normal;
  std::vector<Array> units;
  std::vector<double> w;
  for (int64_t row = 0; row < rows; ++row) {
    if (row % dim == 0)
      units.clear();
    Array x(1, 1, 1, dim);
    double length = 0.0;
    for (double &entry : x.data) {
      entry = normal(random);
      length += std::pow(normal(random), 2);
    }
    for (int pass = 0; pass < 2; ++pass)
      for (const Array &unit : units) {
        double part = std::inner_product(x.data.begin(), x.data.end(),
                                         unit.data.begin(), 0.0);
        for (size_t d = 0; d < x.data.size(); ++d)
          x.data[d] -= part * unit.data[d];
      }
    double norm = std::sqrt(
        std::inner_product(x.data.begin(), x.data.end(), x.data.begin(), 0.0));
    for (double &entry : x.data)
      entry /= norm;
    for (double entry : x.data)
      w.push_back(entry * std::sqrt(length));
    units.push_back(x);
  }
  return w;
}

/// Relative error of m features for queries and keys N(0, s^2), D = 64, against
/// softmax attention over 256 keys.
static double errorOfFeatures(int64_t m, double s) {
  const int64_t dim = 64, keys = 256;
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  double error = 0.0, total = 0.0;
  for (int draw = 0; draw < 4; ++draw) {
    Array q(1, 1, keys, dim), k = q, v = q;
    for (Array *array : {&q, &k, &v})
      for (double &x : array->data)
        x = (array == &v ? 1.0 : s) * normal(random);
    Favor f;
    f.w = drawOrthogonal(m, dim, random);
    Array o = attendFavor(f, q, k, v);
    for (int64_t i = 0; i < keys; ++i) {
      std::vector<double> weights, mean(size_t(dim), 0.0);
      for (int64_t j = 0; j < keys; ++j) {
        double logit = 0.0;
        for (int64_t d = 0; d < dim; ++d)
          logit += q.at(0, 0, i, d) * k.at(0, 0, j, d) / 8.0;
        weights.push_back(std::exp(logit));
      }
      double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
      for (int64_t d = 0; d < dim; ++d) {
        double want = 0.0;
        for (int64_t j = 0; j < keys; ++j)
          want += weights[size_t(j)] / sum * v.at(0, 0, j, d);
        error += std::pow(o.at(0, 0, i, d) - want, 2);
        total += want * want;
      }
    }
  }
  return std::sqrt(error / total);
}

TEST(FavorOracle, ErrorsAreThoseOfTheTable) {
  // The table in the description of attn.favor.
  EXPECT_NEAR(errorOfFeatures(128, 0.25), 0.08, 0.016);
  EXPECT_NEAR(errorOfFeatures(128, 0.5), 0.58, 0.12);
  EXPECT_NEAR(errorOfFeatures(128, 0.75), 2.2, 0.44);
  EXPECT_NEAR(errorOfFeatures(128, 1.0), 3.2, 0.64);
  EXPECT_NEAR(errorOfFeatures(256, 0.5), 0.41, 0.08);
}
