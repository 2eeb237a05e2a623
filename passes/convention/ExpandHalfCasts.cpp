// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions of f16 as integer arithmetic, and those to f16 and bf16 by way of
// f32, on scalars and vectors. Runs before the lowering to LLVM, which calls a
// library for each element where the target has no instruction. The results are
// those of vcvtph2ps and vcvtps2ph, NaN included.

#include "passes/Passes.h"
#include "passes/analysis/TargetInfo.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::attn {
#define GEN_PASS_DEF_EXPANDHALFCASTS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;
using arith::CmpIPredicate;

// An f32 has 13 fraction bits more than an f16.
static constexpr int32_t kDropped = 13;
// The difference of their biases, in place.
static constexpr int32_t kRebias = (127 - 15) << 23;
static constexpr int32_t kHalfInfinity = 0x7c00;
// 2^-14 in f32, the smallest normal f16; and 2^-24, the smallest subnormal.
static constexpr int32_t kLeastNormal = 0x38800000;
static constexpr double kHalfUnit = 0x1p-24;

/// `type` with other elements.
static Type withElement(Type type, Type element) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(element);
  return element;
}

/// A constant of `type`, whose elements are all `value`.
static Value makeConstant(OpBuilder &b, Location loc, Type type,
                          Attribute value) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    value = DenseElementsAttr::get(shaped, value);
  return arith::ConstantOp::create(b, loc, cast<TypedAttr>(value));
}

namespace {

/// Integer arithmetic on 32-bit values of one shape.
struct BitBuilder {
  BitBuilder(OpBuilder &b, Location loc, Type shape)
      : b(b), loc(loc), type(withElement(shape, b.getI32Type())),
        f32(withElement(shape, b.getF32Type())) {}

