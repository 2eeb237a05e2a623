// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The example of a whole attention layer, products of matrices around
// attention, against the definition in f64.

#include "test/e2e/Harness.h"
#include "gtest/gtest.h"

#include <fstream>
#include <sstream>

using namespace attn;
using namespace attn::test;

namespace {
constexpr int64_t heads = 4, headDim = 32, width = 128;

std::string readExample() {
  std::ifstream file(ATTN_SOURCE_DIR "/examples/ir/self-attention.mlir");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Values with a deviation that keeps sums over the width near 1.
std::vector<double> weights(uint64_t seed) {
  std::vector<double> values =
      randomValues(size_t(heads * width * headDim), seed);
  for (double &value : values)
    value = roundTo(DType::f32, 0.15 * value);
  return values;
}

struct Layer {
  int64_t batch, rows;
  std::vector<double> x, wq = weights(2), wk = weights(3), wv = weights(4),
                         wo = weights(5);

  Layer(int64_t batch, int64_t rows)
      : batch(batch), rows(rows),
        x(randomValues(size_t(batch * rows * width), 1)) {
    for (double &value : x)
      value = roundTo(DType::f32, value);
  }

  oracle::Array project(const std::vector<double> &w) const {
    oracle::Array p(batch, heads, rows, headDim);
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t s = 0; s < rows; ++s)
          for (int64_t d = 0; d < headDim; ++d)
            for (int64_t e = 0; e < width; ++e)
              p.at(b, h, s, d) += x[size_t((b * rows + s) * width + e)] *
                                  w[size_t((h * width + e) * headDim + d)];
    return p;
  }

  std::vector<double> expected(bool isCausal) const {
    oracle::Attention attention;
    attention.align = oracle::Align::TopLeft;
    attention.causal = isCausal;
    oracle::Array o =
        oracle::attend(attention, project(wq), project(wk), project(wv)).o;
    std::vector<double> out(x.size());
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t s = 0; s < rows; ++s)
        for (int64_t e = 0; e < width; ++e)
          for (int64_t h = 0; h < heads; ++h)
            for (int64_t d = 0; d < headDim; ++d)
              out[size_t((b * rows + s) * width + e)] +=
                  o.at(b, h, s, d) * wo[size_t((h * headDim + d) * width + e)];
    return out;
  }
};

class Projection : public testing::TestWithParam<Target> {
protected:
  std::vector<Tensor> runLayer(const Layer &layer, int threads = 0) {
    std::vector<std::shared_ptr<Tensor>> memory;
    auto add = [&](std::vector<int64_t> dims, const std::vector<double> &data) {
      memory.push_back(makeTensor(DType::f32, std::move(dims), data));
    };
    add({layer.batch, layer.rows, width}, layer.x);
    for (const std::vector<double> *w : {&layer.wq, &layer.wk, &layer.wv})
      add({heads, width, headDim}, *w);
    add({heads, headDim, width}, layer.wo);
    std::vector<Value> inputs;
    for (const std::shared_ptr<Tensor> &tensor : memory)
      inputs.push_back(tensor->view());
    return run(GetParam(), readExample(), inputs, threads);
  }
};

TEST_P(Projection, MatchesTheDefinition) {
  ATTN_SKIP_UNLESS_HERE(GetParam());
  for (auto [batch, rows] :
       {std::pair<int64_t, int64_t>{1, 1}, {2, 37}, {1, 130}, {3, 0}}) {
    Layer layer(batch, rows);
    std::vector<Tensor> got = runLayer(layer);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(oracle::checkOutput(toDoubles(got[0].view()),
                                  layer.expected(/*isCausal=*/true),
                                  toleranceOf(DType::f32)),
              "")
        << batch << " x " << rows;
    if (rows > 1) {
      EXPECT_NE(oracle::checkOutput(toDoubles(got[0].view()),
                                    layer.expected(/*isCausal=*/false),
                                    toleranceOf(DType::f32)),
                "")
          << "a mask that is left out must be seen";
    }
  }
}

TEST_P(Projection, ThreadsChangeNoBit) {
  ATTN_SKIP_UNLESS_HERE(GetParam());
  Layer layer(2, 70);
  std::vector<Tensor> one = runLayer(layer, 1), many = runLayer(layer, 3);
  ASSERT_EQ(one.size(), 1u);
  ASSERT_EQ(many.size(), 1u);
  EXPECT_TRUE(toBytes(one[0].view()) == toBytes(many[0].view()));
}
} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, Projection, testing::ValuesIn(allTargets()),
                         [](const testing::TestParamInfo<Target> &info) {
                           return info.param.name;
                         });
