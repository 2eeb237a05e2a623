// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nodes of ONNX Attention of one batch entry, head and feature, whose results
// can be worked out by hand.

#ifndef ATTN_TEST_ONNX_ATTENTIONFIXTURE_H
#define ATTN_TEST_ONNX_ATTENTIONFIXTURE_H

#include "test/onnx/Definition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attn::onnxtest {

/// On the device of the parameter.
class AttentionFixture : public testing::TestWithParam<const char *> {
protected:
  /// One batch entry, head and feature, without a cache.
  static AttentionCase plain(int64_t queries, int64_t keys) {
    AttentionCase c;
    c.queries = queries;
    c.keys = keys;
    return c;
  }

  /// Q = 0, K = 1 and V = `values`, the same in every batch entry and head.
  static Tensors meanInputs(const AttentionCase &c,
                            const std::vector<double> &values) {
    std::vector<double> all;
    for (int64_t n = 0; n < c.batch * c.keyHeads; ++n)
      all.insert(all.end(), values.begin(), values.end());
    Tensors inputs;
    inputs.emplace(
        "Q",
        tensorOf(c.dtype, {c.batch, c.queryHeads, c.queries, c.headSize}, {0}));
    inputs.emplace(
        "K", tensorOf(c.dtype, {c.batch, c.keyHeads, c.keys, c.headSize}, {1}));
    inputs.emplace(
        "V",
        tensorOf(c.dtype, {c.batch, c.keyHeads, c.keys, c.valueSize}, all));
    return inputs;
  }

  std::vector<double> call(const AttentionCase &c, const Tensors &inputs,
                           const std::string &output = "Y") {
    Result<Tensors> got = callModel(makeModel(c), inputs, GetParam());
    EXPECT_TRUE(got.ok()) << got.error().message;
    return got ? elementsOf(got->at(output)) : std::vector<double>{};
  }

  /// The result is what the definition says, on random inputs.
  void expectDefined(const AttentionCase &c, double tolerance = 1e-5) {
    SCOPED_TRACE(c.describe());
    std::mt19937 random(7);
    Tensors inputs = makeInputs(c, random);
    Result<Tensors> got = callModel(makeModel(c), inputs, GetParam());
    ASSERT_TRUE(got.ok()) << got.error().message;
    for (const auto &[name, tensor] : define(c, inputs))
      EXPECT_THAT(elementsOf(got->at(name)),
                  testing::Pointwise(testing::DoubleNear(tolerance),
                                     elementsOf(tensor)))
          << name;
  }
};

} // namespace attn::onnxtest

#endif // ATTN_TEST_ONNX_ATTENTIONFIXTURE_H
