// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The grid: op x element type x mask x device against the oracle. Each cell
// compiles one program in which every dimension is dynamic and runs it on sizes
// that are pairwise different and divide no tile.

#include "test/e2e/Variants.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace attn;
using namespace attn::test;

namespace {
struct Cell {
  std::string op;
  DType dtype;
  Variant variant;
  Target target;
};

std::string nameOf(const Cell &c) {
  return c.op + "_" + name(c.dtype) + "_" + c.variant.name + "_" +
         c.target.name;
}
void PrintTo(const Cell &c, std::ostream *os) { *os << nameOf(c); }

/// Sizes for the op: softmax has as many key heads as query heads.
std::vector<Sizes> sizesFor(const std::string &op) {
  std::vector<Sizes> sizes = {
      {2, 6, 2, 37, 53, 40, 24},   // fits no tile in any direction
      {3, 6, 2, 1, 129, 7, 5},     // one query row
      {1, 6, 3, 131, 257, 64, 80}, // several tiles both ways, Dk < Dv
      {2, 4, 1, 131, 53, 80, 33},  // more queries than keys, one kv head
      {2, 5, 5, 3, 2, 1, 129},     // one column of Q and K
  };
  if (op == "softmax")
    for (Sizes &s : sizes)
      s.hq = s.hkv;
  return sizes;
}

class Grid : public testing::TestWithParam<Cell> {};

struct Question {
  Sizes sizes;
  Problem problem;
  oracle::Result answer;
};

/// Those of a cell; the cells of its targets ask the same ones.
const std::vector<Question> &questionsOf(const Cell &cell) {
  return keepLast(cell.op + name(cell.dtype) + cell.variant.name, [&] {
    std::vector<Question> questions;
    for (const Sizes &sizes : sizesFor(cell.op)) {
      Problem p =
          makeProblem(sizes, cell.dtype, cell.variant, questions.size() + 1);
      oracle::Result answer = oracle::attend(p.attention, p.q, p.k, p.v);
      questions.push_back({sizes, std::move(p), std::move(answer)});
    }
    return questions;
  });
}

TEST_P(Grid, MatchesTheOracle) {
  const Cell &cell = GetParam();
  ATTN_SKIP_UNLESS_HERE(cell.target);
  std::string ir = irFor(cell.op, cell.dtype, cell.variant);
  for (const auto &[sizes, problem, answer] : questionsOf(cell)) {
    std::vector<Tensor> got = run(cell.target, ir, problem);
    if (got.empty())
      return;
    EXPECT_EQ(checkAgainst(answer, cell.dtype, got), "") << sizes << "\n" << ir;
  }
}

std::vector<Cell> cells(const std::vector<Variant> &variants,
                        const std::vector<std::string> &ops = {"gqa",
                                                               "softmax"}) {
  std::vector<Cell> all;
  for (const std::string &op : ops)
    for (DType dtype : {DType::f32, DType::bf16})
      for (const Variant &variant : variants)
        for (const Target &target :
             variant.name == "none" ? allTargets() : targetsFor(dtype))
          all.push_back({op, dtype, variant, target});
  return all;
}

/// f16 and f64 take the loops of bf16 and f32 in other casts and vectors: a
/// cell of each kind of clause. Beside them what regions read of other types.
std::vector<Cell> cellsOfOtherTypes() {
  std::vector<Cell> all;
  for (DType dtype : {DType::f16, DType::f64})
    for (const char *variant :
         {"none", "everything", "documents", "relative_bias_f16",
          "alibi_clause", "bias_full", "sinks_causal", "score_functions",
          "prefix_and_score"})
      for (const Target &target : targetsFor(dtype))
        all.push_back({"gqa", dtype, variantNamed(variant), target});
  for (const char *variant : {"relative_bias_f64", "dense_bf16", "dense_f16",
                              "dense_i8", "dense_i32", "dense_i64"})
    for (const Target &target : targetsFor(DType::f32))
      all.push_back({"gqa", DType::f32, variantNamed(variant), target});
  return all;
}

std::string cellName(const testing::TestParamInfo<Cell> &info) {
  return nameOf(info.param);
}
} // namespace

INSTANTIATE_TEST_SUITE_P(Attributes, Grid,
                         testing::ValuesIn(cells(attributeVariants())),
                         cellName);
INSTANTIATE_TEST_SUITE_P(Clauses, Grid,
                         testing::ValuesIn(cells(clauseVariants(), {"gqa"})),
                         cellName);
INSTANTIATE_TEST_SUITE_P(Regions, Grid,
                         testing::ValuesIn(cells(regionVariants())), cellName);
INSTANTIATE_TEST_SUITE_P(OtherTypes, Grid,
                         testing::ValuesIn(cellsOfOtherTypes()), cellName);

/// What the grid would say if the device did something else.
static std::string checkAgainstWrong(DType dtype, const std::string &variant,
                                     void (*spoil)(Problem &)) {
  const Variant &v = variantNamed(variant);
  Problem p = makeProblem({2, 6, 2, 37, 53, 40, 24}, dtype, v);
  std::vector<Tensor> got = run(allTargets()[1], irFor("gqa", dtype, v), p);
  oracle::Result right = oracle::attend(p.attention, p.q, p.k, p.v);
  EXPECT_EQ(checkAgainst(right, dtype, got), "");
  spoil(p);
  return checkAgainst(oracle::attend(p.attention, p.q, p.k, p.v), dtype, got);
}

static const DType allTypes[] = {DType::f32, DType::bf16, DType::f16,
                                 DType::f64};

TEST(GridMustFail, OnAWrongScale) {
  for (DType dtype : allTypes)
    EXPECT_NE(checkAgainstWrong(
                  dtype, "none",
                  [](Problem &p) { p.attention.scale = 1 / std::sqrt(48.0); }),
              "");
}

TEST(GridMustFail, OnAWrongAlignment) {
  for (DType dtype : allTypes)
    EXPECT_NE(checkAgainstWrong(dtype, "causal_bottom_right",
                                [](Problem &p) {
                                  p.attention.align = oracle::Align::TopLeft;
                                }),
              "");
}

TEST(GridMustFail, OnAWindowOffByOne) {
  for (DType dtype : allTypes)
    EXPECT_NE(
        checkAgainstWrong(dtype, "causal_window",
                          [](Problem &p) { p.attention.window->left = 18; }),
        "");
}

TEST(GridMustFail, OnHeadsTiledInsteadOfRepeated) {
  for (DType dtype : allTypes)
    EXPECT_NE(checkAgainstWrong(dtype, "none",
                                [](Problem &p) {
                                  for (int64_t n = 0; n < 53 * 40; ++n)
                                    std::swap(p.k.data[size_t(n)],
                                              p.k.data[size_t(n + 53 * 40)]);
                                }),
              "");
}

TEST(GridMustFail, OnAMissingSoftcap) {
  for (DType dtype : allTypes)
    EXPECT_NE(
        checkAgainstWrong(dtype, "scale_softcap",
                          [](Problem &p) { p.attention.softcap.reset(); }),
        "");
}
