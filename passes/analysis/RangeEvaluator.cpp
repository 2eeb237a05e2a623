// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates a score or keep region on ranges of its coordinates. Which rule an
// operation has is decided here; the rules are in Interval.cpp.

#include "passes/analysis/RangeEvaluator.h"

#include "passes/analysis/ScalarClone.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::attn;

unsigned attn::getIntegerWidth(Type type) {
  return type.isIndex() ? 64 : cast<IntegerType>(type).getWidth();
}

/// Integers and index, but not i1, whose values are truth values.
static bool isNumber(Type type) {
  return type.isIndex() || (isa<IntegerType>(type) && !type.isInteger(1));
}

//===- values -------------------------------------------------------------===//

RangeEvaluator::Abstract RangeEvaluator::lookup(Value value) const {
  auto it = values.find(value);
  // What the region captures is the same everywhere.
  return it != values.end() ? it->second : Abstract{value, {}, {}};
}

bool RangeEvaluator::isExact(Value value) const {
  return static_cast<bool>(lookup(value).exact);
}

Interval RangeEvaluator::getInterval(Value value) {
  Abstract abstract = lookup(value);
  if (abstract.interval)
    return *abstract.interval;
  if (abstract.exact)
    return emitter.point(emitter.toInt64(abstract.exact));
  return emitter.full(getIntegerWidth(value.getType()));
}

Truth RangeEvaluator::getTruth(Value value) {
  Abstract abstract = lookup(value);
  if (abstract.truth)
    return *abstract.truth;
  if (abstract.exact)
    return {abstract.exact, emitter.logicalNot(abstract.exact)};
  return emitter.both();
}

RangeEvaluator::Abstract RangeEvaluator::getArgument(Value lo, Value hi) {
  std::optional<int64_t> first = getConstantIntValue(lo);
  if (lo == hi || (first && first == getConstantIntValue(hi)))
    return {lo, {}, {}};
  return {{}, emitter.ordered({emitter.toInt64(lo), emitter.toInt64(hi)}), {}};
}

RangeEvaluator::Abstract RangeEvaluator::unknown(Operation *op) {
  bool given = llvm::any_of(op->getOperands(), [&](Value operand) {
    return lookup(operand).isUnknown();
  });
  if (!given && !unknownCause)
    unknownCause = op;
  return {};
}

void RangeEvaluator::evaluate(Block &block, const TileRanges &ranges) {
  assert(block.getNumArguments() >= 4 && "expected the arguments of a region");
  for (Value argument : block.getArguments().drop_back(4))
    values[argument] = {};
  auto coordinates = block.getArguments().take_back(4);
  values[coordinates[0]] = {ranges.b, {}, {}};
  values[coordinates[1]] = getArgument(ranges.hLo, ranges.hHi);
  values[coordinates[2]] = getArgument(ranges.iLo, ranges.iHi);
  values[coordinates[3]] = getArgument(ranges.jLo, ranges.jHi);
  for (Operation &op : block.without_terminator())
    values[op.getResult(0)] = evaluateOp(&op);
}

//===- operations ---------------------------------------------------------===//

RangeEvaluator::Abstract RangeEvaluator::evaluateOp(Operation *op) {
  if (Value value = pinned.lookup(op))
    return {value, {}, {}};
  SmallVector<Value> exact;
  for (Value operand : op->getOperands())
    if (Value value = lookup(operand).exact)
      exact.push_back(value);
  if (exact.size() == op->getNumOperands())
    return {cloneScalar(builder, loc, *op, exact), {}, {}};

  Type type = op->getResult(0).getType();
  if (isa<tensor::ExtractOp, memref::LoadOp>(op))
    return evaluateRead(op);
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return evaluateCompare(compare);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return evaluateSelect(select);
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp,
          arith::IndexCastUIOp>(op))
    return evaluateCast(op);
  if (type.isInteger(1))
    return evaluateBool(op);
  if (isNumber(type))
    return evaluateInteger(op);
  return unknown(op);
}

