// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ONNX Attention with results that can be worked out by hand, above all where
// the operator's sources leave a choice (docs/onnx.md). With q = 0 all scores
// are equal, so that a row is the mean of the values it sees.

#include "test/onnx/AttentionFixture.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

using namespace attn;
using namespace attn::onnxtest;
using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsNan;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

class Attention : public AttentionFixture {};

TEST_P(Attention, a_row_without_a_key_is_0) {
  AttentionCase c = plain(2, 3);
  c.maskType = DType::i1;
  c.maskSizes = {2, 3};
  Tensors inputs = meanInputs(c, {1, 2, 6});
  inputs.emplace("attn_mask", tensorOf(DType::i1, {2, 3}, {0, 0, 0, 1, 0, 1}));
  EXPECT_THAT(call(c, inputs), ElementsAre(0, 3.5));

  c.maskType = DType::f32;
  inputs.erase("attn_mask");
  inputs.emplace("attn_mask",
                 tensorOf(DType::f32, {2, 3},
                          {-infinity, -infinity, -infinity, 0, -infinity, 0}));
  EXPECT_THAT(call(c, inputs), ElementsAre(0, 3.5));
}

TEST_P(Attention, the_lowest_finite_number_is_a_number) {
  AttentionCase c = plain(1, 3);
  c.maskType = DType::f32;
  c.maskSizes = {1, 3};
  Tensors inputs = meanInputs(c, {1, 2, 6});
  inputs.emplace("attn_mask", tensorOf(DType::f32, {1, 3},
                                       {-std::numeric_limits<float>::max()}));
  EXPECT_THAT(call(c, inputs), ElementsAre(3));
}

TEST_P(Attention, what_is_masked_does_not_matter) {
  AttentionCase c = plain(1, 3);
  c.maskType = DType::i1;
  c.maskSizes = {3};
  for (double poison : {nan, infinity, -infinity}) {
    Tensors inputs = meanInputs(c, {1, poison, 6});
    inputs.at("K").set(1, poison);
    inputs.emplace("attn_mask", tensorOf(DType::i1, {3}, {1, 0, 1}));
    EXPECT_THAT(call(c, inputs), ElementsAre(3.5));
  }
}

TEST_P(Attention, what_is_past_the_length_does_not_matter) {
  AttentionCase c = plain(1, 4);
  c.hasLengths = true;
  Tensors inputs = meanInputs(c, {1, 2, nan, infinity});
  inputs.at("K").set(2, nan);
  inputs.emplace("nonpad_kv_seqlen", tensorOf(DType::i64, {1}, {2}));
  EXPECT_THAT(call(c, inputs), ElementsAre(1.5));
}

TEST_P(Attention, masked_scores_of_mode_2_are_minus_infinity) {
  AttentionCase c = plain(2, 2);
  c.isCausal = c.wantsScores = true;
  c.mode = 2;
  Tensors inputs = meanInputs(c, {1, 2});
  inputs.at("Q").set(0, 2);
  inputs.at("K").set(1, nan);
  EXPECT_THAT(call(c, inputs, "qk_matmul_output"),
              ElementsAre(2, -infinity, 0, IsNan()));
}

TEST_P(Attention, a_masked_score_does_not_depend_on_its_key) {
  AttentionCase c = plain(1, 3);
  c.wantsScores = true;
  c.maskType = DType::i1;
  c.maskSizes = {3};
  for (double poison : {nan, infinity}) {
    Tensors inputs = meanInputs(c, {1, 2, 6});
    inputs.at("Q").set(0, 1);
    inputs.at("K").set(1, poison);
    inputs.emplace("attn_mask", tensorOf(DType::i1, {3}, {1, 0, 1}));
    c.mode = 2;
    EXPECT_THAT(call(c, inputs, "qk_matmul_output"),
                ElementsAre(1, -infinity, 1));
    c.mode = 3;
    EXPECT_THAT(call(c, inputs, "qk_matmul_output"), ElementsAre(0.5, 0, 0.5));
  }
}

/// A mask of numbers is added: -inf leaves no weight, but NaN stays NaN.
TEST_P(Attention, minus_infinity_is_added) {
  AttentionCase c = plain(1, 3);
  c.wantsScores = true;
  c.mode = 2;
  c.maskType = DType::f32;
  c.maskSizes = {3};
  Tensors inputs = meanInputs(c, {1, nan, 6});
  inputs.emplace("attn_mask", tensorOf(DType::f32, {3}, {2, -infinity, 2}));
  EXPECT_THAT(call(c, inputs), ElementsAre(3.5));
  EXPECT_THAT(call(c, inputs, "qk_matmul_output"),
              ElementsAre(2, -infinity, 2));
  inputs.at("K").set(1, nan);
  EXPECT_THAT(call(c, inputs), ElementsAre(IsNan()));
  EXPECT_THAT(call(c, inputs, "qk_matmul_output"), ElementsAre(2, IsNan(), 2));
}

