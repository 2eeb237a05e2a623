// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The oracle against values worked out by hand. In the uniform cases q = 0 and
// V[j] = j + 1, so the right answer is the mean of j + 1 over the allowed keys.

#include "test/oracle/Oracle.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace attn::oracle;

/// One batch entry, one head, D = 1.
static Array column(std::vector<double> values) {
  Array a(1, 1, int64_t(values.size()), 1);
  a.data = std::move(values);
  return a;
}

static Result uniform(const Attention &a, int64_t sq, int64_t skv,
                      int64_t b = 1) {
  Array v(b, 1, skv, 1);
  for (int64_t n = 0; n < b * skv; ++n)
    v.data[size_t(n)] = double(n % skv + 1);
  return attend(a, Array(b, 1, sq, 1), Array(b, 1, skv, 1), v);
}

static void expectNear(const std::vector<double> &got,
                       const std::vector<double> &want, double bound = 1e-12) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t n = 0; n < want.size(); ++n) {
    if (std::isnan(want[n]))
      EXPECT_TRUE(std::isnan(got[n])) << "entry " << n << " is " << got[n];
    else if (std::isinf(want[n]))
      EXPECT_EQ(got[n], want[n]) << "entry " << n;
    else
      EXPECT_NEAR(got[n], want[n], bound) << "entry " << n;
  }
}

TEST(Oracle, SoftmaxOfTwoKeys) {
  // Logits 1.59 and 0: 1 / (1 + e^-1.59).
  Attention a;
  a.scale = 1.59;
  Result r = attend(a, column({1}), column({1, 0}), column({1, 0}));
  expectNear(r.o.data, {0.830616}, 5e-7);
  expectNear(r.lse.data, {1.59 + std::log1p(std::exp(-1.59))});
}

TEST(Oracle, DefaultScaleIsOneOverRootDk) {
  Array q(1, 1, 1, 3, 1.0), k(1, 1, 2, 3), v = column({1, 0});
  for (int64_t d = 0; d < 3; ++d)
    k.at(0, 0, 0, d) = 1.0;
  expectNear(attend({}, q, k, v).o.data, {0.849675}, 5e-7);
}

TEST(Oracle, LargeLogits) {
  Array v = column({1, 0, 0});
  Attention a;
  a.scale = 1.0;
  expectNear(attend(a, column({1}), column({1000, 999, -1000}), v).o.data,
             {0.731059}, 5e-7);
  expectNear(attend(a, column({1}), column({-1e30, -1e30, -1e30}), v).o.data,
             {1.0 / 3});
}

TEST(Oracle, LseIsNaturalLog) {
  expectNear(uniform({}, 1, 3).lse.data, {1.098612288668110});
}

TEST(Oracle, CausalBottomRightAndTopLeft) {
  Attention a;
  a.causal = true;
  a.align = Align::BottomRight;
  expectNear(uniform(a, 2, 5).o.data, {2.5, 3});
  a.align = Align::TopLeft;
  expectNear(uniform(a, 2, 5).o.data, {1, 1.5});
}

TEST(Oracle, MoreQueriesThanKeys) {
  Attention a;
  a.causal = true;
  a.align = Align::BottomRight;
  Result r = uniform(a, 4, 2);
  expectNear(r.o.data, {0, 0, 1, 1.5});
  expectNear(r.lse.data, {-INFINITY, -INFINITY, 0, std::log(2.0)});
}

TEST(Oracle, OffsetsAndKeyOffset) {
  Attention a;
  a.causal = true;
  a.align = Align::Offset;
  a.offset = {2};
  expectNear(uniform(a, 2, 5).o.data, {2, 2.5});
  a.offset = {0, 3};
  expectNear(uniform(a, 1, 5, 2).o.data, {1, 2.5});
  a.keyOffset = 2; // keys stand at 2, 3, 4, 5, 6
  expectNear(uniform(a, 1, 5, 2).o.data, {0, 1.5});
}

TEST(Oracle, LengthsAreClampedAndMoveTheAlignment) {
  Attention a;
  a.causal = true;
  a.align = Align::BottomRight;
  a.lengths = {4, 6};
  expectNear(uniform(a, 2, 6, 2).o.data, {2, 2.5, 3, 3.5});
  a.lengths = {-3, 9};
  expectNear(uniform(a, 2, 6, 2).o.data, {0, 0, 3, 3.5});
  Attention b;
  b.lengths = {1, 3};
  expectNear(uniform(b, 1, 4, 2).o.data, {1, 2});
}

TEST(Oracle, Window) {
  Attention a;
  a.align = Align::TopLeft;
  a.window = Window{1, 0};
  expectNear(uniform(a, 4, 4).o.data, {1, 1.5, 2.5, 3.5});
  a.window = Window{0, 0};
  expectNear(uniform(a, 4, 4).o.data, {1, 2, 3, 4});
  a.window = Window{std::nullopt, 1};
  expectNear(uniform(a, 4, 4).o.data, {1.5, 2, 2.5, 2.5});
  a.window = Window{2, std::nullopt};
  a.causal = true;
  expectNear(uniform(a, 5, 5).o.data, {1, 1.5, 2, 3, 4});
}

