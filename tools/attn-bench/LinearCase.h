// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of Case.cpp that are of attn.linear and attn.favor.

#ifndef ATTN_TOOLS_ATTN_BENCH_LINEARCASE_H
#define ATTN_TOOLS_ATTN_BENCH_LINEARCASE_H

#include "Case.h"

namespace attn::bench {

/// Adds the projection, or what the clauses read, to q, k and v. The numbers
/// are such that no state grows without a bound: decays shrink, and a rank-one
/// transition is a contraction.
void addLinearInputs(const Case &problem, std::vector<Operand> &inputs);

/// A state of this name.
Operand stateOf(const Case &problem, const std::string &name);

/// What stands between the operands and the types of the op.
std::string linearClauses(const Case &problem,
                          const std::vector<Operand> &inputs);

/// keptFlops are those of the recurrence. For every token a query head reads
/// the state, 2 Dk Dv operations, and a head of values adds to it, as many; the
/// delta rule reads it once more, and a transition also writes once more.
/// normalize(token) makes Dv one larger. FAVOR+ has Dk features and 2 M D more
/// for each query and key. Decays, functions and quotients are not counted.
///
/// flops are what a form computes: all pairs of query and key, 2 (Dk + Dv) for
/// each, in form=quadratic; else those of the recurrence and, causal, the pairs
/// of chunks. Chunks have the size that the case says, or `usualChunk`.
Work countLinearWork(const Case &problem);

inline constexpr int64_t usualChunk = 64;

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_LINEARCASE_H