TEST_P(Attention, weights_of_a_row_without_a_key_are_0) {
  AttentionCase c = plain(2, 2);
  c.wantsScores = true;
  c.mode = 3;
  c.maskType = DType::i1;
  c.maskSizes = {2, 1};
  c.opset = 23;
  Tensors inputs = meanInputs(c, {1, 2});
  inputs.emplace("attn_mask", tensorOf(DType::i1, {2, 1}, {0, 1}));
  EXPECT_THAT(call(c, inputs, "qk_matmul_output"), ElementsAre(0, 0, 0.5, 0.5));
}

TEST_P(Attention, without_keys_a_row_is_0) {
  AttentionCase c = plain(2, 0);
  EXPECT_THAT(call(c, meanInputs(c, {})), ElementsAre(0, 0));
}

TEST_P(Attention, without_queries_or_batch_there_is_no_result) {
  AttentionCase c = plain(0, 2);
  EXPECT_THAT(call(c, meanInputs(c, {1, 2})), IsEmpty());
  c = plain(2, 2);
  c.batch = 0;
  EXPECT_THAT(call(c, meanInputs(c, {})), IsEmpty());
}

TEST_P(Attention, scale_is_any_finite_number) {
  AttentionCase c = plain(1, 2);
  c.scale = 0;
  Tensors inputs = meanInputs(c, {1, 3});
  inputs.at("Q").set(0, 5);
  inputs.at("K").set(1, -4);
  EXPECT_THAT(call(c, inputs), ElementsAre(2));
  // The scores are -ln 3 and 0.
  c.scale = -1;
  inputs.at("Q").set(0, std::log(3.0));
  inputs.at("K").set(1, 0);
  EXPECT_THAT(call(c, inputs), ElementsAre(DoubleNear(2.5, 1e-6)));
}

TEST_P(Attention, causal_without_a_cache_is_top_left) {
  AttentionCase c = plain(1, 3);
  c.isCausal = true;
  EXPECT_THAT(call(c, meanInputs(c, {5, 7, 9})), ElementsAre(5));
  c.queries = 2;
  EXPECT_THAT(call(c, meanInputs(c, {5, 7, 9})), ElementsAre(5, 6));
}

/// Queries follow the cache, whatever the number of new keys.
TEST_P(Attention, causal_with_a_cache_starts_behind_it) {
  AttentionCase c = plain(2, 3);
  c.isCausal = true;
  c.past = 1;
  Tensors inputs = meanInputs(c, {3, 5, 8});
  inputs.emplace("past_key", tensorOf(DType::f32, {1, 1, 1, 1}, {0}));
  inputs.emplace("past_value", tensorOf(DType::f32, {1, 1, 1, 1}, {1}));
  EXPECT_THAT(call(c, inputs), ElementsAre(2, 3));
  EXPECT_THAT(call(c, inputs, "present_value"), ElementsAre(1, 3, 5, 8));
}

TEST_P(Attention, present_without_a_cache_is_the_new_keys) {
  for (bool isPacked : {false, true}) {
    ModelBuilder builder(23);
    std::vector<int64_t> sizes = {1, 2, 2, 1};
    if (isPacked)
      sizes = {1, 2, 2};
    for (const char *name : {"Q", "K", "V"})
      builder.addInput(name, typeNumber(DType::f32), sizes);
    for (const char *name : {"Y", "keys", "values"})
      builder.addOutput(name);
    onnx::NodeProto &node =
        builder.addNode("Attention", {"Q", "K", "V"}, {"Y", "keys", "values"});
    if (isPacked) {
      setInteger(node, "q_num_heads", 2);
      setInteger(node, "kv_num_heads", 2);
    }
    Tensors inputs;
    inputs.emplace("Q", tensorOf(DType::f32, sizes, {0}));
    inputs.emplace("K", tensorOf(DType::f32, sizes, {1, 2, 3, 4}));
    inputs.emplace("V", tensorOf(DType::f32, sizes, {5, 6, 7, 8}));
    Result<Tensors> got = callModel(builder.model, inputs, GetParam());
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_THAT(got->at("keys").sizes(), ElementsAre(1, 2, 2, 1));
    if (isPacked) {
      // Heads come before tokens.
      EXPECT_THAT(elementsOf(got->at("keys")), ElementsAre(1, 3, 2, 4));
      EXPECT_THAT(elementsOf(got->at("values")), ElementsAre(5, 7, 6, 8));
      EXPECT_THAT(elementsOf(got->at("Y")), ElementsAre(6, 7, 6, 7));
    } else {
      EXPECT_THAT(elementsOf(got->at("keys")), ElementsAre(1, 2, 3, 4));
      EXPECT_THAT(elementsOf(got->at("values")), ElementsAre(5, 6, 7, 8));
      EXPECT_THAT(elementsOf(got->at("Y")), ElementsAre(5.5, 5.5, 7.5, 7.5));
    }
  }
}

