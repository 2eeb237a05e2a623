// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Properties that hold bit for bit: what is masked never matters, a NaN reaches
// exactly the rows that may see it, and neither threads nor the neighbours in a
// batch change a result.

#include "test/e2e/Variants.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>

using namespace attn;
using namespace attn::test;

namespace {
const Sizes sizes{3, 6, 2, 85, 150, 40, 24};

struct Cell {
  DType dtype;
  std::string variant;
  Target target;
};
std::string cellName(const testing::TestParamInfo<Cell> &info) {
  const Cell &c = info.param;
  return std::string(name(c.dtype)) + "_" + c.variant + "_" + c.target.name;
}
void PrintTo(const Cell &c, std::ostream *os) {
  *os << name(c.dtype) << " " << c.variant << " " << c.target.name;
}

std::vector<Cell> cells(const std::vector<std::string> &variants,
                        const std::vector<DType> &dtypes = {DType::f32,
                                                            DType::bf16}) {
  std::vector<Cell> all;
  for (DType dtype : dtypes)
    for (const std::string &variant : variants)
      for (const Target &target : targetsFor(dtype))
        all.push_back({dtype, variant, target});
  return all;
}

/// The masks of the properties, one of every kind.
const std::vector<std::string> masks = {
    "causal_bottom_right", "causal_top_left", "causal_window",
    "window_both_sides",   "lengths",         "causal_lengths_i32",
    "causal_key_offset",   "block_diagonal",  "dilated_window",
    "documents",           "boolean_mask_i8", "everything",
    "select_keys",         "select_shifted",  "prefix_per_batch",
    "sinks_causal",        "every_clause",    "bigbird",
    "bigbird_table",       "length_of_all",
};

/// Whether any row of the query heads of key head `g` may use key t.
bool isUsedIn(const Problem &p, int64_t b, int64_t g, int64_t t) {
  int64_t group = p.sizes.hq / p.sizes.hkv;
  for (int64_t h = g * group; h < (g + 1) * group; ++h)
    for (int64_t r = 0; r < p.sizes.sq; ++r)
      if (oracle::isAllowed(p.attention, p.sizes.sq, p.sizes.skv, b, h, r, t))
        return true;
  return false;
}

/// Fills keys and values that no row may use with NaN and infinities. False if
/// there are none.
bool spoilMasked(Problem &p) {
  const double bad[] = {NAN, INFINITY, -INFINITY};
  bool spoilt = false;
  for (int64_t b = 0; b < p.sizes.b; ++b)
    for (int64_t g = 0; g < p.sizes.hkv; ++g)
      for (int64_t t = 0; t < p.sizes.skv; ++t) {
        if (isUsedIn(p, b, g, t))
          continue;
        spoilt = true;
        for (int64_t d = 0; d < p.sizes.dk; ++d)
          p.k.at(b, g, t, d) = bad[(t + d) % 3];
        for (int64_t d = 0; d < p.sizes.dv; ++d)
          p.v.at(b, g, t, d) = bad[(t + b + d) % 3];
      }
  return spoilt;
}

class Property : public testing::TestWithParam<Cell> {
protected:
  void SetUp() override {
    ATTN_SKIP_UNLESS_HERE(GetParam().target);
    const Variant &variant = variantNamed(GetParam().variant);
    ir = irFor("gqa", GetParam().dtype, variant);
    problem = makeProblem(sizes, GetParam().dtype, variant, 5);
    clean = run(GetParam().target, ir, problem);
    ASSERT_EQ(clean.size(), 2u);
  }

  bool mayUse(int64_t b, int64_t h, int64_t r, int64_t t) const {
    return oracle::isAllowed(problem.attention, sizes.sq, sizes.skv, b, h, r,
                             t);
  }
  bool isUsed(int64_t b, int64_t g, int64_t t) const {
    return isUsedIn(problem, b, g, t);
  }