RangeEvaluator::Abstract RangeEvaluator::evaluateBool(Operation *op) {
  if (!isa<arith::AndIOp, arith::MulIOp, arith::OrIOp, arith::XOrIOp,
           arith::AddIOp, arith::SubIOp>(op))
    return unknown(op);
  Truth a = getTruth(op->getOperand(0)), b = getTruth(op->getOperand(1));
  if (isa<arith::AndIOp, arith::MulIOp>(op))
    return {{}, {}, emitter.logicalAnd(a, b)};
  if (isa<arith::OrIOp>(op))
    return {{}, {}, emitter.logicalOr(a, b)};
  // A sum or difference of single bits is their exclusive or.
  return {{}, {}, emitter.logicalXor(a, b)};
}

RangeEvaluator::Abstract RangeEvaluator::evaluateInteger(Operation *op) {
  unsigned width = getIntegerWidth(op->getResult(0).getType());
  if (isa<math::AbsIOp>(op))
    return {{}, emitter.abs(getInterval(op->getOperand(0)), width), {}};
  if (op->getNumOperands() != 2 || !isNumber(op->getOperand(0).getType()))
    return unknown(op);
  bool given = lookup(op->getOperand(0)).isUnknown() ||
               lookup(op->getOperand(1)).isUnknown();
  // Of these nothing can be said if one operand may be anything.
  if (given && isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp,
                   arith::XOrIOp>(op))
    return unknown(op);
  Interval a = getInterval(op->getOperand(0));
  Interval b = getInterval(op->getOperand(1));
  IntervalEmitter &e = emitter;
  std::optional<Interval> result =
      llvm::TypeSwitch<Operation *, std::optional<Interval>>(op)
          .Case([&](arith::AddIOp) { return e.add(a, b, width); })
          .Case([&](arith::SubIOp) { return e.sub(a, b, width); })
          .Case([&](arith::MulIOp) { return e.mul(a, b, width); })
          .Case([&](arith::DivSIOp) {
            return e.divSigned<arith::DivSIOp>(a, b, width);
          })
          .Case([&](arith::FloorDivSIOp) {
            return e.divSigned<arith::FloorDivSIOp>(a, b, width);
          })
          .Case([&](arith::CeilDivSIOp) {
            return e.divSigned<arith::CeilDivSIOp>(a, b, width);
          })
          .Case([&](arith::DivUIOp) {
            return e.divUnsigned<arith::DivUIOp>(a, b, width);
          })
          .Case([&](arith::CeilDivUIOp) {
            return e.divUnsigned<arith::CeilDivUIOp>(a, b, width);
          })
          .Case([&](arith::RemSIOp) { return e.remSigned(a, b, width); })
          .Case([&](arith::RemUIOp) { return e.remUnsigned(a, b, width); })
          .Case([&](arith::MinSIOp) {
            return e.minMaxSigned<arith::MinSIOp>(a, b);
          })
          .Case([&](arith::MaxSIOp) {
            return e.minMaxSigned<arith::MaxSIOp>(a, b);
          })
          .Case([&](arith::MinUIOp) {
            return e.minMaxUnsigned<arith::MinUIOp>(a, b, width);
          })
          .Case([&](arith::MaxUIOp) {
            return e.minMaxUnsigned<arith::MaxUIOp>(a, b, width);
          })
          .Case([&](arith::ShLIOp) { return e.shiftLeft(a, b, width); })
          .Case([&](arith::ShRSIOp) { return e.shiftRightSigned(a, b, width); })
          .Case(
              [&](arith::ShRUIOp) { return e.shiftRightUnsigned(a, b, width); })
          .Case([&](arith::AndIOp) { return e.bitAnd(a, b, width); })
          .Case([&](arith::OrIOp) { return e.bitOr(a, b, width); })
          .Case([&](arith::XOrIOp) { return e.bitXor(a, b, width); })
          .Default([](Operation *) { return std::nullopt; });
  if (!result)
    return unknown(op);
  return {{}, result, {}};
}

