// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar code in floats of at least some type. Part of the decomposition, where
// a score region runs in f64.

#include "passes/decompose/WidenRegion.h"

#include "dialect/Attn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

#include <cmath>

using namespace mlir;
using namespace mlir::attn;
using arith::CmpFPredicate;

Value attn::widenFloat(OpBuilder &builder, Location loc, Value value,
                       FloatType wide) {
  if (value.getType().getIntOrFloatBitWidth() >= wide.getWidth())
    return value;
  return arith::ExtFOp::create(builder, loc, wide, value);
}

Value attn::convertFloat(OpBuilder &builder, Location loc, Value value,
                         FloatType type) {
  // From f16 to bf16 there is no cast.
  if (value.getType() != type && type.getWidth() == 16)
    value = widenFloat(builder, loc, value, builder.getF32Type());
  value = widenFloat(builder, loc, value, type);
  if (value.getType() == type)
    return value;
  return arith::TruncFOp::create(builder, loc, type, value);
}

static Value makeFloat(OpBuilder &builder, Location loc, FloatType type,
                       double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(type, value));
}

/// The value of `narrow` nearest to `value`, ties to even, as a value of the
/// type of `value`.
static Value roundToNarrow(OpBuilder &builder, Location loc, Value value,
                           FloatType narrow) {
  auto wide = cast<FloatType>(value.getType());
  const llvm::fltSemantics &semantics = narrow.getFloatSemantics();
  int precision = static_cast<int>(APFloat::semanticsPrecision(semantics));
  int minExponent = APFloat::semanticsMinExponent(semantics);
  int dropped = static_cast<int>(wide.getFPMantissaWidth()) - precision;
  unsigned width = wide.getWidth();
  Type bitsType = builder.getIntegerType(width);
  auto makeBits = [&](const APInt &bits) -> Value {
    return arith::ConstantOp::create(builder, loc, bitsType,
                                     builder.getIntegerAttr(bitsType, bits));
  };
  auto select = [&](Value condition, Value yes, Value no) -> Value {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  };
  auto compare = [&](CmpFPredicate predicate, Value left,
                     Value right) -> Value {
    return arith::CmpFOp::create(builder, loc, predicate, left, right);
  };

  // Normal numbers: add half of the last place that stays, less one where the
  // bit above is even, and cut. A carry runs into the exponent as it should.
  Value bits = arith::BitcastOp::create(builder, loc, bitsType, value);
  Value odd = arith::AndIOp::create(
      builder, loc,
      arith::ShRUIOp::create(builder, loc, bits,
                             makeBits(APInt(width, dropped))),
      makeBits(APInt(width, 1)));
  Value half = makeBits(APInt::getLowBitsSet(width, dropped - 1));
  Value bumped = arith::AddIOp::create(
      builder, loc, arith::AddIOp::create(builder, loc, bits, half), odd);
  Value cut = arith::AndIOp::create(
      builder, loc, bumped,
      makeBits(APInt::getHighBitsSet(width, width - dropped)));
  Value rounded = arith::BitcastOp::create(builder, loc, wide, cut);

  // Subnormal numbers are multiples of one step, to which adding and taking
  // away a number whose last place is that step rounds.
  Value magnitude = math::AbsFOp::create(builder, loc, value);
  int step = minExponent - (precision - 1);
  int widePrecision = static_cast<int>(wide.getFPMantissaWidth());
  Value anchor =
      makeFloat(builder, loc, wide, std::ldexp(1.5, step + widePrecision - 1));
  Value sum = arith::AddFOp::create(builder, loc, magnitude, anchor);
  Value small = arith::SubFOp::create(builder, loc, sum, anchor);
  Value subnormal = math::CopySignOp::create(builder, loc, small, value);
  Value isSmall =
      compare(CmpFPredicate::OLT, magnitude,
              makeFloat(builder, loc, wide, std::ldexp(1.0, minExponent)));
  Value finite = select(isSmall, subnormal, rounded);

  // Beyond the largest number: infinity. NaN stays NaN.
  APFloat infinity = APFloat::getInf(wide.getFloatSemantics());
  Value inf = math::CopySignOp::create(
      builder, loc,
      arith::ConstantOp::create(builder, loc,
                                builder.getFloatAttr(wide, infinity)),
      value);
  Value limit =
      makeFloat(builder, loc, wide,
                std::ldexp(1.0, APFloat::semanticsMaxExponent(semantics) + 1));
  Value tooLarge =
      compare(CmpFPredicate::OGE,
              math::AbsFOp::create(builder, loc, finite).getResult(), limit);
  Value isNan = compare(CmpFPredicate::UNO, value, value);
  return select(isNan, value, select(tooLarge, inf, finite));
}

