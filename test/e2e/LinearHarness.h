// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the end-to-end tests of attn.linear share: variants, which are sets of
// clauses, problems with random signed operands, and their run.

#ifndef ATTN_TEST_E2E_LINEARHARNESS_H
#define ATTN_TEST_E2E_LINEARHARNESS_H

#include "test/e2e/Harness.h"
#include "test/oracle/LinearOracle.h"

namespace attn::test {

/// Heads of query, key and value; the state has those of the value.
struct LinearSizes {
  int64_t b, hq, hk, hv, sq, skv, dk, dv;
};
std::ostream &operator<<(std::ostream &os, const LinearSizes &s);

enum class Decay { None, Head, Token, Vector };

/// A set of clauses. "Sums" is the type of sums, f64 beside f64 and else f32.
struct LinearVariant {
  std::string name;
  bool causal = true;
  Decay decay = Decay::None;
  bool beta = false, transition = false, bonus = false;
  bool state = false, lengths = false;
  bool oneLength = false; ///< one for all batch entries
  bool packed = false;    ///< several sequences in one batch entry
  bool keyStarts = false; ///< their keys in rows of their own
  bool finalState = true;
  std::optional<double> scale;
  std::optional<int64_t> block;
  std::string features; // of the feature clause
  oracle::Feature queryFeature{}, keyFeature{};
  oracle::Divisor divisor = oracle::Divisor::None;
  bool groupedValues = false; // several heads of value per head of key
  bool wide = false;          // query, key, beta and bonus are of type Sums
  bool staticSizes = false;
  int64_t segments = 0; // parts of the sequence that run in parallel
};

const std::vector<LinearVariant> &linearVariants();
const LinearVariant &linearVariantNamed(const std::string &name);

/// Where attn.linear runs.
std::vector<Target> linearTargets(DType dtype);

struct LinearProblem {
  /// With packed sequences b is their number, and sq and skv count all rows.
  LinearSizes sizes{};
  DType dtype = DType::f32;
  oracle::Array q, k, v;
  oracle::Linear linear;
};

/// func.func @main(%q, %k, %v and operands of clauses) -> (O, final state).
std::string linearIr(const LinearVariant &variant, DType dtype,
                     const LinearSizes &sizes);

/// Keys are of length 1 where a transition or a delta rule needs it; decays are
/// of mixed size; what tokens beyond the length hold is NaN.
LinearProblem makeLinearProblem(const LinearVariant &variant, DType dtype,
                                const LinearSizes &sizes, uint64_t seed = 1);

/// NaN in rows that are not in use, where what they hold means nothing: rows
/// beyond the length of each batch entry or packed sequence, and rows of no
/// sequence. No lengths: all are in use. No starts: one sequence per entry.
void spoilUnused(oracle::Array &array, const std::vector<int64_t> &lengths,
                 const std::vector<int64_t> &starts = {});

/// The arguments of @main.
Arguments argumentsOf(const LinearVariant &variant, const LinearProblem &p);

std::vector<Tensor> run(const Target &target, const LinearVariant &variant,
                        const LinearProblem &problem, int threads = 0);

oracle::LinearResult expectedOf(const LinearProblem &problem);

/// Empty if the results agree with the oracle's.
std::string checkLinear(const LinearVariant &variant,
                        const oracle::LinearResult &want, DType dtype,
                        const std::vector<Tensor> &got);

} // namespace attn::test

#endif // ATTN_TEST_E2E_LINEARHARNESS_H
