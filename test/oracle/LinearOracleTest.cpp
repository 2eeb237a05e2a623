// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The oracle of the linear family against values worked out by hand, and
// against the sums over pairs that the recurrences stand for.

#include "test/oracle/LinearOracle.h"
#include "gtest/gtest.h"

#include <cmath>
#include <numeric>

using namespace attn::oracle;

static Array makeArray(int64_t b, int64_t h, int64_t s, int64_t d,
                       std::vector<double> values) {
  Array a(b, h, s, d);
  a.data = std::move(values);
  return a;
}

/// One batch entry, one head, D = 1.
static Array column(std::vector<double> values) {
  int64_t rows = int64_t(values.size());
  return makeArray(1, 1, rows, 1, std::move(values));
}

static Array ones(int64_t rows) { return Array(1, 1, rows, 1, 1.0); }

static void expectNear(const std::vector<double> &got,
                       const std::vector<double> &want, double bound = 1e-13) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t n = 0; n < want.size(); ++n)
    EXPECT_NEAR(got[n], want[n], bound) << "entry " << n;
}

static Linear causal() {
  Linear l;
  l.causal = true;
  return l;
}

//===- attn.linear --------------------------------------------------------===//

TEST(LinearOracle, SumsOfValues) {
  LinearResult r = attendLinear(causal(), ones(3), ones(3), column({1, 2, 3}));
  expectNear(r.o.data, {1, 3, 6});
  expectNear(r.state.data, {6});
  r = attendLinear({}, ones(2), ones(3), column({1, 2, 3}));
  expectNear(r.o.data, {6, 6});
}

TEST(LinearOracle, ScaleAndState) {
  Linear l = causal();
  l.scale = 0.5;
  l.state = column({10});
  LinearResult r = attendLinear(l, ones(2), ones(2), column({1, 2}));
  expectNear(r.o.data, {5.5, 6.5});
  expectNear(r.state.data, {13});
}

TEST(LinearOracle, BonusOfTheDivisor) {
  // Before token 1: sums 1 and 1; with its bonus 3, (1 + 3 * 5) / (1 + 3).
  Linear l = causal();
  l.bonus = makeArray(1, 1, 1, 1, {3});
  for (Divisor divisor : {Divisor::Token, Divisor::Feature}) {
    l.divisor = divisor;
    LinearResult r = attendLinear(l, ones(2), ones(2), column({1, 5}));
    expectNear(r.o.data, {1, 4});
    expectNear(r.state.data, {6, 2});
  }
}

TEST(LinearOracle, PackedSequences) {
  // Rows 1 to 2 and 3 to 5; row 0 is of none. The last start counts as 6.
  Linear l = causal();
  l.queryStarts = {1, 3, 9};
  l.state = makeArray(2, 1, 1, 1, {10, 20});
  l.lengths = {5, 2};
  Array v = column({1, 2, 3, 4, 5, 6});
  LinearResult r = attendLinear(l, ones(6), ones(6), v);
  expectNear(r.o.data, {0, 12, 15, 24, 29, 29});
  ASSERT_EQ(r.state.b, 2);
  expectNear(r.state.data, {15, 29});
  // A start that is less than the one before makes no sequence of it.
  l.queryStarts = {4, 3, 6};
  r = attendLinear(l, ones(6), ones(6), v);
  expectNear(r.o.data, {0, 0, 0, 0, 25, 31});
  expectNear(r.state.data, {10, 31});
  l.lengths.clear();
  l.causal = false;
  l.keyStarts = {0, 1, 3};
  r = attendLinear(l, ones(6), ones(6), v);
  expectNear(r.o.data, {0, 0, 0, 0, 25, 25});
  // Sequences without any row leave their states as they are.
  Array none(1, 1, 0, 1);
  r = attendLinear(l, none, none, none);
  EXPECT_EQ(r.o.data.size(), 0u);
  expectNear(r.state.data, {10, 20});
}

