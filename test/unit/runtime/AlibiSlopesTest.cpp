// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/AlibiSlopes.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace attn;

static void expectSlopes(int64_t heads, const std::vector<double> &want) {
  Result<std::vector<double>> got = alibiSlopes(heads);
  ASSERT_TRUE(got.ok());
  ASSERT_EQ(got->size(), want.size());
  for (size_t h = 0; h < want.size(); ++h)
    EXPECT_NEAR((*got)[h], want[h], 5e-7) << "head " << h << " of " << heads;
}

TEST(AlibiSlopes, OfPowersOfTwo) {
  expectSlopes(0, {});
  expectSlopes(1, {0x1p-8});
  expectSlopes(2, {0x1p-4, 0x1p-8});
  expectSlopes(
      8, {0x1p-1, 0x1p-2, 0x1p-3, 0x1p-4, 0x1p-5, 0x1p-6, 0x1p-7, 0x1p-8});
}

TEST(AlibiSlopes, A47_OfOtherNumbers) {
  expectSlopes(6, {0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125});
  expectSlopes(12, {0x1p-1, 0x1p-2, 0x1p-3, 0x1p-4, 0x1p-5, 0x1p-6, 0x1p-7,
                    0x1p-8, 0.707107, 0.353553, 0.176777, 0.088388});
}

TEST(AlibiSlopes, RefusesANegativeNumber) {
  Result<std::vector<double>> got = alibiSlopes(-1);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().message,
            "alibiSlopes: heads: expected at least 0, got -1");
}