  /// The rows that `isReached` names hold what `want` accepts, all others keep
  /// their bits.
  template <class Reached, class Accepts>
  void expectReachesOnly(const std::vector<Tensor> &got, Reached isReached,
                         Accepts accepts) {
    ASSERT_EQ(got.size(), 2u);
    std::vector<double> o = toDoubles(got[0].view());
    std::vector<double> lse = toDoubles(got[1].view());
    std::vector<uint8_t> bytes[2] = {toBytes(got[0].view()),
                                     toBytes(got[1].view())};
    std::vector<uint8_t> cleanBytes[2] = {toBytes(clean[0].view()),
                                          toBytes(clean[1].view())};
    int64_t reached = 0, kept = 0, row = 0;
    for (int64_t b = 0; b < sizes.b; ++b)
      for (int64_t h = 0; h < sizes.hq; ++h)
        for (int64_t r = 0; r < sizes.sq; ++r, ++row) {
          std::string where = "b " + std::to_string(b) + " h " +
                              std::to_string(h) + " r " + std::to_string(r);
          if (isReached(b, h, r)) {
            ++reached;
            ASSERT_TRUE(accepts(&o[size_t(row * sizes.dv)], lse[size_t(row)]))
                << where;
            continue;
          }
          ++kept;
          for (int n : {0, 1}) {
            size_t width = bytes[n].size() / lse.size();
            ASSERT_TRUE(std::equal(bytes[n].begin() + row * width,
                                   bytes[n].begin() + (row + 1) * width,
                                   cleanBytes[n].begin() + row * width))
                << (n == 0 ? "O" : "LSE") << " changed at " << where;
          }
        }
    EXPECT_GT(kept, 0);
    EXPECT_GT(reached, 0);
  }

  std::string ir;
  Problem problem;
  std::vector<Tensor> clean;
};

TEST_P(Property, MaskedKeysAndValuesNeverMatter) {
  Problem spoilt = problem;
  // Some masks let some row see every key.
  if (!spoilMasked(spoilt))
    GTEST_SKIP() << "every key is seen by a row";
  std::vector<Tensor> got = run(GetParam().target, ir, spoilt);
  ASSERT_EQ(got.size(), 2u);
  EXPECT_TRUE(toBytes(got[0].view()) == toBytes(clean[0].view()));
  EXPECT_TRUE(toBytes(got[1].view()) == toBytes(clean[1].view()));
}

/// Keys in the first tile, on a diagonal tile, and at ragged ends.
const int64_t someKeys[] = {0, 7, 63, 64, 70, 84, 127, 140};

TEST_P(Property, NaNInAValueReachesTheRowsThatSeeIt) {
  const oracle::Result right =
      oracle::attend(problem.attention, problem.q, problem.k, problem.v);
  for (int64_t t : someKeys) {
    if (!isUsed(0, 1, t))
      continue;
    SCOPED_TRACE("key " + std::to_string(t));
    Problem spoilt = problem;
    spoilt.v.at(0, 1, t, 3) = NAN;
    oracle::Result want = right;
    for (int64_t h = 3; h < 6; ++h)
      for (int64_t r = 0; r < sizes.sq; ++r)
        if (mayUse(0, h, r, t))
          want.o.at(0, h, r, 3) = NAN;
    std::vector<Tensor> got = run(GetParam().target, ir, spoilt);
    // Column 3 is NaN and the other columns are right: this checks them too.
    EXPECT_EQ(checkAgainst(want, GetParam().dtype, got), "");
    expectReachesOnly(
        got,
        [&](int64_t b, int64_t h, int64_t r) {
          return b == 0 && h >= 3 && mayUse(b, h, r, t);
        },
        [](const double *o, double lse) {
          return std::isnan(o[3]) && std::isfinite(o[2]) && std::isfinite(lse);
        });
  }
}

TEST_P(Property, InfinityInAValueReachesTheRowsThatSeeIt) {
  for (int64_t t : {7, 70}) {
    if (!isUsed(1, 0, t))
      continue;
    SCOPED_TRACE("key " + std::to_string(t));
    Problem spoilt = problem;
    spoilt.v.at(1, 0, t, 0) = INFINITY;
    expectReachesOnly(
        run(GetParam().target, ir, spoilt),
        [&](int64_t b, int64_t h, int64_t r) {
          return b == 1 && h < 3 && mayUse(b, h, r, t);
        },
        [](const double *o, double lse) {
          return o[0] == INFINITY && std::isfinite(o[1]) && std::isfinite(lse);
        });
  }
}

TEST_P(Property, NaNInAKeyReachesTheRowsThatSeeIt) {
  for (int64_t t : someKeys) {
    if (!isUsed(0, 0, t))
      continue;
    SCOPED_TRACE("key " + std::to_string(t));
    Problem spoilt = problem;
    spoilt.k.at(0, 0, t, 2) = NAN;
    expectReachesOnly(
        run(GetParam().target, ir, spoilt),
        [&](int64_t b, int64_t h, int64_t r) {
          return b == 0 && h < 3 && mayUse(b, h, r, t);
        },
        [](const double *o, double lse) {
          return std::isnan(o[0]) && std::isnan(o[sizes.dv - 1]) &&
                 std::isnan(lse);
        });
  }
}

TEST_P(Property, NaNInAQueryStaysInItsRow) {
  Problem spoilt = problem;
  for (int64_t r : {0, 50, 84})
    spoilt.q.at(0, 4, r, 39) = NAN;
  bool seesAny[85] = {};
  for (int64_t r = 0; r < sizes.sq; ++r)
    for (int64_t t = 0; t < sizes.skv; ++t)
      seesAny[r] |= mayUse(0, 4, r, t);
  expectReachesOnly(
      run(GetParam().target, ir, spoilt),
      [&](int64_t b, int64_t h, int64_t r) {
        return b == 0 && h == 4 && (r == 0 || r == 50 || r == 84) && seesAny[r];
      },
      [](const double *o, double lse) {
        return std::isnan(o[0]) && std::isnan(lse);
      });
}

TEST_P(Property, ThreadsDoNotChangeBits) {
  for (int threads : {1, 2, 3}) {
    std::vector<Tensor> got = run(GetParam().target, ir, problem, threads);
    ASSERT_EQ(got.size(), 2u);
    EXPECT_TRUE(toBytes(got[0].view()) == toBytes(clean[0].view())) << threads;
    EXPECT_TRUE(toBytes(got[1].view()) == toBytes(clean[1].view())) << threads;
  }
}
/// The same for a step of decoding, which has loops of its own and parts of the
/// keys in parallel; with the number of queries known or found in the call.
class DecodeProperty : public testing::TestWithParam<Cell> {};

TEST_P(DecodeProperty, MaskedKeysAndValuesNeverMatter) {
  const Cell &cell = GetParam();
  ATTN_SKIP_UNLESS_HERE(cell.target);
  const Variant &variant = variantNamed(cell.variant);
  Problem problem = makeProblem({2, 6, 2, 1, 2100, 8, 8}, cell.dtype, variant);
  Problem spoilt = problem;
  if (!spoilMasked(spoilt))
    GTEST_SKIP() << "every key is seen by a row";
  for (int64_t queries : {1, -1}) {
    std::string ir =
        irFor("gqa", cell.dtype, variant, {-1, 6, 2, queries, -1, 8, 8});
    std::vector<Tensor> clean = run(cell.target, ir, problem);
    std::vector<Tensor> got = run(cell.target, ir, spoilt);
    ASSERT_EQ(clean.size(), 2u);
    ASSERT_EQ(got.size(), 2u);
    EXPECT_TRUE(toBytes(got[0].view()) == toBytes(clean[0].view())) << queries;
    EXPECT_TRUE(toBytes(got[1].view()) == toBytes(clean[1].view())) << queries;
  }
}
} // namespace

