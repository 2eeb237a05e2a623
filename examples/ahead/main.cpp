// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls attention that was compiled ahead of time, and compares it with the
// definition of attention. attention.h comes from attention.mlir.

#include "attention.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

static constexpr int64_t queryHeads = 8, keyHeads = 2, dim = 64;
static constexpr int64_t queries = 5, keys = 100;

static std::vector<float> randomNumbers(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> data(count);
  std::generate(data.begin(), data.end(), [&] { return normal(generator); });
  return data;
}

static int fail() {
  std::fprintf(stderr, "error: %s\n", attn_message());
  return 1;
}

/// Row `row` of query head `head`, from the definition.
static std::vector<double> attendTo(const float *q, const std::vector<float> &k,
                                    const std::vector<float> &v, int64_t head,
                                    int64_t row) {
  // Queries are the last tokens of the sequence; they see what is before them.
  int64_t seen = keys - queries + row + 1;
  const float *heads[] = {k.data(), v.data()};
  for (const float *&data : heads)
    data += head / (queryHeads / keyHeads) * keys * dim;
  std::vector<double> weights, result(dim);
  double sum = 0;
  for (int64_t j = 0; j < seen; ++j) {
    double dot = 0;
    for (int64_t d = 0; d < dim; ++d)
      dot += double(q[d]) * heads[0][j * dim + d];
    weights.push_back(std::exp(dot / std::sqrt(double(dim))));
    sum += weights.back();
  }
  for (int64_t j = 0; j < seen; ++j)
    for (int64_t d = 0; d < dim; ++d)
      result[d] += weights[j] / sum * heads[1][j * dim + d];
  return result;
}

int main() {
  std::vector<float> qData = randomNumbers(queryHeads * queries * dim, 1),
                     kData = randomNumbers(keyHeads * keys * dim, 2),
                     vData = randomNumbers(keyHeads * keys * dim, 3);
  const int64_t qSizes[] = {1, queryHeads, queries, dim};
  const int64_t kSizes[] = {1, keyHeads, keys, dim};
  attn_tensor q = {qData.data(), ATTN_F32, 4, qSizes, nullptr};
  attn_tensor k = {kData.data(), ATTN_F32, 4, kSizes, nullptr};
  attn_tensor v = {vData.data(), ATTN_F32, 4, kSizes, nullptr};

  int64_t oSizes[4], lseSizes[3];
  if (attention_plan(&q, &k, &v, oSizes, lseSizes) != ATTN_OK)
    return fail();
  std::vector<float> oData(oSizes[1] * oSizes[2] * oSizes[3]),
      lseData(lseSizes[1] * lseSizes[2]);
  attn_tensor o = {oData.data(), ATTN_F32, 4, oSizes, nullptr};
  attn_tensor lse = {lseData.data(), ATTN_F32, 3, lseSizes, nullptr};
  if (attention(&q, &k, &v, &o, &lse, /*threads=*/0) != ATTN_OK)
    return fail();

  double worst = 0;
  bool good = true;
  for (int64_t row = 0; row < queryHeads * queries; ++row) {
    std::vector<double> expected =
        attendTo(&qData[row * dim], kData, vData, row / queries, row % queries);
    for (int64_t d = 0; d < dim; ++d) {
      double error = std::abs(oData[row * dim + d] - expected[d]);
      worst = std::max(worst, error);
      // A comparison with NaN is false.
      good &= error <= 1e-5;
    }
  }
  std::printf("%s: largest difference from the definition %.1e, tolerance "
              "1.0e-05\n",
              good ? "ok" : "wrong", worst);
  return good ? 0 : 1;
}
