// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.linear with every clause, in every type and on every target, against
// the oracle. No two sizes of a problem are equal where they may differ.

#include "test/e2e/LinearHarness.h"
#include "gtest/gtest.h"

using namespace attn;
using namespace attn::test;
using oracle::Array;

namespace {

struct Cell {
  DType dtype;
  LinearVariant variant;
  Target target;
};

std::string nameOf(const testing::TestParamInfo<Cell> &info) {
  const Cell &cell = info.param;
  return std::string(name(cell.dtype)) + "_" + cell.variant.name + "_" +
         cell.target.name;
}
void PrintTo(const Cell &cell, std::ostream *os) { *os << cell.variant.name; }

/// Lengths around the sizes of chunks.
std::vector<LinearSizes> sizesFor(const LinearVariant &variant) {
  std::vector<LinearSizes> sizes = {
      {2, 6, 3, 3, 1, 1, 5, 4},       {3, 4, 2, 2, 2, 2, 16, 8},
      {2, 4, 1, 1, 7, 7, 3, 17},      {1, 2, 2, 2, 63, 63, 24, 40},
      {3, 2, 1, 1, 65, 65, 33, 20},   {1, 4, 2, 2, 127, 127, 48, 31},
      {2, 3, 3, 3, 129, 129, 40, 72},
  };
  for (LinearSizes &s : sizes) {
    if (variant.groupedValues) {
      s.hv = s.hq;
      s.hq = s.hk;
    }
    if (!variant.causal && (!variant.packed || variant.keyStarts))
      s.sq += 4;
    // Features by the square of it.
    if (variant.features == "#attn.taylor2")
      s.dk = std::min<int64_t>(s.dk, 9);
  }
  return sizes;
}

class Linear : public testing::TestWithParam<Cell> {};

struct Question {
  LinearProblem problem;
  oracle::LinearResult answer;
};

/// Those of a cell; the cells of its targets ask the same ones.
const std::vector<Question> &questionsOf(const Cell &cell) {
  return keepLast(std::string(name(cell.dtype)) + cell.variant.name, [&] {
    std::vector<Question> questions;
    for (const LinearSizes &sizes : sizesFor(cell.variant)) {
      LinearProblem p = makeLinearProblem(cell.variant, cell.dtype, sizes,
                                          questions.size() + 1);
      questions.push_back({p, expectedOf(p)});
    }
    return questions;
  });
}

TEST_P(Linear, MatchesTheOracle) {
  const Cell &cell = GetParam();
  ATTN_SKIP_UNLESS_HERE(cell.target);
  for (const auto &[problem, answer] : questionsOf(cell)) {
    std::vector<Tensor> got = run(cell.target, cell.variant, problem);
    if (got.empty())
      return;
    EXPECT_EQ(checkLinear(cell.variant, answer, cell.dtype, got), "")
        << problem.sizes << "\n"
        << linearIr(cell.variant, cell.dtype, problem.sizes);
  }
}

std::vector<Cell> cells(DType dtype,
                        const std::vector<LinearVariant> &variants) {
  std::vector<Cell> all;
  for (const LinearVariant &variant : variants)
    for (const Target &target : linearTargets(dtype))
      all.push_back({dtype, variant, target});
  return all;
}

/// f16 takes the loops of bf16 in other casts: a cell of each kind.
std::vector<LinearVariant> someVariants() {
  std::vector<LinearVariant> some;
  for (const char *name :
       {"plain", "decay_token", "decay_vector_state_lengths", "gated_delta",
        "rwkv7", "rwkv6", "elu1_token_decay_state_lengths", "bidirectional",
        "block_state_lengths", "grouped_values", "wide", "everything",
        "bonus_by_feature", "packed_state_lengths", "packed_bidirectional"})
    some.push_back(linearVariantNamed(name));
  return some;
}
} // namespace

