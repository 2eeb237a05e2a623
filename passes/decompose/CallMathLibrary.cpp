// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Leaves elementary functions of the reference to the math library: it shares
// nothing with the polynomials of cpu kernels, which are judged by it.

#include "passes/Passes.h"

#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::attn {
#define GEN_PASS_DEF_CALLMATHLIBRARY
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;

namespace {

/// math.fpowi %x, %n : f32, i64
///   ->  arith.truncf (x^low * x^(n - low)), low = n % 2^32, all in f64
struct SplitPower : public OpRewritePattern<math::FPowIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::FPowIOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!type.isF32() && !type.isF64())
      return rewriter.notifyMatchFailure(op, "neither f32 nor f64");
    Location loc = op.getLoc();
    Type f64 = rewriter.getF64Type(), i64 = rewriter.getI64Type();
    Value n = op.getRhs();
    if (n.getType().isIndex())
      n = arith::IndexCastOp::create(rewriter, loc, i64, n);
    else if (n.getType() != i64)
      n = arith::ExtSIOp::create(rewriter, loc, i64, n);
    Value base = op.getLhs();
    if (type != f64)
      base = arith::ExtFOp::create(rewriter, loc, f64, base);
    // Of the sign of n: both factors grow or both shrink.
    Value unit =
        arith::ConstantIntOp::create(rewriter, loc, i64, int64_t(1) << 32);
    Value low = arith::RemSIOp::create(rewriter, loc, n, unit);
    Value high = arith::SubIOp::create(rewriter, loc, n, low);
    auto power = [&](Value exponent) -> Value {
      Value y = arith::SIToFPOp::create(rewriter, loc, f64, exponent);
      return math::PowFOp::create(rewriter, loc, base, y);
    };
    Value result =
        arith::MulFOp::create(rewriter, loc, power(low), power(high));
    if (type != f64)
      result = arith::TruncFOp::create(rewriter, loc, type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct CallMathLibraryPass
    : public attn::impl::CallMathLibraryBase<CallMathLibraryPass> {
  void runOnOperation() override {
    RewritePatternSet powers(&getContext());
    powers.add<SplitPower>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(powers))))
      return signalPassFailure();
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target
        .addIllegalOp<math::AcosOp, math::AcoshOp, math::AsinOp, math::AsinhOp,
                      math::AtanOp, math::Atan2Op, math::AtanhOp, math::CbrtOp,
                      math::CoshOp, math::ErfOp, math::ErfcOp, math::ExpM1Op,
                      math::Log1pOp, math::SinhOp, math::TanOp>();
    RewritePatternSet patterns(&getContext());
    populateMathToLibmConversionPatterns(patterns);
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
