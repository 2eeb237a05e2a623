// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machines differ, so only bounds that hold for any are checked: no core does
// 1000 GFLOP/s in f32 or 10000 in bf16, or reads 1000 GB/s.

#include "runtime/cpu/Peak.h"

#include <gtest/gtest.h>

#include <algorithm>

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
    meter->clear();
    EXPECT_EQ(meter->gflops(), 0);
    EXPECT_EQ(meter->gbytesPerSecond(), 0);
  }
}

TEST(Peak, bf16_has_every_rate_of_f32) {
  int threads = 2;
  for (const char *target : {"cpu:generic", "cpu:avx2", "cpu:avx512"}) {
    Result<PeakMeter> f32 =
        PeakMeter::create(threads, 1 << 20, target, DType::f32);
    Result<PeakMeter> bf16 =
        PeakMeter::create(threads, 1 << 20, target, DType::bf16);
    ASSERT_TRUE(f32.ok() && bf16.ok());
    ASSERT_EQ(f32->rates().size(), 1u);
    EXPECT_STREQ(f32->rates().back().instruction,
                 bf16->rates().back().instruction);
    bool hasBf16Code = std::string(target) == "cpu:avx512";
    if (!hasBf16Code)
      EXPECT_EQ(bf16->rates().size(), 1u);
    bf16->sample();
    double best = 0;
    for (const PeakMeter::Rate &rate : bf16->rates()) {
      EXPECT_GT(rate.gflops, 0.1) << rate.instruction;
      EXPECT_LT(rate.gflops, 1e4 * threads) << rate.instruction;
      best = std::max(best, rate.gflops);
    }
    EXPECT_EQ(bf16->gflops(), best);
  }
}

TEST(Peak, bf16_instructions_are_found) {
  bool hasDot = false;
  for (const MultiplyLoop &loop :
       findMultiplyLoops("cpu:avx512", DType::bf16)) {
    // Per round: 24 dot products of 16 x 2 multiply-adds; 4 tiles of
    // 16 x 16 x 32; 24 or 12 vectors of multiply-adds.
    std::string name = loop.instruction;
    double operations = name == "avx512 bf16 dot" ? 24 * 64
                        : name == "amx bf16"      ? 4 * 16384
                        : name == "avx512 fma"    ? 24 * 32
                        : name == "avx2 fma"      ? 12 * 16
                                                  : 12 * 8;
    EXPECT_EQ(loop.run(1000), 1000 * operations) << name;
    hasDot |= name == "avx512 bf16 dot";
  }
#if defined(__x86_64__)
  EXPECT_EQ(hasDot, __builtin_cpu_supports("avx512bf16") != 0);
#endif
}

TEST(Peak, median) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 9, 2}), 3);
}

} // namespace
