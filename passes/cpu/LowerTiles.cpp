// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers bufferized tile ops to vector code in lane form. After this pass only
// loops, vectors and scratch buffers are left of a tile.

#include "passes/Passes.h"
#include "passes/analysis/Explain.h"
#include "passes/cpu/Cpu.h"
#include "passes/cpu/FloatCasts.h"
#include "passes/cpu/MicroKernels.h"
#include "passes/cpu/TileCopies.h"
#include "passes/cpu/VectorMath.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::attn {
#define GEN_PASS_DEF_LOWERTILES
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// A buffer of M rows by `depth` columns, widened: a query tile with one row
/// per query, between an operand and its lane form.
static Value createRowBuffer(const KernelBuilder &kb, Value depth) {
  return kb.scratch({kb.b.getIndexAttr(kb.rows()), getAsOpFoldResult(depth)},
                    kb.wide);
}

/// Runs `body` with (row of the tile, head, position) for the heads x positions
/// rows of `tile`.
static void forEachRow(
    const KernelBuilder &kb, Value tile,
    llvm::function_ref<void(Value row, Value head, Value position)> body) {
  Value zero = kb.index(0);
  Value heads = kb.dim(tile, 0), positions = kb.dim(tile, 1);
  kb.loop(zero, heads, 1, [&](Value head) {
    Value first = kb.mul(head, positions);
    kb.loop(zero, positions, 1, [&](Value position) {
      body(kb.add(first, position), head, position);
    });
  });
}

LogicalResult attn::lowerPackQuery(RewriterBase &rewriter, PackQueryOp op,
                                   const TargetInfo &target) {
  if (!isa<MemRefType>(op.getPacked().getType()))
    return rewriter.notifyMatchFailure(op, "not bufferized");
  rewriter.setInsertionPoint(op);
  auto packed = cast<MemRefType>(op.getPacked().getType());
  bool isPairs = packed.getElementType().isBF16();
  int64_t numRows = packed.getDimSize(1) / (isPairs ? 2 : 1);
  FloatType wide = getComputeType(packed.getElementType());
  if (failed(verifyTileRows(op, numRows, wide, target)))
    return failure();
  KernelBuilder kb =
      KernelBuilder::forTile(rewriter, op.getLoc(), target, wide, numRows);
  Value depth = kb.dim(op.getPacked(), 0);
  Value headDim = kb.dim(op.getQuery(), 2);
  // A pair of bf16 is moved about as one f32.
  Value rows = createRowBuffer(kb, depth);
  // Rows and columns beyond the tile's are 0, so that they give finite scores.
  emitFill(kb, kb.constant(kb.wideLanes(), 0.0), rows);
  forEachRow(kb, op.getQuery(), [&](Value row, Value head, Value position) {
    if (isPairs)
      return emitPairRowCopy(kb, op.getQuery(), {head, position}, rows, row,
                             headDim);
    emitRowCopy(kb, op.getQuery(), {head, position}, rows, row, headDim,
                [&](Value x) {
                  Value wide = emitWiden(kb, x);
                  Value scale = isa<VectorType>(wide.getType())
                                    ? kb.broadcast(op.getScale())
                                    : op.getScale();
                  return kb.mulf(wide, scale);
                });
  });
  emitTranspose(kb, rows, op.getPacked());
  rewriter.eraseOp(op);
  return success();
}

LogicalResult attn::lowerOnlineMerge(RewriterBase &rewriter, OnlineMergeOp op,
                                     const TargetInfo &target) {
  if (!isa<MemRefType>(op.getAcc().getType()))
    return rewriter.notifyMatchFailure(op, "not bufferized");
  int64_t numRows = cast<MemRefType>(op.getMax().getType()).getDimSize(0);
  FloatType wide = getComputeType(getElementTypeOrSelf(op.getAcc().getType()));
  if (failed(verifyTileRows(op, numRows, wide, target)))
    return failure();
  rewriter.setInsertionPoint(op);
  KernelBuilder kb =
      KernelBuilder::forTile(rewriter, op.getLoc(), target, wide, numRows);
  for (int64_t v = 0; v < kb.vectors; ++v) {
    Value lane = kb.lane(v);
    Value max = kb.loadLanes(op.getMax(), lane);
    Value otherMax = kb.loadLanes(op.getOtherMax(), lane);
    Value newMax = kb.max(max, otherMax);
    Value shift = emitShift(kb, newMax);
    Value factor = emitExpOfDifference(kb, max, shift);
    Value otherFactor = emitExpOfDifference(kb, otherMax, shift);
    auto merge = [&](Value to, Value from, ValueRange place) {
      Value other = kb.mulf(kb.loadLanes(from, place), otherFactor);
      kb.storeLanes(kb.fma(kb.loadLanes(to, place), factor, other), to, place);
    };
    kb.storeLanes(newMax, op.getMax(), lane);
    merge(op.getSum(), op.getOtherSum(), lane);
    kb.loop(kb.index(0), kb.dim(op.getAcc(), 0), 1, [&](Value column) {
      merge(op.getAcc(), op.getOtherAcc(), {column, lane});
    });
  }
  rewriter.eraseOp(op);
  return success();
}

