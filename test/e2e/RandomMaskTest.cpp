// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks that nobody thought of: random keep regions, compiled and compared with
// their own evaluation. A tile that the classifier skips wrongly is an error of
// the result.

#include "test/e2e/RandomMask.h"
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
} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, RandomMask, testing::ValuesIn(allTargets()),
                         [](const testing::TestParamInfo<Target> &info) {
                           return info.param.name;
                         });
