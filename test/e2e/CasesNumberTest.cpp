// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Literal cases about scale, softcap, the exponential, LSE and non-finite
// numbers. See Cases.h.

#include "test/e2e/Cases.h"
#include "gtest/gtest-spi.h"

using namespace attn;
using namespace attn::test;

namespace {
class Cases : public CasesTest {};

TEST_P(Cases, A18_SoftcapComesBeforeTheMask) {
  Variant v = masked();
  v.clauses.insert(0, "softcap(0.5) ");
  expectValues(attend(v, {1, 1, 1, 1, 3, 1, 1}, {1}, {2, 1, 0}, {1, 2, 1000},
                      capture(DType::i1, {1, 3}, {1, 1, 0}))
                   .o,
               {1.495587});
}

TEST_P(Cases, A19_SoftcapOnPaddingLanes) {
  expectValues(uniform("softcap(1.0)", 1, T + 1).o, {(T + 2) / 2.0});
}

TEST_P(Cases, A23_DefaultScale) {
  expectValues(attend(Variant{}, {1, 1, 1, 1, 2, 3, 1}, {1, 1, 1},
                      {1, 1, 1, 0, 0, 0}, {1, 0})
                   .o,
               {0.849675});
}

TEST_P(Cases, A30_PaddingIsNotInTheDenominator) {
  for (int64_t skv : {int64_t(257), T + 1}) {
    Got got = attend("", {0}, Values(size_t(skv)), Values(size_t(skv), 1.0));
    ASSERT_EQ(got.o.size(), 1u);
    EXPECT_EQ(got.o[0], 1.0) << skv;
  }
}

TEST_P(Cases, A35_LargeProducts) {
  // The logit is 741455.
  Values q(128, 256.0), k(256);
  std::fill(k.begin(), k.begin() + 128, 256.0);
  // f16 has no such number, f32 has.
  for (DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64}) {
    Got got =
        attend(Variant{}, {1, 1, 1, 1, 2, 128, 1}, q, k, {1, 2}, {}, dtype);
    ASSERT_EQ(got.o.size(), 1u);
    EXPECT_EQ(got.o[0], 1.0);
  }
}

TEST_P(Cases, A36_FiniteOverTilesAndNaNForTheWholeRow) {
  for (int64_t skv : {2 * T, T + 1}) {
    expectValues(uniform("", 1, skv).o, {(skv + 1) / 2.0});
    for (int64_t bad : {int64_t(0), skv - 1}) {
      Values k(size_t(skv), 0.0), v(size_t(skv), 1.0);
      k[size_t(bad)] = NAN;
      Got got = attend("", {1, 0.5}, k, v);
      expectValues(got.o, {NAN, NAN});
      expectValues(got.lse, {NAN, NAN});
      k[size_t(bad)] = INFINITY;
      got = attend("", {1, -1}, k, v); // logits +inf and -inf
      expectValues(got.o, {NAN, 1});
      expectValues(got.lse, {NAN, std::log(double(skv - 1))});
    }
  }
}

TEST_P(Cases, A37_FarApartLogits) {
  Got got = attend("", {1}, {1000, 999, -1000}, {1, 0, 0});
  expectValues(got.o, {0.731059});
  expectValues(got.lse, {1000.313262});
  expectValues(attend("", {1}, {-1e30, -1e30, -1e30}, {1, 2, 6}).o, {3});
}

TEST_P(Cases, A38_SmallWeights) {
  // V is the identity, so each weight is an output of its own.
  const Values logits = {0, -4, -9, -20, -87, -88, -104, -1e4, -INFINITY};
  size_t n = logits.size();
  Values v(n * n);
  for (size_t t = 0; t < n; ++t)
    v[t * n + t] = 1.0;
  double sum = 0.0;
  for (double logit : logits)
    sum += std::exp(logit);
  struct Case {
    DType dtype;
    double bound, leastNormal;
  };
  for (const Case &c : {Case{DType::f32, 1e-5, 0x1p-126},
                        {DType::f16, 1e-3, 0x1p-14},
                        {DType::f64, 1e-13, 0x1p-1022}}) {
    Got got = attend(Variant{}, {1, 1, 1, 1, int64_t(n), 1, int64_t(n)}, {1},
                     logits, v, {}, c.dtype);
    ASSERT_EQ(got.o.size(), n);
    for (size_t t = 0; t < n; ++t) {
      double want = std::exp(logits[t]) / sum;
      EXPECT_GE(got.o[t], 0.0) << t;
      if (want >= c.leastNormal)
        EXPECT_NEAR(got.o[t] / want, 1.0, c.bound) << t << name(c.dtype);
      else
        EXPECT_LE(got.o[t], c.leastNormal) << t << name(c.dtype);
    }
  }
}

TEST_P(Cases, A38_WeightsThatVanish) {
  const Values logits = {0, -20, -88, -104, -1e4, -INFINITY};
  for (DType dtype : {DType::f32, DType::f16, DType::f64}) {
    Got got = attend(Variant{}, {1, 1, 1, 1, 6, 1, 1}, {1}, logits,
                     {1, 0, 0, 0, 0, 0}, {}, dtype);
    // e^-20 is 2e-9.
    expectValues(got.o, {1 / (1 + std::exp(-20.0))},
                 dtype == DType::f64 ? 1e-15 : 1e-8);
  }
}

TEST_P(Cases, A39_LseIsNaturalLog) {
  expectValues(uniform("", 1, 3).lse, {1.098612});
}

TEST_P(Cases, A40_EmptyRowsHaveLseOfMinusInfinity) {
  Got got = uniform(masked(), 1, 3, capture(DType::i1, {1, 3}, {0, 0, 0}));
  expectValues(got.o, {0});
  expectValues(got.lse, {-INFINITY});
  // Logits of -inf are no keys either.
  got = attend("", {1}, {-INFINITY, -INFINITY}, {1, NAN});
  expectValues(got.o, {0});
  expectValues(got.lse, {-INFINITY});
}

TEST_P(Cases, A41_DropoutIsRefused) {
  const Values q = {0.5, -2}, k = {1, -0.25, 3}, v = {1, 2, -4};
  // The attribute stands where the clauses end.
  Got without = attend("scale(1.0)", q, k, v);
  Got zero = attend("scale(1.0) {dropout = 0.0}", q, k, v);
  EXPECT_EQ(zero.o, without.o);
  EXPECT_EQ(zero.lse, without.lse);
  std::string message =
      errorOf(GetParam(),
              irFor("gqa", DType::f32, {"case", "", "", "{dropout = 0.1}"}));
  EXPECT_NE(message.find("'attn.gqa' op dropout: expected none or 0.0"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("got 1.000000e-01"), std::string::npos) << message;
}

TEST_P(Cases, A46_ScaleIsApplied) {
  Got got = attend("scale(1.59)", {1}, {1, 0}, {1, 0});
  expectValues(got.o, {0.830616});
}
} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, Cases, testing::ValuesIn(allTargets()),
                         [](const testing::TestParamInfo<Target> &info) {
                           return info.param.name;
                         });

TEST(CasesMustFail, OnTheReportedAnswers) {
  EXPECT_NONFATAL_FAILURE(expectValues({157.82}, {1.495587}), "");
  EXPECT_NONFATAL_FAILURE(expectValues({0.742817}, {0.849675}), "");
  EXPECT_NONFATAL_FAILURE(expectValues({1.584963}, {1.098612}), "");
}