Value attn::roundOnce(OpBuilder &builder, Location loc, Value value,
                      FloatType type) {
  if (type == value.getType())
    return value;
  if (type.getWidth() == 16 && value.getType().isF64()) {
    // Exact from here on, so that going through f32 does no harm.
    value = roundToNarrow(builder, loc, value, type);
    value = arith::TruncFOp::create(builder, loc, builder.getF32Type(), value);
  }
  return arith::TruncFOp::create(builder, loc, type, value);
}

/// Index `index` into dimension `dim` of `tensor`, moved to the nearest one
/// that is there.
static Value clampIndex(OpBuilder &builder, Location loc, Value tensor,
                        int64_t dim, Value index) {
  Value size = tensor::DimOp::create(builder, loc, tensor, dim).getResult();
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value last = arith::SubIOp::create(builder, loc, size, one);
  Value low = arith::MinSIOp::create(builder, loc, index, last);
  return arith::MaxSIOp::create(builder, loc, low, zero);
}

namespace {

/// Clones the operations of a region one by one.
class RegionWidener {
public:
  RegionWidener(OpBuilder &builder, FloatType wide)
      : builder(builder), wide(wide) {}

  void map(Value from, Value to) { mapping.map(from, to); }
  Value lookup(Value value, Location loc);
  void clone(Operation *op);

private:
  void cloneExtract(tensor::ExtractOp op);
  /// The type that a float of type `type` is computed in.
  FloatType widen(Type type) {
    auto written = cast<FloatType>(type);
    return written.getWidth() > wide.getWidth() ? written : wide;
  }
  Value cloneFloat(Operation *op);
  Operation *rebuild(Operation *op, TypeRange results);

  OpBuilder &builder;
  FloatType wide;
  IRMapping mapping;
};

} // namespace

Value RegionWidener::lookup(Value value, Location loc) {
  Value mapped = mapping.lookupOrDefault(value);
  if (isa<FloatType>(mapped.getType()) &&
      mapped.getType() != widen(mapped.getType())) {
    // A scalar from outside of the region.
    mapped = widenFloat(builder, loc, mapped, wide);
    mapping.map(value, mapped);
  }
  return mapped;
}

/// `op` on the mapped operands with results of other types.
Operation *RegionWidener::rebuild(Operation *op, TypeRange results) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(lookup(operand, op->getLoc()));
  OperationState state(op->getLoc(), op->getName(), operands, results,
                       op->getAttrs());
  return builder.create(state);
}

void RegionWidener::cloneExtract(tensor::ExtractOp op) {
  Location loc = op.getLoc();
  SmallVector<Value> indices;
  for (auto [dim, index] : llvm::enumerate(op.getIndices()))
    indices.push_back(
        clampIndex(builder, loc, op.getTensor(), dim, lookup(index, loc)));
  Value element =
      tensor::ExtractOp::create(builder, loc, op.getTensor(), indices);
  if (isa<FloatType>(element.getType()))
    element = widenFloat(builder, loc, element, wide);
  map(op.getResult(), element);
}

/// An operation with a float result, in what that is computed in.
Value RegionWidener::cloneFloat(Operation *op) {
  Location loc = op->getLoc();
  FloatType type = widen(op->getResult(0).getType());
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    APFloat value = cast<FloatAttr>(constant.getValue()).getValue();
    bool losesInfo;
    value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(type, value));
  }
  // Of f16 and bf16 the rounding is meant, as results depend on it far more
  // than on the precision of f32. Casts round once, whatever they come from.
  auto written = cast<FloatType>(op->getResult(0).getType());
  bool isNarrow = written.getWidth() == 16;
  if (isNarrow && isa<arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp>(op))
    return arith::ExtFOp::create(builder, loc, type,
                                 rebuild(op, written)->getResult(0));
  // What a program extends or rounds may have the type already.
  if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
    Value operand = lookup(op->getOperand(0), loc);
    if (operand.getType() == type)
      return operand;
  }
  Value result = rebuild(op, type)->getResult(0);
  if (!isNarrow || isa<arith::SelectOp>(op))
    return result;
  return roundToNarrow(builder, loc, result, written);
}

void RegionWidener::clone(Operation *op) {
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return cloneExtract(extract);
  Value result = op->getResult(0);
  map(result, isa<FloatType>(result.getType())
                  ? cloneFloat(op)
                  : rebuild(op, result.getType())->getResult(0));
}

Value attn::inlineWidened(Region &region, OpBuilder &builder, ValueRange args,
                          FloatType wide) {
  Block &block = region.front();
  RegionWidener widener(builder, wide);
  for (auto [parameter, arg] : llvm::zip(block.getArguments(), args))
    widener.map(parameter, arg);
  for (Operation &op : block.without_terminator())
    widener.clone(&op);
  return widener.lookup(cast<YieldOp>(block.back()).getValue(),
                        block.back().getLoc());
}
