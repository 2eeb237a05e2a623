// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Few query rows of which the compiler knows the number, as in decoding: they
// take loops of their own, and long keys are split and merged.

#include "test/e2e/Variants.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace attn;
using namespace attn::test;

namespace {
class FewRows : public testing::TestWithParam<Target> {
protected:
  void SetUp() override { ATTN_SKIP_UNLESS_HERE(GetParam()); }

  void check(DType dtype, const std::string &name, const Sizes &sizes,
             const Sizes &known) {
    const Variant &variant = variantNamed(name);
    Problem p = makeProblem(sizes, dtype, variant);
    std::string ir = irFor("gqa", dtype, variant, known);
    std::vector<Tensor> got = run(GetParam(), ir, p);
    EXPECT_EQ(
        checkAgainst(oracle::attend(p.attention, p.q, p.k, p.v), dtype, got),
        "")
        << name << ", " << sizes;
    std::vector<Tensor> alone = run(GetParam(), ir, p, /*threads=*/1);
    for (size_t n = 0; n < got.size() && n < alone.size(); ++n)
      EXPECT_EQ(toBytes(got[n].view()), toBytes(alone[n].view()))
          << "bits depend on the number of threads, " << name << ", " << sizes;
  }
};

/// The sizes with those of the keys and the batch unknown, as a server has it.
Sizes withUnknownKeys(Sizes sizes) {
  sizes.b = sizes.skv = -1;
  return sizes;
}

TEST_P(FewRows, OneToSixteenRowsMatchTheOracle) {
  const Sizes shapes[] = {
      {2, 2, 2, 1, 37, 64, 64},   // a row per key head
      {1, 6, 2, 1, 530, 40, 24},  // three heads of a group
      {2, 8, 2, 1, 65, 7, 5},     // columns fewer than lanes, odd
      {1, 5, 1, 1, 300, 33, 100}, // columns beyond whole vectors
      {1, 2, 1, 3, 129, 96, 80},  // heads times positions
      {1, 12, 1, 1, 515, 16, 48}, {1, 4, 1, 4, 67, 128, 128},
  };
  for (const Sizes &sizes : shapes)
    for (const char *name :
         {"none", "causal_bottom_right", "lengths", "documents", "alibi_f32"})
      for (DType dtype : {DType::f32, DType::bf16})
        check(dtype, name, sizes, withUnknownKeys(sizes));
  for (const Sizes &sizes : shapes)
    for (DType dtype : {DType::f16, DType::f64})
      check(dtype, "lengths", sizes, withUnknownKeys(sizes));
}

TEST_P(FewRows, AStepOfDecodingIsChosenAtRunTime) {
  // Four query heads of a key head; the number of positions is found in the
  // call, and one position has the bits that it has where it is known.
  const Sizes known{-1, 8, 2, -1, -1, 40, 24};
  for (const char *name :
       {"causal_bottom_right", "lengths", "documents", "sinks_causal"})
    for (DType dtype : {DType::f32, DType::bf16}) {
      const Variant &variant = variantNamed(name);
      for (int64_t positions : {1, 2, 50})
        check(dtype, name, {2, 8, 2, positions, 260, 40, 24}, known);
      // Keys of two parts.
      check(dtype, name, {2, 8, 2, 1, 2100, 40, 24}, known);
      Problem p = makeProblem({2, 8, 2, 1, 2100, 40, 24}, dtype, variant);
      Sizes decode = known;
      decode.sq = 1;
      std::vector<Tensor> chosen =
          run(GetParam(), irFor("gqa", dtype, variant, known), p);
      std::vector<Tensor> fixed =
          run(GetParam(), irFor("gqa", dtype, variant, decode), p);
      ASSERT_EQ(chosen.size(), 2u);
      ASSERT_EQ(fixed.size(), 2u);
      EXPECT_EQ(toBytes(chosen[0].view()), toBytes(fixed[0].view())) << name;
      EXPECT_EQ(toBytes(chosen[1].view()), toBytes(fixed[1].view())) << name;
    }
}

TEST_P(FewRows, LongKeysAreSplit) {
  // The second entry's length ends within the first part.
  const Sizes shapes[] = {{2, 4, 1, 1, 4133, 24, 40}, {1, 1, 1, 2, 2049, 8, 8}};
  for (const Sizes &sizes : shapes)
    for (const char *name : {"none", "causal_bottom_right", "lengths", "sinks"})
      for (DType dtype : {DType::f32, DType::bf16}) {
        check(dtype, name, sizes, sizes);
        check(dtype, name, sizes, withUnknownKeys(sizes));
      }
  for (DType dtype : {DType::f16, DType::f64})
    check(dtype, "lengths", shapes[0], withUnknownKeys(shapes[0]));
}

TEST_P(FewRows, HeadsOfATileHaveTheirOwnMasks) {
  // The heads of a key head lie in one tile; the first one sees the first half
  // of the keys, the others see the second.
  Variant variant{"by_head", "", "",
                  "align(top_left) keep {\n" + keepArguments +
                      "    %zero = arith.constant 0 : index\n"
                      "    %half = arith.constant 1024 : index\n"
                      "    %first = arith.cmpi eq, %h, %zero : index\n"
                      "    %low = arith.cmpi slt, %j, %half : index\n"
                      "    %p = arith.cmpi eq, %first, %low : i1\n"
                      "    attn.yield %p : i1\n  }",
                  [](Problem &p) {
                    p.attention.keep = [](int64_t, int64_t h, int64_t,
                                          int64_t j) {
                      return (h == 0) == (j < 1024);
                    };
                  }};
  const Sizes sizes{1, 4, 1, 1, 2048, 8, 8};
  for (DType dtype : {DType::f32, DType::bf16})
    for (const Sizes &known : {sizes, withUnknownKeys(sizes),
                               Sizes{-1, 4, 1, -1, -1, 8, 8}, allDynamic}) {
      Problem p = makeProblem(sizes, dtype, variant);
      EXPECT_EQ(
          checkAgainst(oracle::attend(p.attention, p.q, p.k, p.v), dtype,
                       run(GetParam(), irFor("gqa", dtype, variant, known), p)),
          "")
          << name(dtype) << ", known " << known;
    }
}

TEST_P(FewRows, NothingIsSeenOfMaskedKeys) {
  // Documents of keys that no query is in hold NaN and infinity.
  const Variant &variant = variantNamed("documents");
  Sizes sizes{1, 4, 1, 1, 2300, 40, 24};
  Problem p = makeProblem(sizes, DType::f32, variant);
  oracle::Result want = oracle::attend(p.attention, p.q, p.k, p.v);
  int64_t poisoned = 0;
  for (int64_t j = 0; j < sizes.skv; ++j) {
    if (oracle::isAllowed(p.attention, sizes.sq, sizes.skv, 0, 0, 0, j))
      continue;
    ++poisoned;
    for (int64_t d = 0; d < sizes.dv; ++d)
      p.v.data[size_t(j * sizes.dv + d)] = d % 2 ? NAN : INFINITY;
    for (int64_t d = 0; d < sizes.dk; ++d)
      p.k.data[size_t(j * sizes.dk + d)] = NAN;
  }
  ASSERT_GT(poisoned, 0);
  EXPECT_EQ(
      checkAgainst(
          want, DType::f32,
          run(GetParam(),
              irFor("gqa", DType::f32, variant, withUnknownKeys(sizes)), p)),
      "");
}

TEST_P(FewRows, ANaNReachesItsRowsOnly) {
  const Variant &variant = variantNamed("none");
  Sizes sizes{1, 3, 1, 1, 2100, 16, 16};
  for (DType dtype : {DType::bf16, DType::f16, DType::f64}) {
    Problem p = makeProblem(sizes, dtype, variant);
    p.q.data[size_t(sizes.dk)] = NAN; // of head 1
    std::vector<Tensor> got = run(
        GetParam(), irFor("gqa", dtype, variant, withUnknownKeys(sizes)), p);
    ASSERT_EQ(got.size(), 2u);
    std::vector<double> o = toDoubles(got[0].view());
    for (size_t n = 0; n < o.size(); ++n)
      EXPECT_EQ(std::isnan(o[n]), n / size_t(sizes.dv) == 1)
          << n << ", " << name(dtype);
  }
}
} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, FewRows, testing::ValuesIn(allTargets()),
                         [](const testing::TestParamInfo<Target> &info) {
                           return info.param.name;
                         });
