// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The slopes that models with ALiBi are trained with.

#ifndef ATTN_RUNTIME_ALIBISLOPES_H
#define ATTN_RUNTIME_ALIBISLOPES_H

#include "runtime/Api.h"
#include "runtime/Result.h"

#include <cstdint>
#include <vector>

namespace attn {

/// The slope of each of `heads` query heads (Press et al. 2022, "Train Short,
/// Test Long: Attention with Linear Biases Enables Input Length Extrapolation",
/// section 3, and the code published with it). Of n heads, a power of two, head
/// h has 2^(-8 (h + 1) / n). Of any other number the first n, n being the
/// greatest power of two below it, have those of n heads, and the others every
/// second of those of 2 n heads, from the first on. An error for less than 0
/// heads.
ATTN_API Result<std::vector<double>> alibiSlopes(int64_t heads);

} // namespace attn

#endif // ATTN_RUNTIME_ALIBISLOPES_H
