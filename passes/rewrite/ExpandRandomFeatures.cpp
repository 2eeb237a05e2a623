// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random projections are constants: the first thing that both the rewrite stage
// and the decomposition do, so that no device has a generator of its own.

#include "passes/rewrite/Rewrite.h"

#include "passes/Passes.h"
#include "passes/analysis/RandomFeatures.h"

namespace mlir::attn {
#define GEN_PASS_DEF_EXPANDRANDOMFEATURES
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// %w = attn.random_features seed(7) : tensor<256x64xf32>
///   ->
/// %w = arith.constant dense<...> : tensor<256x64xf32>
LogicalResult attn::expandRandomFeatures(RewriterBase &rewriter,
                                         RandomFeaturesOp op) {
  RankedTensorType type = op.getResult().getType();
  int64_t rows = type.getDimSize(0), dim = type.getDimSize(1);
  std::vector<double> features = makeRandomFeatures(
      static_cast<uint64_t>(op.getSeed()), rows, dim, op.getOrthogonal(),
      op.getNorms().value_or(Norms::Chi));
  DenseElementsAttr value;
  if (type.getElementType().isF64()) {
    value = DenseElementsAttr::get(type, ArrayRef(features));
  } else {
    std::vector<float> rounded(features.begin(), features.end());
    value = DenseElementsAttr::get(type, ArrayRef(rounded));
  }
  rewriter.setInsertionPoint(op);
  rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, value);
  return success();
}

namespace {

struct ExpandRandomFeaturesPass
    : public attn::impl::ExpandRandomFeaturesBase<ExpandRandomFeaturesPass> {
  void runOnOperation() override {
    SmallVector<RandomFeaturesOp> ops;
    getOperation().walk([&](RandomFeaturesOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (RandomFeaturesOp op : ops)
      if (failed(expandRandomFeatures(rewriter, op)))
        return signalPassFailure();
  }
};

} // namespace
