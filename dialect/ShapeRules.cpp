// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of shape constraints of the softmax family, c2 to c12 and c22 to
// c32, the numbers that are attributes, c13 and c14, and what the verifiers of
// all ops have in common.

#include "dialect/ShapeRules.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

bool ShapeRule::holds(int64_t expectedSize, int64_t gotSize) const {
  switch (kind) {
  case Kind::Equal:
    return gotSize == expectedSize;
  case Kind::MultipleOf:
    return expectedSize == 0 ? gotSize == 0 : gotSize % expectedSize == 0;
  case Kind::Broadcast:
    return gotSize == 1 || gotSize == expectedSize;
  case Kind::OneFewer:
    return gotSize == expectedSize - 1;
  case Kind::AtLeastOne:
    return gotSize >= 1;
  }
  llvm_unreachable("unknown rule kind");
}

std::string ShapeRule::describe(Operation *op) const {
  std::string text = "'" + op->getName().getStringRef().str() + "' op " +
                     operand + ": expected " + what;
  if (!from.empty())
    text += " (" + from + ")";
  return text;
}

void attn::addShapeRule(SmallVectorImpl<ShapeRule> &rules, ShapeRule::Kind kind,
                        DimRef expected, DimRef got, StringRef operand,
                        StringRef what, StringRef from) {
  rules.push_back({kind, expected, got, operand.str(), what.str(), from.str()});
}

void attn::addOperandRules(SmallVectorImpl<ShapeRule> &rules, Value query,
                           Value key, Value value, HeadRule heads) {
  using Kind = ShapeRule::Kind;
  auto add = [&](Kind kind, DimRef expected, DimRef got, StringRef operand,
                 StringRef what, StringRef from) {
    addShapeRule(rules, kind, expected, got, operand, what, from);
  };
  add(Kind::Equal, {query, 0}, {key, 0}, "key", "batch", "from query");
  add(Kind::Equal, {query, 0}, {value, 0}, "value", "batch", "from query");
  if (heads == HeadRule::GroupedValues)
    add(Kind::MultipleOf, {key, 1}, {value, 1}, "value",
        "heads to be a multiple of key heads", "from key");
  else
    add(Kind::Equal, {key, 1}, {value, 1}, "value", "heads", "from key");
  if (heads == HeadRule::GroupedQueries)
    add(Kind::MultipleOf, {key, 1}, {query, 1}, "query",
        "heads to be a multiple of key heads", "from key");
  else
    add(Kind::Equal, {query, 1}, {key, 1}, "key", "heads", "from query");
  add(Kind::Equal, {query, 3}, {key, 3}, "key", "head dim", "from query");
  add(Kind::Equal, {key, 2}, {value, 2}, "value", "length", "from key");
  add(Kind::AtLeastOne, {}, {query, 3}, "query", "head dim of at least", "");
}

SmallVector<ShapeRule> attn::getShapeRules(SoftmaxFamilyInterface op) {
  using Kind = ShapeRule::Kind;
  Value query = op.getQuery(), key = op.getKey();
  SmallVector<ShapeRule> rules;
  auto add = [&](Kind kind, DimRef expected, DimRef got, StringRef operand,
                 StringRef what, StringRef from) {
    addShapeRule(rules, kind, expected, got, operand, what, from);
  };
  addOperandRules(rules, query, key, op.getValue(),
                  op.hasGroupedHeads() ? HeadRule::GroupedQueries
                                       : HeadRule::Equal);

  Value starts = op.getQueryStarts();
  auto addPerBatch = [&](Value operand, StringRef name) {
    if (!operand || !isa<RankedTensorType>(operand.getType()))
      return;
    if (starts)
      add(Kind::OneFewer, {starts, 0}, {operand, 0}, name,
          "entries to be one fewer than", "from query_starts");
    else
      add(Kind::Equal, {query, 0}, {operand, 0}, name, "batch", "from query");
  };
  auto addPerHead = [&](Value operand, StringRef name) {
    if (operand)
      add(Kind::Equal, {query, 1}, {operand, 0}, name, "heads", "from query");
  };
  auto addBroadcast = [&](Value operand, StringRef name) {
    if (!operand)
      return;
    std::tuple<DimRef, StringRef, StringRef> sizes[] = {
        {{query, 0}, "1 or batch", "from query"},
        {{query, 1}, "1 or heads", "from query"},
        {{query, 2}, "1 or rows", "from query"},
        {{key, 2}, "1 or keys", "from key"}};
    int64_t rank = cast<RankedTensorType>(operand.getType()).getRank();
    for (int64_t dim = 0; dim < rank; ++dim) {
      auto [expected, what, from] = sizes[4 - rank + dim];
      add(Kind::Broadcast, expected, {operand, dim}, name, what, from);
    }
  };
  addPerBatch(op.getOffset(), "offset");    // c11
  addPerBatch(op.getLengths(), "lengths");  // c12
  addPerBatch(op.getPrefix(), "prefix");    // c22
  if (Value table = op.getRandomBlocks()) { // c32
    add(Kind::Broadcast, {query, 1}, {table, 0}, "random_blocks", "1 or heads",
        "from query");
    add(Kind::AtLeastOne, {}, {table, 1}, "random_blocks", "blocks of at least",
        "");
  }
  addPerHead(op.getAlibi(), "alibi");     // c24
  addBroadcast(op.getBias(), "bias");     // c25
  addBroadcast(op.getSelect(), "select"); // c26
  addPerHead(op.getSinks(), "sinks");     // c27
  if (starts && op.getKeyStarts()) {
    // c29, c30
    add(Kind::Equal, {}, {query, 0}, "query", "batch", "with query_starts");
    add(Kind::Equal, {starts, 0}, {op.getKeyStarts(), 0}, "key_starts",
        "entries", "from query_starts");
    add(Kind::AtLeastOne, {}, {starts, 0}, "query_starts",
        "entries of at least", "");
  }
  return rules;
}

