// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What may stand in a score, keep or map region, c18 to c20. The list of
// operations is the contract between users and every lowering: the classifier,
// the vector form and the reference each handle all of it. It is also the only
// guard against what LLVM would spend minutes on, such as wide integers.

#include "dialect/ShapeRules.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::attn;

/// Arithmetic of f16 and bf16 is that of f32, rounded.
static bool isFloat(Type type) {
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
}

/// What regions compute in: index, integers of at most 64 bits, and floats.
static bool isAllowedType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() && integer.getWidth() <= 64;
  return type.isIndex() || isFloat(type);
}

/// What captured tensors hold.
static bool isAllowedElement(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() &&
           llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
  return isFloat(type);
}

static bool isAllowedArith(Operation *op) {
  return isa<arith::AddFOp, arith::AddIOp, arith::AndIOp, arith::CeilDivSIOp,
             arith::CeilDivUIOp, arith::CmpFOp, arith::CmpIOp,
             arith::ConstantOp, arith::DivFOp, arith::DivSIOp, arith::DivUIOp,
             arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, arith::FPToSIOp,
             arith::FPToUIOp, arith::FloorDivSIOp, arith::IndexCastOp,
             arith::IndexCastUIOp, arith::MaxNumFOp, arith::MaxSIOp,
             arith::MaxUIOp, arith::MaximumFOp, arith::MinNumFOp,
             arith::MinSIOp, arith::MinUIOp, arith::MinimumFOp, arith::MulFOp,
             arith::MulIOp, arith::NegFOp, arith::OrIOp, arith::RemSIOp,
             arith::RemUIOp, arith::SIToFPOp, arith::SelectOp, arith::ShLIOp,
             arith::ShRSIOp, arith::ShRUIOp, arith::SubFOp, arith::SubIOp,
             arith::TruncFOp, arith::TruncIOp, arith::UIToFPOp, arith::XOrIOp>(
      op);
}

/// All of `math` but what is of integers alone. Some are made of others from
/// the source on.
static bool isAllowedMath(Operation *op) {
  if (isa<math::AbsIOp>(op))
    return true;
  if (isa<math::ClampFOp, math::IsFiniteOp, math::IsInfOp, math::IsNaNOp,
          math::IsNormalOp, math::SincosOp>(op))
    return !isa<OnlineSoftmaxOp>(op->getParentOp());
  return isa_and_nonnull<math::MathDialect>(op->getDialect()) &&
         llvm::any_of(op->getOperandTypes(), llvm::IsaPred<FloatType>);
}

/// Checks one operation of a region; `emitError` starts the diagnostic.
static LogicalResult
verifyRegionOp(Operation *op, Region &region,
               function_ref<InFlightDiagnostic()> emitError) {
  if (isa<YieldOp>(op))
    return success();
  if (isa<tensor::ExtractOp, tensor::DimOp>(op)) {
    auto dim = dyn_cast<tensor::DimOp>(op);
    if (dim && !dim.getConstantIndex())
      return emitError() << "expected a constant index of 'tensor.dim'";
    Value tensor = op->getOperand(0);
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    if (!type || !isAllowedElement(type.getElementType()))
      return emitError() << "captured tensor: expected a ranked tensor of i1, "
                            "i8, i16, i32, i64, f16, bf16, f32 or f64, got "
                         << tensor.getType();
    // To tensor.dim a dimension that does not exist is undefined, no error.
    if (dim && static_cast<uint64_t>(*dim.getConstantIndex()) >=
                   static_cast<uint64_t>(type.getRank()))
      return emitError() << "'tensor.dim': expected a dimension below "
                         << type.getRank() << ", got "
                         << *dim.getConstantIndex();
    if (region.isAncestor(tensor.getParentRegion()))
      return emitError() << "captured tensor: expected a value from outside";
    return success();
  }
  // In the tile op, bufferization turns captured tensors into memrefs.
  if (isa<OnlineSoftmaxOp>(region.getParentOp()) &&
      isa<memref::LoadOp, memref::DimOp, bufferization::ToBufferOp,
          bufferization::ToTensorOp>(op))
    return success();
  if (!isAllowedArith(op) && !isAllowedMath(op))
    return emitError() << "expected an allowed operation, got '"
                       << op->getName() << "'";
  if (auto round = dyn_cast<arith::TruncFOp>(op);
      round && round.getRoundingmodeAttr())
    return emitError() << "'arith.truncf': expected no rounding mode, got "
                       << arith::stringifyRoundingMode(
                              *round.getRoundingmode());
  for (Type type :
       llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                SmallVector<Type>(op->getResultTypes())))
    if (!isAllowedType(type))
      return emitError() << "'" << op->getName()
                         << "': expected index, integers up to 64 bits, f16, "
                            "bf16, f32 or f64, got "
                         << type;
  return success();
}

/// Checks one region; `name` is "score", "keep" or "map".
static LogicalResult verifyScalarRegion(Operation *op, Region &region,
                                        StringRef name, TypeRange arguments,
                                        Type result) {
  if (region.empty())
    return success();
  auto emitError = [&] { return op->emitOpError() << name << " region: "; };
  if (!region.hasOneBlock())
    return emitError() << "expected one block, got "
                       << region.getBlocks().size();
  Block &block = region.front();
  if (block.getArgumentTypes() != arguments)
    return emitError() << "expected arguments (" << arguments << "), got ("
                       << block.getArgumentTypes() << ")";
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield)
    return emitError() << "expected 'attn.yield' at the end";
  if (yield.getValue().getType() != result)
    return emitError() << "expected to yield " << result << ", got "
                       << yield.getValue().getType();
  for (Operation &inner : block) {
    if (inner.getNumRegions() != 0)
      return emitError() << "expected an allowed operation, got '"
                         << inner.getName() << "'";
    if (failed(verifyRegionOp(&inner, region, emitError)))
      return failure();
  }
  return success();
}

LogicalResult attn::verifyScalarRegions(Operation *op, Region &score,
                                        Region &keep, FloatType logit) {
  Builder builder(op->getContext());
  Type index = builder.getIndexType();
  if (failed(verifyScalarRegion(op, score, "score",
                                {logit, index, index, index, index}, logit)))
    return failure();
  return verifyScalarRegion(op, keep, "keep", {index, index, index, index},
                            builder.getI1Type());
}

LogicalResult attn::verifyMapRegion(Operation *op, Region &map,
                                    FloatType type) {
  if (failed(verifyScalarRegion(op, map, "map", type, type)))
    return failure();
  WalkResult walked = map.walk([&](Operation *inner) {
    return isa<tensor::ExtractOp, tensor::DimOp>(inner)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return op->emitOpError() << "map region: expected no captured tensor";
  return success();
}

SmallVector<Value> attn::getCapturedTensors(SoftmaxFamilyInterface op) {
  llvm::SetVector<Value> captured;
  for (Region *region : {&op.getScore(), &op.getKeep()})
    region->walk([&](tensor::ExtractOp extract) {
      captured.insert(extract.getTensor());
    });
  return captured.takeVector();
}