LogicalResult attn::lowerOnlineFinish(RewriterBase &rewriter, OnlineFinishOp op,
                                      const TargetInfo &target) {
  if (!isa<MemRefType>(op.getAcc().getType()))
    return rewriter.notifyMatchFailure(op, "not bufferized");
  rewriter.setInsertionPoint(op);
  int64_t numRows = cast<MemRefType>(op.getMax().getType()).getDimSize(0);
  FloatType wide = getComputeType(getElementTypeOrSelf(op.getAcc().getType()));
  if (failed(verifyTileRows(op, numRows, wide, target)))
    return failure();
  KernelBuilder kb =
      KernelBuilder::forTile(rewriter, op.getLoc(), target, wide, numRows);
  Value zero = kb.index(0);
  VectorType type = kb.wideLanes();
  Value lseRows;
  if (op.getLse())
    lseRows = kb.scratch({rewriter.getIndexAttr(kb.rows())}, kb.wide);
  // acc / sum and max + ln(sum), queries still being lanes. The sum of a row
  // without keys is 0.
  for (int64_t v = 0; v < kb.vectors; ++v) {
    Value lane = kb.lane(v);
    Value sum = kb.loadLanes(op.getSum(), lane);
    Value isEmpty =
        kb.cmpf(arith::CmpFPredicate::OEQ, sum, kb.constant(type, 0.0));
    Value divisor = kb.select(isEmpty, kb.constant(type, 1.0), sum);
    kb.loop(zero, kb.dim(op.getAcc(), 0), 1, [&](Value column) {
      Value acc = kb.loadLanes(op.getAcc(), {column, lane});
      Value output = arith::DivFOp::create(rewriter, op.getLoc(), acc, divisor);
      kb.storeLanes(output, op.getAcc(), {column, lane});
    });
    if (lseRows)
      kb.storeLanes(kb.addf(kb.loadLanes(op.getMax(), lane), emitLog(kb, sum)),
                    lseRows, lane);
  }
  Value rows = createRowBuffer(kb, kb.dim(op.getAcc(), 0));
  emitTranspose(kb, op.getAcc(), rows);
  Value valueDim = kb.dim(op.getOutput(), 2);
  Type element = getElementTypeOrSelf(op.getOutput().getType());
  forEachRow(kb, op.getOutput(), [&](Value row, Value head, Value position) {
    emitRowCopy(kb, rows, row, op.getOutput(), {head, position}, valueDim,
                [&](Value x) { return emitRound(kb, x, element); });
  });
  if (lseRows)
    forEachRow(kb, op.getLse(), [&](Value row, Value head, Value position) {
      memref::StoreOp::create(rewriter, op.getLoc(), kb.load(lseRows, row),
                              op.getLse(), ValueRange{head, position});
    });
  rewriter.eraseOp(op);
  return success();
}

/// linalg.fill of a tile's state  ->  stores of lane vectors.
static LogicalResult lowerFill(RewriterBase &rewriter, linalg::FillOp op,
                               const TargetInfo &target) {
  auto type = dyn_cast<MemRefType>(op.output().getType());
  if (!type || !isa<Float32Type, Float64Type>(type.getElementType()) ||
      (type.getRank() != 1 && type.getRank() != 2) ||
      type.isDynamicDim(type.getRank() - 1) ||
      type.getShape().back() % target.lanes(type.getElementType()) != 0)
    return rewriter.notifyMatchFailure(op, "not a buffer of whole vectors");
  rewriter.setInsertionPoint(op);
  KernelBuilder kb{rewriter, op.getLoc(), target,
                   cast<FloatType>(type.getElementType())};
  emitFill(kb, kb.broadcast(op.value()), op.output());
  rewriter.eraseOp(op);
  return success();
}

namespace {

struct LowerTilesPass : public attn::impl::LowerTilesBase<LowerTilesPass> {
  using LowerTilesBase::LowerTilesBase;

  void runOnOperation() override {
    const TargetInfo *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    ExplainingRewriter rewriter(*this, &getContext());
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<PackQueryOp, OnlineSoftmaxOp, OnlineMergeOp, OnlineFinishOp,
              LinearChunkOp, LinearReadOp>(op) ||
          (isa<linalg::FillOp>(op) && op->getParentOfType<scf::ForallOp>()))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      rewriter.visit(op);
      LogicalResult result = success();
      if (auto pack = dyn_cast<PackQueryOp>(op))
        result = lowerPackQuery(rewriter, pack, *target);
      else if (auto update = dyn_cast<OnlineSoftmaxOp>(op))
        result = lowerOnlineSoftmax(rewriter, update, *target, exact);
      else if (auto merge = dyn_cast<OnlineMergeOp>(op))
        result = lowerOnlineMerge(rewriter, merge, *target);
      else if (auto finish = dyn_cast<OnlineFinishOp>(op))
        result = lowerOnlineFinish(rewriter, finish, *target);
      else if (auto chunk = dyn_cast<LinearChunkOp>(op))
        result = lowerLinearChunk(rewriter, chunk, *target);
      else if (auto read = dyn_cast<LinearReadOp>(op))
        result = lowerLinearRead(rewriter, read, *target);
      else
        (void)lowerFill(rewriter, cast<linalg::FillOp>(op), *target);
      if (failed(result)) {
        op->emitOpError() << "expected buffers and a packed query tile";
        return signalPassFailure();
      }
    }
  }
};

} // namespace
