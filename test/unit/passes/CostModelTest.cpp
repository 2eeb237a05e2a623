// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost model against the counts that it stands for.

#include "passes/analysis/CostModel.h"

#include "dialect/Attn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Parser/Parser.h"
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

// Sizes that no machine has are types all the same.
TEST_F(CostModel, counts_more_heads_than_an_integer_holds) {
  context.loadDialect<AttnDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    !qk = tensor<9223372036854775807x9223372036854775807x2x2xf32>
    func.func @f(%q: !qk) -> !qk {
      %o = attn.linear %q, %q, %q causal : (!qk, !qk, !qk) -> !qk
      return %o : !qk
    })",
                                                             &context);
  ASSERT_TRUE(module);
  LinearOp op;
  module->walk([&](LinearOp found) { op = found; });
  LinearProblem problem = getLinearProblem(op);
  EXPECT_EQ(problem.heads, 0x1p126);
  problem.heads = 1;
  EXPECT_EQ(estimateLinear(getLinearProblem(op), avx2).chunk->flops,
            0x1p126 * estimateLinear(problem, avx2).chunk->flops);
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

// Seconds of one core of cpu:avx2 at 3.5 GHz: 112 GFLOP/s of f32, of which
// products reach 0.8, 20 GB/s of memory, 180 GB/s of a state of up to 32 KB and
// 0.8 of that beyond. An exponential counts as 20 multiplications.

TEST_F(CostModel, seconds_of_products) {
  // 2 n^2 (m + dv) multiplications bound both.
  EXPECT_DOUBLE_EQ(estimateChain(square(1024, 64, 64), avx2).seconds,
                   2.0 * 1024 * 1024 * 128 / (0.8 * 112e9));
  EXPECT_DOUBLE_EQ(estimateReassociated(square(1024, 64, 64), avx2).seconds,
                   4.0 * 1024 * 64 * 64 / (0.8 * 112e9));
  // Of one feature and column: bytes of both products, of 4 each.
  EXPECT_DOUBLE_EQ(estimateChain(square(1000, 1, 1), avx2).seconds,
                   2 * 4 * (1000.0 + 1000 + 1000 * 1000) / 20e9);
  // Half as fast and twice as large.
  ChainShape wide = square(1024, 64, 64);
  wide.element = Float64Type::get(&context);
  EXPECT_DOUBLE_EQ(estimateChain(wide, avx2).seconds,
                   2.0 * 1024 * 1024 * 128 / (0.8 * 56e9));
  // An operation between them reads and writes all pairs.
  ChainShape passes = square(1024, 64, 64);
  passes.passes = 3;
  EXPECT_DOUBLE_EQ(estimateChain(passes, avx2).seconds -
                       estimateChain(square(1024, 64, 64), avx2).seconds,
                   3 * 2 * 4.0 * 1024 * 1024 / 20e9);
  // bf16 is multiplied in pairs where the target has them.
  ChainShape pairs = square(1024, 64, 64);
  pairs.element = bf16;
  EXPECT_DOUBLE_EQ(estimateChain(pairs, avx2).seconds,
                   2.0 * 1024 * 1024 * 128 / (0.8 * 112e9));
  EXPECT_DOUBLE_EQ(
      estimateChain(pairs, *lookupTarget("cpu:avx512bf16")).seconds,
      2.0 * 1024 * 1024 * 128 / (0.8 * 448e9));
}

TEST_F(CostModel, seconds_of_the_recurrent_form) {
  const double n = 4096;
  // A state of 16 KB that is read and written for each token.
  LinearProblem near = causal(4096, 64, 64);
  EXPECT_DOUBLE_EQ(estimateLinear(near, avx2).recurrent->seconds,
                   n * 2 * 64 * 64 * 4 / 180e9);
  // A transition reads and writes it once more.
  LinearProblem transition = near;
  transition.hasTransition = true;
  EXPECT_DOUBLE_EQ(estimateLinear(transition, avx2).recurrent->seconds,
                   2 * estimateLinear(near, avx2).recurrent->seconds);
  EXPECT_DOUBLE_EQ(estimateLinear(transition, avx2).recurrent->flops,
                   2 * estimateLinear(near, avx2).recurrent->flops);
  // 64 KB are farther away.
  EXPECT_DOUBLE_EQ(
      estimateLinear(causal(4096, 128, 128), avx2).recurrent->seconds,
      n * 2 * 128 * 128 * 4 / (0.8 * 180e9));
  // Decays of each feature are work: 4 m dv + 21 m per token, at the rate of
  // vectors.
  LinearProblem decay = causal(4096, 64, 16);
  decay.decay = LinearProblem::Decay::perFeature;
  EXPECT_DOUBLE_EQ(estimateLinear(decay, avx2).recurrent->flops,
                   n * (4 * 64 * 16 + 21 * 64));
  EXPECT_DOUBLE_EQ(estimateLinear(decay, avx2).recurrent->seconds,
                   n * (4 * 64 * 16 + 21 * 64) / 112e9);
}

TEST_F(CostModel, seconds_of_chunks) {
  const double n = 4096, m = 64, dv = 64, span = 32;
  ASSERT_EQ(chooseLinearChunk(causal(4096, 64, 64)), 32);
  // Pairs of a chunk, two products with the state, and the state once a chunk.
  double state = 2 * m * dv * 4 / 180e9;
  LinearProblem plain = causal(4096, 64, 64);
  EXPECT_DOUBLE_EQ(estimateLinear(plain, avx2).chunk->seconds,
                   n * (span * (m + dv) + 4 * m * dv) / (0.8 * 112e9) +
                       n / span * state);
  // All at once.
  EXPECT_DOUBLE_EQ(estimateLinear(plain, avx2).quadratic->seconds,
                   n * (n * (m + dv) + 4 * m * dv) / (0.8 * 112e9) + state);
  // Three times the pairs, and one product more with the state.
  LinearProblem transition = plain;
  transition.hasTransition = true;
  EXPECT_DOUBLE_EQ(estimateLinear(transition, avx2).chunk->seconds,
                   n * (3 * span * (m + dv) + 6 * m * dv) / (0.8 * 112e9) +
                       n / span * state);
  // An exponential and the keys of a chunk per token.
  LinearProblem decay = plain;
  decay.decay = LinearProblem::Decay::scalar;
  EXPECT_DOUBLE_EQ(estimateLinear(decay, avx2).chunk->seconds,
                   n * (span * (m + dv) + 4 * m * dv) / (0.8 * 112e9) +
                       n * (20 + span) / 112e9 + n / span * state);
  // Decays of features take chunks of 16, and each feature its own.
  decay.decay = LinearProblem::Decay::perFeature;
  EXPECT_DOUBLE_EQ(estimateLinear(decay, avx2).chunk->seconds,
                   n * (16 * (m + dv) + 4 * m * dv) / (0.8 * 112e9) +
                       n * m * (20 + 16) / 112e9 + n / 16 * state);
  // Without an order: two products.
  LinearProblem all = plain;
  all.isCausal = false;
  EXPECT_DOUBLE_EQ(estimateLinear(all, avx2).chunk->seconds,
                   4 * n * m * dv / (0.8 * 112e9));
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