std::optional<int64_t> attn::getStaticSize(DimRef ref) {
  if (!ref.operand)
    return ref.number;
  auto type = cast<RankedTensorType>(ref.operand.getType());
  if (type.isDynamicDim(ref.dim))
    return std::nullopt;
  return type.getDimSize(ref.dim);
}

LogicalResult attn::verifyShapeRules(SoftmaxFamilyInterface op) {
  return verifyShapeRules(op, getShapeRules(op));
}

LogicalResult attn::verifyShapeRules(Operation *op, ArrayRef<ShapeRule> rules) {
  for (const ShapeRule &rule : rules) {
    std::optional<int64_t> expected = getStaticSize(rule.expected);
    std::optional<int64_t> got = getStaticSize(rule.got);
    if (!expected || !got || rule.holds(*expected, *got))
      continue;
    InFlightDiagnostic diag = op->emitOpError()
                              << rule.operand << ": expected " << rule.what
                              << " " << *expected;
    if (!rule.from.empty())
      diag << " (" << rule.from << ")";
    return diag << ", got " << *got;
  }
  return success();
}

LogicalResult attn::verifyResultType(Operation *op, StringRef name, Type got,
                                     ArrayRef<int64_t> sizes, Type element) {
  auto type = cast<RankedTensorType>(got);
  bool fits = type.getElementType() == element &&
              type.getRank() == static_cast<int64_t>(sizes.size());
  if (fits)
    for (auto [size, expected] : llvm::zip(type.getShape(), sizes))
      fits &= ShapedType::isDynamic(size) || size == expected;
  if (fits)
    return success();
  return op->emitOpError() << name << ": expected "
                           << RankedTensorType::get(sizes, element) << ", got "
                           << type;
}

LogicalResult attn::verifyDiscardableAttributes(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    StringRef name = attribute.getName().getValue();
    if (name.contains('.'))
      continue;
    // Dropout of 0 is what there is.
    auto number = dyn_cast<FloatAttr>(attribute.getValue());
    if (name == "dropout" && number && number.getValue().isZero())
      continue;
    if (name == "dropout")
      return op->emitOpError()
             << "dropout: expected none or 0.0, as attention is not trained "
                "here, got "
             << attribute.getValue();
    return op->emitOpError() << "expected an attribute of the op or one with "
                                "the prefix of a dialect, got '"
                             << name << "'";
  }
  return success();
}

static APFloat roundTo(FloatType type, APFloat number) {
  bool losesInfo;
  number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number;
}

bool NumberRule::holds(const APFloat &number) const {
  switch (kind) {
  case Kind::Finite:
    return roundTo(type, number).isFinite();
  case Kind::PositiveWithReciprocal:
    // The reciprocal is what logits are multiplied by. A subnormal number
    // would be 0 while compiled code runs.
    return !number.isNegative() && roundTo(type, number).isNormal() &&
           roundTo(type, APFloat(1.0 / number.convertToDouble())).isNormal();
  }
  llvm_unreachable("unknown rule kind");
}

std::string NumberRule::getExpected() const {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return kind == Kind::Finite ? "a number that is finite in " + name
                              : "a number > 0 that is normal in " + name +
                                    " with its reciprocal";
}

std::string NumberRule::describe(Operation *op) const {
  return "'" + op->getName().getStringRef().str() + "' op " + operand +
         ": expected " + getExpected();
}

SmallVector<NumberRule> attn::getNumberRules(SoftmaxFamilyInterface op) {
  using Kind = NumberRule::Kind;
  FloatType type = getComputeType(op);
  SmallVector<NumberRule> rules;
  if (Value scale = op.getScaleValue())
    rules.push_back({Kind::Finite, scale, type, "scale"}); // c13
  if (Value cap = op.getSoftcapValue())
    rules.push_back({Kind::PositiveWithReciprocal, cap,
                     cast<FloatType>(cap.getType()), "softcap"}); // c14
  return rules;
}

static LogicalResult verifyNumber(Operation *op, const NumberRule &rule,
                                  const APFloat &number) {
  if (rule.holds(number))
    return success();
  return op->emitOpError() << rule.operand << ": expected "
                           << rule.getExpected() << ", got "
                           << number.convertToDouble();
}

LogicalResult attn::verifyScale(Operation *op, const APFloat &scale,
                                FloatType type) {
  return verifyNumber(op, {NumberRule::Kind::Finite, {}, type, "scale"}, scale);
}

LogicalResult attn::verifySoftcap(Operation *op, const APFloat &softcap,
                                  FloatType type) {
  return verifyNumber(
      op, {NumberRule::Kind::PositiveWithReciprocal, {}, type, "softcap"},
      softcap);
}

LogicalResult attn::verifyProjectionType(Operation *op, Value projection,
                                         Type type, StringRef from) {
  Type got = getElementTypeOrSelf(projection.getType());
  if (got.isF32() || got == type)
    return success();
  InFlightDiagnostic error = op->emitOpError()
                             << "projection: expected element type ";
  if (!type.isF32())
    error << Float32Type::get(op->getContext()) << " or ";
  return error << type << " (from " << from << "), got " << got;
}

LogicalResult attn::verifyEps(Operation *op, const APFloat &eps,
                              FloatType type) {
  if (!eps.isNegative() && roundTo(type, eps).isFinite())
    return success();
  return op->emitOpError() << "eps: expected a number >= 0 that is finite in "
                           << type << ", got " << eps.convertToDouble();
}
