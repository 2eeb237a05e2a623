// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads of regions that have an element per query and key.

#ifndef ATTN_PASSES_CPU_MATRIXREADS_H
#define ATTN_PASSES_CPU_MATRIXREADS_H

#include "passes/cpu/LaneRegion.h"

namespace mlir::attn {

/// The keys of a tile: `count` of them, at most `most`, at positions from
/// `first` on.
struct KeyRange {
  Value first, count;
  int64_t most;
};

/// Reads what the regions, one per lane vector of a tile, read for each query
/// and key into buffers of keys by lanes, from which they take it then.
/// `oneHead` is that of the regions; `someScores` is any lane vector where they
/// take scores, else null.
void bufferMatrixReads(const KernelBuilder &kb,
                       MutableArrayRef<LaneRegion> lanes, const KeyRange &keys,
                       Value oneHead, Value someScores);

} // namespace mlir::attn

#endif // ATTN_PASSES_CPU_MATRIXREADS_H
