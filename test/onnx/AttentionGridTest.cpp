// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random nodes of ONNX Attention against the definition, from fixed seeds: all
// inputs, outputs and attributes in any combination.

#include "test/onnx/Definition.h"

#include "runtime/Difference.h"

#include <gtest/gtest.h>

using namespace attn;
using namespace attn::onnxtest;

namespace {

constexpr int numCases = 150;

template <class T>
T pick(std::mt19937 &random, std::initializer_list<T> choices) {
  std::uniform_int_distribution<size_t> index(0, choices.size() - 1);
  return *(choices.begin() + index(random));
}

bool oneIn(std::mt19937 &random, int n) {
  return std::uniform_int_distribution<int>(1, n)(random) == 1;
}

/// Right-aligned sizes that broadcast to the scores, whose last may be short.
std::vector<int64_t> pickMaskSizes(const AttentionCase &c,
                                   std::mt19937 &random) {
  std::vector<int64_t> sizes = {c.batch, c.queryHeads, c.queries, c.total()};
  int rank = std::uniform_int_distribution<int>(1, 4)(random);
  sizes.erase(sizes.begin(), sizes.end() - rank);
  for (int dim = 0; dim + 1 < rank; ++dim)
    if (oneIn(random, 3))
      sizes[dim] = 1;
  if (c.opset >= 24 && sizes.back() > 1 && oneIn(random, 3))
    sizes.back() =
        std::uniform_int_distribution<int64_t>(1, sizes.back() - 1)(random);
  else if (c.opset < 24 && oneIn(random, 6))
    sizes.back() = 1;
  return sizes;
}

AttentionCase makeCase(std::mt19937 &random) {
  AttentionCase c;
  c.opset = pick<int64_t>(random, {23, 24, 25, 25});
  c.isPacked = oneIn(random, 2);
  c.batch = pick<int64_t>(random, {1, 2, 3});
  c.keyHeads = pick<int64_t>(random, {1, 2, 3});
  c.queryHeads = c.keyHeads * pick<int64_t>(random, {1, 1, 2, 3});
  c.queries = pick<int64_t>(random, {1, 2, 4, 7, 33});
  c.keys = pick<int64_t>(random, {1, 3, 6, 12, 70});
  c.headSize = pick<int64_t>(random, {1, 4, 8, 20});
  c.valueSize = pick<int64_t>(random, {c.headSize, c.headSize, 3, 10});
  c.dtype = pick(random,
                 {DType::f32, DType::f32, DType::f16, DType::bf16, DType::f64});
  if (oneIn(random, 3))
    c.scale = pick(random, {0.01, 0.5, 0.0, -0.25});
  c.softcap = pick(random, {0.0, 0.0, 2.0, 0.5});
  c.isCausal = oneIn(random, 2);
  if (c.opset >= 25 && oneIn(random, 2)) {
    c.left = pick<int64_t>(random, {-1, 0, 1, 5});
    c.right = pick<int64_t>(random, {-1, 0, 2, 40});
  }
  if (oneIn(random, 3))
    c.precision =
        pick(random, {DType::f32, DType::f16, DType::bf16, DType::f64});
  if (oneIn(random, 3))
    c.past = pick<int64_t>(random, {0, 1, 5, 64});
  else if (c.opset >= 24)
    c.hasLengths = oneIn(random, 2);
  if (oneIn(random, 2)) {
    c.maskType = pick(random, {DType::f32, c.dtype, DType::i1, DType::i1,
                               DType::f64, DType::i32});
    c.maskSizes = pickMaskSizes(c, random);
  }
  c.wantsScores = oneIn(random, 2);
  c.mode = std::uniform_int_distribution<int>(0, 3)(random);
  c.isDynamic = oneIn(random, 4);
  return c;
}

void expectDefined(const AttentionCase &c, const Tensors &inputs,
                   const std::string &device) {
  SCOPED_TRACE(device + ": " + c.describe());
  Result<Tensors> got = callModel(makeModel(c), inputs, device);
  ASSERT_TRUE(got.ok()) << got.error().message;
  Tensors expected = define(c, inputs);
  ASSERT_EQ(got->size(), expected.size());
  for (const auto &[name, tensor] : expected) {
    const Tensor &output = got->at(name);
    ASSERT_EQ(output.sizes(), tensor.sizes()) << name;
    EXPECT_EQ(output.dtype(), c.dtype) << name;
    Parameter type;
    type.dtype = c.dtype;
    Tolerance tolerance = defaultTolerance(type);
    Difference difference = compare(output, tensor);
    EXPECT_TRUE(isWithin(difference, tolerance))
        << name << ": relative rms " << difference.relativeRms
        << ", elements of another kind " << difference.kindMismatches;
  }
}

class AttentionGrid : public testing::TestWithParam<const char *> {};

TEST_P(AttentionGrid, random_nodes_are_as_defined) {
  for (int seed = 0; seed < numCases && !HasFatalFailure(); ++seed) {
    std::mt19937 random(seed);
    AttentionCase c = makeCase(random);
    Tensors inputs = makeInputs(c, random);
    SCOPED_TRACE("seed " + std::to_string(seed));
    expectDefined(c, inputs, GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, AttentionGrid,
                         testing::Values("cpu", "reference"),
                         [](const auto &info) { return info.param; });

/// A definition that adds a causal mask is told apart from a node without.
TEST(AttentionGrid, a_wrong_attribute_is_found) {
  AttentionCase c;
  c.queries = c.keys = 5;
  c.headSize = c.valueSize = 4;
  std::mt19937 random(1);
  Tensors inputs = makeInputs(c, random);
  Result<Tensors> got = callModel(makeModel(c), inputs, "reference");
  ASSERT_TRUE(got.ok()) << got.error().message;
  c.isCausal = true;
  Difference difference = compare(got->at("Y"), define(c, inputs).at("Y"));
  EXPECT_GT(difference.relativeRms, 0.1);
}

} // namespace
