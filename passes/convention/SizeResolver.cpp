// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes inside a function as code over the sizes of its arguments.

#include "passes/convention/SizeResolver.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::attn;

/// Longest chain of operations that a size may depend on. Sizes are resolved by
/// recursion; a longer chain would run out of stack.
static constexpr int maxDepth = 500;

/// True for operations that a plan can do.
static bool isScalarOp(Operation *op) {
  return op->getNumRegions() == 0 &&
         (isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(
              op) ||
          isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
              op->getDialect())) &&
         llvm::none_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>) &&
         llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType>);
}

/// True if `dim` is a constant, or a size of an argument of the function.
static bool isKnownDim(tensor::DimOp dim) {
  std::optional<int64_t> index = dim.getConstantIndex();
  Value tensor = dim.getSource();
  while (auto cast = tensor.getDefiningOp<tensor::CastOp>())
    tensor = cast.getSource();
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!index || !type || *index < 0 || *index >= type.getRank())
    return false;
  auto argument = dyn_cast<BlockArgument>(tensor);
  return !type.isDynamicDim(*index) ||
         (argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()));
}

bool attn::followsFromCall(Value number) {
  // Each value once: a chain of squares has more paths than any program lines.
  SetVector<Value> values;
  values.insert(number);
  for (size_t next = 0; next < values.size(); ++next) {
    Value value = values[next];
    // Far above what anybody writes, and below what a resolver takes.
    if (values.size() > maxDepth / 2 || !value.getType().isIntOrIndexOrFloat())
      return false;
    Operation *owner = value.getDefiningOp();
    if (!owner) {
      if (!isa<func::FuncOp>(value.getParentBlock()->getParentOp()))
        return false;
      continue;
    }
    if (auto dim = dyn_cast<tensor::DimOp>(owner)) {
      if (!isKnownDim(dim))
        return false;
      continue;
    }
    if (!isScalarOp(owner))
      return false;
    values.insert_range(owner->getOperands());
  }
  return true;
}

SizeResolver::SizeResolver(func::FuncOp function, OpBuilder &builder, Value in)
    : function(function), builder(builder), in(in) {
  int64_t slot = 0;
  for (Type type : function.getArgumentTypes()) {
    firstSlots.push_back(slot);
    auto tensor = dyn_cast<RankedTensorType>(type);
    slot += tensor ? tensor.getRank() : 1;
  }
}

Value SizeResolver::loadSlot(int64_t slot) {
  Value &value = slots[slot];
  if (!value) {
    Location loc = function.getLoc();
    Type i64 = builder.getI64Type();
    Value address =
        LLVM::GEPOp::create(builder, loc, in.getType(), i64, in,
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(slot)});
    value = LLVM::LoadOp::create(builder, loc, i64, address);
  }
  return value;
}

FailureOr<Value> SizeResolver::getDim(Value tensor, int64_t dim) {
  if (Value known = dims.lookup({tensor, dim}))
    return known;
  if (depth >= maxDepth)
    return function.emitOpError()
           << "size of a tensor: expected a chain of at most " << maxDepth
           << " operations";
  ++depth;
  FailureOr<Value> size = buildDim(tensor, dim);
  --depth;
  if (succeeded(size))
    dims[{tensor, dim}] = *size;
  return size;
}

FailureOr<Value> SizeResolver::buildDim(Value tensor, int64_t dim) {
  Location loc = function.getLoc();
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return arith::ConstantIndexOp::create(builder, loc, type.getDimSize(dim))
        .getResult();
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    if (argument.getOwner() != &function.getBody().front())
      return emitError(tensor.getLoc())
             << "size of a tensor: expected it to be known outside of '"
             << argument.getOwner()->getParentOp()->getName() << "'";
    Value size = loadSlot(firstSlots[argument.getArgNumber()] + dim);
    size =
        arith::IndexCastOp::create(builder, loc, builder.getIndexType(), size);
    argumentSizes.insert(size);
    return size;
  }
  if (auto cast = tensor.getDefiningOp<tensor::CastOp>())
    return getDim(cast.getSource(), dim);
  return reifyDim(cast<OpResult>(tensor), dim);
}

FailureOr<Value> SizeResolver::reifyDim(OpResult result, int64_t dim) {
  Operation *owner = result.getOwner();
  auto found = reified.find(owner);
  if (found == reified.end()) {
    OpBuilder inFunction(owner);
    ReifiedRankedShapedTypeDims shapes;
    if (failed(reifyResultShapes(inFunction, owner, shapes)))
      return owner->emitOpError()
             << "size of result " << result.getResultNumber()
             << ": expected it to follow from the sizes of operands";
    found = reified.try_emplace(owner, std::move(shapes)).first;
  }
  OpFoldResult size = found->second[result.getResultNumber()][dim];
  if (auto attr = dyn_cast<Attribute>(size))
    return arith::ConstantIndexOp::create(builder, function.getLoc(),
                                          cast<IntegerAttr>(attr).getInt())
        .getResult();
  return getScalar(cast<Value>(size));
}

FailureOr<Value> SizeResolver::getScalar(Value value) {
  if (Value known = scalars.lookup(value))
    return known;
  if (depth >= maxDepth)
    return function.emitOpError()
           << "size of a tensor: expected a chain of at most " << maxDepth
           << " operations";
  ++depth;
  FailureOr<Value> scalar = buildScalar(value);
  --depth;
  if (succeeded(scalar))
    scalars[value] = *scalar;
  return scalar;
}

FailureOr<Value> SizeResolver::buildScalar(Value value) {
  Location loc = function.getLoc();
  Type type = value.getType();
  if (!type.isIntOrIndexOrFloat())
    return emitError(value.getLoc())
           << "size of a tensor: expected it to depend on numbers, got "
           << type;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != &function.getBody().front())
      return emitError(value.getLoc())
             << "size of a tensor: expected it to be known outside of '"
             << argument.getOwner()->getParentOp()->getName() << "'";
    Value loaded = loadSlot(firstSlots[argument.getArgNumber()]);
    if (type.isIndex())
      return arith::IndexCastOp::create(builder, loc, type, loaded).getResult();
    if (type.isInteger(64))
      return loaded;
    if (!isa<FloatType>(type))
      return arith::TruncIOp::create(builder, loc, type, loaded).getResult();
    unsigned width = type.getIntOrFloatBitWidth();
    if (width < 64)
      loaded = arith::TruncIOp::create(builder, loc,
                                       builder.getIntegerType(width), loaded);
    return arith::BitcastOp::create(builder, loc, type, loaded).getResult();
  }
  Operation *owner = value.getDefiningOp();
  if (auto dim = dyn_cast<tensor::DimOp>(owner)) {
    std::optional<int64_t> index = dim.getConstantIndex();
    auto source = dyn_cast<RankedTensorType>(dim.getSource().getType());
    if (!index || !source || *index < 0 || *index >= source.getRank())
      return owner->emitOpError()
             << "expected a constant index of a dimension of the tensor";
    return getDim(dim.getSource(), *index);
  }
  if (!isScalarOp(owner))
    return owner->emitOpError() << "expected no size of a tensor to depend on "
                                   "its result";
  IRMapping mapping;
  for (Value operand : owner->getOperands()) {
    FailureOr<Value> resolved = getScalar(operand);
    if (failed(resolved))
      return failure();
    mapping.map(operand, *resolved);
  }
  return builder.clone(*owner, mapping)
      ->getResult(cast<OpResult>(value).getResultNumber());
}
