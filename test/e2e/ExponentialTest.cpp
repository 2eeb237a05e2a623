// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels' own exponential over the whole range: with keys 0 and 1 in one
// dimension, scale 1, the weights of a query x <= 0 are 1 and e^x.

#include "test/e2e/PoisonedCall.h"
#include "test/e2e/Variants.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace attn;
using namespace attn::test;

namespace {
constexpr int64_t numQueries = 20000;

/// Queries from 0 to `least`, dense near 0.
std::vector<double> queries(DType dtype, double least) {
  std::vector<double> values;
  for (int64_t n = 0; n < numQueries; ++n) {
    double t = double(n) / (numQueries - 1);
    values.push_back(roundTo(dtype, least * t * t));
  }
  return values;
}

/// O and LSE with V = (0, 1): e^x / (1 + e^x) and ln(1 + e^x).
std::vector<std::vector<double>> attend(const Target &target, DType dtype,
                                        const std::vector<double> &x,
                                        bool exact) {
  Variant scaled;
  scaled.clauses = "scale(1.0)";
  std::string ir =
      irFor("softmax", dtype, scaled, {1, 1, 1, numQueries, 2, 1, 1});
  EngineOptions options;
  options.device = target.device;
  options.target = target.target;
  options.exact = exact;
  options.cacheDir = "";
  Engine engine(options);
  Arguments arguments;
  arguments.add(dtype, {1, 1, numQueries, 1}, x);
  arguments.add(dtype, {1, 1, 2, 1}, {0, 1});
  arguments.add(dtype, {1, 1, 2, 1}, {0, 1});
  Result<Program> program = engine.compileText(ir);
  if (!program) {
    ADD_FAILURE() << program.error().message;
    return {};
  }
  Result<std::vector<Tensor>> results =
      callPoisoned(*program, "main", arguments.values);
  if (!results) {
    ADD_FAILURE() << results.error().message;
    return {};
  }
  return {toDoubles((*results)[0].view()), toDoubles((*results)[1].view())};
}

class Exponential : public testing::TestWithParam<Target> {
protected:
  void SetUp() override { ATTN_SKIP_UNLESS_HERE(GetParam()); }
};

TEST_P(Exponential, OfF32IsWithinUnitsInTheLastPlace) {
  // e^-87 is the smallest that is no subnormal.
  std::vector<double> x = queries(DType::f32, -87.0);
  std::vector<std::vector<double>> got =
      attend(GetParam(), DType::f32, x, /*exact=*/false);
  ASSERT_EQ(got.size(), 2u);
  for (int64_t n = 0; n < numQueries; ++n) {
    // 2 ulp of the exponential, half an ulp each of sum and quotient, and what
    // the argument's product with log2(e) loses: x times half an ulp.
    double tolerance = (3.0 + std::abs(x[n])) * 0x1p-23;
    double exact = 1.0 / (1.0 + std::exp(-x[n]));
    ASSERT_NEAR(got[0][n] / exact, 1.0, tolerance) << "x = " << x[n];
  }
}

TEST_P(Exponential, OfF64IsWithinUnitsInTheLastPlace) {
  // e^-708 is the smallest that is no subnormal.
  std::vector<double> x = queries(DType::f64, -708.0);
  std::vector<std::vector<double>> got =
      attend(GetParam(), DType::f64, x, /*exact=*/false);
  ASSERT_EQ(got.size(), 2u);
  for (int64_t n = 0; n < numQueries; ++n) {
    // 2 ulp of the exponential, half an ulp each of sum and quotient.
    long double exact = 1.0L / (1.0L + std::exp(-(long double)x[n]));
    ASSERT_NEAR(double(got[0][n] / exact - 1.0L), 0.0, 3.0 * 0x1p-52)
        << "x = " << x[n];
  }
}

TEST_P(Exponential, OfBf16HasTheStatedError) {
  // Weights above 1/4, so that LSE in f32 tells them apart.
  std::vector<double> x = queries(DType::bf16, -1.375);
  bool roundsWeights =
      GetParam().target == "cpu:avx512bf16" || GetParam().target == "cpu:amx";
  for (bool exact : {false, true}) {
    std::vector<std::vector<double>> got =
        attend(GetParam(), DType::bf16, x, exact);
    ASSERT_EQ(got.size(), 2u);
    int64_t misrounded = 0;
    for (int64_t n = 0; n < numQueries; ++n) {
      double weight = std::expm1(got[1][n]), want = std::exp(x[n]);
      double rounded = roundTo(DType::bf16, want);
      double rounding = roundsWeights ? 0x1p-8 : 0.0;
      double error = exact || !roundsWeights ? 0x1p-21 : 9e-5;
      ASSERT_NEAR(weight / want, 1.0, rounding + error)
          << "x = " << x[n] << (exact ? ", exact" : "");
      misrounded += std::abs(weight - rounded) > 0x1p-20;
    }
    // The short exponential rounds to a neighbour near a tie; with `exact` only
    // a weight within an ulp of f32 of a tie could.
    if (roundsWeights && exact)
      EXPECT_LE(misrounded, numQueries / 100);
    if (roundsWeights && !exact)
      EXPECT_GT(misrounded, 0);
  }
}
} // namespace

INSTANTIATE_TEST_SUITE_P(
    Targets, Exponential,
    testing::ValuesIn(std::vector<Target>(allTargets().begin() + 1,
                                          allTargets().end())),
    [](const testing::TestParamInfo<Target> &info) { return info.param.name; });
