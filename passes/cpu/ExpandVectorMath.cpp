// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces elementary functions that regions call by vector code.

#include "passes/Passes.h"
#include "passes/analysis/Explain.h"
#include "passes/cpu/PairMath.h"
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

/// `x`, an integer, in the 64 bits of each lane of `m`.
static Value extendInteger(const PairMath &m, Value x) {
  OpBuilder &b = m.kb.b;
  if (getElementTypeOrSelf(x.getType()).isIndex())
    return arith::IndexCastOp::create(b, m.kb.loc, m.intType, x);
  if (x.getType() == m.intType)
    return x;
  return arith::ExtSIOp::create(b, m.kb.loc, m.intType, x);
}

/// math.f %x : vector<16xf64>  ->  pairs of f64 and a polynomial
/// math.f %x : vector<16xf32>
///   ->  arith.truncf (f (arith.extf %x : vector<16xf32> to vector<16xf64>))
template <typename OpTy, auto emit>
struct ExpandByPairs : public OpRewritePattern<OpTy> {
  ExpandByPairs(MLIRContext *context, const TargetInfo &target)
      : OpRewritePattern<OpTy>(context), target(target) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType(), element = getElementTypeOrSelf(type);
    if (!element.isF32() && !element.isF64())
      return rewriter.notifyMatchFailure(op, "neither f32 nor f64");
    Location loc = op.getLoc();
    FloatType f64 = rewriter.getF64Type();
    Type wide = f64;
    if (auto vector = dyn_cast<VectorType>(type))
      wide = vector.clone(f64);
    KernelBuilder kb{rewriter, loc, target, f64};
    PairMath m(kb, wide, /*isShort=*/element.isF32());
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      Type from = getElementTypeOrSelf(operand.getType());
      if (from.isIntOrIndex())
        operand = extendInteger(m, operand);
      else if (from.isF32())
        operand = arith::ExtFOp::create(rewriter, loc, wide, operand);
      operands.push_back(operand);
    }
    Value result;
    if constexpr (std::is_invocable_v<decltype(emit), PairMath, Value>)
      result = emit(m, operands[0]);
    else
      result = emit(m, operands[0], operands[1]);
    if (element.isF32())
      result = arith::TruncFOp::create(rewriter, loc, type, result);
    rewriter.replaceOp(op, result);
    return success();
  }

  const TargetInfo &target;
};

/// math.rsqrt %x  ->  1 / math.sqrt %x
struct ExpandRsqrt : public OpRewritePattern<math::RsqrtOp> {
  ExpandRsqrt(MLIRContext *context, const TargetInfo &target)
      : OpRewritePattern(context), target(target) {}

  LogicalResult matchAndRewrite(math::RsqrtOp op,
                                PatternRewriter &rewriter) const override {
    Type type = getElementTypeOrSelf(op.getType());
    if (!type.isF32() && !type.isF64())
      return rewriter.notifyMatchFailure(op, "neither f32 nor f64");
    KernelBuilder kb{rewriter, op.getLoc(), target, cast<FloatType>(type)};
    MathBuilder m(kb, op.getType());
    rewriter.replaceOp(op, m.div(m.f(1.0), m.sqrt(op.getOperand())));
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
        ExpandRsqrt, ExpandByPairs<math::TanOp, emitTan>,
        ExpandByPairs<math::AsinOp, emitAsin>,
        ExpandByPairs<math::AcosOp, emitAcos>,
        ExpandByPairs<math::AtanOp, emitAtan>,
        ExpandByPairs<math::Atan2Op, emitAtan2>,
        ExpandByPairs<math::SinhOp, emitSinh>,
        ExpandByPairs<math::CoshOp, emitCosh>,
        ExpandByPairs<math::AsinhOp, emitAsinh>,
        ExpandByPairs<math::AcoshOp, emitAcosh>,
        ExpandByPairs<math::AtanhOp, emitAtanh>,
        ExpandByPairs<math::ExpM1Op, emitExpm1>,
        ExpandByPairs<math::Log1pOp, emitLog1p>,
        ExpandByPairs<math::Log2Op, emitLog2>,
        ExpandByPairs<math::Log10Op, emitLog10>,
        ExpandByPairs<math::CbrtOp, emitCbrt>,
        ExpandByPairs<math::ErfOp, emitErf>,
        ExpandByPairs<math::ErfcOp, emitErfc>,
        ExpandByPairs<math::PowFOp, emitPowF>,
        ExpandByPairs<math::FPowIOp, emitFPowI>, SplitFma>(&getContext(),
                                                           *target);
    ExplainListener listener(getArgument());
    if (failed(applyPatternsGreedily(
            getOperation(), std::move(patterns),
            GreedyRewriteConfig().setListener(&listener))))
      signalPassFailure();
  }
};

} // namespace
