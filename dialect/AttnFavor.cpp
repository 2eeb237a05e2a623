// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.favor and attn.random_features: verifiers, rules between sizes and shape
// inference.

#include "dialect/ShapeRules.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

//===- attn.random_features -----------------------------------------------===//

LogicalResult RandomFeaturesOp::verify() {
  if (failed(verifyDiscardableAttributes(*this)))
    return failure();
  RankedTensorType type = getResult().getType();
  // The product of sizes may be more than 64 bits hold.
  if (!type.hasStaticShape() || llvm::is_contained(type.getShape(), 0))
    return emitOpError() << "result: expected static sizes of at least one, "
                            "got "
                         << type;
  if (!type.getElementType().isF32() && !type.getElementType().isF64())
    return emitOpError() << "result: expected element type f32 or f64, got "
                         << type.getElementType();
  constexpr int64_t kMostRows = 1 << 18, kMostEntries = 1 << 22;
  constexpr int64_t kMostProducts = int64_t(1) << 31;
  int64_t rows = type.getDimSize(0), dim = type.getDimSize(1);
  if (rows > kMostRows)
    return emitOpError() << "result: expected at most " << kMostRows
                         << " rows, got " << type;
  if (dim > kMostEntries / rows)
    return emitOpError() << "result: expected at most " << kMostEntries
                         << " entries, got " << type;
  // A row of a block is made orthogonal to those before it.
  if (getOrthogonal() && rows * dim > kMostProducts / std::min(rows, dim))
    return emitOpError() << "result: expected at most " << kMostProducts
                         << " products for orthogonal rows, M D min(M, D), got "
                         << type;
  return success();
}

//===- attn.favor ---------------------------------------------------------===//

SmallVector<ShapeRule> attn::getShapeRules(FavorOp op) {
  using Kind = ShapeRule::Kind;
  Value query = op.getQuery(), key = op.getKey();
  SmallVector<ShapeRule> rules;
  auto add = [&](Kind kind, DimRef expected, DimRef got, StringRef operand,
                 StringRef what, StringRef from) {
    addShapeRule(rules, kind, expected, got, operand, what, from);
  };
  addOperandRules(rules, query, key, op.getValue(), HeadRule::GroupedQueries);
  add(Kind::Equal, {query, 3}, {op.getProjection(), 1}, "projection",
      "head dim", "from query");
  add(Kind::AtLeastOne, {}, {op.getProjection(), 0}, "projection",
      "rows of at least", "");
  if (op.getLengths() && !op.getLengths().getType().isIndex())
    add(Kind::Equal, {query, 0}, {op.getLengths(), 0}, "lengths", "batch",
        "from query");
  if (op.getCausal())
    add(Kind::Equal, {query, 2}, {key, 2}, "key", "length", "from query");
  return rules;
}

LogicalResult FavorOp::verify() {
  if (failed(verifyDiscardableAttributes(*this)))
    return failure();
  RankedTensorType query = getQuery().getType();
  Type element = query.getElementType();
  for (auto [name, operand] :
       {std::pair<StringRef, Value>{"key", getKey()}, {"value", getValue()}})
    if (Type got = getElementTypeOrSelf(operand.getType()); got != element)
      return emitOpError() << name << ": expected element type " << element
                           << " (from query), got " << got;
  if (failed(verifyProjectionType(*this, getProjection(), element, "query")))
    return failure();
  FloatType sum = attn::getComputeType(element);
  if (std::optional<APFloat> scale = getScale()) {
    if (failed(verifyScale(*this, *scale, sum)))
      return failure();
    if (!(scale->convertToDouble() > 0))
      return emitOpError() << "scale: expected a number > 0, got "
                           << scale->convertToDouble();
  }
  if (std::optional<APFloat> eps = getEps();
      eps && failed(verifyEps(*this, *eps, sum)))
    return failure();
  if (failed(verifyShapeRules(*this, attn::getShapeRules(*this))))
    return failure();
  SmallVector<int64_t> sizes(query.getShape());
  sizes[3] = getValue().getType().getDimSize(3);
  return verifyResultType(*this, "output", getOutput().getType(), sizes,
                          element);
}

LogicalResult FavorOp::reifyResultShapes(OpBuilder &builder,
                                         ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, getLoc(), getQuery());
  sizes[3] = tensor::getMixedSize(builder, getLoc(), getValue(), 3);
  shapes.push_back(std::move(sizes));
  return success();
}
