// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole-attention ops: verifiers, shape inference and the helpers that
// lowerings share.

#include "dialect/Clauses.h"
#include "dialect/ShapeRules.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

#define GET_OP_CLASSES
#include "dialect/AttnOps.cpp.inc"

//===- queries on the op --------------------------------------------------===//

FloatType attn::getComputeType(Type element) {
  if (element.isF64())
    return Float64Type::get(element.getContext());
  return Float32Type::get(element.getContext());
}

FloatType attn::getComputeType(SoftmaxFamilyInterface op) {
  return getComputeType(getElementTypeOrSelf(op.getQuery().getType()));
}

bool attn::hasMask(SoftmaxFamilyInterface op) {
  if (!op.getKeep().empty())
    return true;
  return op.getMaskAttr() && llvm::any_of(op.getMaskAttr(), [](Attribute attr) {
           return !cast<MaskAttrInterface>(attr).keepsAll();
         });
}

bool attn::dependsOnPosition(SoftmaxFamilyInterface op) {
  if ((op.getMaskAttr() && !op.getMaskAttr().empty()) || op.getAlibi())
    return true;
  // (s, b, h, i, j) and (b, h, i, j): i is the last but one argument.
  return llvm::any_of(ArrayRef<Region *>{&op.getScore(), &op.getKeep()},
                      [](Region *region) {
                        if (region->empty() || region->getNumArguments() < 2)
                          return false;
                        unsigned position = region->getNumArguments() - 2;
                        return !region->getArgument(position).use_empty();
                      });
}

std::optional<double> attn::getStaticScale(SoftmaxFamilyInterface op) {
  if (std::optional<APFloat> scale = op.getScale())
    return scale->convertToDouble();
  if (op.getScaleValue())
    return std::nullopt;
  int64_t headDim =
      cast<RankedTensorType>(op.getQuery().getType()).getDimSize(3);
  if (ShapedType::isDynamic(headDim))
    return std::nullopt;
  return 1.0 / std::sqrt(static_cast<double>(headDim));
}

SmallVector<Value> attn::castToResults(OpBuilder &builder, Operation *op,
                                       ValueRange values) {
  SmallVector<Value> results(values);
  for (auto [value, type] : llvm::zip_equal(results, op->getResultTypes()))
    if (value.getType() != type)
      value = tensor::CastOp::create(builder, op->getLoc(), type, value);
  return results;
}

Value attn::inlineRegion(Region &region, OpBuilder &builder, ValueRange args) {
  Block &block = region.front();
  IRMapping mapping;
  mapping.map(block.getArguments(), args);
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  return mapping.lookupOrDefault(cast<YieldOp>(block.back()).getValue());
}

Value attn::buildPerBatch(OpBuilder &builder, Location loc, Value operand,
                          Value b) {
  if (operand.getType().isIndex())
    return operand;
  Value entry = tensor::ExtractOp::create(builder, loc, operand, b);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    entry);
}

Value attn::buildKeyLength(SoftmaxFamilyInterface op, OpBuilder &builder,
                           Location loc, Value b, Value keyRows) {
  if (!op.getLengths())
    return keyRows;
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value length = buildPerBatch(builder, loc, op.getLengths(), b);
  return builder.createOrFold<arith::MaxSIOp>(
      loc, builder.createOrFold<arith::MinSIOp>(loc, length, keyRows), zero);
}

Value attn::buildKeep(SoftmaxFamilyInterface op, OpBuilder &builder,
                      Location loc, Value b, Value h, Value i, Value j,
                      RegionInliner inlineKeep) {
  Value keep;
  auto conjoin = [&](Value predicate) {
    keep =
        keep ? arith::AndIOp::create(builder, loc, keep, predicate).getResult()
             : predicate;
  };
  MaskCoordinates at{b, h, i, j, Value(), op.getRandomBlocks()};
  if (op.getPrefix())
    at.prefix = buildPerBatch(builder, loc, op.getPrefix(), b);
  if (ArrayAttr masks = op.getMaskAttr())
    for (auto mask : masks.getAsRange<MaskAttrInterface>())
      if (!mask.keepsAll())
        conjoin(mask.buildKeep(builder, loc, at));
  if (!op.getKeep().empty())
    conjoin(inlineKeep(op.getKeep(), builder, {b, h, i, j}));
  return keep;
}

//===- verifiers ----------------------------------------------------------===//

/// c1, c9, c10: element types and result types.
static LogicalResult verifyTypes(SoftmaxFamilyInterface op) {
  auto query = cast<RankedTensorType>(op.getQuery().getType());
  auto key = cast<RankedTensorType>(op.getKey().getType());
  auto value = cast<RankedTensorType>(op.getValue().getType());
  for (auto [name, type] : {std::pair{"key", key}, std::pair{"value", value}})
    if (type.getElementType() != query.getElementType())
      return op->emitOpError()
             << name << ": expected element type " << query.getElementType()
             << " (from query), got " << type.getElementType();
  // What joins the logits comes in f32 or as precise as the operands.
  for (auto [name, operand] : {std::pair{"alibi", op.getAlibi()},
                               {"bias", op.getBias()},
                               {"sinks", op.getSinks()}}) {
    Type type = operand ? getElementTypeOrSelf(operand.getType()) : Type();
    if (type && !type.isF32() && type != query.getElementType())
      return op->emitOpError()
             << name << ": expected element type f32 or "
             << query.getElementType() << " (from query), got " << type;
  }
  if (failed(verifyResultType(op, "output", op.getOutput().getType(),
                              {query.getDimSize(0), query.getDimSize(1),
                               query.getDimSize(2), value.getDimSize(3)},
                              query.getElementType())))
    return failure();
  if (op.getLse())
    return verifyResultType(op, "lse", op.getLse().getType(),
                            query.getShape().take_front(3), getComputeType(op));
  return success();
}

