// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Summaries for people.

#ifndef ATTN_TOOLS_ATTN_BENCH_TABLE_H
#define ATTN_TOOLS_ATTN_BENCH_TABLE_H

#include "Turns.h"

namespace attn::bench {

/// The line of column names; names of cases take `nameWidth` columns.
std::string tableHead(size_t nameWidth);

/// One line for each case of a group; see helpText() for the columns.
std::string tableRows(const std::vector<Summary> &group, size_t nameWidth);

/// What share() is of: "1018 avx512 bf16 dot" or "34 GB/s".
std::string peakText(const Summary &summary);

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_TABLE_H
