// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random numbers by counter: element k of a stream depends on the seed, the
// stream and k alone, so the same seed gives the same tensor on any machine
// and whatever was drawn before.

#ifndef ATTN_RUNTIME_RANDOM_H
#define ATTN_RUNTIME_RANDOM_H

#include <cstdint>

namespace attn {

class CounterRandom {
public:
  CounterRandom(uint64_t seed, uint64_t stream);

  /// Number `counter` of splitmix64 started at `key`.
  static uint64_t bits(uint64_t key, uint64_t counter);

  /// Uniform in [0, 1), a multiple of 2^-53.
  double uniform(uint64_t counter) const;

  /// Normal with mean 0 and variance 1.
  double normal(uint64_t counter) const;

  /// Uniform among the integers from low to high - 1; low < high.
  int64_t integer(uint64_t counter, int64_t low, int64_t high) const;

private:
  uint64_t key;
};

} // namespace attn

#endif // ATTN_RUNTIME_RANDOM_H
