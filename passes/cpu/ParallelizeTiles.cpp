// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns the parallel loops over query tiles into OpenMP loops. Tiles differ in
// work under a mask, and those of one head read the same keys and values, so
// the schedule is guided: a thread takes many iterations in a row, and fewer
// towards the end. Each iteration owns its rows of the output, so the bits do
// not depend on the number of threads.

#include "passes/Passes.h"
#include "passes/analysis/Explain.h"
#include "passes/cpu/Cpu.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/Dominance.h"

namespace mlir::attn {
#define GEN_PASS_DEF_PARALLELIZETILES
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Whether `value` is known before `op`, or can be computed there.
static bool canBeKnownBefore(Value value, Operation *op,
                             const DominanceInfo &dominance) {
  if (dominance.properlyDominates(value, op))
    return true;
  Operation *definition = value.getDefiningOp();
  return definition && isPure(definition) && definition->getNumRegions() == 0 &&
         llvm::all_of(definition->getOperands(), [&](Value operand) {
           return canBeKnownBefore(operand, op, dominance);
         });
}

/// Moves what computes `value` in front of `op`.
static void computeBefore(RewriterBase &rewriter, Value value, Operation *op,
                          const DominanceInfo &dominance) {
  if (dominance.properlyDominates(value, op))
    return;
  Operation *definition = value.getDefiningOp();
  for (Value operand : definition->getOperands())
    computeBefore(rewriter, operand, op, dominance);
  rewriter.moveOpBefore(definition, op);
}

/// The allocations in `op` whose sizes can be known before `place`; moves what
/// computes those there.
static SmallVector<memref::AllocOp>
findHoistableBuffers(RewriterBase &rewriter, Operation *op, Operation *place) {
  DominanceInfo dominance(op->getParentOp());
  SmallVector<memref::AllocOp> allocs;
  op->walk([&](memref::AllocOp alloc) {
    if (alloc != op && llvm::all_of(alloc->getOperands(), [&](Value size) {
          return canBeKnownBefore(size, place, dominance);
        }))
      allocs.push_back(alloc);
  });
  for (memref::AllocOp alloc : allocs)
    for (Value size : alloc->getOperands())
      computeBefore(rewriter, size, place, dominance);
  return allocs;
}

/// Moves the buffers of `loop` in front of `before` and frees them at `after`.
/// Their own deallocations go.
static void hoistThreadBuffers(RewriterBase &rewriter, scf::ForallOp loop,
                               Operation *before, Operation *after) {
  for (memref::AllocOp alloc :
       findHoistableBuffers(rewriter, loop, before->getParentOp())) {
    for (Operation *user : llvm::to_vector(alloc->getUsers()))
      if (isa<memref::DeallocOp>(user))
        rewriter.eraseOp(user);
    rewriter.moveOpBefore(alloc, before);
    rewriter.setInsertionPoint(after);
    memref::DeallocOp::create(rewriter, alloc.getLoc(), alloc);
  }
}

/// Moves the buffers of sequential loops into the entry block. A loop over
/// tiles of one iteration is folded away, and leaves its buffers in the loop
/// over keys.
static void hoistSequentialBuffers(RewriterBase &rewriter,
                                   func::FuncOp function) {
  if (function.isDeclaration())
    return;
  for (Operation &op : function.front())
    if (!isa<omp::ParallelOp>(op))
      for (memref::AllocOp alloc : findHoistableBuffers(rewriter, &op, &op))
        rewriter.moveOpBefore(alloc, &op);
}

LogicalResult attn::parallelizeTiles(RewriterBase &rewriter, scf::ForallOp op) {
  if (!op.getOutputs().empty())
    return rewriter.notifyMatchFailure(op, "not bufferized");
  OpBuilder::InsertionGuard guard(rewriter);
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto values = [&](ArrayRef<OpFoldResult> bounds) {
    return getValueOrCreateConstantIndexOp(rewriter, loc, bounds);
  };
  omp::LoopNestOperands clauses;
  clauses.loopLowerBounds = values(op.getMixedLowerBound());
  clauses.loopUpperBounds = values(op.getMixedUpperBound());
  clauses.loopSteps = values(op.getMixedStep());
  // Threads share the iterations of all loops, not of the first one only.
  clauses.collapseNumLoops = rewriter.getI64IntegerAttr(op.getRank());

  auto parallel = omp::ParallelOp::create(rewriter, loc);
  rewriter.createBlock(&parallel.getRegion());
  omp::WsloopOperands schedule;
  schedule.scheduleKind = omp::ClauseScheduleKindAttr::get(
      rewriter.getContext(), omp::ClauseScheduleKind::Guided);
  auto wsloop = omp::WsloopOp::create(rewriter, loc, schedule);
  auto terminator = omp::TerminatorOp::create(rewriter, loc);
  hoistThreadBuffers(rewriter, op, /*before=*/wsloop, /*after=*/terminator);

  rewriter.createBlock(&wsloop.getRegion());
  auto nest = omp::LoopNestOp::create(rewriter, loc, clauses);
  SmallVector<Type> types(op.getRank(), rewriter.getIndexType());
  Block *body = rewriter.createBlock(&nest.getRegion(), {}, types,
                                     SmallVector<Location>(types.size(), loc));
  rewriter.eraseOp(op.getTerminator());
  rewriter.mergeBlocks(op.getBody(), body, body->getArguments());
  rewriter.setInsertionPointToEnd(body);
  omp::YieldOp::create(rewriter, loc);
  rewriter.eraseOp(op);
  return success();
}

namespace {

struct ParallelizeTilesPass
    : public attn::impl::ParallelizeTilesBase<ParallelizeTilesPass> {
  void runOnOperation() override {
    SmallVector<scf::ForallOp> loops;
    getOperation().walk([&](scf::ForallOp op) { loops.push_back(op); });
    ExplainingRewriter rewriter(*this, &getContext());
    for (scf::ForallOp op : loops) {
      rewriter.visit(op);
      if (failed(parallelizeTiles(rewriter, op))) {
        op.emitOpError() << "expected a bufferized loop";
        return signalPassFailure();
      }
    }
    hoistSequentialBuffers(rewriter, getOperation());
  }
};

} // namespace
