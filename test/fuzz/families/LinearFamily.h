// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of a random program of attn.linear: its draft, and the operands of
// its calls.

#ifndef ATTN_TEST_FUZZ_FAMILIES_LINEARFAMILY_H
#define ATTN_TEST_FUZZ_FAMILIES_LINEARFAMILY_H

#include "test/e2e/LinearHarness.h"
#include "test/fuzz/families/RandomProgram.h"

namespace attn::fuzz {

/// What a program is made of beside its sizes.
struct LinearDraft {
  test::LinearVariant variant;
  DType dtype = DType::f32;
  bool isPositive = false;
  /// Decays above 0, and one of a first token whose exponential f32 lacks.
  bool grows = false, startsHuge = false;
  std::string form = "auto";
  int64_t chunk = 0;
};

/// Operands for a call of these sizes.
test::LinearProblem drawLinearProblem(Random &random, const LinearDraft &d,
                                      const test::LinearSizes &s);
/// The problem with operands that are off by a rounding.
test::LinearProblem disturbed(Random &random, const test::LinearProblem &p);
/// O of operands that are off by a rounding. A divisor is summed from others
/// than what it divides, as each of these sums is rounded for itself.
std::vector<double> movedOutput(Random &random, const test::LinearProblem &p);

} // namespace attn::fuzz

#endif // ATTN_TEST_FUZZ_FAMILIES_LINEARFAMILY_H