/// The masks for operands of f64, beside which no value is of f32.
static std::vector<std::string> masksWithoutNumbers() {
  std::vector<std::string> list = masks;
  list.erase(std::find(list.begin(), list.end(), "every_clause"));
  return list;
}

INSTANTIATE_TEST_SUITE_P(Masks, Property, testing::ValuesIn(cells(masks)),
                         cellName);
INSTANTIATE_TEST_SUITE_P(Half, Property,
                         testing::ValuesIn(cells(masks, {DType::f16})),
                         cellName);
INSTANTIATE_TEST_SUITE_P(Double, Property,
                         testing::ValuesIn(cells(masksWithoutNumbers(),
                                                 {DType::f64})),
                         cellName);
INSTANTIATE_TEST_SUITE_P(
    Masks, DecodeProperty,
    testing::ValuesIn(cells(masks, {DType::f32, DType::bf16, DType::f16})),
    cellName);
INSTANTIATE_TEST_SUITE_P(Double, DecodeProperty,
                         testing::ValuesIn(cells(masksWithoutNumbers(),
                                                 {DType::f64})),
                         cellName);

/// A bias that a mask covers is never looked at.
class MaskedBias : public testing::TestWithParam<Target> {};

TEST_P(MaskedBias, NeverMatters) {
  ATTN_SKIP_UNLESS_HERE(GetParam());
  Variant variant = variantNamed("bias");
  const std::string align = "align(top_left)";
  variant.clauses.replace(0, align.size(), align + " mask(#attn.causal)");
  std::string ir = irFor("gqa", DType::f32, variant);
  Problem problem = makeProblem(sizes, DType::f32, variant, 5);
  problem.attention.causal = true;
  std::vector<Tensor> clean = run(GetParam(), ir, problem);
  EXPECT_EQ(checkAgainst(oracle::attend(problem.attention, problem.q, problem.k,
                                        problem.v),
                         DType::f32, clean),
            "");
  Tensor &bias = *problem.captured.owned.back();
  for (int64_t h = 0, n = 0; h < sizes.hq; ++h)
    for (int64_t i = 0; i < sizes.sq; ++i)
      for (int64_t j = 0; j < sizes.skv; ++j, ++n)
        if (j > i)
          bias.set(n, j % 2 == 0 ? NAN : INFINITY);
  std::vector<Tensor> got = run(GetParam(), ir, problem);
  ASSERT_EQ(got.size(), 2u);
  EXPECT_TRUE(toBytes(got[0].view()) == toBytes(clean[0].view()));
  EXPECT_TRUE(toBytes(got[1].view()) == toBytes(clean[1].view()));
}

