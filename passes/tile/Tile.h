// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The free functions of the tile stage.

#ifndef ATTN_PASSES_TILE_TILE_H
#define ATTN_PASSES_TILE_TILE_H

#include "passes/analysis/TargetInfo.h"

#include "dialect/Attn.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::attn {

/// Replaces `op` by loops over its tiles; see the pass's description.
LogicalResult tileAttention(RewriterBase &rewriter, SoftmaxFamilyInterface op,
                            const TargetInfo &target);

/// The keep predicate of `op`, mask attributes included, as the one block of
/// `region`, which is left empty if the op masks nothing.
void buildKeepRegion(OpBuilder &builder, SoftmaxFamilyInterface op,
                     Region &region);

} // namespace mlir::attn

#endif // ATTN_PASSES_TILE_TILE_H
