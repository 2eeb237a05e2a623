// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The windows of opset 25. With q = 0 all scores are equal, so that a row is
// the mean of the values it sees.

#include "test/onnx/AttentionFixture.h"

#include <limits>

using namespace attn;
using namespace attn::onnxtest;
using testing::DoubleNear;
using testing::ElementsAre;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class Window : public AttentionFixture {};

TEST_P(Window, causal_with_two_keys_on_the_left) {
  AttentionCase c = plain(5, 5);
  c.isCausal = true;
  c.left = 2;
  EXPECT_THAT(call(c, meanInputs(c, {0, 1, 2, 3, 4})),
              ElementsAre(0, 0.5, 1, 2, 3));
}

TEST_P(Window, bidirectional) {
  AttentionCase c = plain(5, 5);
  c.left = 1;
  c.right = 2;
  EXPECT_THAT(call(c, meanInputs(c, {0, 1, 2, 3, 4})),
              ElementsAre(1, 1.5, 2.5, 3, 3.5));
}

TEST_P(Window, without_bounds_sees_everything) {
  AttentionCase c = plain(2, 5);
  EXPECT_THAT(call(c, meanInputs(c, {0, 1, 2, 3, 4})), ElementsAre(2, 2));
}

TEST_P(Window, of_0_is_the_query_itself) {
  AttentionCase c = plain(3, 3);
  c.left = c.right = 0;
  EXPECT_THAT(call(c, meanInputs(c, {4, 5, 9})), ElementsAre(4, 5, 9));
}

TEST_P(Window, beside_a_boolean_mask_of_rank_1) {
  AttentionCase c = plain(4, 4);
  c.isCausal = true;
  c.left = 1;
  c.maskType = DType::i1;
  c.maskSizes = {4};
  Tensors inputs = meanInputs(c, {1, 2, 4, 8});
  inputs.emplace("attn_mask", tensorOf(DType::i1, {4}, {1, 0, 1, 1}));
  EXPECT_THAT(call(c, inputs), ElementsAre(1, 1, 4, 6));
}

TEST_P(Window, behind_a_cache) {
  AttentionCase c = plain(2, 2);
  c.isCausal = true;
  c.left = 2;
  c.past = 8;
  Tensors inputs = meanInputs(c, {8, 9});
  inputs.emplace("past_key", tensorOf(DType::f32, {1, 1, 8, 1}, {1}));
  inputs.emplace("past_value",
                 tensorOf(DType::f32, {1, 1, 8, 1}, {0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_THAT(call(c, inputs), ElementsAre(7, 8));
}

/// Positions of a cache of the caller's go by the lengths, 6 and 7 of 8.
TEST_P(Window, in_a_cache_of_the_callers) {
  AttentionCase c = plain(2, 8);
  c.batch = 2;
  c.queryHeads = c.keyHeads = 2;
  c.isCausal = c.hasLengths = true;
  c.left = 1;
  Tensors inputs = meanInputs(c, {0, 1, 2, 3, 4, 5, 6, 7});
  inputs.emplace("nonpad_kv_seqlen", tensorOf(DType::i64, {2}, {6, 7}));
  EXPECT_THAT(call(c, inputs),
              ElementsAre(3.5, 4.5, 3.5, 4.5, 4.5, 5.5, 4.5, 5.5));
  // Masks of heads, of batch entries and of keys, and one in f16.
  c.maskType = DType::f32;
  for (std::vector<int64_t> sizes :
       {std::vector<int64_t>{2, 1, 8}, {2, 1, 2, 8}, {2, 8}}) {
    c.maskSizes = sizes;
    expectDefined(c);
  }
  c.maskType = DType::f16;
  expectDefined(c);
}

TEST_P(Window, of_packed_heads_that_share_keys) {
  AttentionCase c = plain(5, 5);
  c.isPacked = c.isCausal = true;
  c.queryHeads = 4;
  c.headSize = 4;
  c.valueSize = 6;
  c.left = 2;
  expectDefined(c);
}

TEST_P(Window, with_everything) {
  AttentionCase c = plain(4, 6);
  c.batch = 2;
  c.queryHeads = 4;
  c.keyHeads = 2;
  c.headSize = 8;
  c.valueSize = 8;
  c.left = 1;
  c.right = 1;
  c.softcap = 2;
  c.precision = DType::f64;
  c.mode = 3;
  c.wantsScores = true;
  c.maskType = DType::f32;
  c.maskSizes = {2, 4, 4, 6};
  expectDefined(c);
  // One row without a key.
  Tensors inputs = meanInputs(c, std::vector<double>(6 * 8, 1));
  inputs.emplace("attn_mask", tensorOf(DType::f32, {2, 4, 4, 6}, {0}));
  for (int64_t t = 0; t < 6; ++t)
    inputs.at("attn_mask").set(t, -infinity);
  std::vector<double> weights = call(c, inputs, "qk_matmul_output");
  weights.resize(12);
  EXPECT_THAT(weights, ElementsAre(0, 0, 0, 0, 0, 0, DoubleNear(1. / 3, 1e-6),
                                   DoubleNear(1. / 3, 1e-6),
                                   DoubleNear(1. / 3, 1e-6), 0, 0, 0));
}

INSTANTIATE_TEST_SUITE_P(Devices, Window, testing::Values("cpu", "reference"),
                         [](const auto &info) { return info.param; });

} // namespace
