// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers bufferized running maxima to vector code with features as lanes: a row
// is compared with the row of maxima before it, which is still in the cache.

#include "passes/Passes.h"
#include "passes/cpu/Cpu.h"
#include "passes/cpu/KernelBuilder.h"

namespace mlir::attn {
#define GEN_PASS_DEF_LOWERRUNNINGMAX
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

/// One element or lane vector, of type `type`, at `at`; `before` is the
/// position in front of it, where there is one.
static void emitStep(const KernelBuilder &kb, RunningMaxOp op, Type type,
                     ArrayRef<Value> at, Value before, Value isFirst,
                     Value isInUse) {
  auto load = [&](Value memref, ArrayRef<Value> indices) {
    return isa<VectorType>(type) ? kb.loadLanes(memref, indices)
                                 : kb.load(memref, indices);
  };
  auto store = [&](Value value, Value memref) {
    if (isa<VectorType>(type))
      kb.storeLanes(value, memref, at);
    else
      memref::StoreOp::create(kb.b, kb.loc, value, memref, at);
  };
  SmallVector<Value> atBefore(at);
  atBefore[2] = before;
  Value none = kb.constant(type, -std::numeric_limits<double>::infinity());
  Value last = kb.select(isFirst, none, load(op.getMax(), atBefore));
  Value grown = kb.max(last, load(op.getInput(), at));
  Value max = kb.select(isInUse, grown, last);
  Value isEmpty = kb.cmpf(CmpFPredicate::OEQ, last, none);
  Value step = kb.select(isEmpty, kb.constant(type, 0.0), kb.subf(last, max));
  store(max, op.getMax());
  store(step, op.getStep());
}

/// attn.running_max ins(%x) outs(%max, %step)
///   ->
/// scf.for %t = 0 to %S {
///   scf.for %r = 0 to %M step 16 {
///     %last = %max[%t - 1, %r], or -inf
///     %m = select (%t < length), maximum(%last, %x[%t, %r]), %last
///     store %m, %max[%t, %r]; store %last - %m, %step[%t, %r]
///   }
/// }
LogicalResult attn::lowerRunningMax(RewriterBase &rewriter, RunningMaxOp op,
                                    const TargetInfo &target) {
  for (Value operand : {op.getInput(), op.getMax(), op.getStep()}) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    if (!type)
      return op.emitOpError() << "expected buffers, got " << operand.getType();
  }
  rewriter.setInsertionPoint(op);
  auto wide = cast<FloatType>(getElementTypeOrSelf(op.getInput().getType()));
  KernelBuilder kb{rewriter, op.getLoc(), target, wide};
  Value zero = kb.index(0), one = kb.index(1);
  auto size = [&](int64_t dim) { return kb.dim(op.getInput(), dim); };
  Value features = size(3);
  bool hasRows = llvm::all_of(
      ValueRange{op.getInput(), op.getMax(), op.getStep()}, [](Value operand) {
        return cast<MemRefType>(operand.getType()).isLastDimUnitStride();
      });
  Value whole = zero;
  if (hasRows)
    whole = kb.sub(features,
                   kb.fold<arith::RemUIOp>(features, kb.index(kb.width())));
  kb.loop(zero, size(0), 1, [&](Value b) {
    Value length = size(2);
    if (op.getLengths())
      length =
          arith::IndexCastOp::create(rewriter, kb.loc, rewriter.getIndexType(),
                                     kb.load(op.getLengths(), b));
    kb.loop(zero, size(1), 1, [&](Value h) {
      kb.loop(zero, size(2), 1, [&](Value t) {
        Value isFirst = kb.cmp(CmpIPredicate::eq, t, zero);
        Value isInUse = kb.cmp(CmpIPredicate::slt, t, length);
        Value before = kb.fold<arith::MaxSIOp>(kb.sub(t, one), zero);
        auto emit = [&](Type type, Value r) {
          emitStep(kb, op, type, {b, h, t, r}, before, isFirst, isInUse);
        };
        if (hasRows)
          kb.loop(zero, whole, kb.width(),
                  [&](Value r) { emit(kb.wideLanes(), r); });
        kb.loop(whole, features, 1, [&](Value r) { emit(kb.wide, r); });
      });
    });
  });
  rewriter.eraseOp(op);
  return success();
}

namespace {

struct LowerRunningMaxPass
    : public attn::impl::LowerRunningMaxBase<LowerRunningMaxPass> {
  void runOnOperation() override {
    const TargetInfo *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    SmallVector<RunningMaxOp> ops;
    getOperation().walk([&](RunningMaxOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (RunningMaxOp op : ops)
      if (failed(lowerRunningMax(rewriter, op, *target)))
        return signalPassFailure();
  }
};

} // namespace