  Value i(int32_t x) {
    return makeConstant(b, loc, type, b.getI32IntegerAttr(x));
  }
  Value f(double x) { return makeConstant(b, loc, f32, b.getF32FloatAttr(x)); }
  template <typename OpTy> Value op(Value x, Value y) {
    return OpTy::create(b, loc, x, y);
  }
  template <typename OpTy> Value op(Value x, int32_t y) {
    return op<OpTy>(x, i(y));
  }
  Value compare(CmpIPredicate predicate, Value x, int32_t y) {
    return arith::CmpIOp::create(b, loc, predicate, x, i(y));
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value toInt(Value x) { return arith::BitcastOp::create(b, loc, type, x); }
  Value toFloat(Value x) { return arith::BitcastOp::create(b, loc, f32, x); }

  OpBuilder &b;
  Location loc;
  Type type, f32;
};

} // namespace

/// f16 to f32, exactly.
static Value emitExtend(OpBuilder &b, Location loc, Value x) {
  BitBuilder m(b, loc, x.getType());
  Type i16 = withElement(x.getType(), b.getI16Type());
  Value bits = arith::ExtUIOp::create(b, loc, m.type,
                                      arith::BitcastOp::create(b, loc, i16, x));
  Value magnitude = m.op<arith::AndIOp>(bits, 0x7fff);
  Value sign = m.op<arith::ShLIOp>(m.op<arith::AndIOp>(bits, 0x8000), 16);

  Value normal =
      m.op<arith::AddIOp>(m.op<arith::ShLIOp>(magnitude, kDropped), kRebias);
  // Infinity and NaN have the largest exponent in both; a NaN becomes quiet.
  Value special = m.op<arith::AddIOp>(normal, kRebias);
  special = m.select(m.compare(CmpIPredicate::ugt, magnitude, kHalfInfinity),
                     m.op<arith::OrIOp>(special, 0x400000), special);
  // A subnormal is a number of units.
  Value units = arith::SIToFPOp::create(b, loc, m.f32, magnitude);
  Value subnormal = m.toInt(m.op<arith::MulFOp>(units, m.f(kHalfUnit)));

  Value result = m.select(
      m.compare(CmpIPredicate::uge, magnitude, kHalfInfinity), special, normal);
  result = m.select(m.compare(CmpIPredicate::ult, magnitude, 0x400), subnormal,
                    result);
  return m.toFloat(m.op<arith::OrIOp>(result, sign));
}

/// f32 to f16, rounded once to nearest, ties to even.
static Value emitRound(OpBuilder &b, Location loc, Value x) {
  BitBuilder m(b, loc, x.getType());
  Value bits = m.toInt(x);
  Value magnitude = m.op<arith::AndIOp>(bits, 0x7fffffff);
  Value sign = m.op<arith::AndIOp>(m.op<arith::ShRUIOp>(bits, 16), 0x8000);

  // Add half of the last place that stays, less one where the bit above is
  // even, and cut. A carry runs into the exponent as it should, and what is
  // above the largest number becomes infinity.
  Value odd = m.op<arith::AndIOp>(m.op<arith::ShRUIOp>(magnitude, kDropped), 1);
  Value bumped = m.op<arith::AddIOp>(
      m.op<arith::AddIOp>(magnitude, (1 << (kDropped - 1)) - 1), odd);
  Value normal =
      m.op<arith::ShRUIOp>(m.op<arith::SubIOp>(bumped, kRebias), kDropped);
  normal = m.op<arith::MinUIOp>(normal, kHalfInfinity);
  // A NaN keeps the upper bits of its fraction and becomes quiet.
  Value fraction =
      m.op<arith::AndIOp>(m.op<arith::ShRUIOp>(magnitude, kDropped), 0x3ff);
  Value nan = m.op<arith::OrIOp>(fraction, kHalfInfinity | 0x200);
  // The last place of 1/2 is the unit of subnormals: adding it rounds.
  Value half = m.f(0.5);
  Value sum = m.op<arith::AddFOp>(m.toFloat(magnitude), half);
  Value subnormal = m.op<arith::SubIOp>(m.toInt(sum), m.toInt(half));

  Value result = m.select(m.compare(CmpIPredicate::ugt, magnitude, 0x7f800000),
                          nan, normal);
  result = m.select(m.compare(CmpIPredicate::ult, magnitude, kLeastNormal),
                    subnormal, result);
  Type i16 = withElement(x.getType(), b.getI16Type());
  Value narrow =
      arith::TruncIOp::create(b, loc, i16, m.op<arith::OrIOp>(result, sign));
  return arith::BitcastOp::create(
      b, loc, withElement(x.getType(), b.getF16Type()), narrow);
}

static bool isHalf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

/// f64 to an f32 whose last place is odd where something was lost, so that
/// rounding it again is rounding once.
static Value emitRoundToOdd(OpBuilder &b, Location loc, Value x) {
  BitBuilder m(b, loc, x.getType());
  Value nearest = arith::TruncFOp::create(b, loc, m.f32, x);
  Value back = arith::ExtFOp::create(b, loc, x.getType(), nearest);
  auto magnitude = [&](Value value) -> Value {
    return math::AbsFOp::create(b, loc, value);
  };
  auto compare = [&](arith::CmpFPredicate predicate, Value y, Value z) {
    return arith::CmpFOp::create(b, loc, predicate, y, z).getResult();
  };
  Value bits = m.toInt(nearest);
  Value isInexact = compare(arith::CmpFPredicate::ONE, back, x);
  Value isEven = m.compare(CmpIPredicate::eq, m.op<arith::AndIOp>(bits, 1), 0);
  Value isBelow =
      compare(arith::CmpFPredicate::OLT, magnitude(back), magnitude(x));
  // From infinity, which is even, to the largest number, which is not.
  Value step = m.select(isBelow, m.i(1), m.i(-1));
  Value moves = arith::AndIOp::create(b, loc, isInexact, isEven);
  return m.toFloat(m.select(moves, m.op<arith::AddIOp>(bits, step), bits));
}

/// `x` with all but its upper 11 to 24 bits replaced by whether one of them is
/// set, in the place above them: an f32 holds it, and rounding that to f16 or
/// bf16 is rounding `x`.
static Value emitSticky(OpBuilder &b, Location loc, Value x, bool isSigned) {
  Type type = x.getType();
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  auto constant = [&](const APInt &value) -> Value {
    return makeConstant(b, loc, type,
                        b.getIntegerAttr(getElementTypeOrSelf(type), value));
  };
  for (unsigned low = 13; low + 11 + isSigned < width; low += 13) {
    // |x| >= 2^(low + 11), to which 2^(low + 11) is added for a sign.
    APInt limit = APInt::getOneBitSet(width, low + 11);
    Value isLarge;
    if (isSigned) {
      Value moved = arith::AddIOp::create(b, loc, x, constant(limit));
      isLarge = arith::CmpIOp::create(b, loc, CmpIPredicate::uge, moved,
                                      constant(limit << 1));
    } else {
      isLarge =
          arith::CmpIOp::create(b, loc, CmpIPredicate::uge, x, constant(limit));
    }
    Value mask = constant(APInt::getLowBitsSet(width, low));
    Value rest = arith::AndIOp::create(b, loc, x, mask);
    Value isRest = arith::CmpIOp::create(b, loc, CmpIPredicate::ne, rest,
                                         constant(APInt::getZero(width)));
    Value upper = arith::SubIOp::create(b, loc, x, rest);
    Value odd = arith::OrIOp::create(b, loc, upper,
                                     constant(APInt::getOneBitSet(width, low)));
    Value sticky = arith::SelectOp::create(b, loc, isRest, odd, upper);
    x = arith::SelectOp::create(b, loc, isLarge, sticky, x);
  }
  return x;
}

namespace {

/// arith.truncf %x : f64 to bf16
///   ->  arith.truncf (%x as an f32 with an odd last place)
struct ExpandTwoSteps : public OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isHalf(op.getType()) ||
        !getElementTypeOrSelf(op.getIn().getType()).isF64())
      return rewriter.notifyMatchFailure(
          op, "nothing to do: not from f64 to f16 or bf16");
    if (op.getRoundingmodeAttr())
      return rewriter.notifyMatchFailure(op, "has a rounding mode");
    Value single = emitRoundToOdd(rewriter, op.getLoc(), op.getIn());
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), single);
    return success();
  }
};

