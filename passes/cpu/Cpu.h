// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The free functions of the cpu stage.

#ifndef ATTN_PASSES_CPU_CPU_H
#define ATTN_PASSES_CPU_CPU_H

#include "passes/analysis/TargetInfo.h"
#include "passes/cpu/KernelBuilder.h"

#include "dialect/Attn.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::attn {

/// Checks that a query tile of `rows` rows is of whole vectors of `target` that
/// compute in `wide`, and not wider than its register blocks.
LogicalResult verifyTileRows(Operation *op, int64_t rows, FloatType wide,
                             const TargetInfo &target);

/// Packs the query tile of `op` once, where it is defined: outside the loop
/// over key tiles. `op` works on tensors and takes the packed tile from then
/// on.
LogicalResult packQuery(RewriterBase &rewriter, OnlineSoftmaxOp op,
                        const TargetInfo &target);

/// Replace tile ops on memrefs by vector code with queries as lanes.
LogicalResult lowerPackQuery(RewriterBase &rewriter, PackQueryOp op,
                             const TargetInfo &target);
/// `exact` asks for weights with the error of f32 before they are rounded.
LogicalResult lowerOnlineSoftmax(RewriterBase &rewriter, OnlineSoftmaxOp op,
                                 const TargetInfo &target, bool exact = false);
LogicalResult lowerOnlineMerge(RewriterBase &rewriter, OnlineMergeOp op,
                               const TargetInfo &target);
LogicalResult lowerOnlineFinish(RewriterBase &rewriter, OnlineFinishOp op,
                                const TargetInfo &target);

/// Replace bufferized tile ops of linear attention by vector code.
LogicalResult lowerLinearChunk(RewriterBase &rewriter, LinearChunkOp op,
                               const TargetInfo &target);
LogicalResult lowerLinearRead(RewriterBase &rewriter, LinearReadOp op,
                              const TargetInfo &target);
/// The two forms of a chunk, emitted at the insertion point of `kb`: by
/// products of matrices, or token by token from `first` on.
void emitLinearChunk(const KernelBuilder &kb, LinearChunkOp op);
void emitLinearRecurrence(const KernelBuilder &kb, LinearChunkOp op,
                          Value first);

/// Replaces a bufferized attn.matmul_tile by loops over register blocks.
LogicalResult lowerMatmul(RewriterBase &rewriter, MatmulTileOp op,
                          const TargetInfo &target);

/// Replaces `op` on buffers by vector code along its last loop, if it has any;
/// see the pass's description.
LogicalResult lowerElementwise(RewriterBase &rewriter, linalg::LinalgOp op,
                               const TargetInfo &target);

/// Replaces a bufferized attn.running_max by loops over positions and features.
LogicalResult lowerRunningMax(RewriterBase &rewriter, RunningMaxOp op,
                              const TargetInfo &target);

/// Turns a bufferized parallel loop into an OpenMP loop with guided schedule,
/// and the buffers allocated in it into one per thread.
LogicalResult parallelizeTiles(RewriterBase &rewriter, scf::ForallOp op);

} // namespace mlir::attn

#endif // ATTN_PASSES_CPU_CPU_H
