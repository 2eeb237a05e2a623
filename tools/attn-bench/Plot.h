// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shares of the peak as a bar chart.

#ifndef ATTN_TOOLS_ATTN_BENCH_PLOT_H
#define ATTN_TOOLS_ATTN_BENCH_PLOT_H

#include "Turns.h"

namespace attn::bench {

/// An SVG with one bar per case that ran, in groups, coloured by what bounds
/// the case.
std::string drawShares(const std::vector<Summary> &summaries);

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_PLOT_H