INSTANTIATE_TEST_SUITE_P(F32, Linear,
                         testing::ValuesIn(cells(DType::f32, linearVariants())),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Bf16, Linear,
                         testing::ValuesIn(cells(DType::bf16,
                                                 linearVariants())),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(F64, Linear,
                         testing::ValuesIn(cells(DType::f64, linearVariants())),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(F16, Linear,
                         testing::ValuesIn(cells(DType::f16, someVariants())),
                         nameOf);

/// What the grid would say if the device did something else.
static std::string checkAgainstWrong(DType dtype, const std::string &name,
                                     void (*spoil)(LinearProblem &)) {
  const LinearVariant &variant = linearVariantNamed(name);
  LinearSizes sizes = {2, 6, 3, 3, 37, 37, 24, 20};
  if (variant.groupedValues)
    sizes.hq = 3, sizes.hv = 6;
  LinearProblem p = makeLinearProblem(variant, dtype, sizes);
  std::vector<Tensor> got = run(linearTargets(dtype).back(), variant, p);
  EXPECT_EQ(checkLinear(variant, expectedOf(p), dtype, got), "");
  spoil(p);
  return checkLinear(variant, expectedOf(p), dtype, got);
}

static const DType allTypes[] = {DType::f32, DType::bf16, DType::f16,
                                 DType::f64};

static void expectTold(const std::string &variant,
                       void (*spoil)(LinearProblem &)) {
  for (DType dtype : allTypes)
    EXPECT_NE(checkAgainstWrong(dtype, variant, spoil), "") << variant;
}

TEST(LinearMustFail, OnAWrongScale) {
  expectTold("scale", [](LinearProblem &p) { p.linear.scale = -0.8; });
}

TEST(LinearMustFail, OnADecayAfterTheToken) {
  expectTold("decay_token", [](LinearProblem &p) {
    Array &g = p.linear.decay;
    std::rotate(g.data.begin(), g.data.begin() + 1, g.data.end());
  });
}

TEST(LinearMustFail, OnOneDecayPerTokenInsteadOfFeature) {
  expectTold("decay_vector", [](LinearProblem &p) {
    Array &g = p.linear.decay;
    for (size_t n = 0; n < g.data.size(); ++n)
      g.data[n] = g.data[n / size_t(g.d) * size_t(g.d)];
  });
}

TEST(LinearMustFail, OnBetaOfTheValueOnly) {
  expectTold("delta", [](LinearProblem &p) {
    for (size_t n = 0; n < p.v.data.size(); ++n)
      p.v.data[n] *= p.linear.beta.data[n / size_t(p.v.d)];
    p.linear.beta = Array();
  });
}

TEST(LinearMustFail, OnATransitionOfTheOtherSign) {
  expectTold("rwkv7", [](LinearProblem &p) {
    for (double &x : p.linear.read.data)
      x = -x;
  });
}

TEST(LinearMustFail, OnADivisorWithoutTheBonus) {
  // As with a token that is counted once, whatever its bonus.
  expectTold("bonus_token", [](LinearProblem &p) {
    for (double &u : p.linear.bonus.data)
      u = 1.0;
  });
}

TEST(LinearMustFail, OnAStartOffByOne) {
  expectTold("packed", [](LinearProblem &p) { ++p.linear.queryStarts[1]; });
}

TEST(LinearMustFail, OnALengthOfTheCallOffByOne) {
  expectTold("cosformer_call", [](LinearProblem &p) {
    p.linear.queryFeature.length = p.linear.keyFeature.length = p.sizes.sq + 1;
  });
}

TEST(LinearMustFail, OnAnInclusiveBonus) {
  expectTold("rwkv6", [](LinearProblem &p) { p.linear.bonus = Array(); });
}

TEST(LinearMustFail, OnAForgottenState) {
  expectTold("state", [](LinearProblem &p) { p.linear.state = Array(); });
}

TEST(LinearMustFail, OnALengthOffByOne) {
  expectTold("lengths", [](LinearProblem &p) { --p.linear.lengths[0]; });
}

TEST(LinearMustFail, OnTheOtherDivisor) {
  expectTold("softmax_by_feature", [](LinearProblem &p) {
    p.linear.divisor = oracle::Divisor::Token;
  });
}

TEST(LinearMustFail, OnABlockOfOneMore) {
  expectTold("block", [](LinearProblem &p) { ++*p.linear.block; });
}

TEST(LinearMustFail, OnHeadsTiledInsteadOfRepeated) {
  expectTold("plain", [](LinearProblem &p) {
    size_t head = size_t(p.k.s * p.k.d);
    for (size_t n = 0; n < head; ++n)
      std::swap(p.k.data[n], p.k.data[n + head]);
  });
}

TEST(LinearMustFail, OnTheOtherFeatureForKeys) {
  expectTold("relu2_identity", [](LinearProblem &p) {
    std::swap(p.linear.queryFeature, p.linear.keyFeature);
  });
}
