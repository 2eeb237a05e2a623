// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules between sizes that operations set. Those of attention are the
// dialect's list; those of the tensor and linalg operations that may stand
// beside it guard the same promise, that no call reads out of bounds.

#include "passes/convention/PlanRules.h"

#include "passes/convention/NumberChecks.h"

using namespace mlir;
using namespace mlir::attn;
using arith::CmpIPredicate;

Value PlanRules::compare(CmpIPredicate predicate, Value left, Value right) {
  return arith::CmpIOp::create(builder, left.getLoc(), predicate, left, right);
}

FailureOr<Value> PlanRules::getSize(DimRef ref) {
  if (!ref.operand)
    return arith::ConstantIndexOp::create(builder, builder.getUnknownLoc(),
                                          ref.number)
        .getResult();
  return resolver.getDim(ref.operand, ref.dim);
}

LogicalResult PlanRules::addRules(Operation *op) {
  if (auto attention = dyn_cast<SoftmaxFamilyInterface>(op)) {
    if (failed(addShapeRules(op, getShapeRules(attention))) ||
        failed(addNumberRules(attention)))
      return failure();
    return addCaptureRules(attention);
  }
  if (auto merge = dyn_cast<MergeOp>(op))
    return addShapeRules(op, getShapeRules(merge));
  if (auto linear = dyn_cast<LinearOp>(op))
    return addShapeRules(op, getShapeRules(linear));
  if (auto features = dyn_cast<FeatureMapOp>(op))
    return addShapeRules(op, getShapeRules(features));
  if (auto favor = dyn_cast<FavorOp>(op))
    return addShapeRules(op, getShapeRules(favor));
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return addCastRules(cast);
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return addEmptyRules(empty);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return addConcatRules(concat);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return addExpandRules(expand);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return addLoopRules(linalgOp);
  return success();
}

void PlanRules::addNotNegative(Value size, std::string text) {
  if (resolver.isArgumentSize(size) || size.getDefiningOp<arith::ConstantOp>())
    return;
  Value zero = arith::ConstantIndexOp::create(builder, size.getLoc(), 0);
  rules.push_back(
      {compare(CmpIPredicate::slt, size, zero), zero, size, std::move(text)});
}

LogicalResult PlanRules::addEqual(DimRef expected, DimRef got,
                                  std::string text) {
  std::optional<int64_t> staticExpected = getStaticSize(expected);
  if (staticExpected && staticExpected == getStaticSize(got))
    return success();
  FailureOr<Value> expectedSize = getSize(expected), gotSize = getSize(got);
  if (failed(expectedSize) || failed(gotSize))
    return failure();
  if (*expectedSize == *gotSize)
    return success();
  rules.push_back({compare(CmpIPredicate::ne, *gotSize, *expectedSize),
                   *expectedSize, *gotSize, std::move(text)});
  return success();
}

Value PlanRules::buildBroken(ShapeRule::Kind kind, Value expected, Value got) {
  Location loc = got.getLoc();
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  switch (kind) {
  case ShapeRule::Kind::Equal:
    return compare(CmpIPredicate::ne, got, expected);
  case ShapeRule::Kind::AtLeastOne:
    return compare(CmpIPredicate::slt, got, expected);
  case ShapeRule::Kind::OneFewer:
    return compare(CmpIPredicate::ne,
                   arith::AddIOp::create(builder, loc, got, one), expected);
  case ShapeRule::Kind::Broadcast:
    return arith::AndIOp::create(builder, loc,
                                 compare(CmpIPredicate::ne, got, one),
                                 compare(CmpIPredicate::ne, got, expected));
  case ShapeRule::Kind::MultipleOf:
    break;
  }
  // 0 has one multiple, 0, which the remainder by 1 in its place misses.
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value isZero = compare(CmpIPredicate::eq, expected, zero);
  Value divisor = arith::SelectOp::create(builder, loc, isZero, one, expected);
  Value remainder = arith::RemUIOp::create(builder, loc, got, divisor);
  Value rest = arith::SelectOp::create(builder, loc, isZero, got, remainder);
  return compare(CmpIPredicate::ne, rest, zero);
}

LogicalResult PlanRules::addShapeRules(Operation *op,
                                       ArrayRef<ShapeRule> shapeRules) {
  for (const ShapeRule &rule : shapeRules) {
    if (rule.kind == ShapeRule::Kind::Equal) {
      if (failed(addEqual(rule.expected, rule.got, rule.describe(op))))
        return failure();
      continue;
    }
    std::optional<int64_t> staticExpected = getStaticSize(rule.expected);
    std::optional<int64_t> staticGot = getStaticSize(rule.got);
    if (staticExpected && staticGot && rule.holds(*staticExpected, *staticGot))
      continue;
    FailureOr<Value> expected = getSize(rule.expected), got = getSize(rule.got);
    if (failed(expected) || failed(got))
      return failure();
    Value broken = buildBroken(rule.kind, *expected, *got);
    rules.push_back({broken, *expected, *got, rule.describe(op)});
  }
  return success();
}

