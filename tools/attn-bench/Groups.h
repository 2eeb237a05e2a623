// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups of cases, one after the other.

#ifndef ATTN_TOOLS_ATTN_BENCH_GROUPS_H
#define ATTN_TOOLS_ATTN_BENCH_GROUPS_H

#include "Turns.h"

namespace attn::bench {

/// Runs group after group and prints the table of each as soon as it is done.
/// The result has the order of the cases.
std::vector<Summary> runGroups(TurnRunner &runner,
                               const std::vector<Case> &cases);

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_GROUPS_H
