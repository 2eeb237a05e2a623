// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes tensors of i1 tensors of bytes: callers pass booleans as bytes, while a
// buffer of i1 would be read as packed bits. Runs on the source.

#include "passes/Passes.h"

namespace mlir::attn {
#define GEN_PASS_DEF_WIDENBOOLEANS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;

static bool isBooleanTensor(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.getElementType().isInteger(1);
}

/// True for what reads booleans as bytes as well: regions, and the select
/// clause of attention.
static bool readsBytes(Operation *user, Value tensor) {
  auto attention = dyn_cast<attn::SoftmaxFamilyInterface>(user);
  return isa<tensor::ExtractOp, tensor::DimOp>(user) ||
         (attention && attention.getSelect() == tensor);
}

/// Changes `tensor` to i8 and every element read from it to `element != 0`.
static LogicalResult widen(Value tensor) {
  for (Operation *user : tensor.getUsers())
    if (!readsBytes(user, tensor))
      return user->emitOpError()
             << "expected booleans to be read by regions or selected by only, "
                "got an operand "
             << tensor.getType();
  auto type = cast<RankedTensorType>(tensor.getType());
  OpBuilder builder(tensor.getContext());
  tensor.setType(type.clone(builder.getI8Type()));
  for (Operation *user : tensor.getUsers()) {
    auto extract = dyn_cast<tensor::ExtractOp>(user);
    if (!extract)
      continue;
    extract.getResult().setType(builder.getI8Type());
    builder.setInsertionPointAfter(extract);
    Location loc = extract.getLoc();
    Value zero = arith::ConstantIntOp::create(builder, loc, 0, 8);
    Value isSet = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                        extract.getResult(), zero);
    extract.getResult().replaceAllUsesExcept(isSet, isSet.getDefiningOp());
  }
  return success();
}

/// A constant tensor of booleans, whose value changes with its type.
static LogicalResult widenConstant(arith::ConstantOp op) {
  auto values = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!values)
    return op.emitOpError() << "expected dense booleans, got " << op.getValue();
  if (failed(widen(op.getResult())))
    return failure();
  Type i8 = IntegerType::get(op.getContext(), 8);
  op.setValueAttr(
      values.mapValues(i8, [](const APInt &value) { return value.zext(8); }));
  return success();
}

static LogicalResult widenFunction(func::FuncOp function) {
  if (function.isDeclaration())
    return success();
  for (BlockArgument argument : function.getArguments())
    if (isBooleanTensor(argument.getType()) && failed(widen(argument)))
      return failure();
  WalkResult walked = function.walk([](arith::ConstantOp op) {
    return WalkResult(isBooleanTensor(op.getType()) ? widenConstant(op)
                                                    : success());
  });
  if (walked.wasInterrupted())
    return failure();
  Block &block = function.getBody().front();
  function.setFunctionType(FunctionType::get(function.getContext(),
                                             block.getArgumentTypes(),
                                             function.getResultTypes()));
  walked = function.walk([](Operation *op) {
    for (Type type : op->getResultTypes())
      if (isBooleanTensor(type)) {
        op->emitOpError() << "result: expected no tensor of booleans, got "
                          << type;
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

namespace {

struct WidenBooleansPass
    : public attn::impl::WidenBooleansBase<WidenBooleansPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(widenFunction(function)))
        return signalPassFailure();
  }
};

} // namespace
