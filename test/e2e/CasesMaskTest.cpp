// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Literal cases about masks, alignment, windows and lengths. See Cases.h.

#include "test/e2e/Cases.h"
#include "gtest/gtest-spi.h"

using namespace attn;
using namespace attn::test;

namespace {
const std::string causalBottomRight = "align(bottom_right) mask(#attn.causal)";
const std::string causalTopLeft = "align(top_left) mask(#attn.causal)";

class Cases : public CasesTest {};

TEST_P(Cases, A01_A04_FullyMaskedRow) {
  Got got =
      uniform(masked(), 2, 3, capture(DType::i1, {2, 3}, {0, 0, 0, 1, 1, 0}));
  expectValues(got.o, {0, 1.5});
  expectValues(got.lse, {-INFINITY, std::log(2.0)});
  // The float twin of the mask.
  double off = -INFINITY;
  got = uniform(biased(), 2, 3,
                capture(DType::f32, {2, 3}, {off, off, off, 0, 0, off}));
  expectValues(got.o, {0, 1.5});
  expectValues(got.lse, {-INFINITY, std::log(2.0)});
}

TEST_P(Cases, A02_LowestFiniteBiasIsFinite) {
  double low = -3.4028234663852886e38;
  expectValues(
      uniform(biased(), 1, 3, capture(DType::f32, {1, 3}, {low, low, low})).o,
      {2});
  double off = -INFINITY;
  expectValues(
      uniform(biased(), 1, 3, capture(DType::f32, {1, 3}, {off, off, off})).o,
      {0});
}

TEST_P(Cases, A03_FirstTilesAreEmpty) {
  auto from = [](int64_t first) {
    return Variant{"from", "", "",
                   "keep {\n" + keepArguments + "    %n = arith.constant " +
                       std::to_string(first) +
                       " : index\n"
                       "    %p = arith.cmpi sge, %j, %n : index\n"
                       "    attn.yield %p : i1\n  }"};
  };
  int64_t skv = 3 * T + 5;
  expectValues(uniform(from(2 * T), 1, skv).o, {(5 * T + 6) / 2.0});
  expectValues(uniform(from(skv - 1), 1, skv).o, {double(skv)});
  expectValues(uniform(from(2 * T), 50, skv).o, Values(50, (5 * T + 6) / 2.0));
}

TEST_P(Cases, A05_NaNInAMaskedKey) {
  expectValues(attend(masked(), {1, 1, 1, 1, 3, 1, 1}, {1}, {0, 0, NAN},
                      {1, 2, NAN}, capture(DType::i1, {1, 3}, {1, 1, 0}))
                   .o,
               {1.5});
}

TEST_P(Cases, A06_NaNPastTheLength) {
  Variant lengths{"lengths", ", %n: tensor<?xi64>", "",
                  "lengths(%n : tensor<?xi64>)"};
  expectValues(attend(lengths, {2, 1, 1, 1, 3, 1, 1}, {0, 0},
                      {0, NAN, NAN, 0, 0, 0}, {1, NAN, NAN, 1, 2, 3},
                      capture(DType::i64, {2}, {1, 3}))
                   .o,
               {1, 2});
}

TEST_P(Cases, A07_PaddingAndCausal) {
  Variant padded = masked();
  padded.clauses.replace(0, std::string("align(top_left)").size(),
                         causalTopLeft);
  Got got = uniform(padded, 2, 2, capture(DType::i1, {2, 2}, {0, 1, 0, 1}));
  expectValues(got.o, {0, 2});
  double low = -3.4028234663852886e38;
  got = uniform(biased("mask(#attn.causal)"), 2, 2,
                capture(DType::f32, {2, 2}, {low, 0, low, 0}));
  expectValues(got.o, {1, 2});
}

TEST_P(Cases, A08_CausalWithMoreKeysThanQueries) {
  expectValues(uniform(causalBottomRight, 2, 5).o, {2.5, 3});
  expectValues(uniform(causalTopLeft, 2, 5).o, {1, 1.5});
}

TEST_P(Cases, A09_CausalWithMoreQueriesThanKeys) {
  Got got = uniform(causalBottomRight, 4, 2);
  expectValues(got.o, {0, 0, 1, 1.5});
  expectValues(got.lse, {-INFINITY, -INFINITY, 0, std::log(2.0)});
}

TEST_P(Cases, A10_OneQueryKeepsItsMask) {
  expectValues(uniform(causalTopLeft, 1, 3).o, {1});
}

TEST_P(Cases, A11_CausalFollowsTheLengths) {
  Variant v{"v", ", %n: tensor<?xi64>", "",
            causalBottomRight + " lengths(%n : tensor<?xi64>)"};
  expectValues(uniform(v, 2, 6, capture(DType::i64, {2}, {4, 6}), 2).o,
               {2, 2.5, 3, 3.5});
}

TEST_P(Cases, BigBirdInFrontOfPositionZero) {
  // Rows at -3, -2, -1 and 0: blocks below 0 are below `global = 0`.
  Variant mask{"mask", "", "",
               "align(bottom_right) mask(#attn.bigbird<block = 2, window = 0, "
               "global = 0, random = 0, blocks = 0, seed = 0>)"};
  expectValues(attend(mask, {1, 1, 1, 4, 1, 1, 1}, Values(4), {0}, {5}).o,
               {5, 5, 5, 5});
  // Keys in front of 0 likewise: rows at 4 and 5 see those at -2 and -1, and
  // not those at 0 and 1.
  Variant keys{"keys", ", %p: index, %k0: index", "",
               "offset(%p : index) key_offset(%k0 : index) "
               "mask(#attn.bigbird<block = 2, window = 0, global = 0>)"};
  Arguments captured;
  captured.add(int64_t(4));
  captured.add(int64_t(-2));
  expectValues(uniform(keys, 2, 4, captured).o, {1.5, 1.5});
}

TEST_P(Cases, BigBirdAsPublished) {
  // Blocks of one token. The first and last row see all keys; the others the
  // first, the last, their own and that of the table, where it names one.
  Variant mask{"mask", ", %t: tensor<?x?x1xi32>", "",
               "random_blocks(%t : tensor<?x?x1xi32>) align(top_left) "
               "mask(#attn.bigbird<block = 1, window = 0, global = 1, last = "
               "1>)"};
  Got got =
      uniform(mask, 5, 5, capture(DType::i32, {1, 5, 1}, {3, 2, -1, 1, 2}));
  expectValues(got.o, {3, 2.75, 3, 3, 3});
  expectValues(got.lse, {std::log(5.0), std::log(4.0), std::log(3.0),
                         std::log(4.0), std::log(5.0)});
  // The number of blocks is the table's: with 4 the fourth key is the last.
  // Rows beyond have no entries, and the last block has no end.
  got = uniform(mask, 5, 5, capture(DType::i32, {1, 4, 1}, {3, 2, -1, 1}));
  expectValues(got.o, {3, 3, 3.25, 3, 3});
}

TEST_P(Cases, LengthsOfPackedSequences) {
  // Rows 0, 1 see keys 0 .. 2, of which 2 are in use; row 2 sees keys 3 and 4.
  Variant v{"v", ", %n: tensor<?xi64>, %qs: tensor<?xi32>, %ks: tensor<?xi32>",
            "",
            causalBottomRight +
                " query_starts(%qs : tensor<?xi32>) "
                "key_starts(%ks : tensor<?xi32>) lengths(%n : tensor<?xi64>)"};
  Arguments captured = capture(DType::i64, {2}, {2, 7});
  captured.add(DType::i32, {3}, {0, 2, 3});
  captured.add(DType::i32, {3}, {0, 3, 5});
  Got got = attend(v, {1, 1, 1, 3, 5, 1, 1}, Values(3), {0, 0, NAN, 0, 0},
                   {1, 2, NAN, 4, 5}, captured);
  expectValues(got.o, {1, 1.5, 4.5});
  expectValues(got.lse, {0, std::log(2.0), std::log(2.0)});
}

TEST_P(Cases, A12_WindowWithoutCausal) {
  expectValues(
      uniform("align(top_left) mask(#attn.window<left = 1, right = 0>)", 4, 4)
          .o,
      {1, 1.5, 2.5, 3.5});
}

TEST_P(Cases, A13_WindowAlone) {
  expectValues(
      uniform("align(top_left) mask(#attn.window<left = 0, right = 0>)", 4, 4)
          .o,
      {1, 2, 3, 4});
}

TEST_P(Cases, A14_LengthsPerBatchEntry) {
  Variant v{"v", ", %n: tensor<?xi32>", "", "lengths(%n : tensor<?xi32>)"};
  expectValues(uniform(v, 1, 4, capture(DType::i32, {2}, {1, 3}), 2).o, {1, 2});
}

TEST_P(Cases, A15_TheWindowDoesNotCountTheToken) {
  std::string with = "align(top_left) mask(#attn.causal, #attn.window<left = ";
  expectValues(uniform(with + "1>)", 5, 5).o, {1, 1.5, 2.5, 3.5, 4.5});
  expectValues(uniform(with + "2>)", 5, 5).o, {1, 1.5, 2, 3, 4});
}

TEST_P(Cases, A16_WindowAfterALongPrefix) {
  Variant v{"v", ", %p: index", "",
            "offset(%p : index) mask(#attn.causal, #attn.window<left = 3>)"};
  Arguments position;
  position.add(4 * T - 1);
  expectValues(uniform(v, 1, 4 * T, position).o, {4 * T - 1.5});
}

TEST_P(Cases, A17_MaskPerHead) {
  Variant v{"v", ", %m: tensor<?x?x?xi1>", "",
            "align(top_left) keep {\n" + keepArguments +
                "    %p = tensor.extract %m[%h, %i, %j] : tensor<?x?x?xi1>\n"
                "    attn.yield %p : i1\n  }"};
  for (int64_t b : {2, 3}) {
    Values values, want;
    for (int64_t n = 0; n < b; ++n) {
      for (int64_t m = 1; m <= 4; ++m)
        values.push_back(double(4 * n + m));
      want.push_back(double(4 * n + 1));
      want.push_back(double(4 * n + 4));
    }
    Values zeros(size_t(4 * b));
    expectValues(attend(v, {b, 2, 2, 1, 2, 1, 1}, zeros, zeros, values,
                        capture(DType::i1, {2, 1, 2}, {1, 0, 0, 1}))
                     .o,
                 want);
  }
}

TEST_P(Cases, A28_OneMaskForAllHeads) {
  Values v;
  for (int64_t n = 0; n < 12; ++n)
    v.push_back(double(n % 3 + 1));
  expectValues(attend(masked(), {2, 2, 2, 2, 3, 1, 1}, Values(8), Values(12), v,
                      capture(DType::i1, {2, 3}, {0, 1, 1, 1, 1, 0}))
                   .o,
               {2.5, 1.5, 2.5, 1.5, 2.5, 1.5, 2.5, 1.5});
}

TEST_P(Cases, A52_TrueKeeps) {
  expectValues(uniform(masked(), 1, 3, capture(DType::i1, {1, 3}, {1, 0, 0})).o,
               {1});
}

TEST_P(Cases, RegionsThatFoldToConstants) {
  auto keep = [](const std::string &value) {
    return "keep {\n" + keepArguments + "    %p = " + value +
           "\n    attn.yield %p : i1\n  }";
  };
  Got got = uniform(keep("arith.constant false"), 2, T + 2);
  expectValues(got.o, {0, 0});
  expectValues(got.lse, {-INFINITY, -INFINITY});
  got = uniform(keep("arith.cmpi slt, %j, %j : index"), 2, T + 2);
  expectValues(got.o, {0, 0});
  got = uniform(keep("arith.cmpi sle, %j, %j : index"), 2, T + 2);
  expectValues(got.o, {(T + 3) / 2.0, (T + 3) / 2.0});
  got = uniform("score {\n" + scoreArguments +
                    "    %t = arith.constant 2.5 : f32\n"
                    "    attn.yield %t : f32\n  }",
                1, 3);
  expectValues(got.o, {2});
  expectValues(got.lse, {2.5 + std::log(3.0)});
}

TEST_P(Cases, A54_WindowInAChunk) {
  Variant v{"v", ", %p: index", "",
            "offset(%p : index) mask(#attn.causal, #attn.window<left = 1>)"};
  Arguments position;
  position.add(3);
  expectValues(uniform(v, 3, 6, position).o, {3.5, 4.5, 5.5});
}
} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, Cases, testing::ValuesIn(allTargets()),
                         [](const testing::TestParamInfo<Target> &info) {
                           return info.param.name;
                         });

/// The comparison sees the answers that the faults gave.
TEST(CasesMustFail, OnTheReportedAnswers) {
  EXPECT_NONFATAL_FAILURE(expectValues({2.5}, {1}), "");
  EXPECT_NONFATAL_FAILURE(expectValues({NAN}, {0}), "");
  EXPECT_NONFATAL_FAILURE(expectValues({0}, {-INFINITY}), "");
  EXPECT_NONFATAL_FAILURE(expectValues({1.5000031}, {1.5}), "");
}
