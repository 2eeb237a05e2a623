// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes tensors of i1 tensors of bytes: callers pass booleans as bytes, while a
// buffer of i1 would be read as packed bits. Runs on the source.

#include "passes/Passes.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

namespace mlir::attn {
#define GEN_PASS_DEF_WIDENBOOLEANS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;

static bool isBooleanTensor(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.getElementType().isInteger(1);
}

static bool hasBooleanTensors(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isBooleanTensor) ||
         llvm::any_of(op->getResultTypes(), isBooleanTensor);
}

/// True for what does the same to bytes: operations that move elements without
/// looking at them, and the select clause of attention.
static bool takesBytes(Operation *op) {
  if (auto attention = dyn_cast<attn::SoftmaxFamilyInterface>(op))
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return !isBooleanTensor(operand.getType()) ||
             operand == attention.getSelect();
    });
  return isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ConcatOp,
             tensor::DimOp, tensor::EmptyOp, tensor::ExpandShapeOp>(op);
}

static LogicalResult checkOp(Operation *op) {
  if (!hasBooleanTensors(op) || takesBytes(op) ||
      isa<tensor::ExtractOp, linalg::LinalgOp>(op))
    return success();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (isa<DenseElementsAttr>(constant.getValue()))
      return success();
    return op->emitOpError()
           << "expected dense booleans, got " << constant.getValue();
  }
  for (Type type : op->getOperandTypes())
    if (isBooleanTensor(type))
      return op->emitOpError()
             << "expected booleans to be read by regions or linalg, or "
                "selected by only, got an operand "
             << type;
  return op->emitOpError() << "result: expected no tensor of booleans, got "
                           << *llvm::find_if(op->getResultTypes(),
                                             isBooleanTensor);
}

static void widenType(Value value) {
  if (isBooleanTensor(value.getType()))
    value.setType(cast<ShapedType>(value.getType())
                      .clone(IntegerType::get(value.getContext(), 8)));
}

/// Makes `value`, an element of a tensor, the byte that it is now; those who
/// use it get `byte != 0`.
static void widenElement(Value value, OpBuilder &builder) {
  value.setType(builder.getI8Type());
  if (value.use_empty())
    return;
  Location loc = value.getLoc();
  Value zero = arith::ConstantIntOp::create(builder, loc, 0, 8);
  Value isSet = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                      value, zero);
  value.replaceAllUsesExcept(isSet, isSet.getDefiningOp());
}

/// linalg.generic ins(%m : tensor<i1>) outs(%i : tensor<i1>) { ^bb0(%p, %o:
/// i1):
///   linalg.yield %p }
///   ->  ... { ^bb0(%byte, %o: i8): %p = arith.cmpi ne, %byte, %c0
///             linalg.yield (arith.extui %p : i1 to i8) }
static void widenBody(linalg::GenericOp op) {
  Block &body = *op.getBody();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  for (auto [operand, argument] :
       llvm::zip(op->getOperands(), body.getArguments()))
    if (getElementTypeOrSelf(operand.getType()) != argument.getType())
      widenElement(argument, builder);
  Operation *yield = body.getTerminator();
  builder.setInsertionPoint(yield);
  for (auto [init, operand] :
       llvm::zip(op.getDpsInits(), yield->getOpOperands()))
    if (getElementTypeOrSelf(init.getType()) != operand.get().getType())
      operand.set(arith::ExtUIOp::create(builder, op.getLoc(),
                                         builder.getI8Type(), operand.get()));
}

/// Mends what reads or makes elements of tensors that are bytes by now.
static void widenElements(Operation *op) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    if (extract.getTensor().getType().getElementType() != extract.getType())
      widenElement(extract.getResult(), builder);
  } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto values = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (values && values.getElementType().isInteger(1))
      constant.setValueAttr(
          values.mapValues(builder.getI8Type(),
                           [](const APInt &value) { return value.zext(8); }));
  } else if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    widenBody(generic);
  }
}

static LogicalResult widenFunction(func::FuncOp function) {
  if (function.isDeclaration())
    return success();
  SmallVector<linalg::LinalgOp> named;
  WalkResult walked = function.walk([&](Operation *op) {
    if (isa<linalg::LinalgOp>(op) && !isa<linalg::GenericOp>(op) &&
        hasBooleanTensors(op))
      named.push_back(cast<linalg::LinalgOp>(op));
    return WalkResult(checkOp(op));
  });
  if (walked.wasInterrupted())
    return failure();
  // A named operation has the body of its name.
  IRRewriter rewriter(function.getContext());
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::generalizeNamedOp(rewriter, op)))
      return op->emitOpError() << "expected no booleans";
  }
  for (BlockArgument argument : function.getArguments())
    widenType(argument);
  function.walk([](Operation *op) {
    for (Value result : op->getResults())
      widenType(result);
  });
  function.walk([](Operation *op) { widenElements(op); });
  Block &block = function.getBody().front();
  function.setFunctionType(FunctionType::get(function.getContext(),
                                             block.getArgumentTypes(),
                                             function.getResultTypes()));
  return success();
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