INSTANTIATE_TEST_SUITE_P(Targets, MaskedBias, testing::ValuesIn(allTargets()),
                         [](const testing::TestParamInfo<Target> &info) {
                           return info.param.name;
                         });

/// A mask that leaves the first rows of a query tile whole, up to the ends of
/// its lane vectors and beyond, and hides a key from the rows after them.
class LaterRows : public testing::TestWithParam<Cell> {};

TEST_P(LaterRows, ANaNStaysWithTheRowsBefore) {
  const auto &[dtype, rows, target] = GetParam();
  ATTN_SKIP_UNLESS_HERE(target);
  const int64_t first = std::stoll(rows), key = 5;
  Variant variant{"later_rows", "", "",
                  "align(top_left) keep {\n" + keepArguments +
                      "    %rows = arith.constant " + rows +
                      " : index\n    %key = arith.constant 5 : index\n"
                      "    %early = arith.cmpi slt, %i, %rows : index\n"
                      "    %other = arith.cmpi ne, %j, %key : index\n"
                      "    %p = arith.ori %early, %other : i1\n"
                      "    attn.yield %p : i1\n  }",
                  [first](Problem &p) {
                    p.attention.keep = [first](int64_t, int64_t, int64_t i,
                                               int64_t j) {
                      return i < first || j != 5;
                    };
                  }};
  const Sizes one{1, 1, 1, 49, 70, 24, 24};
  std::string ir = irFor("softmax", dtype, variant);
  Problem p = makeProblem(one, dtype, variant, 5);
  const oracle::Result right = oracle::attend(p.attention, p.q, p.k, p.v);
  for (bool inKey : {false, true}) {
    Problem spoilt = p;
    oracle::Result want = right;
    (inKey ? spoilt.k : spoilt.v).at(0, 0, key, 3) = NAN;
    for (int64_t r = 0; r < first; ++r) {
      for (int64_t d = 0; d < one.dv; ++d)
        if (inKey || d == 3)
          want.o.at(0, 0, r, d) = NAN;
      if (inKey)
        want.lse.at(0, 0, r, 0) = NAN;
    }
    EXPECT_EQ(checkAgainst(want, dtype, run(target, ir, spoilt)), "")
        << (inKey ? "in a key" : "in a value");
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, LaterRows,
                         testing::ValuesIn(cells({"4", "8", "16", "24", "32"},
                                                 {DType::f32, DType::bf16,
                                                  DType::f16, DType::f64})),
                         cellName);

/// The property tests compare bits, so a small change must be seen.
TEST(PropertyMustFail, OnASmallChange) {
  const Variant &variant = variantNamed("causal_bottom_right");
  std::string ir = irFor("gqa", DType::f32, variant);
  Problem problem = makeProblem(sizes, DType::f32, variant, 5);
  std::vector<Tensor> clean = run(allTargets()[1], ir, problem);
  problem.v.at(2, 1, 149, 23) *= 1.0 + 0x1p-10; // only the last row sees it
  std::vector<Tensor> got = run(allTargets()[1], ir, problem);
  ASSERT_EQ(got.size(), 2u);
  EXPECT_FALSE(toBytes(got[0].view()) == toBytes(clean[0].view()));
  EXPECT_TRUE(toBytes(got[1].view()) == toBytes(clean[1].view()));
}
