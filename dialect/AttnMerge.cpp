// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.merge: verifier, rules between sizes and shape inference.

#include "dialect/ShapeRules.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

SmallVector<ShapeRule> attn::getShapeRules(MergeOp op) {
  const char *names[] = {"batch", "heads", "length", "head dim"};
  SmallVector<ShapeRule> rules;
  Value first = op.getFirstOutput();
  for (auto [operand, value] :
       {std::pair<StringRef, Value>{"first_lse", op.getFirstLse()},
        {"second_output", op.getSecondOutput()},
        {"second_lse", op.getSecondLse()}}) {
    int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
    for (int64_t dim = 0; dim < rank; ++dim)
      rules.push_back({ShapeRule::Kind::Equal,
                       {first, dim},
                       {value, dim},
                       operand.str(),
                       names[dim],
                       "from first_output"});
  }
  return rules;
}

LogicalResult MergeOp::verify() {
  if (failed(verifyDiscardableAttributes(*this)))
    return failure();
  auto output = getFirstOutput().getType();
  Type element = output.getElementType(), sum = getComputeType(element);
  for (auto [name, value, expected] :
       {std::tuple<StringRef, Value, Type>{"first_lse", getFirstLse(), sum},
        {"second_output", getSecondOutput(), element},
        {"second_lse", getSecondLse(), sum}})
    if (Type got = getElementTypeOrSelf(value.getType()); got != expected)
      return emitOpError() << name << ": expected element type " << expected
                           << " (from first_output), got " << got;
  if (failed(verifyShapeRules(*this, getShapeRules(*this))))
    return failure();
  if (failed(verifyResultType(*this, "output", getOutput().getType(),
                              output.getShape(), element)))
    return failure();
  return verifyResultType(*this, "lse", getLse().getType(),
                          getFirstLse().getType().getShape(), sum);
}

LogicalResult MergeOp::reifyResultShapes(OpBuilder &builder,
                                         ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(tensor::getMixedSizes(builder, getLoc(), getFirstOutput()));
  shapes.push_back(tensor::getMixedSizes(builder, getLoc(), getFirstLse()));
  return success();
}
