// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How large the tiles of an attention op are.

#ifndef ATTN_PASSES_TILE_TILESHAPE_H
#define ATTN_PASSES_TILE_TILESHAPE_H

#include "dialect/Attn.h"
#include "passes/analysis/TargetInfo.h"

namespace mlir::attn {

struct TileShape {
  /// Query rows (heads times positions) of a tile.
  int64_t queryRows;
  /// Keys of a tile.
  int64_t keyRows;
  /// Keys that one iteration of the parallel loop visits for a query tile, or
  /// 0 for all of them. It depends on nothing else, so that a result has the
  /// same bits in any batch and on any number of threads.
  int64_t splitKeys = 0;
};

/// Lane vectors, each of `width` lanes, of the tiles that cost least in all, if
/// there are `countTiles(rows)` of them with `rows` lanes.
int64_t chooseVectors(const TargetInfo &target, int64_t width,
                      llvm::function_ref<int64_t(int64_t rows)> countTiles);

/// The tile shape that wastes least of the target's vectors on `op`. Queries
/// are lanes, so a tile has whole vectors of them; where the sizes are not
/// known, it is the widest.
TileShape chooseTileShape(SoftmaxFamilyInterface op, const TargetInfo &target);

} // namespace mlir::attn

#endif // ATTN_PASSES_TILE_TILESHAPE_H
