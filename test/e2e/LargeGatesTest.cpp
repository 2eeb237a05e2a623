// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decays of attn.linear above 1, whose exponentials leave the range of the type
// of sums: a state of 0 stays 0, a small one grows to what it should be, in
// every form; and they change no bit of what comes before them.

#include "test/e2e/LinearHarness.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace attn;
using namespace attn::test;
using oracle::Array;
using Values = std::vector<double>;

namespace {

struct Cell {
  Target target;
  DType dtype;
};
void PrintTo(const Cell &cell, std::ostream *os) { *os << cell.target.name; }

/// Every case runs on every target, in every form.
class LargeGates : public testing::TestWithParam<Cell> {
protected:
  void SetUp() override { ATTN_SKIP_UNLESS_HERE(GetParam().target); }
  DType dtype() const { return GetParam().dtype; }
  /// What leaves the range of the type of sums, as a logarithm.
  double beyond() const { return dtype() == DType::f64 ? 710 : 89; }

  std::vector<Tensor> attend(const LinearVariant &variant,
                             const LinearProblem &problem) {
    return run(GetParam().target, variant, problem);
  }
};

std::vector<Cell> cells() {
  std::vector<Cell> all;
  auto addForms = [&](const Target &target, DType dtype) {
    for (const char *form : {"chunk", "quadratic", "recurrent"}) {
      Target inForm = target;
      inForm.name += std::string("_") + form;
      inForm.configure = [form](EngineOptions &options) {
        options.linearForm = form;
      };
      all.push_back({inForm, dtype});
    }
  };
  // What the earlier stages leave is run with sums of f64, whatever the form.
  for (const Target &target : linearTargets(DType::f32))
    if (target.device == "reference")
      all.push_back({target, DType::f32});
    else
      addForms(target, DType::f32);
  // f64 takes the same loops as f32.
  for (const Target &target : linearTargets(DType::f64))
    if (target.name == "reference")
      all.push_back({target, DType::f64});
    else if (target.name == "avx2")
      addForms(target, DType::f64);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Targets, LargeGates, testing::ValuesIn(cells()),
                         [](const auto &info) {
                           return std::string(name(info.param.dtype)) + "_" +
                                  info.param.target.name;
                         });

Array column(const Values &values) {
  Array array(1, 1, int64_t(values.size()), 1);
  array.data = values;
  return array;
}

/// One batch entry, one head, D = 1, with a gate per token.
LinearProblem columns(const LinearVariant &variant, DType dtype,
                      const Values &k, const Values &gates) {
  Values one(k.size(), 1.0);
  LinearProblem p;
  int64_t tokens = int64_t(k.size());
  p.dtype = dtype;
  p.sizes = {1, 1, 1, 1, tokens, tokens, 1, 1};
  p.q = p.v = column(one);
  p.k = column(k);
  p.linear.decay = column(gates);
  p.linear.headDecay = {gates[0]};
  if (variant.decay == Decay::Head)
    p.linear.decay = Array();
  if (variant.beta)
    p.linear.beta = column(one);
  if (variant.transition)
    p.linear.read = p.linear.write = column(one);
  if (variant.bonus)
    p.linear.bonus = column({0.5});
  if (variant.state)
    p.linear.state =
        column(Values(variant.divisor == oracle::Divisor::None ? 1 : 2, 0.0));
  return p;
}

LinearVariant makeVariant(const std::string &name, Decay decay) {
  LinearVariant variant;
  variant.name = name;
  variant.decay = decay;
  return variant;
}

void expectValues(const Tensor &got, const Values &want, double bound = 1e-5) {
  Values values = toDoubles(got.view());
  ASSERT_EQ(values.size(), want.size());
  for (size_t n = 0; n < want.size(); ++n)
    EXPECT_NEAR(values[n], want[n], bound * std::fabs(want[n]))
        << "entry " << n;
}

constexpr Decay kEach[] = {Decay::Token, Decay::Vector};

//===- a state of zeros ---------------------------------------------------===//

TEST_P(LargeGates, StateOfZerosStaysZero) {
  for (Decay decay : {Decay::Head, Decay::Token, Decay::Vector})
    for (double gate : {beyond(), 2 * beyond(), 1e4, 3e38}) {
      SCOPED_TRACE(testing::Message() << "gate " << gate);
      LinearVariant variant = makeVariant("zeros", decay);
      LinearVariant given = variant;
      given.state = true;
      LinearVariant parallel = variant;
      parallel.segments = 2;
      // The first key that is not 0 comes last; its gate decays a state of 0.
      for (const LinearVariant &each : {variant, given, parallel}) {
        std::vector<Tensor> got =
            attend(each, columns(each, dtype(), {0, 0, 2}, {gate, gate, gate}));
        ASSERT_EQ(got.size(), 2u);
        expectValues(got[0], {0, 0, 2});
        expectValues(got[1], {2});
      }
    }
}

TEST_P(LargeGates, GatesOfOneTokenBeforeOthers) {
  for (Decay decay : kEach)
    for (double gate : {beyond(), 1e4}) {
      SCOPED_TRACE(testing::Message() << "gate " << gate);
      LinearVariant plain = makeVariant("plain", decay);
      Values k = {1, 1, 1}, gates = {gate, 0, 0};
      std::vector<Tensor> got =
          attend(plain, columns(plain, dtype(), k, gates));
      expectValues(got[0], {1, 2, 3});

      // v - k S is what is left to learn: nothing after the first token.
      LinearVariant delta = makeVariant("delta", decay);
      delta.beta = true;
      got = attend(delta, columns(delta, dtype(), k, gates));
      expectValues(got[0], {1, 1, 1});

      // S = exp(g) S + S + 1 with a = b = 1.
      LinearVariant moved = makeVariant("moved", decay);
      moved.transition = true;
      got = attend(moved, columns(moved, dtype(), k, gates));
      expectValues(got[0], {1, 3, 7});

      // Rows read the state before their token, 0, 1, 2, and 0.5 of their own.
      LinearVariant bonus = makeVariant("bonus", decay);
      bonus.bonus = true;
      got = attend(bonus, columns(bonus, dtype(), k, gates));
      expectValues(got[0], {0.5, 1.5, 2.5});

      // An average of values 1.
      for (oracle::Divisor divisor :
           {oracle::Divisor::Token, oracle::Divisor::Feature}) {
        LinearVariant average = makeVariant("average", decay);
        average.divisor = divisor;
        got = attend(average, columns(average, dtype(), k, gates));
        expectValues(got[0], {1, 1, 1});
        expectValues(got[1], {3, 3});
      }
    }
}

//===- states that grow ---------------------------------------------------===//

TEST_P(LargeGates, SmallStatesGrow) {
  bool isWide = dtype() == DType::f64;
  double small = isWide ? 1e-300 : 1e-30, gate = isWide ? 1000 : 100;
  // e^1000 has no number.
  double grown =
      isWide ? std::exp(1000 + std::log(small)) : small * std::exp(100);
  for (Decay decay : kEach) {
    LinearVariant variant = makeVariant("grows", decay);
    variant.state = true;
    LinearProblem p = columns(variant, dtype(), {0, 0}, {gate, -3});
    p.linear.state = column({small});
    std::vector<Tensor> got = attend(variant, p);
    ASSERT_EQ(got.size(), 2u);
    expectValues(got[0], {grown, grown * std::exp(-3)});
    expectValues(got[1], {grown * std::exp(-3)});
    // By products of gates, too.
    p = columns(variant, dtype(), {0, 0, 0, 0},
                {gate / 4, gate / 4, gate / 4, gate / 4});
    p.linear.state = column({small});
    expectValues(attend(variant, p)[1], {grown});
  }
}

TEST_P(LargeGates, StatesBeyondTheRangeAreInfinite) {
  for (Decay decay : kEach) {
    LinearVariant variant = makeVariant("overflow", decay);
    std::vector<Tensor> got =
        attend(variant, columns(variant, dtype(), {1, 0}, {0, 2 * beyond()}));
    EXPECT_EQ(toDoubles(got[1].view())[0], INFINITY);
  }
}

/// What chunks and single tokens make of gates that grow and shrink is what the
/// definition says.
TEST_P(LargeGates, GatesOfBothSigns) {
  for (const char *name :
       {"decay_token", "decay_vector", "gated_delta", "kda", "rwkv6", "rwkv7",
        "decay_vector_state_lengths", "elu1_token_decay_state_lengths"}) {
    const LinearVariant &variant = linearVariantNamed(name);
    LinearProblem p =
        makeLinearProblem(variant, dtype(), {2, 2, 2, 2, 70, 70, 17, 19});
    // Every tenth gate multiplies by 2^14, and the next one by 2^-13.
    Array &decay = p.linear.decay;
    for (int64_t b = 0; b < decay.b; ++b)
      for (int64_t h = 0; h < decay.h; ++h)
        for (int64_t t = 20; t + 1 < 50; t += 10)
          for (int64_t d = 0; d < decay.d; ++d) {
            decay.at(b, h, t, d) = 9.75;
            decay.at(b, h, t + 1, d) = -9.0;
          }
    EXPECT_EQ(checkLinear(variant, expectedOf(p), dtype(), attend(variant, p)),
              "")
        << name;
  }
}

TEST_P(LargeGates, LaterGatesChangeNoBit) {
  for (Decay decay : kEach) {
    LinearVariant variant = makeVariant("later", decay);
    LinearProblem p =
        makeLinearProblem(variant, dtype(), {1, 1, 1, 1, 40, 40, 8, 8});
    Values before = toDoubles(attend(variant, p).at(0).view());
    constexpr int64_t kFirst = 21;
    for (int64_t d = 0; d < p.linear.decay.d; ++d)
      p.linear.decay.at(0, 0, kFirst, d) = 1000;
    Values after = toDoubles(attend(variant, p).at(0).view());
    before.resize(kFirst * 8);
    after.resize(kFirst * 8);
    EXPECT_EQ(before, after);
  }
}

} // namespace
