// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes that the compiler knows: loops of one iteration fold away, tiles have
// no ragged edge, and what is dynamic in the grid is a constant.

#include "test/e2e/Variants.h"
#include "gtest/gtest.h"

using namespace attn;
using namespace attn::test;

namespace {
class Static : public testing::TestWithParam<Target> {
protected:
  void SetUp() override { ATTN_SKIP_UNLESS_HERE(GetParam()); }

  void check(DType dtype, const std::string &name, const Sizes &sizes,
             const Sizes &known) {
    const Variant &variant = variantNamed(name);
    Problem p = makeProblem(sizes, dtype, variant);
    std::vector<Tensor> got =
        run(GetParam(), irFor("gqa", dtype, variant, known), p);
    EXPECT_EQ(
        checkAgainst(oracle::attend(p.attention, p.q, p.k, p.v), dtype, got),
        "")
        << name << ", " << sizes;
  }
};

const char *const names[] = {"none", "causal_bottom_right", "lengths",
                             "documents", "alibi_f32"};

TEST_P(Static, EverySizeIsKnown) {
  const Sizes shapes[] = {
      {1, 1, 1, 1, 1, 1, 1},     // one score
      {1, 1, 1, 5, 70, 16, 16},  // one query tile
      {1, 2, 1, 1, 64, 64, 64},  // one query row, one key tile
      {2, 4, 2, 48, 128, 32, 8}, // whole tiles both ways
      {2, 3, 1, 49, 65, 33, 17}, // one more than a tile both ways
      {1, 6, 3, 96, 1, 8, 100},  // one key
  };
  for (const Sizes &sizes : shapes)
    for (const char *name : names)
      check(sizes.b == 1 ? DType::f32 : DType::bf16, name, sizes, sizes);
  // One batch entry and one score, row or key in the other types, too.
  for (const Sizes &sizes : {shapes[0], shapes[2], shapes[5]})
    for (DType dtype : {DType::bf16, DType::f16, DType::f64})
      for (const char *name : {"none", "lengths", "sinks"})
        check(dtype, name, sizes, sizes);
}

TEST_P(Static, SomeSizesAreKnown) {
  const Sizes sizes{1, 4, 1, 5, 130, 24, 40};
  for (const Sizes &known :
       {Sizes{1, 4, 1, -1, -1, 24, 40}, Sizes{-1, -1, -1, 5, -1, -1, -1},
        Sizes{-1, -1, -1, -1, 130, -1, -1}, Sizes{1, -1, 1, -1, -1, -1, 40}})
    for (const char *name : names)
      check(DType::f32, name, sizes, known);
}

TEST_P(Static, EmptySizesAreKnown) {
  for (const Sizes &sizes :
       {Sizes{0, 2, 1, 3, 4, 8, 8}, Sizes{2, 0, 0, 3, 4, 8, 8},
        Sizes{2, 2, 1, 0, 4, 8, 8}, Sizes{2, 2, 1, 3, 0, 8, 8},
        Sizes{2, 2, 1, 3, 4, 8, 0}})
    for (const char *name : {"none", "causal_bottom_right"})
      check(DType::f32, name, sizes, sizes);
}
/// The result of one op is the query of the next, and one op's key is another's
/// value.
TEST_P(Static, OpsFeedOneAnother) {
  const Sizes sizes{2, 6, 2, 37, 70, 24, 24};
  Variant causal = variantNamed("causal_bottom_right");
  std::string ir =
      "func.func @main(%q: tensor<?x?x?x?xf32>, %k: tensor<?x?x?x?xf32>, "
      "%v: tensor<?x?x?x?xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>) {\n"
      "  %o = attn.gqa %q, %k, %v : (tensor<?x?x?x?xf32>, "
      "tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>\n"
      "  %p, %lse = attn.gqa %o, %v, %k " +
      causal.clauses +
      " : (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>) -> "
      "(tensor<?x?x?x?xf32>, tensor<?x?x?xf32>)\n"
      "  return %p, %lse : tensor<?x?x?x?xf32>, tensor<?x?x?xf32>\n}\n";
  Problem p = makeProblem(sizes, DType::f32, causal);
  oracle::Result first = oracle::attend({}, p.q, p.k, p.v);
  oracle::Result want = oracle::attend(p.attention, first.o, p.v, p.k);
  EXPECT_EQ(checkAgainst(want, DType::f32, run(GetParam(), ir, p)), "");
}
} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, Static, testing::ValuesIn(allTargets()),
                         [](const testing::TestParamInfo<Target> &info) {
                           return info.param.name;
                         });
