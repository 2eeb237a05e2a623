// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model's attention: causal GQA with 32 query and 8 key/value heads of 128,
// one program for prefill of any length and for decoding.

#include "test/e2e/Variants.h"
#include "gtest/gtest.h"

using namespace attn;
using namespace attn::test;

namespace {
struct Cell {
  DType dtype;
  Target target;
};
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

class Long : public testing::TestWithParam<Cell> {
protected:
  /// Compares the given query heads with the oracle; a long problem has too
  /// many scores for all heads.
  void check(int64_t b, int64_t sq, int64_t skv,
             const std::vector<int64_t> &heads) {
    DType dtype = GetParam().dtype;
    const Variant &variant = variantNamed("causal_bottom_right");
    std::string ir =
        irFor("gqa", dtype, variant, {-1, 32, 8, -1, -1, 128, 128});
    Problem p = makeProblem({b, 32, 8, sq, skv, 128, 128}, dtype, variant);
    std::vector<Tensor> got = run(GetParam().target, ir, p);
    ASSERT_EQ(got.size(), 2u);
    std::vector<double> o = toDoubles(got[0].view());
    std::vector<double> lse = toDoubles(got[1].view());
    for (int64_t batch = 0; batch < b; ++batch)
      for (int64_t h : heads) {
        oracle::Result want =
            oracle::attend(p.attention, head(p.q, batch, h),
                           head(p.k, batch, h / 4), head(p.v, batch, h / 4));
        auto part = [&](const std::vector<double> &all, int64_t width) {
          auto begin = all.begin() + (batch * 32 + h) * sq * width;
          return std::vector<double>(begin, begin + sq * width);
        };
        EXPECT_EQ(
            oracle::checkOutput(part(o, 128), want.o.data, toleranceOf(dtype)),
            "")
            << "b " << batch << " h " << h << " Sq " << sq;
        EXPECT_EQ(
            oracle::checkLse(part(lse, 1), want.lse.data, toleranceOf(dtype)),
            "")
            << "b " << batch << " h " << h << " Sq " << sq;
      }
  }

  static oracle::Array head(const oracle::Array &a, int64_t b, int64_t h) {
    oracle::Array one(1, 1, a.s, a.d);
    auto begin = a.data.begin() + (b * a.h + h) * a.s * a.d;
    one.data.assign(begin, begin + a.s * a.d);
    return one;
  }
};

TEST_P(Long, PrefillAndDecode) {
  ATTN_SKIP_UNLESS_HERE(GetParam().target);
  // The oracle takes seconds for all heads. In f16 and f64 the loops are those
  // of bf16 and f32.
  DType dtype = GetParam().dtype;
  bool isBase = dtype == DType::f32 || dtype == DType::bf16;
  std::vector<int64_t> all;
  for (int64_t h = 0; h < 32; h += isBase ? 1 : 13)
    all.push_back(h);
  check(2, 1, 1, all);
  check(2, 7, 7, all);
  check(1, 128, 128, all);
  check(1, 1, 4097, all);
  check(1, 7, 1030, {0, 7, 17, 31});
  // The reference device takes seconds for the long one.
  if (GetParam().target.device != "reference")
    check(1, isBase ? 1000 : 100, 1000, {0, 14, 31});
}

std::string cellName(const testing::TestParamInfo<Cell> &info) {
  return std::string(name(info.param.dtype)) + "_" + info.param.target.name;
}
} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, Long, testing::ValuesIn(cells()), cellName);
