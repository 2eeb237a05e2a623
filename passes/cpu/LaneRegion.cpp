// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The region inliner: every allowed operation of a region as scalar or vector
// code. Reads are in LaneReads.cpp.

#include "passes/cpu/LaneRegion.h"

#include "dialect/Attn.h"
#include "passes/cpu/FloatCasts.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

/// True for the types that are computed in f32 and rounded.
static bool isNarrowFloat(Type type) { return type.isF16() || type.isBF16(); }

/// True for the types that are computed in the lane form's index width.
static bool isIndexLike(Type type) {
  return type.isIndex() || type.isInteger(64);
}

LaneRegion::LaneRegion(const KernelBuilder &kb, Region &region,
                       int64_t indexBits, ArrayRef<LaneValue> arguments,
                       Value oneHead)
    : kb(kb), region(region), indexType(kb.b.getIntegerType(indexBits)),
      oneHead(oneHead) {
  Block &block = region.front();
  llvm::DenseSet<Value> rowValues;
  for (auto [argument, value] :
       llvm::zip_equal(block.getArguments(), arguments)) {
    if (value.value)
      values[argument] = value;
    else
      rowValues.insert(argument);
  }
  for (Operation &op : block.without_terminator()) {
    if (llvm::any_of(op.getOperands(),
                     [&](Value v) { return rowValues.contains(v); })) {
      perRow.insert(&op);
      rowValues.insert(op.result_begin(), op.result_end());
    } else {
      emitOp(&op);
    }
  }
}

void LaneRegion::setRow(ArrayRef<Value> arguments) {
  unsigned next = 0;
  for (BlockArgument argument : region.front().getArguments()) {
    if (values.contains(argument))
      continue;
    Value value = arguments[next++];
    if (value.getType().isIndex())
      values[argument] = fromIndex(value);
    else
      values[argument] = {value, /*isLanes=*/true, Value()};
  }
}

Value LaneRegion::emitRow(ArrayRef<Value> arguments, Value row) {
  // What one row adds is forgotten after it: values of a loop body must not be
  // found from outside.
  ValueMap invariant = values;
  currentRow = row;
  setRow(arguments);
  Block &block = region.front();
  for (Operation &op : block.without_terminator())
    if (perRow.contains(&op))
      emitOp(&op);
  Value result = getLanes(find(cast<YieldOp>(block.back()).getValue()));
  values = std::move(invariant);
  return result;
}

void LaneRegion::emitNeeded(Operation *op) {
  for (Value operand : op->getOperands())
    if (perRow.contains(operand.getDefiningOp()) && !values.contains(operand))
      emitNeeded(operand.getDefiningOp());
  emitOp(op);
}

Value LaneRegion::emitReadRow(Operation *read, ArrayRef<Value> arguments) {
  ValueMap invariant = values;
  setRow(arguments);
  emitNeeded(read);
  Value result = getLanes(values.lookup(read->getResult(0)));
  values = std::move(invariant);
  return result;
}

Type LaneRegion::convertType(Type type, bool isLanes) {
  Type converted = type;
  if (isIndexLike(type))
    converted = indexType;
  else if (isNarrowFloat(type))
    converted = kb.b.getF32Type();
  return isLanes ? kb.lanes(converted) : converted;
}

Value LaneRegion::integer(Type type, int64_t value) {
  Attribute attr = kb.b.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(kb.b, kb.loc, cast<TypedAttr>(attr));
}

Value LaneRegion::getLanes(const LaneValue &value) {
  return value.isLanes ? value.value : kb.broadcast(value.value);
}

LaneValue LaneRegion::fromIndex(Value index) {
  return {arith::IndexCastOp::create(kb.b, kb.loc, indexType, index)};
}

Value LaneRegion::toIndex(Value scalar) {
  return arith::IndexCastOp::create(kb.b, kb.loc, kb.b.getIndexType(), scalar);
}

LaneValue LaneRegion::find(Value value) {
  auto it = values.find(value);
  if (it != values.end())
    return it->second;
  // Values from outside the region are captured scalars, or constants that
  // folding has moved there.
  if (value.getType().isIndex())
    return fromIndex(value);
  if (value.getType().isInteger(64) && indexType.isInteger(32))
    return {arith::TruncIOp::create(kb.b, kb.loc, indexType, value)};
  if (isNarrowFloat(value.getType()))
    return {emitToF32(kb, value)};
  return {value};
}

