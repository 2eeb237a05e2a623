// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Literal cases of attn.linear: faults that were reported against other
// systems, and what has to hold between calls: states that are carried, data
// that means nothing, and later tokens that change nothing.

#include "test/e2e/LinearHarness.h"
#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace attn;
using namespace attn::test;
using oracle::Array;
using Values = std::vector<double>;

namespace {

/// Every case runs on every target.
class LinearCases : public testing::TestWithParam<Target> {
protected:
  void SetUp() override { ATTN_SKIP_UNLESS_HERE(GetParam()); }

  std::vector<Tensor> attend(const LinearVariant &variant,
                             const LinearProblem &problem) {
    return run(GetParam(), variant, problem);
  }
};

Array column(const Values &values) {
  Array array(1, 1, int64_t(values.size()), 1);
  array.data = values;
  return array;
}

/// One batch entry, one head, D = 1, in f32.
LinearProblem columns(const Values &q, const Values &k, const Values &v) {
  LinearProblem p;
  p.sizes = {1, 1, 1, 1, int64_t(q.size()), int64_t(k.size()), 1, 1};
  p.q = column(q);
  p.k = column(k);
  p.v = column(v);
  return p;
}

void expectValues(const Tensor &got, const Values &want, double bound = 1e-6) {
  Values values = toDoubles(got.view());
  ASSERT_EQ(values.size(), want.size());
  for (size_t n = 0; n < want.size(); ++n)
    EXPECT_NEAR(values[n], want[n], bound * std::fmax(1.0, std::fabs(want[n])))
        << "entry " << n;
}

//===- tokens of a problem ------------------------------------------------===//

/// Rows `first` to below `end` of an array that is not absent.
Array sliceRows(const Array &array, int64_t first, int64_t end) {
  if (array.data.empty())
    return array;
  Array part(array.b, array.h, end - first, array.d);
  for (int64_t b = 0; b < array.b; ++b)
    for (int64_t h = 0; h < array.h; ++h)
      for (int64_t t = first; t < end; ++t)
        for (int64_t d = 0; d < array.d; ++d)
          part.at(b, h, t - first, d) = array.at(b, h, t, d);
  return part;
}

/// The arrays that have a row per token.
std::vector<Array *> tokenArrays(LinearProblem &p) {
  oracle::Linear &l = p.linear;
  return {&p.q, &p.k, &p.v, &l.decay, &l.beta, &l.read, &l.write};
}

LinearProblem sliceTokens(LinearProblem p, int64_t first, int64_t end) {
  for (Array *array : tokenArrays(p))
    *array = sliceRows(*array, first, end);
  p.sizes.sq = p.sizes.skv = end - first;
  return p;
}

Array arrayOf(const Tensor &tensor) {
  const std::vector<int64_t> &sizes = tensor.view().sizes;
  Array array(sizes[0], sizes[1], sizes[2], sizes[3]);
  array.data = toDoubles(tensor.view());
  return array;
}

struct Outcome {
  Array o, state;
};

/// The parts of a sequence one after the other, each with the state of the one
/// before. `ends` are those of the parts.
Outcome attendInParts(const Target &target, LinearVariant variant,
                      LinearProblem p, const std::vector<int64_t> &ends) {
  variant.state = variant.finalState = true;
  if (p.linear.state.data.empty()) {
    oracle::LinearResult empty = expectedOf(sliceTokens(p, 0, 0));
    p.linear.state = empty.state;
  }
  Outcome outcome;
  outcome.state = p.linear.state;
  outcome.o = expectedOf(sliceTokens(p, 0, 0)).o;
  Array &o = outcome.o;
  o = Array(o.b, o.h, p.sizes.sq, o.d);
  int64_t first = 0;
  for (int64_t end : ends) {
    LinearProblem part = sliceTokens(p, first, end);
    part.linear.state = outcome.state;
    std::vector<Tensor> got = run(target, variant, part);
    if (got.size() != 2)
      return outcome;
    Array rows = arrayOf(got[0]);
    for (int64_t b = 0; b < o.b; ++b)
      for (int64_t h = 0; h < o.h; ++h)
        for (int64_t t = first; t < end; ++t)
          for (int64_t d = 0; d < o.d; ++d)
            o.at(b, h, t, d) = rows.at(b, h, t - first, d);
    outcome.state = arrayOf(got[1]);
    first = end;
  }
  return outcome;
}

/// Variants whose tokens may be given in parts.
std::vector<LinearVariant> splittable() {
  std::vector<LinearVariant> all;
  for (const LinearVariant &variant : linearVariants())
    // Positions, and the length of the call, begin anew with each part.
    if (variant.causal && !variant.lengths && !variant.block &&
        !variant.packed &&
        variant.queryFeature.kind != oracle::FeatureKind::Cosformer)
      all.push_back(variant);
  return all;
}

LinearSizes sizesOf(const LinearVariant &variant, int64_t tokens) {
  if (variant.groupedValues)
    return {2, 2, 2, 4, tokens, tokens, 9, 20};
  return {2, 4, 2, 2, tokens, tokens, 9, 20};
}

void expectClose(const Array &got, const Array &want, double bound,
                 const std::string &what) {
  EXPECT_EQ(oracle::checkOutput(got.data, want.data, {bound, 5 * bound, 0}), "")
      << what;
}

/// The whole sequence of `sizes` against its parts.
void expectPartsAgree(const Target &target, const LinearVariant &variant,
                      const LinearSizes &sizes,
                      const std::vector<int64_t> &ends, double bound) {
  LinearVariant whole = variant;
  whole.finalState = true;
  LinearProblem p = makeLinearProblem(whole, DType::f32, sizes);
  std::vector<Tensor> got = run(target, whole, p);
  ASSERT_EQ(got.size(), 2u);
  Outcome parts = attendInParts(target, whole, p, ends);
  expectClose(parts.o, arrayOf(got[0]), bound, variant.name + ": O");
  expectClose(parts.state, arrayOf(got[1]), bound, variant.name + ": state");
}

//===- cases --------------------------------------------------------------===//

TEST_P(LinearCases, A48_CarriedStateOfGatedDelta) {
  const LinearVariant &variant = linearVariantNamed("gated_delta");
  LinearProblem p = columns({1, 1, 1}, {1, 1, 1}, {1, 2, 3});
  p.linear.causal = true;
  p.linear.decay = column(Values(3, std::log(0.5)));
  p.linear.beta = column({0.5, 0.5, 0.5});
  std::vector<Tensor> got = attend(variant, p);
  ASSERT_EQ(got.size(), 2u);
  const Values want = {0.5, 1.125, 1.78125};
  expectValues(got[0], want);
  expectValues(got[1], {1.78125});
  for (const std::vector<int64_t> &ends :
       {std::vector<int64_t>{1, 3}, {2, 3}, {1, 2, 3}}) {
    Outcome parts = attendInParts(GetParam(), variant, p, ends);
    for (size_t t = 0; t < 3; ++t)
      EXPECT_NEAR(parts.o.data[t], want[t], 1e-6);
    EXPECT_NEAR(parts.state.data.at(0), 1.78125, 1e-6);
  }
}

TEST_P(LinearCases, A49_PaddingIsNotInTheDivisor) {
  for (bool causal : {false, true}) {
    LinearVariant variant = linearVariantNamed("elu1_bidirectional_lengths");
    variant.causal = causal;
    variant.state = false;
    LinearProblem p = columns({0, 0, 0, 0}, {0, 0, 0, 0}, {1, 2, 0, 0});
    p.linear.lengths = {2};
    std::vector<Tensor> got = attend(variant, p);
    ASSERT_EQ(got.size(), 2u);
    expectValues(got[0], {causal ? 1 : 1.5, 1.5, 1.5, 1.5});
    expectValues(got[1], {3, 2});
  }
}

TEST_P(LinearCases, ASumOfZeroGivesZero) {
  // The features of the keys are 1 and -1: their sum over two tokens is 0.
  for (oracle::Divisor divisor :
       {oracle::Divisor::Token, oracle::Divisor::Feature}) {
    LinearVariant variant;
    variant.divisor = divisor;
    LinearProblem p = columns({1, 1, 1}, {1, -1, 2}, {3, 5, 7});
    p.linear.causal = true;
    std::vector<Tensor> got = attend(variant, p);
    ASSERT_EQ(got.size(), 2u);
    expectValues(got[0], {3, 0, 6});
  }
}

TEST_P(LinearCases, A50_GatesOfMinusThirty) {
  for (const char *name : {"decay_head", "decay_token", "decay_vector"})
    for (int64_t tokens : {8, 64}) {
      Values one(size_t(tokens), 1.0), gates(size_t(tokens), -30.0);
      LinearProblem p = columns(one, one, one);
      if (linearVariantNamed(name).decay == Decay::Head)
        p.linear.headDecay = {-30};
      p.linear.decay = column(gates);
      std::vector<Tensor> got = attend(linearVariantNamed(name), p);
      ASSERT_EQ(got.size(), 2u);
      expectValues(got[0], one);
      expectValues(got[1], {1});
    }
}

TEST_P(LinearCases, GatesThatForgetNothingOrAll) {
  // Of 0, of -1000 and of -inf, mixed.
  const double inf = INFINITY;
  Values gates = {0, -1000, 0, -inf, 0, 0, -30, 0};
  Values v = {1, 2, 4, 8, 16, 32, 64, 128}, one(8, 1.0);
  for (const char *name : {"decay_token", "decay_vector"}) {
    LinearProblem p = columns(one, one, v);
    p.linear.decay = column(gates);
    std::vector<Tensor> got = attend(linearVariantNamed(name), p);
    ASSERT_EQ(got.size(), 2u);
    expectValues(got[0], {1, 2, 6, 8, 24, 56, 64, 192});
  }
}

TEST_P(LinearCases, A53_SequencesShorterThanAChunk) {
  for (const LinearVariant &variant : linearVariants())
    for (int64_t tokens : {1, 2, 7, 8}) {
      LinearProblem p =
          makeLinearProblem(variant, DType::f32, sizesOf(variant, tokens));
      EXPECT_EQ(
          checkLinear(variant, expectedOf(p), DType::f32, attend(variant, p)),
          "")
          << variant.name << " T " << tokens;
    }
}

TEST_P(LinearCases, NoTokens) {
  // S = S_0, whatever else stands on the op.
  for (const LinearVariant &variant : linearVariants()) {
    if (!variant.state || !variant.finalState || variant.staticSizes)
      continue;
    LinearProblem p =
        makeLinearProblem(variant, DType::f32, sizesOf(variant, 0));
    if (variant.lengths)
      p.linear.lengths = {3, 0};
    std::vector<Tensor> got = attend(variant, p);
    ASSERT_EQ(got.size(), 2u);
    EXPECT_EQ(toDoubles(got[1].view()), p.linear.state.data) << variant.name;
    EXPECT_TRUE(toDoubles(got[0].view()).empty());
  }
}

TEST_P(LinearCases, EmptyDimensions) {
  // No batch entry, head, token or column, known to the compiler or not.
  for (const char *name : {"plain", "decay_vector_state_lengths", "static",
                           "bidirectional", "gated_delta_state_lengths"})
    for (const LinearSizes &sizes : {LinearSizes{0, 4, 2, 2, 5, 5, 3, 6},
                                     {2, 0, 0, 0, 5, 5, 3, 6},
                                     {2, 4, 2, 2, 0, 0, 3, 6},
                                     {2, 4, 2, 2, 5, 5, 3, 0}}) {
      const LinearVariant &variant = linearVariantNamed(name);
      LinearProblem p = makeLinearProblem(variant, DType::f32, sizes);
      EXPECT_EQ(
          checkLinear(variant, expectedOf(p), DType::f32, attend(variant, p)),
          "")
          << name << ": " << sizes;
    }
}

TEST_P(LinearCases, ManyTokensOfOneFeature) {
  for (const char *name : {"plain", "decay_token", "gated_delta"}) {
    const LinearVariant &variant = linearVariantNamed(name);
    LinearProblem p = makeLinearProblem(variant, DType::f32,
                                        {1, 1, 1, 1, 65537, 65537, 1, 1});
    EXPECT_EQ(
        checkLinear(variant, expectedOf(p), DType::f32, attend(variant, p)), "")
        << name;
  }
}

//===- between calls ------------------------------------------------------===//

TEST_P(LinearCases, SplitWithCarriedState) {
  for (const LinearVariant &variant : splittable())
    for (int64_t at : {1, 64, 100})
      expectPartsAgree(GetParam(), variant, sizesOf(variant, 129), {at, 129},
                       1e-6);
}

TEST_P(LinearCases, TokenByToken) {
  std::vector<int64_t> ends(70);
  for (size_t n = 0; n < ends.size(); ++n)
    ends[n] = int64_t(n) + 1;
  for (const LinearVariant &variant : splittable())
    expectPartsAgree(GetParam(), variant, sizesOf(variant, 70), ends,
                     variant.beta || variant.transition ? 1e-4 : 1e-5);
}

TEST_P(LinearCases, StepByStep) {
  // With known sizes and whole vectors of values each part is a step.
  std::vector<int64_t> ends(20);
  for (size_t n = 0; n < ends.size(); ++n)
    ends[n] = int64_t(n) + 1;
  for (const char *name :
       {"plain", "decay_head", "gated_delta", "transition", "bonus"}) {
    LinearVariant variant = linearVariantNamed(name);
    variant.staticSizes = true;
    expectPartsAgree(GetParam(), variant, {2, 4, 2, 2, 20, 20, 9, 64}, ends,
                     variant.beta || variant.transition ? 1e-4 : 1e-5);
  }
}

TEST_P(LinearCases, LaterTokensChangeNoBitBefore) {
  const int64_t tokens = 129;
  for (const LinearVariant &variant : linearVariants()) {
    if (!variant.causal || variant.lengths)
      continue;
    LinearProblem p =
        makeLinearProblem(variant, DType::f32, sizesOf(variant, tokens));
    std::vector<Tensor> before = attend(variant, p);
    ASSERT_FALSE(before.empty());
    for (int64_t first : {1, 60, 128})
      for (double other : {0.625, std::nan("")}) {
        LinearProblem changed = p;
        for (Array *array : tokenArrays(changed))
          for (int64_t b = 0; b < array->b && !array->data.empty(); ++b)
            for (int64_t h = 0; h < array->h; ++h)
              for (int64_t t = first; t < tokens; ++t)
                for (int64_t d = 0; d < array->d; ++d)
                  array->at(b, h, t, d) = other;
        std::vector<Tensor> after = attend(variant, changed);
        ASSERT_FALSE(after.empty());
        EXPECT_EQ(sliceRows(arrayOf(before[0]), 0, first).data,
                  sliceRows(arrayOf(after[0]), 0, first).data)
            << variant.name << " from " << first << " on " << other;
      }
  }
}

TEST_P(LinearCases, ThreadsChangeNoBit) {
  for (const LinearVariant &variant : linearVariants()) {
    LinearProblem p =
        makeLinearProblem(variant, DType::f32, sizesOf(variant, 67));
    std::vector<Tensor> one = run(GetParam(), variant, p, /*threads=*/1);
    for (int threads : {2, 3}) {
      std::vector<Tensor> more = run(GetParam(), variant, p, threads);
      ASSERT_EQ(more.size(), one.size());
      for (size_t n = 0; n < one.size(); ++n)
        EXPECT_EQ(toBytes(more[n].view()), toBytes(one[n].view()))
            << variant.name << " on " << threads;
    }
  }
}

TEST_P(LinearCases, UnusedTokensMeanNothing) {
  // NaN there, from makeLinearProblem, or zeros: the same bits.
  for (const LinearVariant &variant : linearVariants()) {
    if (!variant.lengths)
      continue;
    LinearProblem p =
        makeLinearProblem(variant, DType::f32, sizesOf(variant, 67));
    std::vector<Tensor> spoilt = attend(variant, p);
    for (Array *array : tokenArrays(p))
      for (double &x : array->data)
        if (std::isnan(x))
          x = 0.0;
    std::vector<Tensor> clean = attend(variant, p);
    ASSERT_EQ(spoilt.size(), clean.size());
    for (size_t n = 0; n < clean.size(); ++n)
      EXPECT_EQ(toBytes(spoilt[n].view()), toBytes(clean[n].view()))
          << variant.name;
  }
}
} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, LinearCases,
                         testing::ValuesIn(linearTargets(DType::f32)),
                         [](const testing::TestParamInfo<Target> &info) {
                           return info.param.name;
                         });

TEST(LinearCasesMustFail, OnAStateThatIsNotCarried) {
  const LinearVariant &variant = linearVariantNamed("gated_delta");
  LinearProblem p =
      makeLinearProblem(variant, DType::f32, sizesOf(variant, 129));
  LinearProblem second = sliceTokens(p, 64, 129);
  Array want = sliceRows(expectedOf(p).o, 64, 129);
  EXPECT_NONFATAL_FAILURE(expectClose(expectedOf(second).o, want, 1e-4, ""),
                          "");
}

TEST(LinearCasesMustFail, OnTheReportedAnswer) {
  // Padded keys in the divisor.
  std::shared_ptr<Tensor> leak = makeTensor(DType::f32, {1}, {0.75});
  EXPECT_NONFATAL_FAILURE(expectValues(*leak, {1.5}), "");
}
