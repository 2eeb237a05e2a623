// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Feature maps: their attributes and attn.feature_map.

#include "dialect/ShapeRules.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

//===- attributes ---------------------------------------------------------===//

int64_t HedgehogAttr::getNumFeatures(int64_t dim) const { return 2 * dim; }
int64_t CosformerAttr::getNumFeatures(int64_t dim) const { return 2 * dim; }
int64_t Taylor2Attr::getNumFeatures(int64_t dim) const {
  return 1 + dim + dim * (dim + 1) / 2;
}
int64_t HyperbolicAttr::getNumFeatures(int64_t dim) const { return 2 * dim; }
int64_t TrigonometricAttr::getNumFeatures(int64_t dim) const { return 2 * dim; }

bool SoftmaxPositionsAttr::mixesPositions() const { return true; }

bool PositiveAttr::needsProjection() const { return true; }
bool HyperbolicAttr::needsProjection() const { return true; }
bool TrigonometricAttr::needsProjection() const { return true; }

bool PositiveAttr::isExponential() const { return true; }
bool HyperbolicAttr::isExponential() const { return true; }

LogicalResult ReluAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               FloatAttr eps) {
  if (!eps || (eps.getValue().isFinite() && !eps.getValue().isNegative()))
    return success();
  return emitError() << "eps: expected a finite number >= 0, got " << eps;
}

LogicalResult
CosformerAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      std::optional<int64_t> length) {
  if (!length || *length >= 1)
    return success();
  return emitError() << "length: expected at least 1, got " << *length;
}

LogicalResult attn::verifyMappedDim(Operation *op, StringRef operand,
                                    StringRef what,
                                    FeatureAttrInterface feature, int64_t dim) {
  bool changes = feature.getNumFeatures(1) != 1;
  if (!changes)
    return success();
  if (ShapedType::isDynamic(dim))
    return op->emitOpError() << operand << ": expected a static " << what
                             << ", which " << feature << " changes";
  int64_t most = int64_t(1) << (isa<Taylor2Attr>(feature) ? 16 : 61);
  if (dim <= most)
    return success();
  return op->emitOpError() << operand << ": expected a " << what
                           << " of at most " << most << " for " << feature
                           << ", got " << dim;
}

//===- attn.feature_map ---------------------------------------------------===//

SmallVector<ShapeRule> attn::getShapeRules(FeatureMapOp op) {
  using Kind = ShapeRule::Kind;
  SmallVector<ShapeRule> rules;
  if (op.getProjection()) {
    addShapeRule(rules, Kind::Equal, {op.getInput(), 3},
                 {op.getProjection(), 1}, "projection", "head dim",
                 "from input");
    addShapeRule(rules, Kind::AtLeastOne, {}, {op.getProjection(), 0},
                 "projection", "rows of at least", "");
  }
  if (op.getLengths() && !op.getLengths().getType().isIndex())
    addShapeRule(rules, Kind::Equal, {op.getInput(), 0}, {op.getLengths(), 0},
                 "lengths", "batch", "from input");
  return rules;
}

/// Entries of the vectors that the map is applied to.
static DimRef getMappedDim(FeatureMapOp op) {
  if (op.getProjection())
    return {op.getProjection(), 0};
  return {op.getInput(), 3};
}

/// The number of features for vectors of `dim` entries.
static int64_t countFeatures(FeatureMapOp op, int64_t dim) {
  return op.getFeature() ? op.getFeature()->getNumFeatures(dim) : dim;
}

LogicalResult FeatureMapOp::verify() {
  if (failed(verifyDiscardableAttributes(*this)))
    return failure();
  RankedTensorType input = getInput().getType(), result = getResult().getType();
  Type element = input.getElementType();
  FloatType sum = attn::getComputeType(element);
  if (result.getElementType() != element && result.getElementType() != sum)
    return emitOpError() << "result: expected element type " << element
                         << " or " << sum << ", got "
                         << result.getElementType();
  if (getProjection() &&
      failed(verifyProjectionType(*this, getProjection(), element, "input")))
    return failure();
  if (static_cast<bool>(getFeature()) != getMap().empty())
    return emitOpError() << "expected either a feature or a map region";
  FeatureAttrInterface feature = getFeature().value_or(nullptr);
  if (feature && feature.needsProjection() && !getProjection())
    return emitOpError() << "projection: expected one beside " << feature;
  if (getLog() && !(feature && feature.isExponential()))
    return emitOpError() << "log: expected features that are exponentials";
  if (getLengths() && !(feature && feature.mixesPositions()))
    return emitOpError() << "lengths: expected a feature that mixes positions";
  if (auto cosformer = dyn_cast_if_present<CosformerAttr>(feature);
      getLength() && !(cosformer && !cosformer.getLength()))
    return emitOpError()
           << "length: expected #attn.cosformer without one beside it";
  if (std::optional<APFloat> scale = getScale();
      scale && failed(verifyScale(*this, *scale, sum)))
    return failure();
  if (auto relu = dyn_cast_if_present<ReluAttr>(feature);
      relu && relu.getEps() &&
      failed(verifyEps(*this, relu.getEps().getValue(), sum)))
    return failure();
  if (failed(verifyShapeRules(*this, attn::getShapeRules(*this))))
    return failure();

  std::optional<int64_t> dim = getStaticSize(getMappedDim(*this));
  if (feature &&
      failed(verifyMappedDim(*this, "input", "number of entries", feature,
                             dim.value_or(ShapedType::kDynamic))))
    return failure();
  SmallVector<int64_t> sizes(input.getShape());
  sizes[3] = dim ? countFeatures(*this, *dim) : ShapedType::kDynamic;
  return verifyResultType(*this, "result", result, sizes,
                          result.getElementType());
}

LogicalResult FeatureMapOp::verifyRegions() {
  return verifyMapRegion(
      *this, getMap(),
      attn::getComputeType(getInput().getType().getElementType()));
}

LogicalResult
FeatureMapOp::reifyResultShapes(OpBuilder &builder,
                                ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, getLoc(), getInput());
  DimRef mapped = getMappedDim(*this);
  sizes[3] =
      tensor::getMixedSize(builder, getLoc(), mapped.operand, mapped.dim);
  if (std::optional<int64_t> dim = getStaticSize(mapped))
    sizes[3] = builder.getIndexAttr(countFeatures(*this, *dim));
  shapes.push_back(std::move(sizes));
  return success();
}