/// arith.sitofp %x : i32 to bf16
///   ->  arith.truncf (arith.sitofp (%x in 24 bits) : i32 to f32)
template <typename OpTy, bool isSigned>
struct ExpandFromInteger : public OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!isHalf(op.getType()))
      return rewriter.notifyMatchFailure(op,
                                         "nothing to do: not to f16 or bf16");
    Location loc = op.getLoc();
    Type f32 = withElement(op.getType(), rewriter.getF32Type());
    Value x = emitSticky(rewriter, loc, op.getIn(), isSigned);
    Value single = OpTy::create(rewriter, loc, f32, x);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), single);
    return success();
  }
};

/// arith.extf %x : f16 to f64  ->  arith.extf (arith.extf %x : f16 to f32)
/// The same from bf16: of a cast straight to f64 LLVM makes arithmetic of bf16,
/// and of that a call.
/// arith.extf %x : f16 to f32  ->  integer arithmetic, without F16C
struct ExpandExtend : public OpRewritePattern<arith::ExtFOp> {
  ExpandExtend(MLIRContext *context, const TargetInfo &target)
      : OpRewritePattern(context), target(target) {}

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    Type from = getElementTypeOrSelf(op.getIn().getType());
    if (!from.isF16() && !from.isBF16())
      return rewriter.notifyMatchFailure(op,
                                         "nothing to do: not from f16 or bf16");
    Location loc = op.getLoc();
    Type f32 = withElement(op.getType(), rewriter.getF32Type());
    if (op.getType() != f32) {
      Value single = arith::ExtFOp::create(rewriter, loc, f32, op.getIn());
      rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, op.getType(), single);
      return success();
    }
    if (from.isBF16())
      return rewriter.notifyMatchFailure(op, "nothing to do: from bf16 to f32");
    if (target.has(CpuFeatures::f16c))
      return rewriter.notifyMatchFailure(op,
                                         "nothing to do: the target has F16C");
    rewriter.replaceOp(op, emitExtend(rewriter, loc, op.getIn()));
    return success();
  }

  const TargetInfo &target;
};

/// arith.truncf %x : f32 to f16  ->  integer arithmetic, without F16C
struct ExpandRound : public OpRewritePattern<arith::TruncFOp> {
  ExpandRound(MLIRContext *context, const TargetInfo &target)
      : OpRewritePattern(context), target(target) {}

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (target.has(CpuFeatures::f16c))
      return rewriter.notifyMatchFailure(op,
                                         "nothing to do: the target has F16C");
    if (!getElementTypeOrSelf(op.getType()).isF16() ||
        !getElementTypeOrSelf(op.getIn().getType()).isF32())
      return rewriter.notifyMatchFailure(op,
                                         "nothing to do: not from f32 to f16");
    if (op.getRoundingmodeAttr())
      return rewriter.notifyMatchFailure(op, "has a rounding mode");
    rewriter.replaceOp(op, emitRound(rewriter, op.getLoc(), op.getIn()));
    return success();
  }

  const TargetInfo &target;
};

struct ExpandHalfCastsPass
    : public attn::impl::ExpandHalfCastsBase<ExpandHalfCastsPass> {
  void runOnOperation() override {
    const TargetInfo *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExtend, ExpandRound>(&getContext(), *target);
    patterns.add<ExpandTwoSteps, ExpandFromInteger<arith::SIToFPOp, true>,
                 ExpandFromInteger<arith::UIToFPOp, false>>(&getContext());
    // Folding would merge the two steps from f16 to f64 again.
    GreedyRewriteConfig config;
    config.enableFolding(false);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