/// The last query stands at the last key; the first rows of a batch entry with
/// fewer keys than queries see none.
TEST_P(Attention, causal_with_lengths_is_bottom_right) {
  AttentionCase c = plain(2, 4);
  c.batch = 3;
  c.isCausal = c.hasLengths = true;
  Tensors inputs = meanInputs(c, {1, 3, 8, 10});
  inputs.emplace("nonpad_kv_seqlen", tensorOf(DType::i64, {3}, {3, 1, 0}));
  EXPECT_THAT(call(c, inputs), ElementsAre(2, 4, 0, 1, 0, 0));
}

TEST_P(Attention, masks_have_any_rank) {
  AttentionCase c = plain(2, 3);
  c.batch = c.queryHeads = c.keyHeads = 2;
  c.maskType = DType::i1;
  Tensors inputs = meanInputs(c, {1, 2, 6});
  auto with = [&](std::vector<int64_t> sizes, std::vector<double> elements) {
    c.maskSizes = sizes;
    inputs.erase("attn_mask");
    inputs.emplace("attn_mask", tensorOf(DType::i1, sizes, elements));
    return call(c, inputs);
  };
  EXPECT_THAT(with({3}, {1, 0, 1}), Each(3.5));
  EXPECT_THAT(with({1, 3}, {0, 1, 1}), Each(4));
  EXPECT_THAT(with({2, 3}, {1, 1, 1, 0, 0, 1}),
              ElementsAre(3, 6, 3, 6, 3, 6, 3, 6));
  // Rank 3 is heads, queries and keys.
  EXPECT_THAT(with({2, 1, 3}, {1, 0, 0, 0, 1, 0}),
              ElementsAre(1, 1, 2, 2, 1, 1, 2, 2));
  EXPECT_THAT(with({2, 1, 1, 3}, {1, 0, 0, 0, 1, 0}),
              ElementsAre(1, 1, 1, 1, 2, 2, 2, 2));
}

/// From opset 24 on; the missing keys are masked. Before, 1 broadcasts.
TEST_P(Attention, masks_may_be_short) {
  AttentionCase c = plain(1, 3);
  c.opset = 24;
  Tensors inputs = meanInputs(c, {1, 2, 6});
  auto with = [&](DType type, std::vector<double> elements) {
    int64_t size = static_cast<int64_t>(elements.size());
    c.maskType = type;
    c.maskSizes = {1, size};
    inputs.erase("attn_mask");
    inputs.emplace("attn_mask", tensorOf(type, {1, size}, elements));
    return call(c, inputs);
  };
  EXPECT_THAT(with(DType::i1, {1, 1}), ElementsAre(1.5));
  EXPECT_THAT(with(DType::f32, {0, 0}), ElementsAre(1.5));
  EXPECT_THAT(with(DType::i1, {1}), ElementsAre(1));
  c.opset = 23;
  EXPECT_THAT(with(DType::i1, {1}), ElementsAre(3));
}

TEST_P(Attention, integer_masks_are_added) {
  AttentionCase c = plain(1, 2);
  c.maskType = DType::i32;
  c.maskSizes = {2};
  Tensors inputs = meanInputs(c, {1, 2});
  inputs.emplace("attn_mask", tensorOf(DType::i32, {2}, {0, -200}));
  EXPECT_THAT(call(c, inputs), ElementsAre(1));
  inputs.at("attn_mask").set(1, 0);
  EXPECT_THAT(call(c, inputs), ElementsAre(1.5));
}

/// 2048 + 1 is no number of f16.
TEST_P(Attention, f16_is_computed_in_f32) {
  AttentionCase c = plain(1, 2);
  c.dtype = DType::f16;
  c.headSize = 2;
  c.scale = 1;
  Tensors inputs = meanInputs(c, {0, 2});
  inputs.erase("K");
  inputs.emplace("K", tensorOf(DType::f16, {1, 1, 2, 2}, {2048, 1, 2048, 0}));
  inputs.at("Q").set(0, 1);
  inputs.at("Q").set(1, std::log(2.0));
  // The scores differ by ln 2.
  EXPECT_THAT(call(c, inputs), ElementsAre(DoubleNear(2.0 / 3, 1e-3)));
}

TEST_P(Attention, double_precision_on_request) {
  AttentionCase c = plain(1, 2);
  c.precision = DType::f64;
  c.scale = 1;
  Tensors inputs = meanInputs(c, {0, 1});
  // The scores 1e8 and 1e8 + 0.5 are one number of f32.
  c.headSize = 2;
  inputs.erase("Q");
  inputs.erase("K");
  inputs.emplace("Q", tensorOf(DType::f32, {1, 1, 1, 2}, {1e4, 0.5}));
  inputs.emplace("K", tensorOf(DType::f32, {1, 1, 2, 2}, {1e4, 0, 1e4, 1}));
  EXPECT_THAT(call(c, inputs),
              ElementsAre(DoubleNear(1 / (1 + std::exp(-0.5)), 1e-6)));
}

INSTANTIATE_TEST_SUITE_P(Devices, Attention,
                         testing::Values("cpu", "reference"),
                         [](const auto &info) { return info.param; });

} // namespace
