// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.linear: verifier, rules between sizes and shape inference; l-numbers as
// in the op's description.

#include "dialect/Clauses.h"
#include "dialect/ShapeRules.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

#define GET_OP_CLASSES
#include "dialect/AttnLinearOps.cpp.inc"

//===- queries on the op --------------------------------------------------===//

FloatType LinearOp::getComputeType() {
  return attn::getComputeType(getValue().getType().getElementType());
}

bool LinearOp::hasGroupedValues() {
  int64_t keyHeads = getKey().getType().getDimSize(1);
  int64_t valueHeads = getValue().getType().getDimSize(1);
  return !ShapedType::isDynamic(keyHeads) &&
         !ShapedType::isDynamic(valueHeads) && keyHeads != valueHeads;
}

FeatureAttrInterface LinearOp::getQueryFeature() {
  if (ArrayAttr features = getFeatureAttr())
    return cast<FeatureAttrInterface>(features[0]);
  return cast<FeatureAttrInterface>(IdentityAttr::get(getContext()));
}

FeatureAttrInterface LinearOp::getKeyFeature() {
  if (ArrayAttr features = getFeatureAttr(); features && features.size() > 1)
    return cast<FeatureAttrInterface>(features[1]);
  return getQueryFeature();
}

int64_t LinearOp::getNumFeatures() {
  int64_t dim = getQuery().getType().getDimSize(3);
  return ShapedType::isDynamic(dim) ? dim
                                    : getQueryFeature().getNumFeatures(dim);
}

//===- rules between sizes ------------------------------------------------===//

SmallVector<ShapeRule> attn::getShapeRules(LinearOp op) {
  using Kind = ShapeRule::Kind;
  Value query = op.getQuery(), key = op.getKey(), value = op.getValue();
  SmallVector<ShapeRule> rules;
  auto add = [&](Kind kind, DimRef expected, DimRef got, StringRef operand,
                 StringRef what, StringRef from) {
    addShapeRule(rules, kind, expected, got, operand, what, from);
  };
  // l22, l23, ahead of the rules that take batch entries for those of query
  Value starts = op.getQueryStarts();
  if (starts) {
    add(Kind::Equal, {}, {query, 0}, "query", "batch", "with query_starts");
    add(Kind::AtLeastOne, {}, {starts, 0}, "query_starts",
        "entries of at least", "");
  }
  if (starts && op.getKeyStarts())
    add(Kind::Equal, {starts, 0}, {op.getKeyStarts(), 0}, "key_starts",
        "entries", "from query_starts");
  // l2 to l6, l20
  addOperandRules(rules, query, key, value,
                  op.hasGroupedValues() ? HeadRule::GroupedValues
                                        : HeadRule::GroupedQueries);
  if (op.getCausal() || (starts && !op.getKeyStarts()))
    add(Kind::Equal, {query, 2}, {key, 2}, "key", "length", "from query");

  // l7 to l12
  DimRef features{query, 3};
  if (int64_t count = op.getNumFeatures(); !ShapedType::isDynamic(count))
    features = {Value(), 0, count};
  auto addAll = [&](Value operand, StringRef name,
                    ArrayRef<std::tuple<DimRef, StringRef, StringRef>> dims) {
    for (auto [dim, rule] : llvm::enumerate(dims)) {
      auto [expected, what, from] = rule;
      if (operand && static_cast<int64_t>(dim) <
                         cast<RankedTensorType>(operand.getType()).getRank())
        add(Kind::Equal, expected, {operand, static_cast<int64_t>(dim)}, name,
            what, from);
    }
  };
  std::tuple<DimRef, StringRef, StringRef> perToken[] = {
      {{query, 0}, "batch", "from query"},
      {{value, 1}, "heads", "from value"},
      {{key, 2}, "length", "from key"},
      {features, "features", "from query"}};
  if (Value decay = op.getDecay()) {
    bool isPerHead = cast<RankedTensorType>(decay.getType()).getRank() == 1;
    addAll(decay, "decay",
           isPerHead ? ArrayRef(perToken).slice(1, 1) : ArrayRef(perToken));
  }
  addAll(op.getBeta(), "beta", perToken);
  addAll(op.getRead(), "transition a", perToken);
  addAll(op.getWrite(), "transition b", perToken);
  addAll(op.getBonus(), "bonus", {perToken[1], perToken[3]});
  auto addPerState = [&](Value operand, StringRef name) {
    if (operand && starts)
      add(Kind::OneFewer, {starts, 0}, {operand, 0}, name,
          "entries to be one fewer than", "from query_starts");
    else if (operand)
      add(Kind::Equal, {query, 0}, {operand, 0}, name, "batch", "from query");
  };
  addPerState(op.getState(), "state");
  if (Value state = op.getState()) {
    add(Kind::Equal, {value, 1}, {state, 1}, "state", "heads", "from value");
    add(Kind::Equal, features, {state, 2}, "state", "features", "from query");
  }
  if (Value state = op.getState()) {
    if (op.getNormalize())
      add(Kind::OneFewer, {state, 3}, {value, 3}, "value",
          "head dim to be one fewer than the columns", "from state");
    else
      add(Kind::Equal, {value, 3}, {state, 3}, "state", "columns",
          "from value");
  }
  if (op.getLengths() && !op.getLengths().getType().isIndex())
    addPerState(op.getLengths(), "lengths");
  return rules;
}