void LaneRegion::emitOp(Operation *op) {
  SmallVector<LaneValue> operands;
  for (Value operand : op->getOperands())
    operands.push_back(find(operand));
  LaneValue result;
  if (isa<arith::ConstantOp>(op))
    result = emitConstant(op);
  else if (auto buffer = buffers.lookup(op); buffer.memref)
    result = {kb.loadLanes(buffer.memref, {currentRow, buffer.lane}), true};
  else if (auto load = dyn_cast<memref::LoadOp>(op))
    result = emitRead(op, load.getMemRef(), ArrayRef(operands).drop_front());
  else if (auto dim = dyn_cast<memref::DimOp>(op))
    result = fromIndex(kb.dim(dim.getSource(), *dim.getConstantIndex()));
  else if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
               arith::ExtUIOp, arith::TruncIOp>(op))
    result = emitCast(op, operands.front());
  else if (isa<arith::ExtFOp>(op) && operands.front().value.getType() ==
                                         convertType(op->getResult(0).getType(),
                                                     operands.front().isLanes))
    result = operands.front(); // f16 and bf16 are held as f32.
  else
    result = emitElementwise(op, operands);
  values[op->getResult(0)] = result;
}

LaneValue LaneRegion::emitConstant(Operation *op) {
  auto constant = cast<arith::ConstantOp>(op);
  if (isNarrowFloat(constant.getType()))
    return {
        kb.constant(kb.b.getF32Type(),
                    cast<FloatAttr>(constant.getValue()).getValueAsDouble())};
  if (!isIndexLike(constant.getType()))
    return {arith::ConstantOp::create(kb.b, kb.loc, constant.getValue())};
  return {integer(indexType, cast<IntegerAttr>(constant.getValue()).getInt())};
}

/// Integer casts go by the widths that the values have in lane form, in which
/// an index may be as narrow as an i32.
LaneValue LaneRegion::emitCast(Operation *op, const LaneValue &operand) {
  Type to = convertType(op->getResult(0).getType(), operand.isLanes);
  unsigned fromWidth =
      getElementTypeOrSelf(operand.value.getType()).getIntOrFloatBitWidth();
  unsigned toWidth = getElementTypeOrSelf(to).getIntOrFloatBitWidth();
  if (fromWidth == toWidth)
    return operand;
  LaneValue result{Value(), operand.isLanes, Value()};
  if (fromWidth > toWidth)
    result.value = arith::TruncIOp::create(kb.b, kb.loc, to, operand.value);
  else if (isa<arith::ExtUIOp, arith::IndexCastUIOp>(op))
    result.value = arith::ExtUIOp::create(kb.b, kb.loc, to, operand.value);
  else
    result.value = arith::ExtSIOp::create(kb.b, kb.loc, to, operand.value);
  return result;
}

LaneValue LaneRegion::emitElementwise(Operation *op,
                                      ArrayRef<LaneValue> operands) {
  bool isLanes =
      llvm::any_of(operands, [](const LaneValue &v) { return v.isLanes; });
  SmallVector<Value> converted;
  for (const LaneValue &operand : operands)
    converted.push_back(isLanes ? getLanes(operand) : operand.value);
  Type written = op->getResult(0).getType();
  Type type = convertType(written, isLanes);
  // Casts round to the type itself, once.
  bool isCast = isa<arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp>(op);
  if (isNarrowFloat(written) && isCast)
    type = isLanes ? kb.lanes(written) : written;
  OperationState state(kb.loc, op->getName(), converted, type, op->getAttrs());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  LaneValue result{kb.b.create(state)->getResult(0), isLanes, Value()};
  if (isNarrowFloat(written) && !isa<arith::SelectOp>(op)) {
    if (!isCast)
      result.value = emitRound(kb, result.value, written);
    result.value = emitToF32(kb, result.value);
  }

  // Steps stay what they are when a scalar is added or subtracted.
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    const LaneValue &x = operands[0], &y = operands[1];
    if (x.first && !y.isLanes) {
      result.step = x.step;
      result.first = isa<arith::AddIOp>(op)
                         ? kb.fold<arith::AddIOp>(x.first, y.value)
                         : kb.fold<arith::SubIOp>(x.first, y.value);
    } else if (y.first && !x.isLanes && isa<arith::AddIOp>(op)) {
      result.step = y.step;
      result.first = kb.fold<arith::AddIOp>(x.value, y.first);
    }
  }
  return result;
}
