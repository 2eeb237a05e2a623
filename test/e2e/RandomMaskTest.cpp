// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks that nobody thought of: random keep regions, compiled and compared with
// their own evaluation. A tile that the classifier skips wrongly is an error of
// the result.

#include "test/e2e/RandomMask.h"
#include "test/e2e/Variants.h"
#include "gtest/gtest.h"

using namespace attn;
using namespace attn::test;

namespace {
class RandomMask : public testing::TestWithParam<Target> {};

TEST_P(RandomMask, MatchesItsEvaluation) {
  ATTN_SKIP_UNLESS_HERE(GetParam());
  const Sizes sizes{2, 2, 1, 101, 150, 4, 4};
  int64_t mixed = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Variant variant = randomMask(seed);
    std::string ir = irFor("gqa", DType::f32, variant);
    Problem p = makeProblem(sizes, DType::f32, variant, seed);
    int64_t kept = 0;
    for (int64_t r = 0; r < sizes.sq; ++r)
      for (int64_t t = 0; t < sizes.skv; ++t)
        kept += oracle::isAllowed(p.attention, sizes.sq, sizes.skv, 1, 1, r, t);
    mixed += kept != 0 && kept != sizes.sq * sizes.skv;
    std::vector<Tensor> got = run(GetParam(), ir, p);
    EXPECT_EQ(checkAgainst(oracle::attend(p.attention, p.q, p.k, p.v),
                           DType::f32, got),
              "")
        << "seed " << seed << "\n"
        << ir;
  }
  // Masks that keep all or nothing would test little.
  EXPECT_GE(mixed, 15);
}

/// Masks of which a tile is no more than the middle, the end of 64 bits, or a
/// shift beyond 32.
struct Edge {
  const char *body;
  bool (*keeps)(int64_t i, int64_t j);
};
const Edge edges[] = {
    // Five rows of a tile, with other quotients before and after them.
    {R"(
    %five = arith.constant 5 : index
    %three = arith.constant 3 : index
    %n = arith.floordivsi %i, %five : index
    %p = arith.cmpi eq, %n, %three : index
)",
     [](int64_t i, int64_t) { return i / 5 == 3; }},
    // 1 shifted by 63 is the least number.
    {R"(
    %one = arith.constant 1 : index
    %limit = arith.constant 16 : index
    %bit = arith.shli %one, %j : index
    %p = arith.cmpi sgt, %bit, %limit : index
)",
     [](int64_t, int64_t j) { return j > 4 && j < 63; }},
    // Bits beyond 32 are 0, or the sign.
    {R"(
    %forty = arith.constant 40 : index
    %three = arith.constant 3 : index
    %zero = arith.constant 0 : index
    %high = arith.shrui %j, %forty : index
    %none = arith.cmpi eq, %high, %zero : index
    %d = arith.subi %j, %three : index
    %sign = arith.shrsi %d, %forty : index
    %before = arith.cmpi slt, %sign, %zero : index
    %p = arith.xori %none, %before : i1
)",
     [](int64_t, int64_t j) { return j >= 3; }},
    // A position that is shifted by what another one says.
    {R"(
    %thirty = arith.constant 30 : index
    %amount = arith.addi %i, %thirty : index
    %most = arith.constant 62 : index
    %n = arith.minsi %amount, %most : index
    %high = arith.shrsi %j, %n : index
    %zero = arith.constant 0 : index
    %p = arith.cmpi eq, %high, %zero : index
)",
     [](int64_t, int64_t) { return true; }},
};

TEST_P(RandomMask, EdgesOfRanges) {
  ATTN_SKIP_UNLESS_HERE(GetParam());
  const Sizes sizes{1, 1, 1, 101, 64, 4, 4};
  for (const Edge &edge : edges) {
    Variant variant{"edge", "", "",
                    std::string("align(top_left) keep {\n") + keepArguments +
                        edge.body + "    attn.yield %p : i1\n  }",
                    [keeps = edge.keeps](Problem &p) {
                      p.attention.keep = [keeps](int64_t, int64_t, int64_t i,
                                                 int64_t j) {
                        return keeps(i, j);
                      };
                    }};
    Problem p = makeProblem(sizes, DType::f32, variant);
    EXPECT_EQ(
        checkAgainst(oracle::attend(p.attention, p.q, p.k, p.v), DType::f32,
                     run(GetParam(), irFor("softmax", DType::f32, variant), p)),
        "")
        << edge.body;
  }
}
} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, RandomMask, testing::ValuesIn(allTargets()),
                         [](const testing::TestParamInfo<Target> &info) {
                           return info.param.name;
                         });
