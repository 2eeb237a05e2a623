// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Literal cases about masks and biases that are tensors, by the clauses select
// and bias, numbers that are values, and merged parts. See Cases.h.

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

/// Two parts of the keys, merged: D = 1, scale 1, one query of 1.
std::string mergedParts() {
  std::string o = "tensor<?x?x?x?xf32>", l = "tensor<?x?x?xf32>";
  auto part = [&](const std::string &n) {
    return "  %o" + n + ", %l" + n + " = attn.gqa %q, %k" + n + ", %v" + n +
           " scale(1.0) : (" + o + ", " + o + ", " + o + ") -> (" + o + ", " +
           l + ")\n";
  };
  return "func.func @main(%q: " + o + ", %k1: " + o + ", %v1: " + o +
         ", %k2: " + o + ", %v2: " + o + ") -> (" + o + ", " + l + ") {\n" +
         part("1") + part("2") +
         "  %o, %l = attn.merge %o1, %l1, %o2, %l2 : (" + o + ", " + l + ", " +
         o + ", " + l + ") -> (" + o + ", " + l + ")\n  return %o, %l : " + o +
         ", " + l + "\n}\n";
}

/// Logits and values of the parts.
Got merge(const Target &target, const Values &k1, const Values &v1,
          const Values &k2, const Values &v2) {
  Arguments operands;
  operands.add(DType::f32, {1, 1, 1, 1}, {1});
  for (const Values &x : {k1, v1, k2, v2})
    operands.add(DType::f32, {1, 1, int64_t(x.size()), 1}, x);
  std::vector<Tensor> got = run(target, mergedParts(), operands.values);
  if (got.size() != 2)
    return {};
  return {toDoubles(got[0].view()), toDoubles(got[1].view())};
}

TEST_P(ClauseCases, A39_MergedPartsUseOneBase) {
  Got got = merge(GetParam(), {0, 0, 0}, {1, 2, 3}, {2}, {10});
  expectValues(got.o, {7.689877});
  expectValues(got.lse, {std::log(3 + std::exp(2.0))});
}

TEST_P(ClauseCases, A40_MergedEmptyParts) {
  const Values off = {-INFINITY}, v = {NAN};
  Got got = merge(GetParam(), off, v, off, v);
  expectValues(got.o, {0});
  expectValues(got.lse, {-INFINITY});
  // An empty part changes no bit of the other.
  Got alone = attend("scale(1.0)", {1}, {0.3, -1.7}, {0.7, 5.1});
  for (const Got &same : {merge(GetParam(), {0.3, -1.7}, {0.7, 5.1}, off, v),
                          merge(GetParam(), {}, {}, {0.3, -1.7}, {0.7, 5.1})}) {
    EXPECT_EQ(same.o, alone.o);
    EXPECT_EQ(same.lse, alone.lse);
  }
}

TEST_P(ClauseCases, A46_ScaleIsApplied) {
  Variant variant{"scale", ", %s: f32", "", "scale(%s : f32)"};
  Arguments scale;
  scale.values.push_back(1.59);
  expectValues(
      attend(variant, {1, 1, 1, 1, 2, 1, 1}, {1}, {1, 0}, {1, 0}, scale).o,
      {0.830616});
}

TEST_P(ClauseCases, SinksOfAnyNumber) {
  // Beside one key of logit 0 and value 6: a sink that is NaN or infinite
  // leaves nothing of its row, one of -inf has no weight.
  const double nan = NAN, inf = INFINITY;
  Variant variant{"sinks", ", %s: tensor<?xf32>", "",
                  "sinks(%s : tensor<?xf32>)"};
  Got got =
      attend(variant, {1, 5, 1, 1, 1, 1, 1}, Values(5), {0}, {6},
             capture(DType::f32, {5}, {nan, inf, -inf, 0, std::log(2.0)}));
  expectValues(got.o, {nan, nan, 6, 3, 2});
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
