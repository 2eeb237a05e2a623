// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Feature maps in f64, for the decompositions that apply one.

#ifndef ATTN_PASSES_DECOMPOSE_FEATUREBUILDER_H
#define ATTN_PASSES_DECOMPOSE_FEATUREBUILDER_H

#include "dialect/Attn.h"
#include "passes/decompose/PlainGeneric.h"

namespace mlir::attn {

/// A feature map with all that `attn.feature_map` may say beside it.
struct FeatureMap {
  FeatureAttrInterface kind; // null where there is a region
  Region *region = nullptr;
  Value projection; // may be null
  Value scale;      // of the vectors, in f64; null for 1
  Value offset;     // position of row 0, null for 0
  Value length;     // M of #attn.cosformer without one, null for all rows
  Value lengths;    // rows in use, null for all
  bool log = false;
};

/// Builds the features of a tensor, one equation of the attributes' definitions
/// after the other. Tensors are B x H x S x something, whole.
class FeatureBuilder : F64Builder {
public:
  FeatureBuilder(OpBuilder &builder, Location loc, const FeatureMap &map)
      : F64Builder(builder, loc), map(map) {}

  /// phi(W (scale x)) of each vector x, in f64.
  Value build(Value input);

private:
  using Body = function_ref<Value(ValueRange)>;

  Value buildScaled(Value input);
  Value buildProjected(Value vectors);
  Value buildHalfNorms(Value vectors);
  Value buildNegated(Value entries);
  Value buildCosformer(Value entries);
  Value buildTaylor2(Value entries);
  Value buildSoftmaxOfFeatures(Value entries);
  Value buildSoftmaxOfPositions(Value entries);
  Value buildExponential(Value projected, Value halfNorms);
  Value buildTrigonometric(Value projected, Value halfNorms);

  /// A new element from each.
  Value buildMap(Value tensor, Body body);
  /// exp(entries - max) / sum, over the dimensions that are not `kept`.
  Value buildSoftmax(Value entries, ArrayRef<int64_t> kept);
  /// Twice the entries, those of the second half from `second`.
  Value buildDoubled(Value entries, Body first, Body second);
  Value makeCount(Value index);
  Value insertFeatures(Value features, Value into, OpFoldResult at);

  FeatureMap map;
};

/// The key of `op`, with the head dim of its query where only that is known:
/// what a map makes of vectors may depend on it.
Value buildKeyOfKnownDim(OpBuilder &b, LinearOp op);

} // namespace mlir::attn

#endif // ATTN_PASSES_DECOMPOSE_FEATUREBUILDER_H