TEST(LinearOracle, CosformerOfTheCall) {
  // Two queries and three keys: angles of 30 degrees.
  Linear l;
  l.queryFeature.kind = l.keyFeature.kind = FeatureKind::Cosformer;
  l.queryFeature.length = l.keyFeature.length = 0;
  LinearResult r = attendLinear(l, ones(2), ones(3), column({0, 0, 4}));
  expectNear(r.o.data, {2, 2 * std::sqrt(3.0)});
}

TEST(LinearOracle, GatedDelta) {
  // 0.5; 0.5 (1 - 0.5) 0.5 + 0.5 2; 0.25 1.125 + 0.5 3
  Linear l = causal();
  l.decay = column(std::vector<double>(3, std::log(0.5)));
  l.beta = column({0.5, 0.5, 0.5});
  expectNear(attendLinear(l, ones(3), ones(3), column({1, 2, 3})).o.data,
             {0.5, 1.125, 1.78125});
}

TEST(LinearOracle, DecayOfHeadsAndFeatures) {
  Linear l = causal();
  l.headDecay = {std::log(0.5)};
  expectNear(attendLinear(l, ones(3), ones(3), column({8, 0, 1})).o.data,
             {8, 4, 3});
  l = causal();
  l.decay = makeArray(1, 1, 2, 2, {0, 0, std::log(0.5), std::log(0.25)});
  Array q = makeArray(1, 1, 2, 2, {1, 10, 1, 10});
  // 1 1.5 + 10 1.25
  expectNear(attendLinear(l, q, Array(1, 1, 2, 2, 1.0), ones(2)).o.data,
             {11, 14});
}

TEST(LinearOracle, TransitionReadsAndWrites) {
  // a reads feature 0, b adds twice that to feature 1.
  Linear l = causal();
  l.read = makeArray(1, 1, 2, 2, {0, 0, 1, 0});
  l.write = makeArray(1, 1, 2, 2, {0, 0, 0, 2});
  LinearResult r =
      attendLinear(l, makeArray(1, 1, 2, 2, {1, 10, 1, 10}),
                   makeArray(1, 1, 2, 2, {1, 0, 0, 0}), column({3, 5}));
  expectNear(r.o.data, {3, 63});
  expectNear(r.state.data, {3, 6});
}

TEST(LinearOracle, BonusIsForTheOwnTokenOnly) {
  Linear l = causal();
  l.bonus = column({3});
  expectNear(attendLinear(l, ones(3), ones(3), column({1, 2, 3})).o.data,
             {3, 7, 12});
}

TEST(LinearOracle, BlocksReadWhatIsBeforeThem) {
  Linear l = causal();
  l.block = 2;
  expectNear(attendLinear(l, ones(5), ones(5), column({1, 2, 3, 4, 5})).o.data,
             {0, 0, 3, 3, 10});
}

TEST(LinearOracle, Divisors) {
  Array q = makeArray(1, 1, 1, 2, {1, 1});
  Array k = makeArray(1, 1, 2, 2, {1, 3, 1, 1}), v = column({1, 5});
  Linear l;
  l.divisor = Divisor::Feature; // 6 / 2 + 8 / 4
  expectNear(attendLinear(l, q, k, v).o.data, {5});
  l.divisor = Divisor::Token; // (6 + 8) / (2 + 4)
  LinearResult r = attendLinear(l, q, k, v);
  expectNear(r.o.data, {14.0 / 6.0});
  expectNear(r.state.data, {6, 2, 8, 4});
  for (Divisor divisor : {Divisor::Feature, Divisor::Token}) {
    l.divisor = divisor;
    expectNear(attendLinear(l, q, Array(1, 1, 2, 2), v).o.data, {0});
  }
}

TEST(LinearOracle, LengthsEndTheSequence) {
  const double nan = std::nan("");
  Linear l = causal();
  l.lengths = {2};
  l.headDecay = {std::log(0.5)};
  l.bonus = column({3});
  LinearResult r = attendLinear(l, ones(4), column({1, 1, nan, nan}),
                                column({2, 4, nan, nan}));
  expectNear(r.state.data, {5});
  // 3 2; 2 + 3 4; and the state of the end.
  expectNear(r.o.data, {6, 14, 5, 5});
}

