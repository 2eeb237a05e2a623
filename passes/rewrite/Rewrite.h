// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The free functions of the rewrite stage.

#ifndef ATTN_PASSES_REWRITE_REWRITE_H
#define ATTN_PASSES_REWRITE_REWRITE_H

#include "dialect/Attn.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::attn {

/// Moves the clauses softcap (as a value), alibi and bias of `op` into its
/// score region and select into its keep region; see the pass's description.
LogicalResult expandClauses(RewriterBase &rewriter, SoftmaxFamilyInterface op);

/// Replaces `op` by linalg operations that compute in `type`; see the pass's
/// description.
void expandMerge(RewriterBase &rewriter, MergeOp op, FloatType type);

} // namespace mlir::attn

#endif // ATTN_PASSES_REWRITE_REWRITE_H
