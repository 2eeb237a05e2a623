// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of a random program of the softmax family: clauses with the
// operands that they read and what they say to the oracle.

#ifndef ATTN_TEST_FUZZ_FAMILIES_SOFTMAXFAMILY_H
#define ATTN_TEST_FUZZ_FAMILIES_SOFTMAXFAMILY_H

#include "test/e2e/Harness.h"
#include "test/fuzz/families/RandomProgram.h"

namespace attn::fuzz {

/// Clauses of a program. What binds them is called once per call, in order.
struct SoftmaxClauses {
  DType dtype = DType::f32;
  /// Sizes that the compiler knows; -1 for others. In a packed program b is the
  /// number of sequences.
  test::Sizes known{};
  bool isPacked = false;
  bool hasPosition = false; // regions and masks may read i

  std::string arguments; // of the function, ", %n: tensor<?xi64>"
  std::vector<std::string> clauses;
  std::vector<std::function<void(test::Problem &, Random &)>> binds;

  void addArgument(const std::string &name, const std::string &type) {
    arguments += ", " + name + ": " + type;
  }
};

/// Draws what stands on the op, but for starts of packed sequences.
SoftmaxClauses drawClauses(Random &random, DType dtype,
                           const test::Sizes &known, bool isPacked);

/// Adds a score region of smooth functions that reads captured tensors.
void addScore(Random &random, SoftmaxClauses &c);

} // namespace attn::fuzz

#endif // ATTN_TEST_FUZZ_FAMILIES_SOFTMAXFAMILY_H
