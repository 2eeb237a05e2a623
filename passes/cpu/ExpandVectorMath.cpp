// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces elementary functions that regions call by vector code.

#include "passes/Passes.h"
#include "passes/analysis/Explain.h"
#include "passes/cpu/VectorMath.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::attn {
#define GEN_PASS_DEF_EXPANDVECTORMATH
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// math.f %x : vector<16xf32>  ->  range reduction and a polynomial.
template <typename OpTy, Value (*emit)(const KernelBuilder &, Value)>
struct ExpandUnary : public OpRewritePattern<OpTy> {
  ExpandUnary(MLIRContext *context, const TargetInfo &target)
      : OpRewritePattern<OpTy>(context), target(target) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Type type = getElementTypeOrSelf(op.getType());
    if (!type.isF32() && !type.isF64())
      return rewriter.notifyMatchFailure(op, "neither f32 nor f64");
    KernelBuilder kb{rewriter, op.getLoc(), target, cast<FloatType>(type)};
    rewriter.replaceOp(op, emit(kb, op.getOperand()));
    return success();
  }

  const TargetInfo &target;
};

/// math.fma %x, %y, %z  ->  %x * %y + %z   where the target has no fma.
struct SplitFma : public OpRewritePattern<math::FmaOp> {
  SplitFma(MLIRContext *context, const TargetInfo &target)
      : OpRewritePattern(context), target(target) {}

  LogicalResult matchAndRewrite(math::FmaOp op,
                                PatternRewriter &rewriter) const override {
    if (target.has(CpuFeatures::fma))
      return rewriter.notifyMatchFailure(op,
                                         "nothing to do: the target has fma");
    KernelBuilder kb{rewriter, op.getLoc(), target,
                     cast<FloatType>(getElementTypeOrSelf(op.getType()))};
    rewriter.replaceOp(op, kb.fma(op.getA(), op.getB(), op.getC()));
    return success();
  }

  const TargetInfo &target;
};

struct ExpandVectorMathPass
    : public attn::impl::ExpandVectorMathBase<ExpandVectorMathPass> {
  void runOnOperation() override {
    const TargetInfo *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    patterns.add<
        ExpandUnary<math::ExpOp, emitExp>, ExpandUnary<math::Exp2Op, emitExp2>,
        ExpandUnary<math::TanhOp, emitTanh>, ExpandUnary<math::LogOp, emitLog>,
        ExpandUnary<math::SinOp, emitSin>, ExpandUnary<math::CosOp, emitCos>,
        SplitFma>(&getContext(), *target);
    ExplainListener listener(getArgument());
    if (failed(applyPatternsGreedily(
            getOperation(), std::move(patterns),
            GreedyRewriteConfig().setListener(&listener))))
      signalPassFailure();
  }
};

} // namespace
