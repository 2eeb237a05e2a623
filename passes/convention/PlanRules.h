// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules between sizes that operations of a function set, as code over the
// sizes of a call.

#ifndef ATTN_PASSES_CONVENTION_PLANRULES_H
#define ATTN_PASSES_CONVENTION_PLANRULES_H

#include "dialect/ShapeRules.h"
#include "passes/convention/SizeResolver.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::attn {

/// One rule. `text` ends where the two sizes belong, "... expected batch (from
/// query)", or the number, "... expected a number that is finite in f32".
struct PlanRule {
  Value broken;   ///< i1
  Value expected; ///< index, null beside a number
  Value got;      ///< index, or a number of f64
  std::string text;
};

/// Collects rules in the order in which they are to be checked.
class PlanRules {
public:
  PlanRules(SizeResolver &resolver, OpBuilder &builder)
      : resolver(resolver), builder(builder) {}

  /// Adds what `op` asks of the sizes of its operands, but for what holds
  /// statically.
  LogicalResult addRules(Operation *op);

  /// Adds that `size` is not negative, if that is not plain from an argument.
  void addNotNegative(Value size, std::string text);

  SizeResolver &getResolver() { return resolver; }
  ArrayRef<PlanRule> getRules() const { return rules; }

private:
  LogicalResult addShapeRules(Operation *op, ArrayRef<ShapeRule> shapeRules);
  /// Whether two sizes break a rule of `kind`, an i1.
  Value buildBroken(ShapeRule::Kind kind, Value expected, Value got);
  LogicalResult addNumberRules(SoftmaxFamilyInterface op);
  LogicalResult addCaptureRules(SoftmaxFamilyInterface op);
  LogicalResult addCastRules(tensor::CastOp op);
  LogicalResult addConcatRules(tensor::ConcatOp op);
  LogicalResult addExpandRules(tensor::ExpandShapeOp op);
  LogicalResult addEmptyRules(tensor::EmptyOp op);
  LogicalResult addLoopRules(linalg::LinalgOp op);
  LogicalResult addEqual(DimRef expected, DimRef got, std::string text);
  FailureOr<Value> getSize(DimRef ref);
  Value compare(arith::CmpIPredicate predicate, Value left, Value right);

  SizeResolver &resolver;
  OpBuilder &builder;
  SmallVector<PlanRule> rules;
};

} // namespace mlir::attn

#endif // ATTN_PASSES_CONVENTION_PLANRULES_H
