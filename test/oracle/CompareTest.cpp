// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The metrics, each shown to pass on what is right and to fail on what is not.

#include "test/oracle/Compare.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace attn::oracle;

TEST(Bf16, RoundsToNearestEven) {
  EXPECT_EQ(toBf16(1.0f), 0x3f80);
  EXPECT_EQ(toBf16(-2.0f), 0xc000);
  EXPECT_EQ(toBf16(1.0f + 0x1p-8f), 0x3f80);            // tie, down to even
  EXPECT_EQ(toBf16(1.0f + 0x1p-7f + 0x1p-8f), 0x3f82);  // tie, up to even
  EXPECT_EQ(toBf16(1.0f + 0x1p-8f + 0x1p-20f), 0x3f81); // above the tie
  EXPECT_EQ(toBf16(-0.0f), 0x8000);
  EXPECT_EQ(toBf16(3.4028235e38f), 0x7f80); // overflows to infinity
  EXPECT_EQ(toBf16(INFINITY), 0x7f80);
  EXPECT_TRUE(std::isnan(fromBf16(toBf16(NAN))));
  EXPECT_EQ(fromBf16(0x4049), 3.140625f);
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    float value = fromBf16(uint16_t(bits));
    if (!std::isnan(value)) {
      ASSERT_EQ(toBf16(value), bits);
    }
  }
}

TEST(F16, RoundsToNearestEven) {
  EXPECT_EQ(toF16(1.0), 0x3c00);
  EXPECT_EQ(toF16(-2.0), 0xc000);
  EXPECT_EQ(toF16(1.0 + 0x1p-11), 0x3c00);           // tie, down to even
  EXPECT_EQ(toF16(1.0 + 0x1p-10 + 0x1p-11), 0x3c02); // tie, up to even
  EXPECT_EQ(toF16(1.0 + 0x1p-11 + 0x1p-50), 0x3c01); // above the tie
  EXPECT_EQ(toF16(65504.0), 0x7bff);
  EXPECT_EQ(toF16(65519.99), 0x7bff);
  EXPECT_EQ(toF16(65520.0), 0x7c00); // overflows to infinity
  EXPECT_EQ(toF16(-HUGE_VAL), 0xfc00);
  EXPECT_EQ(toF16(0x1p-24), 0x0001);
  EXPECT_EQ(toF16(0x1p-25), 0x0000); // tie, down to even
  EXPECT_EQ(toF16(-0.0), 0x8000);
  EXPECT_TRUE(std::isnan(fromF16(toF16(NAN))));
  EXPECT_EQ(fromF16(0x4248), 3.140625);
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    double value = fromF16(uint16_t(bits));
    if (!std::isnan(value)) {
      ASSERT_EQ(toF16(value), bits);
    }
  }
}

TEST(Compare, RelativeRms) {
  // Errors 3 and 4 on values 30 and 40: 5 / 50.
  Difference d = compare({33, -36}, {30, -40});
  EXPECT_DOUBLE_EQ(d.relativeRms, 0.1);
  EXPECT_DOUBLE_EQ(d.maxAbs, 4.0);
  EXPECT_EQ(d.worst, 1);
  EXPECT_EQ(d.kindMismatches, 0);
}

TEST(Compare, NonFiniteEntriesMustAgreeInKind) {
  EXPECT_EQ(compare({NAN, INFINITY, -INFINITY}, {NAN, INFINITY, -INFINITY})
                .kindMismatches,
            0);
  EXPECT_EQ(compare({NAN, 1}, {1, NAN}).kindMismatches, 2);
  EXPECT_EQ(compare({INFINITY}, {-INFINITY}).kindMismatches, 1);
  EXPECT_EQ(compare({INFINITY}, {1}).kindMismatches, 1);
  EXPECT_EQ(compare({0}, {-INFINITY}).kindMismatches, 1);
}

TEST(CheckOutput, PassesWithinTheTolerance) {
  EXPECT_EQ(checkOutput({}, {}, f32Tolerance), "");
  EXPECT_EQ(checkOutput({1.000005, -2, NAN}, {1, -2, NAN}, f32Tolerance), "");
  EXPECT_EQ(checkOutput({0, 0}, {0, 0}, f32Tolerance), "");
}

TEST(CheckOutput, FailsBeyondTheRelativeRms) {
  EXPECT_NE(checkOutput({1.00002, -2.00003}, {1, -2}, f32Tolerance), "");
  EXPECT_NE(checkOutput({1.01, -2.02}, {1, -2}, bf16Tolerance), "");
  EXPECT_NE(checkOutput({0, 1e-4}, {0, 0}, f32Tolerance), "");
}

TEST(CheckOutput, FailsOnOneWrongEntryAmongMany) {
  // 1e-4 on one of 10,000 entries is a relative RMS of 1e-6.
  std::vector<double> want(10000, 1.0), got = want;
  got[777] += 1e-4;
  EXPECT_LE(compare(got, want).relativeRms, f32Tolerance.relativeRms);
  EXPECT_NE(checkOutput(got, want, f32Tolerance), "");
}

TEST(CheckOutput, FailsOnKindAndSize) {
  EXPECT_NE(checkOutput({1, NAN}, {1, 2}, f32Tolerance), "");
  EXPECT_NE(checkOutput({1, 2}, {1, NAN}, f32Tolerance), "");
  EXPECT_NE(checkOutput({1}, {1, 2}, f32Tolerance), "");
}

TEST(CheckLse, BoundsTheAbsoluteError) {
  EXPECT_EQ(checkLse({-INFINITY, 0.5}, {-INFINITY, 0.500009}, f32Tolerance),
            "");
  EXPECT_NE(checkLse({-INFINITY, 0.5}, {-INFINITY, 0.50002}, f32Tolerance), "");
  EXPECT_NE(checkLse({0, 0.5}, {-INFINITY, 0.5}, f32Tolerance), "");
  EXPECT_EQ(checkLse({100.003}, {100}, bf16Tolerance), "");
  EXPECT_NE(checkLse({100.005}, {100}, bf16Tolerance), "");
}
