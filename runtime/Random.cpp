// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// splitmix64 by counter, and the Box-Muller transform on pairs of it.

#include "runtime/Random.h"

#include <cmath>

namespace attn {

static constexpr uint64_t golden = 0x9e3779b97f4a7c15;

uint64_t CounterRandom::bits(uint64_t key, uint64_t counter) {
  uint64_t z = key + (counter + 1) * golden;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// Two rounds: keys of neighbouring seeds and streams must not be a few steps
// apart on one splitmix64 sequence.
CounterRandom::CounterRandom(uint64_t seed, uint64_t stream)
    : key(bits(bits(seed, 0) ^ stream, 0)) {}

double CounterRandom::uniform(uint64_t counter) const {
  return static_cast<double>(bits(key, counter) >> 11) * 0x1p-53;
}

double CounterRandom::normal(uint64_t counter) const {
  uint64_t even = counter & ~uint64_t(1);
  // 1 - u is in (0, 1], where the logarithm is finite.
  double radius = std::sqrt(-2 * std::log(1 - uniform(even)));
  double angle = 2 * M_PI * uniform(even + 1);
  return radius * (counter == even ? std::cos(angle) : std::sin(angle));
}

int64_t CounterRandom::integer(uint64_t counter, int64_t low,
                               int64_t high) const {
  uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  unsigned __int128 scaled =
      static_cast<unsigned __int128>(bits(key, counter)) * range;
  return static_cast<int64_t>(static_cast<uint64_t>(low) +
                              static_cast<uint64_t>(scaled >> 64));
}

} // namespace attn
