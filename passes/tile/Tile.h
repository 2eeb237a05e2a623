// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The free functions of the tile stage.

#ifndef ATTN_PASSES_TILE_TILE_H
#define ATTN_PASSES_TILE_TILE_H

#include "passes/analysis/MaskAnalysis.h"
#include "passes/analysis/TargetInfo.h"
#include "passes/tile/TileGeometry.h"

#include "dialect/Attn.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::attn {

/// Replaces `op` by loops over its tiles; see the pass's description.
LogicalResult tileAttention(RewriterBase &rewriter, SoftmaxFamilyInterface op,
                            const TargetInfo &target);

/// Replaces `op` by loops over its tiles; see the pass's description. `rows` is
/// the size of chunks, or 0.
LogicalResult tileLinear(RewriterBase &rewriter, LinearOp op,
                         const TargetInfo &target, int64_t rows);

/// Replaces `op` by a parallel loop over tiles if it is a product of matrices;
/// see the pass's description.
LogicalResult tileMatmul(RewriterBase &rewriter, linalg::LinalgOp op,
                         const TargetInfo &target);

/// Makes `op` a parallel loop over blocks of rows; see the pass's description.
LogicalResult tileElementwise(RewriterBase &rewriter, linalg::LinalgOp op);

/// Makes `op` a parallel loop over batch entries, heads and features.
void tileRunningMax(RewriterBase &rewriter, RunningMaxOp op);

/// Puts the sinks of the rows of `tile` into `state`, the acc, max and sum of a
/// query tile that has seen no key.
void emitSinkState(OpBuilder &builder, SoftmaxFamilyInterface op,
                   const QueryTile &tile, SmallVectorImpl<Value> &state);

/// What an op masks: its keep predicate, mask attributes included, as the one
/// block of a region, and the classifier of its tiles. Both are empty where the
/// op masks nothing.
struct TileMask {
  TileMask(OpBuilder &builder, SoftmaxFamilyInterface op);

  Region keep;
  std::optional<MaskClassifier> classifier;
};

/// Makes remarks of what tiling chose for `op`: sizes, the loops over keys, and
/// what `classifier`, if there is a mask, makes of tiles.
void remarkOnTiles(SoftmaxFamilyInterface op, const TileShape &shape,
                   const std::optional<MaskClassifier> &classifier,
                   bool areKeysSplit);

} // namespace mlir::attn

#endif // ATTN_PASSES_TILE_TILE_H
