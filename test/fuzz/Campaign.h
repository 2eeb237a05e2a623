// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a function over a range of seeds in forked children, so that a crash or
// an endless loop costs one seed and is reported with it.

#ifndef ATTN_TEST_FUZZ_CAMPAIGN_H
#define ATTN_TEST_FUZZ_CAMPAIGN_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace attn::fuzz {

/// A seed that did not come back, or came back with something wrong.
struct Failure {
  uint64_t seed;
  /// "signal 11", "exit 1", "ran for more than 10 s", or what is wrong.
  std::string what;
};

/// What a child that came back says of a seed.
struct Verdict {
  std::string wrong; // empty if nothing is
  uint64_t runs = 0; // programs that ran, each target counted
};

struct Campaign {
  /// Called once in each child, before any seed.
  std::function<void()> prepare = [] {};
  /// Consumes the input of a seed; true if it was a good input after all.
  std::function<bool(uint64_t seed)> consume;
  /// In place of `consume`, where a seed can fail without a crash.
  std::function<Verdict(uint64_t seed)> judge;
  /// Called in the parent now and then.
  std::function<void(uint64_t done, uint64_t failed)> progress;
  uint64_t first = 0, count = 0;
  /// Seeds per child: few enough that what they leave in memory stays small.
  uint64_t perChild = 2000;
  int children = 2;
  double secondsPerSeed = 10.0;
};

struct Outcome {
  uint64_t ran = 0, good = 0, runs = 0;
  double longestSeconds = 0.0;
  uint64_t longestSeed = 0;
  std::vector<Failure> failures;
};

/// The same seeds are run whatever the number of children; a seed that fails is
/// passed over, and the rest of its chunk goes on in a new child. What children
/// print is dropped.
Outcome run(const Campaign &campaign);

} // namespace attn::fuzz

#endif // ATTN_TEST_FUZZ_CAMPAIGN_H
