// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two products of a key tile with queries as lanes. An element of K or V is
// broadcast and multiplied with a vector of queries, so neither has to be
// packed, and maximum and sum over keys need no horizontal step.

#ifndef ATTN_PASSES_CPU_MICROKERNELS_H
#define ATTN_PASSES_CPU_MICROKERNELS_H

#include "passes/cpu/KernelBuilder.h"

namespace mlir::attn {

/// One lane vector per `target.blockVectors`.
using LaneVectors = SmallVector<Value>;

/// Largest and smallest score of every query.
struct ScoreBounds {
  LaneVectors max, min;

  SmallVector<Value> flatten() const {
    SmallVector<Value> all(max);
    llvm::append_range(all, min);
    return all;
  }
  static ScoreBounds unflatten(ValueRange values) {
    ScoreBounds bounds;
    llvm::append_range(bounds.max, values.take_front(values.size() / 2));
    llvm::append_range(bounds.min, values.drop_front(values.size() / 2));
    return bounds;
  }
};

/// Bounds that any score widens.
ScoreBounds createEmptyBounds(const KernelBuilder &kb);

/// Widens `bounds` by the scores `score` of lane vector `v`.
void widen(const KernelBuilder &kb, ScoreBounds &bounds, unsigned v,
           Value score);

/// scores[t, :] = sum_d keys[t, d] query[d, :] for t < keyRows, d < headDim.
/// Rows of `scores` up to the next multiple of the block are overwritten too.
/// query: f32, head dim x M. keys: f32, rows x head dim.
ScoreBounds emitScores(const KernelBuilder &kb, Value query, Value keys,
                       Value keyRows, Value headDim, Value scores);

/// acc[d, :] = scale * acc[d, :] + sum_t values[t, d] weights[t, :] for
/// t < keyRows, d < valueDim. Rows of `acc` up to the next multiple of the
/// block are overwritten too.
void emitWeightedSum(const KernelBuilder &kb, Value weights, Value values,
                     Value keyRows, Value valueDim, const LaneVectors &scale,
                     Value acc);

} // namespace mlir::attn

#endif // ATTN_PASSES_CPU_MICROKERNELS_H
