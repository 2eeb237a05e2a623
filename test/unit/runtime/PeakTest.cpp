// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machines differ, so only bounds that hold for any are checked: no core does
// 1000 GFLOP/s in f32 or reads 1000 GB/s.

#include "runtime/cpu/Peak.h"

#include <gtest/gtest.h>

using namespace attn;

namespace {

TEST(Peak, samples_are_plausible) {
  for (const char *target : {"cpu:generic", "cpu:avx2", "cpu:avx512"}) {
    int threads = 2;
    Result<PeakMeter> meter = PeakMeter::create(threads, 1 << 20, target);
    ASSERT_TRUE(meter.ok());
    EXPECT_NE(std::string(meter->unit()), "");
    EXPECT_EQ(meter->gflops(), 0);
    meter->sample();
    EXPECT_GT(meter->gflops(), 0.1);
    EXPECT_LT(meter->gflops(), 1e3 * threads);
    EXPECT_GT(meter->gbytesPerSecond(), 0.01);
    EXPECT_LT(meter->gbytesPerSecond(), 1e3 * threads);
  }
}

TEST(Peak, median) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 9, 2}), 3);
}

} // namespace