//===- verifier -----------------------------------------------------------===//

/// l1: element types.
static LogicalResult verifyElementTypes(LinearOp op) {
  Type value = op.getValue().getType().getElementType();
  FloatType sum = op.getComputeType();
  auto element = [](Value operand) {
    return getElementTypeOrSelf(operand.getType());
  };
  Type query = element(op.getQuery());
  auto check = [&](StringRef name, Value operand, ArrayRef<Type> allowed,
                   StringRef from) -> LogicalResult {
    if (!operand || llvm::is_contained(allowed, element(operand)))
      return success();
    InFlightDiagnostic error = op.emitOpError()
                               << name << ": expected element type ";
    llvm::interleave(llvm::SetVector<Type>(allowed.begin(), allowed.end()),
                     error, " or ");
    return error << " (from " << from << "), got " << element(operand);
  };
  if (failed(check("query", op.getQuery(), {value, sum}, "value")) ||
      failed(check("key", op.getKey(), {query}, "query")) ||
      failed(check("decay", op.getDecay(), {sum}, "value")) ||
      failed(check("beta", op.getBeta(), {value, sum}, "value")) ||
      failed(check("transition a", op.getRead(), {query}, "query")) ||
      failed(check("transition b", op.getWrite(), {query}, "query")) ||
      failed(check("bonus", op.getBonus(), {value, sum}, "value")))
    return failure();
  return check("state", op.getState(), {sum}, "value");
}

/// l15 to l19, l21: which clauses stand beside which.
static LogicalResult verifyClauses(LinearOp op) {
  std::pair<StringRef, bool> causal[] = {
      {"decay", static_cast<bool>(op.getDecay())},
      {"beta", static_cast<bool>(op.getBeta())},
      {"transition", static_cast<bool>(op.getRead())},
      {"bonus", static_cast<bool>(op.getBonus())}};
  for (auto [name, isThere] : causal) {
    if (isThere && !op.getCausal())
      return op.emitOpError() << name << ": expected causal beside it";
    if (isThere && op.getBlock())
      return op.emitOpError() << name << ": expected none beside block";
  }
  if (std::optional<uint64_t> block = op.getBlock()) {
    if (!op.getCausal())
      return op.emitOpError() << "block: expected causal beside it";
    if (static_cast<int64_t>(*block) < 1)
      return op.emitOpError() << "block: expected at least 1, got "
                              << static_cast<int64_t>(*block);
  }
  if (op.getBeta() && op.getRead())
    return op.emitOpError() << "transition: expected none beside beta";
  if (op.getKeyStarts() && !op.getQueryStarts())
    return op.emitOpError() << "key_starts: expected query_starts beside it";
  if (op.getKeyStarts() && op.getCausal())
    return op.emitOpError() << "key_starts: expected none beside causal";
  if (ArrayAttr features = op.getFeatureAttr()) {
    if (features.empty() || features.size() > 2)
      return op.emitOpError() << "feature: expected one or two feature maps, "
                                 "got "
                              << features.size();
    for (Attribute attribute : features) {
      auto feature = dyn_cast<FeatureAttrInterface>(attribute);
      if (!feature)
        return op.emitOpError()
               << "feature: expected a feature map, got " << attribute;
      if (feature.needsProjection())
        return op.emitOpError() << "feature: expected a map without "
                                   "projection, got "
                                << feature;
      if (auto relu = dyn_cast<ReluAttr>(attribute);
          relu && relu.getEps() &&
          failed(verifyEps(op, relu.getEps().getValue(), op.getComputeType())))
        return failure();
      if (feature.mixesPositions() && (op.getCausal() || op.getQueryStarts()))
        return op.emitOpError()
               << "feature: expected a map that reads no other position beside "
               << (op.getCausal() ? "causal" : "query_starts") << ", got "
               << feature;
      if (failed(verifyMappedDim(op, "query", "head dim", feature,
                                 op.getQuery().getType().getDimSize(3))))
        return failure();
    }
    int64_t dim = op.getQuery().getType().getDimSize(3);
    if (!ShapedType::isDynamic(dim)) {
      int64_t forQuery = op.getQueryFeature().getNumFeatures(dim);
      int64_t forKey = op.getKeyFeature().getNumFeatures(dim);
      if (forQuery != forKey)
        return op.emitOpError()
               << "feature: expected " << forQuery
               << " features of a key (from query), got " << forKey;
    }
  }
  return success();
}

