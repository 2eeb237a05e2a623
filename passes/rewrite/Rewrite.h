// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The free functions of the rewrite stage.

#ifndef ATTN_PASSES_REWRITE_REWRITE_H
#define ATTN_PASSES_REWRITE_REWRITE_H

#include "dialect/Attn.h"
#include "passes/analysis/CostModel.h"
#include "passes/rewrite/ProductChain.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::attn {

/// Moves the clauses softcap (as a value), alibi and bias of `op` into its
/// score region and select into its keep region; see the pass's description.
LogicalResult expandClauses(RewriterBase &rewriter, SoftmaxFamilyInterface op);

/// Replaces `op` by linalg operations that compute in `type`; see the pass's
/// description.
void expandMerge(RewriterBase &rewriter, MergeOp op, FloatType type);

/// Replaces `op` by a constant. Fails, with an error, for one that is too
/// large.
LogicalResult expandRandomFeatures(RewriterBase &rewriter, RandomFeaturesOp op);

/// Replaces `op` by softmax or linear attention; see the pass's description.
void expandFavor(RewriterBase &rewriter, FavorOp op, bool isTextbook);

/// Makes the feature clause of `op`, if there is one, attn.feature_map.
void expandFeatureClause(RewriterBase &rewriter, LinearOp op);

/// Replaces `op` by linalg operations in the type of sums.
LogicalResult expandFeatureMap(RewriterBase &rewriter, FeatureMapOp op);

/// Replaces (A B) V by A (B V) where `chain` has no weights of pairs.
void reassociate(RewriterBase &rewriter, const ProductChain &chain);

/// Replaces `chain`, which has a causal mask, by an attn.linear; fails where
/// that op can't say it.
LogicalResult makeLinear(RewriterBase &rewriter, const ProductChain &chain);

/// The form in which `op` is to be computed: `wanted`, where it has that, else
/// the one that costs least.
LinearForm chooseForm(LinearOp op, std::optional<LinearForm> wanted,
                      const TargetInfo &target);

} // namespace mlir::attn

#endif // ATTN_PASSES_REWRITE_REWRITE_H