/// c31, c32: the random blocks that masks read.
static LogicalResult verifyRandomBlocks(SoftmaxFamilyInterface op) {
  bool isRead = false, isNeeded = false;
  if (ArrayAttr masks = op.getMaskAttr())
    for (auto mask : masks.getAsRange<MaskAttrInterface>()) {
      isRead |= mask.readsRandomBlocks();
      isNeeded |= mask.needsRandomBlocks();
    }
  if (!op.getRandomBlocks()) {
    if (isNeeded)
      return op->emitOpError()
             << "random_blocks: expected one with a mask that "
                "counts from the last block and does not say "
                "how many blocks there are, got none";
    return success();
  }
  if (!isRead)
    return op->emitOpError()
           << "random_blocks: expected none without a mask that reads it, such "
              "as #attn.bigbird without random and blocks";
  auto type = cast<RankedTensorType>(op.getRandomBlocks().getType());
  // Each is code of its own in the predicate.
  constexpr int64_t most = 64;
  if (type.isDynamicDim(2) || type.getDimSize(2) > most)
    return op->emitOpError() << "random_blocks: expected a static number of at "
                                "most "
                             << most << " random blocks, got " << type;
  return success();
}

/// c13 to c17, c23, c28, c31, c32: numbers, positions, masks and starts.
static LogicalResult verifyClauses(SoftmaxFamilyInterface op) {
  if (std::optional<APFloat> scale = op.getScale();
      scale && failed(verifyScale(op, *scale, getComputeType(op))))
    return failure();
  if (std::optional<APFloat> softcap = op.getSoftcap();
      softcap && failed(verifySoftcap(op, *softcap, getComputeType(op))))
    return failure();
  for (auto [name, isBoth] :
       {std::pair{"scale", op.getScale() && op.getScaleValue()},
        {"softcap", op.getSoftcap() && op.getSoftcapValue()}})
    if (isBoth)
      return op->emitOpError()
             << name << ": expected a number or a value, got both";
  if (ArrayAttr masks = op.getMaskAttr())
    for (Attribute mask : masks)
      if (!isa<MaskAttrInterface>(mask))
        return op->emitOpError()
               << "mask: expected a mask attribute, got " << mask;
  bool usesPrefix =
      op.getMaskAttr() && llvm::any_of(op.getMaskAttr(), [](Attribute mask) {
        return cast<MaskAttrInterface>(mask).usesPrefix();
      });
  if (usesPrefix != static_cast<bool>(op.getPrefix()))
    return op->emitOpError()
           << "prefix: expected "
           << (usesPrefix ? "one with a mask that reads it, got none"
                          : "none without a mask that reads it, such as "
                            "#attn.prefix");
  if (failed(verifyRandomBlocks(op)))
    return failure();
  if (static_cast<bool>(op.getQueryStarts()) !=
      static_cast<bool>(op.getKeyStarts()))
    return op->emitOpError()
           << (op.getQueryStarts() ? "key_starts" : "query_starts")
           << ": expected one beside "
           << (op.getQueryStarts() ? "query_starts" : "key_starts")
           << ", got none";
  for (auto [name, operand] :
       {std::pair{"bias", op.getBias()}, {"select", op.getSelect()}})
    if (operand && op.getQueryStarts())
      return op->emitOpError() << name << ": expected none beside query_starts";
  if (op.getAlign() && op.getOffset())
    return op->emitOpError() << "offset: expected no offset beside align";
  if (dependsOnPosition(op) && !op.getAlign() && !op.getOffset())
    return op->emitOpError()
           << "expected align or offset, as a mask or region depends on the "
              "position of queries";
  return success();
}

static LogicalResult verifyFamily(SoftmaxFamilyInterface op) {
  if (failed(verifyTypes(op)) || failed(verifyShapeRules(op)) ||
      failed(verifyDiscardableAttributes(op)))
    return failure();
  return verifyClauses(op);
}

bool GqaOp::hasGroupedHeads() { return true; }

LogicalResult SoftmaxOp::verify() { return verifyFamily(*this); }
LogicalResult GqaOp::verify() { return verifyFamily(*this); }

LogicalResult SoftmaxOp::verifyRegions() {
  return verifyScalarRegions(*this, getScore(), getKeep(),
                             attn::getComputeType(getElementType()));
}
LogicalResult GqaOp::verifyRegions() {
  return verifyScalarRegions(*this, getScore(), getKeep(),
                             attn::getComputeType(getElementType()));
}

//===- shapes -------------------------------------------------------------===//

static LogicalResult reifyShapes(SoftmaxFamilyInterface op, OpBuilder &builder,
                                 ReifiedRankedShapedTypeDims &shapes) {
  auto getDim = [&](Value value, int64_t dim) {
    return tensor::getMixedSize(builder, op->getLoc(), value, dim);
  };
  Value query = op.getQuery();
  shapes.push_back({getDim(query, 0), getDim(query, 1), getDim(query, 2),
                    getDim(op.getValue(), 3)});
  if (op.getLse())
    shapes.push_back({getDim(query, 0), getDim(query, 1), getDim(query, 2)});
  return success();
}

LogicalResult
SoftmaxOp::reifyResultShapes(OpBuilder &builder,
                             ReifiedRankedShapedTypeDims &shapes) {
  return reifyShapes(*this, builder, shapes);
}
LogicalResult GqaOp::reifyResultShapes(OpBuilder &builder,
                                       ReifiedRankedShapedTypeDims &shapes) {
  return reifyShapes(*this, builder, shapes);
}