TEST(Oracle, KeepRegion) {
  Attention a;
  a.align = Align::TopLeft;
  a.keep = [](int64_t, int64_t, int64_t i, int64_t j) {
    return i == 1 && j < 2;
  };
  Result r = uniform(a, 2, 3);
  expectNear(r.o.data, {0, 1.5});
  expectNear(r.lse.data, {-INFINITY, std::log(2.0)});
}

TEST(Oracle, ScoreRegionSeesCappedScoresAndPositions) {
  Attention a;
  a.scale = 1.0;
  a.softcap = 0.5;
  a.align = Align::Offset;
  a.offset = {7};
  a.keyOffset = 3;
  a.score = [](double s, int64_t b, int64_t h, int64_t i, int64_t j) {
    EXPECT_NEAR(s, 0.5 * std::tanh(2.0 / 0.5), 1e-15);
    EXPECT_EQ(b, 0);
    EXPECT_EQ(h, 0);
    EXPECT_EQ(i, 7);
    return double(j); // 3 or 4
  };
  expectNear(attend(a, column({2}), column({1, 1}), column({1, 0})).o.data,
             {1 / (1 + std::exp(1.0))});
}

TEST(Oracle, SoftcapComesBeforeTheMask) {
  Attention a;
  a.scale = 1.0;
  a.softcap = 0.5;
  a.lengths = {2};
  expectNear(
      attend(a, column({1}), column({2, 1, 0}), column({1, 2, 1000})).o.data,
      {1.495587}, 5e-7);
}

TEST(Oracle, Prefix) {
  Attention a;
  a.align = Align::TopLeft;
  a.prefix = {2};
  expectNear(uniform(a, 4, 4).o.data, {1.5, 1.5, 2, 2.5});
  a.prefix = {0, 9}; // per batch entry, one longer than the keys
  expectNear(uniform(a, 2, 3, 2).o.data, {1, 1.5, 2, 2});
}

TEST(Oracle, Alibi) {
  Attention a;
  a.align = Align::TopLeft;
  a.slopes = {std::log(2.0)};
  // Logits ln 2 (j - i): weights 1, 2 whatever i is.
  expectNear(uniform(a, 2, 2).o.data, {5.0 / 3, 5.0 / 3});
}

TEST(Oracle, BiasAndSelectGoByRows) {
  Attention a;
  a.align = Align::Offset;
  a.offset = {100};
  a.keyOffset = 50;
  a.bias = [](int64_t, int64_t, int64_t r, int64_t t) {
    return r == 1 && t == 1 ? std::log(3.0) : 0.0;
  };
  expectNear(uniform(a, 2, 2).o.data, {1.5, 1.75});
  a.select = [](int64_t, int64_t, int64_t r, int64_t t) { return t >= r; };
  expectNear(uniform(a, 2, 2).o.data, {1.5, 2});
}

TEST(Oracle, SinkIsAWeightWithoutAValue) {
  Attention a;
  a.sinks = {0.0};
  Result r = uniform(a, 1, 3);
  expectNear(r.o.data, {1.5}); // (1 + 2 + 3) / 4
  expectNear(r.lse.data, {std::log(4.0)});
  a.lengths = {0};
  a.sinks = {-2.5};
  r = uniform(a, 1, 3);
  expectNear(r.o.data, {0});
  expectNear(r.lse.data, {-2.5});
  a.sinks = {-INFINITY};
  expectNear(uniform(a, 1, 3).lse.data, {-INFINITY});
  a.sinks = {NAN};
  expectNear(uniform(a, 1, 3).o.data, {NAN});
}

TEST(Oracle, GroupedHeads) {
  Array v(1, 2, 1, 1);
  v.data = {10, 11};
  Result r = attend({}, Array(1, 4, 1, 1), Array(1, 2, 1, 1), v);
  expectNear(r.o.data, {10, 10, 11, 11});
}

TEST(Oracle, MaskedNaNIsNeverTouched) {
  Attention a;
  a.lengths = {2};
  expectNear(
      attend(a, column({1}), column({0, 0, NAN}), column({1, 2, NAN})).o.data,
      {1.5});
}

TEST(Oracle, NonFiniteLogits) {
  Attention a;
  a.scale = 1.0;
  Array q = column({1}), v = column({1, 2});
  Result r = attend(a, q, column({0, -INFINITY}), column({1, NAN}));
  expectNear(r.o.data, {1}); // weight 0, and its value is not used
  r = attend(a, q, column({-INFINITY, -INFINITY}), v);
  expectNear(r.o.data, {0});
  expectNear(r.lse.data, {-INFINITY});
  for (double bad : {NAN, INFINITY}) {
    r = attend(a, q, column({0, bad}), v);
    expectNear(r.o.data, {NAN});
    expectNear(r.lse.data, {NAN});
  }
}

TEST(Oracle, EmptyDimensions) {
  Result r = uniform({}, 2, 0);
  expectNear(r.o.data, {0, 0});
  expectNear(r.lse.data, {-INFINITY, -INFINITY});
  r = attend({}, Array(1, 1, 2, 3), Array(1, 1, 4, 3), Array(1, 1, 4, 0));
  EXPECT_TRUE(r.o.data.empty());
  expectNear(r.lse.data, {std::log(4.0), std::log(4.0)});
  r = attend({}, Array(0, 2, 3, 1), Array(0, 1, 4, 1), Array(0, 1, 4, 5));
  EXPECT_TRUE(r.o.data.empty());
  EXPECT_EQ(r.o.h, 2);
  EXPECT_EQ(r.o.d, 5);
}
