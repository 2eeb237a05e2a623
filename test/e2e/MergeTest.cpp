// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.merge: attention over parts of the keys is that over all of them, and
// what empty parts and numbers that are none do.

#include "test/e2e/Variants.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace attn;
using namespace attn::test;

namespace {
struct Cell {
  DType dtype;
  Target target;
};
std::string cellName(const testing::TestParamInfo<Cell> &info) {
  return std::string(name(info.param.dtype)) + "_" + info.param.target.name;
}
void PrintTo(const Cell &c, std::ostream *os) {
  *os << name(c.dtype) << " " << c.target.name;
}
std::vector<Cell> cells() {
  std::vector<Cell> all;
  for (DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64})
    for (const Target &target : allTargets())
      all.push_back({dtype, target});
  return all;
}

class Merge : public testing::TestWithParam<Cell> {
protected:
  void SetUp() override {
    ATTN_SKIP_UNLESS_HERE(GetParam().target);
    DType lse = GetParam().dtype == DType::f64 ? DType::f64 : DType::f32;
    std::string o = std::string("tensor<?x?x?x?x") + name(GetParam().dtype);
    std::string l = std::string("tensor<?x?x?x") + name(lse);
    o += ">", l += ">";
    std::string results = "(" + o + ", " + l + ")";
    ir = "func.func @main(%o1: " + o + ", %l1: " + l + ", %o2: " + o +
         ", %l2: " + l + ") -> " + results +
         " {\n  %o, %l = attn.merge %o1, %l1, %o2, %l2 : (" + o + ", " + l +
         ", " + o + ", " + l + ") -> " + results + "\n  return %o, %l : " + o +
         ", " + l + "\n}\n";
  }
  DType lseType() const {
    return GetParam().dtype == DType::f64 ? DType::f64 : DType::f32;
  }

  /// Merges single rows of two columns.
  std::vector<std::vector<double>> mergeRows(std::vector<double> o1, double l1,
                                             std::vector<double> o2,
                                             double l2) {
    Arguments a;
    a.add(GetParam().dtype, {1, 1, 1, 2}, o1);
    a.add(lseType(), {1, 1, 1}, {l1});
    a.add(GetParam().dtype, {1, 1, 1, 2}, o2);
    a.add(lseType(), {1, 1, 1}, {l2});
    std::vector<Tensor> got = run(GetParam().target, ir, a.values);
    if (got.size() != 2)
      return {{}, {}};
    return {toDoubles(got[0].view()), toDoubles(got[1].view())};
  }

  std::string ir;
};

TEST_P(Merge, PartsOfTheKeysAreAllKeys) {
  DType dtype = GetParam().dtype;
  // The second part is longer; positions go on where the first part ends.
  const Sizes sizes{2, 6, 2, 37, 130, 40, 24};
  constexpr int64_t cut = 53;
  Problem p = makeProblem(sizes, dtype, variantNamed("causal_bottom_right"), 3);
  oracle::Result want = oracle::attend(p.attention, p.q, p.k, p.v);
  auto part = [&](const oracle::Array &all, int64_t first, int64_t end) {
    oracle::Array rows(all.b, all.h, end - first, all.d);
    for (int64_t b = 0; b < all.b; ++b)
      for (int64_t h = 0; h < all.h; ++h)
        for (int64_t t = first; t < end; ++t)
          for (int64_t c = 0; c < all.d; ++c)
            rows.at(b, h, t - first, c) = all.at(b, h, t, c);
    return rows;
  };
  Arguments parts;
  for (auto [first, end] : {std::pair<int64_t, int64_t>{0, cut}, {cut, 130}}) {
    oracle::Attention a;
    a.causal = true;
    a.align = oracle::Align::Offset;
    a.offset = {sizes.skv - sizes.sq};
    a.keyOffset = first;
    oracle::Result one =
        oracle::attend(a, p.q, part(p.k, first, end), part(p.v, first, end));
    parts.add(dtype, {sizes.b, sizes.hq, sizes.sq, sizes.dv}, one.o.data);
    parts.add(lseType(), {sizes.b, sizes.hq, sizes.sq}, one.lse.data);
  }
  EXPECT_EQ(checkAgainst(want, dtype, run(GetParam().target, ir, parts.values)),
            "");
}