TEST(LinearOracle, PaddingIsNotInTheDivisor) {
  Linear l;
  l.lengths = {2};
  l.divisor = Divisor::Token;
  l.queryFeature.kind = l.keyFeature.kind = FeatureKind::Elu1;
  expectNear(
      attendLinear(l, column({0}), Array(1, 1, 4, 1), column({1, 2, 0, 0}))
          .o.data,
      {1.5});
}

TEST(LinearOracle, GroupedHeads) {
  Array v = makeArray(1, 2, 1, 1, {1, 10});
  expectNear(
      attendLinear(causal(), Array(1, 4, 1, 1, 1.0), Array(1, 2, 1, 1, 1.0), v)
          .o.data,
      {1, 1, 10, 10});
  expectNear(attendLinear(causal(), Array(1, 2, 1, 1, 1.0),
                          makeArray(1, 2, 1, 1, {1, 2}),
                          makeArray(1, 4, 1, 1, {1, 2, 3, 4}))
                 .o.data,
             {1, 2, 6, 8});
}

/// Numbers of both signs without a pattern.
static Array signedArray(int64_t s, int64_t d, double from) {
  Array a(1, 1, s, d);
  for (size_t n = 0; n < a.data.size(); ++n)
    a.data[n] = std::sin(from + 1.7 * double(n) * double(n + 1));
  return a;
}

static double dot(const Array &x, int64_t i, const Array &y, int64_t j) {
  double sum = 0.0;
  for (int64_t d = 0; d < x.d; ++d)
    sum += x.at(0, 0, i, d) * y.at(0, 0, j, d);
  return sum;
}

TEST(LinearOracle, EqualsTheSumOverPairs) {
  const int64_t n = 9;
  Array q = signedArray(n, 3, 0), k = signedArray(n, 3, 1),
        v = signedArray(n, 1, 2);
  Linear l = causal();
  l.decay = signedArray(n, 1, 3);
  std::vector<double> want;
  for (int64_t t = 0; t < n; ++t) {
    double o = 0.0;
    for (int64_t j = 0; j <= t; ++j) {
      double log = 0.0;
      for (int64_t s = j + 1; s <= t; ++s)
        log += l.decay.at(0, 0, s, 0);
      o += std::exp(log) * dot(q, t, k, j) * v.at(0, 0, j, 0);
    }
    want.push_back(o);
  }
  expectNear(attendLinear(l, q, k, v).o.data, want);
}

TEST(LinearOracle, DeltaRuleEqualsItsTriangularForm) {
  // u_t = beta_t (v_t - sum_{j<t} (k_t.k_j) u_j), o_t = sum_{j<=t} (q_t.k_j)
  // u_j
  const int64_t n = 7;
  Array q = signedArray(n, 3, 0), k = signedArray(n, 3, 1),
        v = signedArray(n, 1, 2);
  Linear l = causal();
  l.beta = column({0.5, 0.25, 0.75, 0.125, 1, 0.5, 0.3});
  std::vector<double> u, want;
  for (int64_t t = 0; t < n; ++t) {
    double left = v.at(0, 0, t, 0);
    for (int64_t j = 0; j < t; ++j)
      left -= dot(k, t, k, j) * u[size_t(j)];
    u.push_back(l.beta.at(0, 0, t, 0) * left);
    double o = 0.0;
    for (int64_t j = 0; j <= t; ++j)
      o += dot(q, t, k, j) * u[size_t(j)];
    want.push_back(o);
  }
  expectNear(attendLinear(l, q, k, v).o.data, want);
}

//===- features -----------------------------------------------------------===//

static std::vector<double> phi(Feature f, std::vector<double> x) {
  int64_t d = int64_t(x.size());
  return applyFeature(f, makeArray(1, 1, 1, d, std::move(x))).data;
}

static Feature featureOf(FeatureKind kind) {
  Feature f;
  f.kind = kind;
  return f;
}

