// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Canonicalisation of whole-attention ops: clauses that change nothing go, so
// that later stages see each program in one form.

#include "dialect/Attn.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::attn;

/// The windows of a mask list as one, or null if there is none.
static WindowAttr intersectWindows(ArrayRef<WindowAttr> windows) {
  std::optional<int64_t> left, right;
  auto tighten = [](std::optional<int64_t> &bound,
                    std::optional<int64_t> other) {
    if (other)
      bound = bound ? std::min(*bound, *other) : *other;
  };
  for (WindowAttr window : windows) {
    tighten(left, window.getLeft());
    tighten(right, window.getRight());
  }
  if (!left && !right)
    return {};
  return WindowAttr::get(windows.front().getContext(), left, right);
}

/// `op` as an op of type `ToTy`, with or without the second result. Takes the
/// regions of `op` and keeps its attributes.
template <typename ToTy, typename FromTy>
static ToTy rebuildAs(RewriterBase &rewriter, FromTy op, bool withLse) {
  auto newOp =
      ToTy::create(rewriter, op.getLoc(),
                   TypeRange(op->getResultTypes()).take_front(withLse ? 2 : 1),
                   op->getOperands(), op->getAttrs());
  for (auto [from, to] : llvm::zip(op->getRegions(), newOp->getRegions()))
    rewriter.inlineRegionBefore(from, to, to.begin());
  return newOp;
}

namespace {

/// mask(#causal, #window<left = 8, right = 3>, #window<left = 4>, #causal)
///   ->  mask(#causal, #window<left = 4>)
/// causal implies any right bound; several windows are one.
struct SimplifyMasks
    : public OpInterfaceRewritePattern<SoftmaxFamilyInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(SoftmaxFamilyInterface op,
                                PatternRewriter &rewriter) const override {
    ArrayAttr masks = op.getMaskAttr();
    if (!masks)
      return rewriter.notifyMatchFailure(op,
                                         "nothing to do: no mask attributes");
    SmallVector<WindowAttr> windows;
    SmallVector<Attribute> others;
    bool causal = false;
    for (Attribute mask : masks) {
      causal |= isa<CausalAttr>(mask);
      if (auto window = dyn_cast<WindowAttr>(mask))
        windows.push_back(window);
      else if (!llvm::is_contained(others, mask))
        others.push_back(mask);
    }
    WindowAttr window = intersectWindows(windows);
    if (window && causal)
      window = window.getLeft()
                   ? WindowAttr::get(op->getContext(), window.getLeft(), {})
                   : WindowAttr();
    if (window)
      others.push_back(window);
    if (ArrayRef<Attribute>(others) == masks.getValue())
      return rewriter.notifyMatchFailure(
          op, "nothing to do: mask list is in its one form");
    rewriter.modifyOpInPlace(op, [&] {
      if (others.empty())
        op->removeAttr("mask");
      else
        op->setAttr("mask", rewriter.getArrayAttr(others));
    });
    return success();
  }
};

/// keep { ... attn.yield %true : i1 }  ->  (no keep region)
struct DropTrueKeep : public OpInterfaceRewritePattern<SoftmaxFamilyInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(SoftmaxFamilyInterface op,
                                PatternRewriter &rewriter) const override {
    if (op.getKeep().empty())
      return rewriter.notifyMatchFailure(op, "nothing to do: no keep region");
    auto yield = cast<YieldOp>(op.getKeep().front().getTerminator());
    if (!matchPattern(yield.getValue(), m_One()))
      return rewriter.notifyMatchFailure(op, "keep region is not always true");
    rewriter.modifyOpInPlace(
        op, [&] { rewriter.eraseBlock(&op.getKeep().front()); });
    return success();
  }
};

/// score { ^bb0(%s: f32, ...): attn.yield %s : f32 }  ->  (no score region)
struct DropIdentityScore
    : public OpInterfaceRewritePattern<SoftmaxFamilyInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(SoftmaxFamilyInterface op,
                                PatternRewriter &rewriter) const override {
    if (op.getScore().empty())
      return rewriter.notifyMatchFailure(op, "nothing to do: no score region");
    Block &block = op.getScore().front();
    if (cast<YieldOp>(block.getTerminator()).getValue() != block.getArgument(0))
      return rewriter.notifyMatchFailure(op, "score region changes the logit");
    rewriter.modifyOpInPlace(op, [&] { rewriter.eraseBlock(&block); });
    return success();
  }
};

/// attn.softmax %q, %k, %v align(top_left)  ->  attn.softmax %q, %k, %v
/// where no mask or region reads a query position.
struct DropUnusedAlign
    : public OpInterfaceRewritePattern<SoftmaxFamilyInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(SoftmaxFamilyInterface op,
                                PatternRewriter &rewriter) const override {
    if (!op.getAlign())
      return rewriter.notifyMatchFailure(op, "nothing to do: no align clause");
    if (dependsOnPosition(op))
      return rewriter.notifyMatchFailure(op, "positions matter");
    rewriter.modifyOpInPlace(op, [&] { op->removeAttr("align"); });
    return success();
  }
};

/// %o, %lse = attn.softmax ...  ->  %o = attn.softmax ...   if %lse is not used
template <typename OpTy> struct DropUnusedLse : public OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!op.getLse() || !op.getLse().use_empty())
      return rewriter.notifyMatchFailure(
          op, "nothing to do: lse is absent or used");
    OpTy newOp = rebuildAs<OpTy>(rewriter, op, /*withLse=*/false);
    rewriter.replaceAllUsesWith(op.getOutput(), newOp.getOutput());
    rewriter.eraseOp(op);
    return success();
  }
};

/// attn.gqa with as many key as query heads  ->  attn.softmax
struct GqaToSoftmax : public OpRewritePattern<GqaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GqaOp op,
                                PatternRewriter &rewriter) const override {
    int64_t queryHeads = op.getQuery().getType().getDimSize(1);
    int64_t keyHeads = op.getKey().getType().getDimSize(1);
    if (ShapedType::isDynamic(queryHeads) || queryHeads != keyHeads)
      return rewriter.notifyMatchFailure(op, "heads are not known to be equal");
    bool withLse = static_cast<bool>(op.getLse());
    SoftmaxOp newOp = rebuildAs<SoftmaxOp>(rewriter, op, withLse);
    rewriter.replaceOp(op, newOp->getResults());
    return success();
  }
};

} // namespace

static void addFamilyPatterns(RewritePatternSet &patterns) {
  patterns.add<SimplifyMasks, DropTrueKeep, DropIdentityScore, DropUnusedAlign>(
      patterns.getContext());
}

void SoftmaxOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  addFamilyPatterns(patterns);
  patterns.add<DropUnusedLse<SoftmaxOp>>(context);
}

void GqaOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                        MLIRContext *context) {
  addFamilyPatterns(patterns);
  patterns.add<DropUnusedLse<GqaOp>, GqaToSoftmax>(context);
}
