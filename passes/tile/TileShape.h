// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How large the tiles of an attention op are.

#ifndef ATTN_PASSES_TILE_TILESHAPE_H
#define ATTN_PASSES_TILE_TILESHAPE_H

#include "dialect/Attn.h"
#include "passes/analysis/TargetInfo.h"

namespace mlir::attn {

/// Query rows (heads times positions) and keys of a tile.
struct TileShape {
  int64_t queryRows;
  int64_t keyRows;
};

/// The tile shape that wastes least of the target's vectors on `op`. Queries
/// are lanes, so a tile has whole vectors of them; where the sizes are not
/// known, it is the widest.
TileShape chooseTileShape(SoftmaxFamilyInterface op, const TargetInfo &target);

} // namespace mlir::attn

#endif // ATTN_PASSES_TILE_TILESHAPE_H
