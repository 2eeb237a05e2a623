// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs on every target against their definitions, over memory that
// holds garbage.

#ifndef ATTN_TEST_FUZZ_FAMILIES_DIFFERENTIAL_H
#define ATTN_TEST_FUZZ_FAMILIES_DIFFERENTIAL_H

#include "test/fuzz/Campaign.h"
#include "test/fuzz/families/RandomProgram.h"

#include <optional>

namespace attn::fuzz {

struct Family {
  std::string name;
  RandomProgram (*make)(uint64_t seed);
  /// What ctest runs: some twenty seconds.
  uint64_t count;
};

/// The family of that name, or nothing and the names of all.
std::optional<Family> findFamily(const std::string &name, std::string &known);

/// Empty if `got` is what is wanted. The tolerances are those of
/// test/oracle/Compare.h; a value may be off by more where operands that are
/// off by a rounding change it by more. Such values don't set the scale for
/// others.
std::string checkWanted(const Wanted &wanted, const std::vector<double> &got);

/// Compiles the program for every target and runs every call twice: on one and
/// on several threads, with outputs and allocations full of NaN and of another
/// pattern. Wrong is a value, a bit that differs between the two, a byte
/// written beside an output or in an operand, and what does not compile.
Verdict judge(const RandomProgram &program);

} // namespace attn::fuzz

#endif // ATTN_TEST_FUZZ_FAMILIES_DIFFERENTIAL_H
