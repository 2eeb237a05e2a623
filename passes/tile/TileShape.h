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
  /// Query positions of a head, where they are known otherwise than by the
  /// types of the op.
  std::optional<int64_t> positions;
};

/// Lane vectors, each of `width` lanes, of the tiles that cost least in all, if
/// there are `countTiles(rows)` of them with `rows` lanes.
int64_t chooseVectors(const TargetInfo &target, int64_t width,
                      llvm::function_ref<int64_t(int64_t rows)> countTiles);

/// The tile shape that wastes least of the target's vectors on `op`. Queries
/// are lanes, so a tile has whole vectors of them; where the sizes are not
/// known, it is the widest. `positions` is taken for the number of query
/// positions of a head.
TileShape chooseTileShape(SoftmaxFamilyInterface op, const TargetInfo &target,
                          std::optional<int64_t> positions = std::nullopt);

/// One of the sets of loops that an op is tiled into.
struct TileVersion {
  TileShape shape;
  /// Whether a call takes these loops, an i1; null if every call does.
  Value isNeeded;
};

/// The versions of `op`, of which a call takes one. There are two, the first
/// for a step of decoding, one query position in each batch entry or packed
/// sequence, where the number of positions is not known and one position of the
/// heads of a group is at most a lane vector of rows. Emits the choice at the
/// insertion point.
SmallVector<TileVersion> emitTileVersions(OpBuilder &builder,
                                          SoftmaxFamilyInterface op,
                                          const TargetInfo &target);

} // namespace mlir::attn

#endif // ATTN_PASSES_TILE_TILESHAPE_H
