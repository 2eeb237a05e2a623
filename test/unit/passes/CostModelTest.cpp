// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost model against the counts that it stands for.

#include "passes/analysis/CostModel.h"

#include "mlir/IR/Builders.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::attn;

namespace {

struct Widths {
  int64_t m, dv;
};

class CostModel : public testing::Test {
protected:
  MLIRContext context;
  Type f32 = Float32Type::get(&context);
  Type bf16 = BFloat16Type::get(&context);
  const TargetInfo &avx2 = *lookupTarget("cpu:avx2");

  ChainShape square(int64_t n, int64_t m, int64_t dv) const {
    return {1, n, n, m, dv, 0, f32};
  }
  bool pays(const ChainShape &shape, const TargetInfo &target) const {
    return estimateReassociated(shape, target).seconds <
           estimateChain(shape, target).seconds;
  }
  LinearProblem causal(int64_t n, int64_t m, int64_t dv) const {
    LinearProblem problem;
    problem.queries = problem.keys = n;
    problem.features = m;
    problem.columns = dv;
    problem.element = f32;
    return problem;
  }
};

TEST_F(CostModel, counts_multiplications_of_both_orders) {
  // 2 n^2 (m + dv) against 4 n m dv.
  ChainShape shape = square(1024, 64, 64);
  EXPECT_EQ(estimateChain(shape, avx2).flops, 2.0 * 1024 * 1024 * 128);
  EXPECT_EQ(estimateReassociated(shape, avx2).flops, 4.0 * 1024 * 64 * 64);
  // Of p keys and n rows: 2 n p (m + dv) against 2 m dv (n + p).
  shape = {3, 7, 50, 11, 13, 0, f32};
  EXPECT_EQ(estimateChain(shape, avx2).flops, 3.0 * 2 * 7 * 50 * (11 + 13));
  EXPECT_EQ(estimateReassociated(shape, avx2).flops,
            3.0 * 2 * 11 * 13 * (7 + 50));
}

TEST_F(CostModel, pays_where_there_are_more_rows_than_features) {
  // Multiplications bound these: it pays iff n (m + dv) > 2 m dv.
  for (const Widths &w : {Widths{64, 64}, {128, 64}, {128, 128}, {256, 96}}) {
    int64_t m = w.m, dv = w.dv;
    std::optional<int64_t> from =
        findCrossover([&](int64_t n) { return pays(square(n, m, dv), avx2); });
    ASSERT_TRUE(from);
    EXPECT_EQ(*from, 2 * m * dv / (m + dv) + 1) << m << " " << dv;
  }
}

TEST_F(CostModel, pays_for_ever_once_it_does) {
  for (const char *name :
       {"cpu:generic", "cpu:avx2", "cpu:avx512", "cpu:avx512bf16", "cpu:amx"})
    for (Type type : {f32, bf16})
      for (const Widths &w : {Widths{8, 5}, {64, 64}, {256, 64}, {16, 300}}) {
        int64_t m = w.m, dv = w.dv;
        const TargetInfo &target = *lookupTarget(name);
        bool paid = false;
        for (int64_t n = 1; n < 5000; n += 7) {
          ChainShape shape = square(n, m, dv);
          shape.element = type;
          bool now = pays(shape, target);
          EXPECT_TRUE(now || !paid)
              << name << " " << n << " " << m << " " << dv;
          paid = now;
        }
        EXPECT_TRUE(paid) << name << " " << m << " " << dv;
      }
}

TEST_F(CostModel, never_pays_for_one_row) {
  // 2 p (m + dv) is less than 2 m dv (1 + p) for all p.
  EXPECT_FALSE(findCrossover(
      [&](int64_t keys) { return pays({1, 1, keys, 64, 64, 0, f32}, avx2); }));
}

TEST_F(CostModel, counts_the_forms_of_linear_attention) {
  int64_t n = 4096, m = 64, dv = 32;
  LinearCosts costs = estimateLinear(causal(n, m, dv), avx2);
  double pairs = double(m + dv), state = 4.0 * m * dv;
  int64_t chunk = chooseLinearChunk(causal(n, m, dv));
  // All tokens are one chunk.
  EXPECT_EQ(costs.quadratic->flops, n * (n * pairs + state));
  EXPECT_EQ(costs.chunk->flops, n * (chunk * pairs + state));
  EXPECT_EQ(costs.recurrent->flops, n * state);

  LinearProblem heads = causal(n, m, dv);
  heads.heads = 6;
  EXPECT_EQ(estimateLinear(heads, avx2).chunk->seconds,
            6 * costs.chunk->seconds);

  LinearProblem all = causal(n, m, dv);
  all.isCausal = false;
  LinearCosts bidirectional = estimateLinear(all, avx2);
  EXPECT_EQ(bidirectional.chunk->flops, n * state);
  EXPECT_FALSE(bidirectional.recurrent || bidirectional.quadratic);
}

TEST_F(CostModel, costs_grow_with_tokens) {
  for (auto decay : {LinearProblem::Decay::none, LinearProblem::Decay::scalar,
                     LinearProblem::Decay::perFeature})
    for (bool hasTransition : {false, true}) {
      LinearCosts before;
      for (int64_t n = 1; n < 3000; n += 13) {
        LinearProblem problem = causal(n, 64, 64);
        problem.decay = decay;
        problem.hasTransition = hasTransition;
        LinearCosts costs = estimateLinear(problem, avx2);
        for (LinearForm form : {LinearForm::quadratic, LinearForm::chunk,
                                LinearForm::recurrent}) {
          if (before.get(form)) {
            EXPECT_GT(costs.get(form)->seconds, before.get(form)->seconds);
            EXPECT_GT(costs.get(form)->flops, before.get(form)->flops);
          }
        }
        before = costs;
      }
    }
}

TEST_F(CostModel, long_sequences_are_not_quadratic) {
  for (const char *name :
       {"cpu:generic", "cpu:avx2", "cpu:avx512", "cpu:avx512bf16", "cpu:amx"})
    EXPECT_NE(
        estimateLinear(causal(16384, 64, 64), *lookupTarget(name)).choose(),
        LinearForm::quadratic)
        << name;
}

TEST(CostModelText, names_of_choices) {
  for (LinearForm form :
       {LinearForm::quadratic, LinearForm::chunk, LinearForm::recurrent})
    EXPECT_EQ(parseLinearForm(toString(form)), form);
  EXPECT_FALSE(parseLinearForm("auto"));
  EXPECT_EQ(parseReassociation("never"), Reassociation::never);
  EXPECT_FALSE(parseReassociation("perhaps"));
}

TEST(CostModelText, flops_with_a_prefix) {
  EXPECT_EQ(formatFlops(12), "12 FLOP");
  EXPECT_EQ(formatFlops(999), "999 FLOP");
  EXPECT_EQ(formatFlops(16777216), "16.8 MFLOP");
  EXPECT_EQ(formatFlops(999999), "1 MFLOP");
  EXPECT_EQ(formatFlops(2.68e11), "268 GFLOP");
}

TEST(CostModelText, a_crossover_is_the_first_that_pays) {
  EXPECT_EQ(findCrossover([](int64_t n) { return n >= 65; }), 65);
  EXPECT_EQ(findCrossover([](int64_t) { return true; }), 1);
  EXPECT_FALSE(findCrossover([](int64_t) { return false; }));
}

} // namespace