RangeEvaluator::Abstract RangeEvaluator::evaluateCast(Operation *op) {
  Value operand = op->getOperand(0);
  Type from = operand.getType(), to = op->getResult(0).getType();
  unsigned fromWidth = getIntegerWidth(from), toWidth = getIntegerWidth(to);
  bool isSigned = isa<arith::ExtSIOp, arith::IndexCastOp>(op);
  if (from.isInteger(1)) {
    if (to.isInteger(1))
      return lookup(operand);
    // True is 1, or -1 where the bit is a sign.
    Truth truth = getTruth(operand);
    Value zero = emitter.constant(0), one = emitter.constant(isSigned ? -1 : 1);
    return {
        {}, emitter.select(truth, emitter.point(one), emitter.point(zero)), {}};
  }
  if (lookup(operand).isUnknown() && (isSigned || toWidth <= fromWidth))
    return unknown(op);
  Interval range = getInterval(operand);
  if (to.isInteger(1))
    return {{}, {}, emitter.lowestBit(range)};
  if (toWidth < fromWidth)
    range = emitter.truncate(range, toWidth);
  else if (toWidth > fromWidth && !isSigned)
    range = emitter.zeroExtend(range, fromWidth);
  return {{}, range, {}};
}

RangeEvaluator::Abstract RangeEvaluator::evaluateCompare(arith::CmpIOp op) {
  if (lookup(op.getLhs()).isUnknown() || lookup(op.getRhs()).isUnknown())
    return unknown(op);
  if (!op.getLhs().getType().isInteger(1)) {
    unsigned width = getIntegerWidth(op.getLhs().getType());
    return {{},
            {},
            emitter.compare(op.getPredicate(), getInterval(op.getLhs()),
                            getInterval(op.getRhs()), width)};
  }
  // Of single bits, as truth values; true is less than false where signed.
  Truth a = getTruth(op.getLhs()), b = getTruth(op.getRhs());
  auto negate = [](Truth t) { return Truth{t.canBeFalse, t.canBeTrue}; };
  Truth result;
  switch (op.getPredicate()) {
  case arith::CmpIPredicate::eq:
    result = negate(emitter.logicalXor(a, b));
    break;
  case arith::CmpIPredicate::ne:
    result = emitter.logicalXor(a, b);
    break;
  case arith::CmpIPredicate::ult:
  case arith::CmpIPredicate::sgt:
    result = emitter.logicalAnd(negate(a), b);
    break;
  case arith::CmpIPredicate::ugt:
  case arith::CmpIPredicate::slt:
    result = emitter.logicalAnd(a, negate(b));
    break;
  case arith::CmpIPredicate::ule:
  case arith::CmpIPredicate::sge:
    result = emitter.logicalOr(negate(a), b);
    break;
  case arith::CmpIPredicate::uge:
  case arith::CmpIPredicate::sle:
    result = emitter.logicalOr(a, negate(b));
    break;
  }
  return {{}, {}, result};
}

RangeEvaluator::Abstract RangeEvaluator::evaluateSelect(arith::SelectOp op) {
  Type type = op.getType();
  if (isa<FloatType>(type))
    return unknown(op);
  Truth which = getTruth(op.getCondition());
  if (type.isInteger(1))
    return {{},
            {},
            emitter.select(which, getTruth(op.getTrueValue()),
                           getTruth(op.getFalseValue()))};
  return {{},
          emitter.select(which, getInterval(op.getTrueValue()),
                         getInterval(op.getFalseValue())),
          {}};
}

/// A read that varies in one index can be looked up by blocks.
RangeEvaluator::Abstract RangeEvaluator::evaluateRead(Operation *op) {
  Type type = op->getResult(0).getType();
  if (!isNumber(type) || !tables)
    return unknown(op);
  Value tensor = op->getOperand(0);
  std::optional<unsigned> varying;
  for (auto [dim, index] : llvm::enumerate(op->getOperands().drop_front())) {
    if (isExact(index))
      continue;
    if (varying)
      return unknown(op);
    varying = dim;
  }
  if (!varying || !tables->has(tensor, *varying))
    return unknown(op);
  Interval range = getInterval(op->getOperand(1 + *varying));
  SmallVector<Value> indices;
  for (auto [dim, index] : llvm::enumerate(op->getOperands().drop_front()))
    indices.push_back(
        dim == *varying
            ? Value()
            : clampIndex(builder, loc, lookup(index).exact, tensor, dim));
  return {
      {}, tables->lookup(builder, loc, tensor, *varying, indices, range), {}};
}
