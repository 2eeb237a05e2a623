// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Faults that were reported against other importers and runtimes of ONNX
// Attention, as minimal nodes with the answer from the definition; numbered as
// in docs/testing.md. With q = 0 a row is the mean of the values it sees.

#include "test/onnx/Definition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace attn;
using namespace attn::onnxtest;
using testing::ElementsAre;

namespace {

class OnnxCases : public testing::TestWithParam<const char *> {
protected:
  /// Adds Q = 0, K = 0 and V to `inputs` and runs the node.
  std::vector<double> call(const AttentionCase &c,
                           const std::vector<double> &values,
                           Tensors inputs = {}) {
    auto sizes = [&](int64_t heads, int64_t rows) -> std::vector<int64_t> {
      if (c.isPacked)
        return {c.batch, rows, heads};
      return {c.batch, heads, rows, 1};
    };
    inputs.emplace("Q", tensorOf(c.dtype, sizes(c.queryHeads, c.queries), {0}));
    inputs.emplace("K", tensorOf(c.dtype, sizes(c.keyHeads, c.keys), {0}));
    inputs.emplace("V", tensorOf(c.dtype, sizes(c.keyHeads, c.keys), values));
    Result<Tensors> got = callModel(makeModel(c), inputs, GetParam());
    EXPECT_TRUE(got.ok()) << got.error().message;
    return got ? elementsOf(got->at("Y")) : std::vector<double>{};
  }

  static AttentionCase plain(int64_t queries, int64_t keys) {
    AttentionCase c;
    c.queries = queries;
    c.keys = keys;
    return c;
  }
};

TEST_P(OnnxCases, A10_OneQueryKeepsItsMask) {
  AttentionCase c = plain(1, 3);
  c.isCausal = true;
  EXPECT_THAT(call(c, {1, 2, 3}), ElementsAre(1));
}

TEST_P(OnnxCases, A11_CausalFollowsTheLengths) {
  AttentionCase c = plain(2, 6);
  c.batch = 2;
  c.isCausal = c.hasLengths = true;
  Tensors lengths;
  lengths.emplace("nonpad_kv_seqlen", tensorOf(DType::i64, {2}, {4, 6}));
  EXPECT_THAT(call(c, {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}, std::move(lengths)),
              ElementsAre(2, 2.5, 3, 3.5));
}

TEST_P(OnnxCases, A12_A13_WindowWithoutCausal) {
  AttentionCase c = plain(4, 4);
  c.left = 1;
  c.right = 0;
  EXPECT_THAT(call(c, {1, 2, 3, 4}), ElementsAre(1, 1.5, 2.5, 3.5));
  c.left = 0;
  EXPECT_THAT(call(c, {1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
}

TEST_P(OnnxCases, A15_TheWindowDoesNotCountTheToken) {
  AttentionCase c = plain(5, 5);
  c.isCausal = true;
  c.left = 1;
  EXPECT_THAT(call(c, {1, 2, 3, 4, 5}), ElementsAre(1, 1.5, 2.5, 3.5, 4.5));
  c.left = 2;
  EXPECT_THAT(call(c, {1, 2, 3, 4, 5}), ElementsAre(1, 1.5, 2, 3, 4));
}

TEST_P(OnnxCases, A17_MaskPerHead) {
  AttentionCase c = plain(1, 2);
  c.queryHeads = c.keyHeads = 2;
  c.maskType = DType::i1;
  c.maskSizes = {2, 1, 2};
  for (int64_t batch : {2, 3}) {
    c.batch = batch;
    std::vector<double> values, want;
    for (int64_t n = 0; n < batch; ++n) {
      for (int64_t m = 1; m <= 4; ++m)
        values.push_back(double(4 * n + m));
      want.push_back(double(4 * n + 1));
      want.push_back(double(4 * n + 4));
    }
    Tensors mask;
    mask.emplace("attn_mask", tensorOf(DType::i1, {2, 1, 2}, {1, 0, 0, 1}));
    EXPECT_EQ(call(c, values, std::move(mask)), want);
  }
}

TEST_P(OnnxCases, A44_HeadsOfRankThree) {
  AttentionCase c = plain(2, 2);
  c.isPacked = true;
  c.queryHeads = c.keyHeads = 2;
  EXPECT_THAT(call(c, {1, 10, 3, 30}), ElementsAre(2, 20, 2, 20));
}

TEST_P(OnnxCases, A52_TrueKeeps) {
  AttentionCase c = plain(1, 3);
  c.maskType = DType::i1;
  c.maskSizes = {1, 3};
  Tensors mask;
  mask.emplace("attn_mask", tensorOf(DType::i1, {1, 3}, {1, 0, 0}));
  EXPECT_THAT(call(c, {1, 2, 3}, std::move(mask)), ElementsAre(1));
}

INSTANTIATE_TEST_SUITE_P(Devices, OnnxCases,
                         testing::Values("cpu", "reference"),
                         [](const auto &info) { return info.param; });

} // namespace