/// l13: the types of the results.
static LogicalResult verifyResults(LinearOp op) {
  RankedTensorType query = op.getQuery().getType();
  RankedTensorType value = op.getValue().getType();
  int64_t heads = (op.hasGroupedValues() ? value : query).getDimSize(1);
  if (failed(verifyResultType(op, "output", op.getOutput().getType(),
                              {query.getDimSize(0), heads, query.getDimSize(2),
                               value.getDimSize(3)},
                              value.getElementType())))
    return failure();
  if (!op.getFinalState())
    return success();
  int64_t columns = value.getDimSize(3);
  if (!ShapedType::isDynamic(columns))
    columns += op.getNumExtraColumns();
  int64_t states = query.getDimSize(0);
  if (Value starts = op.getQueryStarts()) {
    states = cast<RankedTensorType>(starts.getType()).getDimSize(0);
    if (!ShapedType::isDynamic(states))
      --states;
  }
  return verifyResultType(
      op, "final_state", op.getFinalState().getType(),
      {states, value.getDimSize(1), op.getNumFeatures(), columns},
      op.getComputeType());
}

LogicalResult LinearOp::verify() {
  if (failed(verifyDiscardableAttributes(*this)) ||
      failed(verifyElementTypes(*this)) || failed(verifyClauses(*this)) ||
      failed(verifyShapeRules(*this, attn::getShapeRules(*this))))
    return failure();
  if (std::optional<APFloat> scale = getScale();
      scale && failed(verifyScale(*this, *scale, getComputeType())))
    return failure();
  return verifyResults(*this);
}

//===- shapes -------------------------------------------------------------===//

LogicalResult LinearOp::reifyResultShapes(OpBuilder &builder,
                                          ReifiedRankedShapedTypeDims &shapes) {
  auto getDim = [&](Value value, int64_t dim) {
    return tensor::getMixedSize(builder, getLoc(), value, dim);
  };
  OpFoldResult columns = getDim(getValue(), 3);
  shapes.push_back({getDim(getQuery(), 0),
                    getDim(hasGroupedValues() ? getValue() : getQuery(), 1),
                    getDim(getQuery(), 2), columns});
  if (!getFinalState())
    return success();
  auto add = [&](OpFoldResult size, int64_t number) {
    return getAsOpFoldResult(builder.createOrFold<arith::AddIOp>(
        getLoc(), getValueOrCreateConstantIndexOp(builder, getLoc(), size),
        arith::ConstantIndexOp::create(builder, getLoc(), number)));
  };
  if (getNormalize())
    columns = add(columns, 1);
  OpFoldResult states = getDim(getQuery(), 0);
  if (getQueryStarts())
    states = add(getDim(getQueryStarts(), 0), -1);
  OpFoldResult features = getDim(getQuery(), 3);
  if (int64_t count = getNumFeatures(); !ShapedType::isDynamic(count))
    features = builder.getIndexAttr(count);
  shapes.push_back({states, getDim(getValue(), 1), features, columns});
  return success();
}
