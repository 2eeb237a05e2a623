// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Literal cases about masks and biases that are tensors, by the clauses select
// and bias, and numbers that are values. See Cases.h.

#include "test/e2e/Cases.h"
#include "gtest/gtest-spi.h"

using namespace attn;
using namespace attn::test;

namespace {
const double lowest = -3.4028234663852886e38;

/// A boolean mask of that many dimensions behind other clauses.
Variant selected(size_t rank, const std::string &before = "") {
  std::string type = "tensor<";
  for (size_t n = 0; n < rank; ++n)
    type += "?x";
  type += "i1>";
  return {"selected", ", %m: " + type, "",
          before + " select(%m : " + type + ")"};
}

/// A float mask over (i, j) behind other clauses.
Variant withBias(const std::string &before = "") {
  return {"biased", ", %m: tensor<?x?xf32>", "",
          before + " bias(%m : tensor<?x?xf32>)"};
}

class ClauseCases : public CasesTest {};

TEST_P(ClauseCases, A01_A04_FullyMaskedRow) {
  const Values empty = {-INFINITY, std::log(2.0)};
  Got got = uniform(selected(2), 2, 3,
                    capture(DType::i1, {2, 3}, {0, 0, 0, 1, 1, 0}));
  expectValues(got.o, {0, 1.5});
  expectValues(got.lse, empty);
  double off = -INFINITY;
  got = uniform(withBias(), 2, 3,
                capture(DType::f32, {2, 3}, {off, off, off, 0, 0, off}));
  expectValues(got.o, {0, 1.5});
  expectValues(got.lse, empty);
}

TEST_P(ClauseCases, A02_LowestFiniteBiasIsFinite) {
  expectValues(
      uniform(withBias(), 1, 3, capture(DType::f32, {1, 3}, Values(3, lowest)))
          .o,
      {2});
  expectValues(uniform(withBias(), 1, 3,
                       capture(DType::f32, {1, 3}, Values(3, -INFINITY)))
                   .o,
               {0});
}

TEST_P(ClauseCases, A03_FirstTilesAreEmpty) {
  int64_t skv = 3 * T + 5;
  for (int64_t first : {2 * T, skv - 1}) {
    Values mask(size_t(skv), 0.0);
    std::fill(mask.begin() + first, mask.end(), 1.0);
    expectValues(
        uniform(selected(1), 2, skv, capture(DType::i1, {skv}, mask)).o,
        Values(2, double(first + 1 + skv) / 2.0));
  }
}

TEST_P(ClauseCases, A05_NaNInAMaskedKey) {
  const Values q = {1}, k = {0, 0, NAN}, v = {1, 2, NAN};
  const Sizes sizes{1, 1, 1, 1, 3, 1, 1};
  expectValues(
      attend(selected(2), sizes, q, k, v, capture(DType::i1, {1, 3}, {1, 1, 0}))
          .o,
      {1.5});
  // A NaN in the bias of a masked key, too.
  Variant both = selected(1);
  both.arguments += ", %x: tensor<?x?xf32>";
  both.clauses = "bias(%x : tensor<?x?xf32>)" + both.clauses;
  Arguments captured = capture(DType::i1, {3}, {1, 1, 0});
  captured.add(DType::f32, {1, 3}, {0, 0, NAN});
  expectValues(attend(both, sizes, q, k, v, captured).o, {1.5});
}

TEST_P(ClauseCases, A07_PaddingAndCausal) {
  const std::string causal = "align(top_left) mask(#attn.causal)";
  // Key 0 is padding, in a mask of one dimension and in one of two.
  expectValues(
      uniform(selected(1, causal), 2, 2, capture(DType::i1, {2}, {0, 1})).o,
      {0, 2});
  expectValues(uniform(withBias(causal), 2, 2,
                       capture(DType::f32, {2, 2}, {lowest, 0, lowest, 0}))
                   .o,
               {1, 2});
}

TEST_P(ClauseCases, A17_MaskPerHead) {
  for (int64_t b : {2, 3}) {
    Values values, want;
    for (int64_t n = 0; n < b; ++n) {
      for (int64_t m = 1; m <= 4; ++m)
        values.push_back(double(4 * n + m));
      want.push_back(double(4 * n + 1));
      want.push_back(double(4 * n + 4));
    }
    Values zeros(size_t(4 * b));
    expectValues(attend(selected(3), {b, 2, 2, 1, 2, 1, 1}, zeros, zeros,
                        values, capture(DType::i1, {2, 1, 2}, {1, 0, 0, 1}))
                     .o,
                 want);
  }
}

TEST_P(ClauseCases, A18_SoftcapComesBeforeTheMask) {
  Variant number = selected(2, "softcap(0.5)");
  Variant value = selected(2, "softcap(%c : f32)");
  value.arguments = ", %c: f32" + value.arguments;
  Arguments mask = capture(DType::i1, {1, 3}, {1, 1, 0});
  Arguments both = mask;
  both.values.insert(both.values.begin(), 0.5);
  const Values k = {2, 1, 0}, v = {1, 2, 1000};
  for (const auto &[variant, captured] :
       {std::pair(number, mask), std::pair(value, both)})
    expectValues(attend(variant, {1, 1, 1, 1, 3, 1, 1}, {1}, k, v, captured).o,
                 {1.495587});
}

TEST_P(ClauseCases, A28_OneMaskForAllHeads) {
  Values v;
  for (int64_t n = 0; n < 12; ++n)
    v.push_back(double(n % 3 + 1));
  expectValues(attend(selected(4), {2, 2, 2, 2, 3, 1, 1}, Values(8), Values(12),
                      v, capture(DType::i1, {1, 1, 2, 3}, {0, 1, 1, 1, 1, 0}))
                   .o,
               {2.5, 1.5, 2.5, 1.5, 2.5, 1.5, 2.5, 1.5});
}

TEST_P(ClauseCases, A28_AMaskOfAnotherSizeIsRefused) {
  Variant variant = selected(4);
  Arguments operands;
  operands.add(DType::f32, {2, 2, 2, 1}, Values(8));
  operands.add(DType::f32, {2, 2, 3, 1}, Values(12));
  operands.add(DType::f32, {2, 2, 3, 1}, Values(12));
  operands.add(DType::i1, {1, 1, 2, 4}, Values(8));
  std::string message =
      errorOf(GetParam(), irFor("gqa", DType::f32, variant), operands.values);
  EXPECT_NE(message.find("'attn.gqa' op select: expected 1 or keys"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("got 4"), std::string::npos) << message;
}

TEST_P(ClauseCases, A46_ScaleIsApplied) {
  Variant variant{"scale", ", %s: f32", "", "scale(%s : f32)"};
  Arguments scale;
  scale.values.push_back(1.59);
  expectValues(
      attend(variant, {1, 1, 1, 1, 2, 1, 1}, {1}, {1, 0}, {1, 0}, scale).o,
      {0.830616});
}

TEST_P(ClauseCases, A52_TrueKeeps) {
  expectValues(
      uniform(selected(2), 1, 3, capture(DType::i1, {1, 3}, {1, 0, 0})).o, {1});
}
} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, ClauseCases, testing::ValuesIn(allTargets()),
                         [](const testing::TestParamInfo<Target> &info) {
                           return info.param.name;
                         });

TEST(ClauseCasesMustFail, OnTheReportedAnswers) {
  EXPECT_NONFATAL_FAILURE(expectValues({2, 1.5}, {0, 1.5}), "");
  EXPECT_NONFATAL_FAILURE(expectValues({0}, {2}), "");
  EXPECT_NONFATAL_FAILURE(expectValues({1, 4, 5, 4}, {1, 4, 5, 8}), "");
}