TEST(FeatureOracle, Elementwise) {
  expectNear(phi(featureOf(FeatureKind::Elu1), {2, -1, 0}),
             {3, std::exp(-1.0), 1});
  Feature relu = featureOf(FeatureKind::Relu);
  relu.eps = 0.25;
  expectNear(phi(relu, {2, -1}), {2.25, 0.25});
  expectNear(phi(featureOf(FeatureKind::Relu2), {2, -1}), {4, 0});
  Feature map;
  map.map = [](double x) { return x - 7; };
  map.scale = 2;
  expectNear(phi(map, {2, -1}), {-3, -9});
}

TEST(FeatureOracle, Softmax) {
  expectNear(phi(featureOf(FeatureKind::SoftmaxFeatures), {0, std::log(3)}),
             {0.25, 0.75});
  expectNear(phi(featureOf(FeatureKind::Hedgehog), {std::log(2)}), {0.8, 0.2});
  Feature positions = featureOf(FeatureKind::SoftmaxPositions);
  Array x = makeArray(1, 1, 3, 1, {0, std::log(3), std::nan("")});
  positions.lengths = {2};
  expectNear(applyFeature(positions, x).data, {0.25, 0.75, 0});
  positions.lengths = {-1};
  expectNear(applyFeature(positions, x).data, {0, 0, 0});
}

TEST(FeatureOracle, Cosformer) {
  Feature f = featureOf(FeatureKind::Cosformer);
  f.length = 3;
  f.offset = 1; // angles of 30 and 60 degrees
  Array x = makeArray(1, 1, 2, 2, {2, -1, 4, 1});
  double root = std::sqrt(3.0);
  expectNear(applyFeature(f, x).data,
             {root, 0, 1, 0, 2, 0.5, 2 * root, root / 2});
}

TEST(FeatureOracle, Taylor2) {
  Feature f = featureOf(FeatureKind::Taylor2);
  std::vector<double> x = phi(f, {1, 2, -3}), y = phi(f, {-1, 5, 0.5});
  ASSERT_EQ(x.size(), 10u);
  double root = std::sqrt(3.0), fourth = std::sqrt(root);
  expectNear(x, {1, 1 / fourth, 2 / fourth, -3 / fourth, 1 / std::sqrt(6.0),
                 4 / std::sqrt(6.0), 9 / std::sqrt(6.0), 2 / root, -3 / root,
                 -6 / root});
  double s = 7.5 / root;
  EXPECT_NEAR(std::inner_product(x.begin(), x.end(), y.begin(), 0.0),
              1 + s + s * s / 2, 1e-12);
}

TEST(FeatureOracle, RandomFeatures) {
  // x = 2 0.25 = 0.5, w = 2 and -4: products 1 and -2, |x|^2 / 2 = 1 / 8.
  Feature f = featureOf(FeatureKind::Positive);
  f.w = {2, -4};
  f.scale = 2;
  auto e = [](double x) { return std::exp(x); };
  double r = std::sqrt(0.5);
  expectNear(phi(f, {0.25}), {r * e(0.875), r * e(-2.125)});
  f.log = true;
  expectNear(phi(f, {0.25}),
             {0.875 - std::log(2.0) / 2, -2.125 - std::log(2.0) / 2});
  f.log = false;
  f.kind = FeatureKind::Hyperbolic;
  expectNear(phi(f, {0.25}),
             {e(0.875) / 2, e(-2.125) / 2, e(-1.125) / 2, e(1.875) / 2});
  f.kind = FeatureKind::Trigonometric;
  double n = r * e(0.125);
  expectNear(phi(f, {0.25}), {n * std::cos(1), n * std::cos(-2),
                              n * std::sin(1), n * std::sin(-2)});
}

//===- attn.favor ---------------------------------------------------------===//