TEST_P(Merge, A40_AnEmptyPartChangesNothing) {
  // Nothing of it is used, whatever it holds.
  for (double junk : {0.0, double(NAN), double(INFINITY)}) {
    auto got = mergeRows({1.5, -2.0}, 0.75, {junk, junk}, -INFINITY);
    EXPECT_EQ(got[0], (std::vector<double>{1.5, -2.0}));
    EXPECT_EQ(got[1], (std::vector<double>{0.75}));
    got = mergeRows({junk, junk}, -INFINITY, {1.5, -2.0}, -1000.0);
    EXPECT_EQ(got[0], (std::vector<double>{1.5, -2.0}));
    EXPECT_EQ(got[1], (std::vector<double>{-1000.0}));
    got = mergeRows({junk, junk}, -INFINITY, {junk, junk}, -INFINITY);
    EXPECT_EQ(got[0], (std::vector<double>{0.0, 0.0}));
    EXPECT_EQ(got[1], (std::vector<double>{-INFINITY}));
  }
}

TEST_P(Merge, PartsOfOtherSizesAreRefused) {
  // Each size of each operand is one more than that of the first output.
  const char *operands[] = {"first_lse", "second_output", "second_lse"};
  const char *whats[] = {"batch", "heads", "length", "head dim"};
  for (size_t operand : {0u, 1u, 2u})
    for (size_t dim = 0; dim < (operand == 1 ? 4u : 3u); ++dim) {
      std::vector<int64_t> sizes[] = {
          {2, 3, 4, 5}, {2, 3, 4}, {2, 3, 4, 5}, {2, 3, 4}};
      ++sizes[operand + 1][dim];
      Arguments a;
      for (size_t n = 0; n < 4; ++n)
        a.add(n % 2 == 0 ? GetParam().dtype : lseType(), sizes[n],
              std::vector<double>(size_t(*numElements(sizes[n]))));
      std::string error = errorOf(GetParam().target, ir, a.values);
      EXPECT_NE(error.find(std::string("'attn.merge' op ") + operands[operand] +
                           ": expected " + whats[dim] +
                           " (from first_output) " +
                           std::to_string(sizes[0][dim]) + ", got " +
                           std::to_string(sizes[0][dim] + 1)),
                std::string::npos)
          << operands[operand] << " " << whats[dim] << ": " << error;
    }
}

TEST_P(Merge, AnUndefinedPartIsSeen) {
  for (double bad : {double(NAN), double(INFINITY)}) {
    auto got = mergeRows({1.5, -2.0}, 0.75, {1.0, 1.0}, bad);
    EXPECT_TRUE(std::isnan(got[0][0]) && std::isnan(got[0][1]));
    EXPECT_TRUE(std::isnan(got[1][0]));
  }
}

TEST_P(Merge, A39_LogarithmsAreNatural) {
  // Logits 0, 0, 0 over values 1, 2, 3 merged with logit 2 over value 10:
  // (6 + 10 e^2) / (3 + e^2).
  auto got = mergeRows({2.0, 2.0}, std::log(3.0), {10.0, 10.0}, 2.0);
  double bound = GetParam().dtype == DType::bf16  ? 0.02
                 : GetParam().dtype == DType::f16 ? 4e-3
                                                  : 2e-6;
  EXPECT_NEAR(got[0][0], 7.689877, bound);
  EXPECT_NEAR(got[1][0], std::log(3.0 + std::exp(2.0)), 1e-6);
}

TEST_P(Merge, FarApartLogitsDoNotOverflow) {
  auto got = mergeRows({1.0, 2.0}, 1000.0, {3.0, 4.0}, -1000.0);
  EXPECT_EQ(got[0], (std::vector<double>{1.0, 2.0}));
  EXPECT_EQ(got[1], (std::vector<double>{1000.0}));
}

TEST_P(Merge, SizesAreChecked) {
  Arguments a;
  a.add(GetParam().dtype, {1, 1, 1, 2}, {1, 2});
  a.add(lseType(), {1, 1, 1}, {0});
  a.add(GetParam().dtype, {1, 1, 2, 2}, {1, 2, 3, 4});
  a.add(lseType(), {1, 1, 1}, {0});
  std::string error = errorOf(GetParam().target, ir, a.values);
  EXPECT_NE(error.find("'attn.merge' op second_output: expected length (from "
                       "first_output) 1, got 2"),
            std::string::npos)
      << error;
}
} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, Merge, testing::ValuesIn(cells()), cellName);
