// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Random.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace attn;

namespace {

TEST(Random, bits_are_those_of_splitmix64) {
  // The published sequence for seed 1234567.
  const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u,
                               9817491932198370423u, 4593380528125082431u,
                               16408922859458223821u};
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(CounterRandom::bits(1234567, i), expected[i]);
}

TEST(Random, moments_of_the_normal_distribution) {
  CounterRandom random(1, 2);
  constexpr int n = 1000000;
  double sum[5] = {};
  for (int i = 0; i < n; ++i)
    for (int k = 1; k <= 4; ++k)
      sum[k] += std::pow(random.normal(i), k) / n;
  // Five standard deviations of each mean: sqrt(var(x^k) / n).
  EXPECT_NEAR(sum[1], 0, 5e-3);
  EXPECT_NEAR(sum[2], 1, 5 * std::sqrt(2.0 / n));
  EXPECT_NEAR(sum[3], 0, 5 * std::sqrt(15.0 / n));
  EXPECT_NEAR(sum[4], 3, 5 * std::sqrt(96.0 / n));
}

TEST(Random, streams_and_seeds_are_uncorrelated) {
  constexpr int n = 100000;
  CounterRandom a(1, 0), b(1, 1), c(2, 0);
  double ab = 0, ac = 0, shifted = 0;
  for (int i = 0; i < n; ++i) {
    ab += a.normal(i) * b.normal(i) / n;
    ac += a.normal(i) * c.normal(i) / n;
    shifted += a.normal(i) * a.normal(i + 1) / n;
  }
  double bound = 5 / std::sqrt(double(n));
  EXPECT_NEAR(ab, 0, bound);
  EXPECT_NEAR(ac, 0, bound);
  EXPECT_NEAR(shifted, 0, bound);
}

TEST(Random, uniform_stays_in_range) {
  CounterRandom random(3, 0);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) {
    double u = random.uniform(i);
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
  }
  EXPECT_NEAR(sum / 100000, 0.5, 5e-3);
}

// The operands of attn-run are the same for ever.
TEST(Random, a_stream_has_a_key_of_its_own) {
  for (uint64_t seed : {1, 7})
    for (uint64_t stream : {0, 1, 2, 3, 12345}) {
      uint64_t key =
          CounterRandom::bits(CounterRandom::bits(seed, 0) ^ stream, 0);
      for (uint64_t counter : {0, 5})
        EXPECT_EQ(CounterRandom(seed, stream).uniform(counter),
                  double(CounterRandom::bits(key, counter) >> 11) * 0x1p-53)
            << seed << " " << stream;
    }
}

TEST(Random, integers_cover_their_range) {
  CounterRandom random(3, 0);
  int count[5] = {};
  for (int i = 0; i < 10000; ++i) {
    int64_t value = random.integer(i, -2, 3);
    ASSERT_GE(value, -2);
    ASSERT_LT(value, 3);
    ++count[value + 2];
  }
  for (int c : count)
    EXPECT_NEAR(c, 2000, 5 * std::sqrt(10000 * 0.2 * 0.8));
  EXPECT_GE(random.integer(0, INT64_MIN, INT64_MAX), INT64_MIN);
}

} // namespace