/// c13 and c14 of values. What depends on elements of tensors is left to pass
/// attn-guard-numbers.
LogicalResult PlanRules::addNumberRules(SoftmaxFamilyInterface op) {
  Location loc = op.getLoc();
  for (const NumberRule &rule : getNumberRules(op)) {
    if (!followsFromCall(rule.value))
      continue;
    FailureOr<Value> number = resolver.getScalar(rule.value);
    if (failed(number))
      return failure();
    Value holds = buildHolds(builder, loc, rule, *number);
    Value never = arith::ConstantIntOp::create(builder, loc, false, 1);
    Value broken = compare(CmpIPredicate::eq, holds, never);
    Value wide =
        arith::ExtFOp::create(builder, loc, builder.getF64Type(), *number);
    rules.push_back({broken, Value(), wide, rule.describe(op)});
  }
  return success();
}

/// c21: indices of captured tensors are clamped to their bounds, which needs
/// one element to clamp to wherever the regions are evaluated at all.
LogicalResult PlanRules::addCaptureRules(SoftmaxFamilyInterface op) {
  Location loc = op.getLoc();
  Value hasScores;
  auto getHasScores = [&]() -> LogicalResult {
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    for (DimRef ref : {DimRef{op.getQuery(), 0}, DimRef{op.getQuery(), 1},
                       DimRef{op.getQuery(), 2}, DimRef{op.getKey(), 2}}) {
      FailureOr<Value> size = getSize(ref);
      if (failed(size))
        return failure();
      Value some = compare(CmpIPredicate::ne, *size, zero);
      hasScores =
          hasScores
              ? arith::AndIOp::create(builder, loc, hasScores, some).getResult()
              : some;
    }
    return success();
  };
  for (auto [number, captured] : llvm::enumerate(getCapturedTensors(op))) {
    auto type = cast<RankedTensorType>(captured.getType());
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      if (!type.isDynamicDim(dim) && type.getDimSize(dim) > 0)
        continue;
      FailureOr<Value> size = getSize({captured, dim});
      if (failed(size) || (!hasScores && failed(getHasScores())))
        return failure();
      Value one = arith::ConstantIndexOp::create(builder, loc, 1);
      Value isEmpty = compare(CmpIPredicate::slt, *size, one);
      Value broken = arith::AndIOp::create(builder, loc, hasScores, isEmpty);
      rules.push_back({broken, one, *size,
                       "'" + op->getName().getStringRef().str() +
                           "' op captured tensor " + std::to_string(number) +
                           ": expected size of dimension " +
                           std::to_string(dim) + " of at least"});
    }
  }
  return success();
}

/// A cast from ? to a number is a promise about the call.
LogicalResult PlanRules::addCastRules(tensor::CastOp op) {
  auto source = dyn_cast<RankedTensorType>(op.getSource().getType());
  auto target = dyn_cast<RankedTensorType>(op.getType());
  if (!source || !target)
    return op.emitOpError() << "expected ranked tensors";
  for (int64_t dim = 0; dim < target.getRank(); ++dim)
    if (source.isDynamicDim(dim) && !target.isDynamicDim(dim))
      if (failed(addEqual({op.getResult(), dim}, {op.getSource(), dim},
                          "'tensor.cast' op source: expected dimension " +
                              std::to_string(dim))))
        return failure();
  return success();
}

/// Tensors that are put together agree in all other dimensions.
LogicalResult PlanRules::addConcatRules(tensor::ConcatOp op) {
  for (auto [number, input] : llvm::enumerate(op.getInputs()))
    for (int64_t dim = 0; dim < op.getResultType().getRank(); ++dim)
      if (dim != static_cast<int64_t>(op.getDim()) &&
          failed(addEqual(
              {op.getResult(), dim}, {input, dim},
              "'tensor.concat' op operand " + std::to_string(number) +
                  ": expected size of dimension " + std::to_string(dim))))
        return failure();
  return success();
}

/// A size that is not split stays what it is.
LogicalResult PlanRules::addExpandRules(tensor::ExpandShapeOp op) {
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices()))
    if (op.getSrcType().isDynamicDim(dim) &&
        failed(addEqual({op.getSrc(), static_cast<int64_t>(dim)},
                        {op.getResult(), group.front()},
                        "'tensor.expand_shape' op output shape: expected size "
                        "of dimension " +
                            std::to_string(group.front()))))
      return failure();
  return success();
}

LogicalResult PlanRules::addEmptyRules(tensor::EmptyOp op) {
  for (int64_t dim = 0; dim < op.getType().getRank(); ++dim) {
    if (!op.getType().isDynamicDim(dim))
      continue;
    FailureOr<Value> size = getSize({op.getResult(), dim});
    if (failed(size))
      return failure();
    addNotNegative(*size, "'tensor.empty' op expected size of dimension " +
                              std::to_string(dim) + " of at least");
  }
  return success();
}

/// All dimensions that one loop runs over have one size.
LogicalResult PlanRules::addLoopRules(linalg::LinalgOp op) {
  SmallVector<DimRef> firstOfLoop(op.getNumLoops());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = maps[operand.getOperandNumber()];
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        return op->emitOpError()
               << "operand " << operand.getOperandNumber() << ": expected "
               << "dimensions that are loops of the op, got "
               << AffineMapAttr::get(map)
               << ", as of a convolution or a window, which is not supported";
      DimRef &first = firstOfLoop[loop.getPosition()];
      DimRef here{operand.get(), static_cast<int64_t>(dim)};
      if (!first.operand) {
        first = here;
        continue;
      }
      std::string text = "'" + op->getName().getStringRef().str() +
                         "' op operand " +
                         std::to_string(operand.getOperandNumber()) +
                         ": expected size of dimension " + std::to_string(dim);
      if (failed(addEqual(first, here, std::move(text))))
        return failure();
    }
  }
  return success();
}
