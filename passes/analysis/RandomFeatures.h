// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers of attn.random_features: the same bits on every machine, which
// models that are trained with a projection rely on.

#ifndef ATTN_PASSES_ANALYSIS_RANDOMFEATURES_H
#define ATTN_PASSES_ANALYSIS_RANDOMFEATURES_H

#include "dialect/Attn.h"

#include <cstdint>
#include <vector>

namespace mlir::attn {

/// W of `rows` x `dim` in row-major order, as `attn.random_features` defines
/// it. An entry depends on the seed, its row and column, `dim` and the last two
/// arguments only.
std::vector<double> makeRandomFeatures(uint64_t seed, int64_t rows, int64_t dim,
                                       bool orthogonal, Norms norms);

} // namespace mlir::attn

#endif // ATTN_PASSES_ANALYSIS_RANDOMFEATURES_H