TEST(FavorOracle, WeightsOfKeys) {
  Favor f;
  f.scale = 4;
  f.w = {0};
  Array q = column({1, 1}), k = column({0, 1}), v = column({1, 5});
  // w = 0, y = 2 k: weights exp(-+2) of the second key.
  auto average = [](double weight) { return (1 + 5 * weight) / (1 + weight); };
  expectNear(attendFavor(f, q, k, v).data,
             {average(std::exp(-2)), average(std::exp(-2))});
  f.causal = true;
  expectNear(attendFavor(f, q, k, v).data, {1, average(std::exp(-2))});
  f.kind = FavorKind::Hyperbolic;
  expectNear(attendFavor(f, q, k, v).data, {1, average(std::exp(-2))});
  f.kind = FavorKind::Trigonometric;
  expectNear(attendFavor(f, q, k, v).data, {1, average(std::exp(2))});
}

TEST(FavorOracle, Relu) {
  Favor f;
  f.kind = FavorKind::Relu;
  f.scale = 1;
  f.w = {1};
  Array k = column({1, -1, 3}), v = column({1, 100, 5});
  expectNear(attendFavor(f, column({1, -1}), k, v).data, {4, 0});
  f.lengths = {2};
  expectNear(attendFavor(f, column({1}), k, v).data, {1});
  f.eps = 1; // 2 2, 2 1
  expectNear(attendFavor(f, column({1}), k, v).data, {204.0 / 6});
}

TEST(FavorOracle, EpsIsAddedToFeaturesOfAKnownSize) {
  // y = 2 k: w.y = 0, 2 and -|y|^2 / 2 = 0, -2; the largest w.y is 2.
  Favor f;
  f.scale = 4;
  f.w = {1};
  f.eps = 0.25;
  Array q = column({0}), k = column({0, 1}), v = column({1, 5});
  auto average = [](double w0, double w1) { return (w0 + 5 * w1) / (w0 + w1); };
  double e0 = std::exp(-2) + 0.25, e1 = std::exp(-2) + 0.25;
  expectNear(attendFavor(f, q, k, v).data, {average(e0, e1)});
  // The maximum is of keys in use, and of later ones, too.
  f.lengths = {1};
  expectNear(attendFavor(f, q, k, v).data, {1});
  f.lengths.clear();
  f.causal = true;
  k = column({0.5, 0, 2});
  // w.y = 1, 0, 4 and -|y|^2 / 2 = -1/2, 0, -8, less 4.
  double w0 = std::exp(-3.5) + 0.25, w1 = std::exp(-4) + 0.25;
  expectNear(
      attendFavor(f, column({0, 0, 0}), k, column({1, 5, 0})).data,
      {1, average(w0, w1), (w0 + 5 * w1) / (w0 + w1 + std::exp(-8) + 0.25)});
  f.causal = false;
  // Hyperbolic: both signs of w; a query 0 has the features 1.25, 1.25.
  f.kind = FavorKind::Hyperbolic;
  k = column({0, 1});
  w0 = 2 * (std::exp(-2) + 0.25);
  w1 = std::exp(-2) + std::exp(-6) + 0.5;
  expectNear(attendFavor(f, q, k, v).data, {average(w0, w1)});
  // Trigonometric: |y|^2 / 2 = 0 and 2, of which 2 is the largest; a query 0
  // has the features 1.25 and 0.25.
  f.kind = FavorKind::Trigonometric;
  w0 = 1.25 * (std::exp(-2) + 0.25) + 0.25 * 0.25;
  w1 = 1.25 * (std::cos(2) + 0.25) + 0.25 * (std::sin(2) + 0.25);
  expectNear(attendFavor(f, q, k, v).data, {average(w0, w1)});
}

TEST(FavorOracle, DefaultScaleAndHeads) {
  Favor f;
  f.w = {1, 0, 0, 0, 0, 1, 0, 0};
  Array q(1, 4, 1, 4, 0.5), k(1, 2, 2, 4),
      v = makeArray(1, 2, 2, 1, {1, 3, 10, 30});
  k.at(0, 1, 1, 3) = 2; // only in the norm: y = 2 / sqrt(2), |y|^2 / 2 = 1
  double w = std::exp(-1), o = (10 + 30 * w) / (1 + w);
  expectNear(attendFavor(f, q, k, v).data, {2, 2, o, o});
}
