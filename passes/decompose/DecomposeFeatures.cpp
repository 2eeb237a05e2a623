// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.feature_map as plain linalg in f64, for the reference device. The
// formulas are in FeatureBuilder.cpp.

#include "passes/decompose/FeatureBuilder.h"
#include "passes/decompose/WidenRegion.h"

#include "passes/Passes.h"

#include "mlir/IR/TypeUtilities.h"

namespace mlir::attn {
#define GEN_PASS_DEF_DECOMPOSEFEATURES
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// The value for the result of `op`.
static Value decompose(FeatureMapOp op, OpBuilder &builder) {
  Location loc = op.getLoc();
  F64Builder f64(builder, loc);
  FeatureMap map;
  map.kind = op.getFeature().value_or(nullptr);
  if (!op.getMap().empty())
    map.region = &op.getMap();
  map.projection = op.getProjection();
  if (std::optional<APFloat> scale = op.getScale())
    map.scale = f64.makeFloat(scale->convertToDouble());
  map.offset = op.getOffset();
  map.length = op.getLength();
  map.lengths = op.getLengths();
  map.log = op.getLog();
  Value features = FeatureBuilder(builder, loc, map).build(op.getInput());
  return f64.roundAll(features, getElementTypeOrSelf(op.getType()));
}

namespace {

struct DecomposeFeaturesPass
    : public attn::impl::DecomposeFeaturesBase<DecomposeFeaturesPass> {
  void runOnOperation() override {
    SmallVector<FeatureMapOp> ops;
    getOperation().walk([&](FeatureMapOp op) { ops.push_back(op); });
    for (FeatureMapOp op : ops) {
      OpBuilder builder(op);
      Value result = decompose(op, builder);
      op->replaceAllUsesWith(castToResults(builder, op, result));
      op->erase();
    }
  }
};

} // namespace
