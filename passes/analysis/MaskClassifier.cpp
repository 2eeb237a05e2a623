// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tiles a mask touches, and whether a region may be computed in 32 bits:
// the two questions that are answered by evaluating a region on ranges.

#include "passes/analysis/MaskAnalysis.h"

#include "passes/analysis/RangeEvaluator.h"
#include "passes/analysis/ScalarClone.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::attn;
using arith::CmpIPredicate;

//===- classes of tiles ---------------------------------------------------===//

/// The first division of the query position i by a positive constant.
static arith::FloorDivSIOp findQuotient(Block &keep) {
  Value i = keep.getArgument(keep.getNumArguments() - 2);
  for (auto op : keep.getOps<arith::FloorDivSIOp>()) {
    APInt divisor;
    if (op.getLhs() == i &&
        matchPattern(op.getRhs(), m_ConstantInt(&divisor)) &&
        divisor.isStrictlyPositive())
      return op;
  }
  return {};
}

MaskClassifier::MaskClassifier(Block &keep)
    : keep(keep), tables(keep), quotient(findQuotient(keep)) {}

Truth MaskClassifier::classifyByQuotient(OpBuilder &builder, Location loc,
                                         const TileRanges &ranges) {
  IntervalEmitter emitter(builder, loc);
  APInt divisor;
  matchPattern(quotient.getRhs(), m_ConstantInt(&divisor));
  Value size =
      arith::ConstantIndexOp::create(builder, loc, divisor.getSExtValue());
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value low = emitter.emit<arith::FloorDivSIOp>(ranges.iLo, size);
  Value high = emitter.emit<arith::FloorDivSIOp>(ranges.iHi, size);

  // The rows before and after the end of the first quotient.
  TileRanges first = ranges, second = ranges;
  Value next =
      emitter.emit<arith::MulIOp>(emitter.emit<arith::AddIOp>(low, one), size);
  first.iHi = emitter.emit<arith::MinSIOp>(
      ranges.iHi, emitter.emit<arith::SubIOp>(next, one));
  second.iLo = emitter.emit<arith::MaxSIOp>(
      ranges.iLo, emitter.emit<arith::MulIOp>(high, size));
  auto classifyPart = [&](const TileRanges &part, Value value) {
    RangeEvaluator evaluator(builder, loc, &tables);
    evaluator.pin(quotient, value);
    evaluator.evaluate(keep, part);
    return evaluator.getTruth(cast<YieldOp>(keep.back()).getValue());
  };
  Truth a = classifyPart(first, low), b = classifyPart(second, high);

  // More than two quotients, or positions that wrap: anything.
  Value isKnown = emitter.emit<arith::AndIOp>(
      emitter.compareValues(CmpIPredicate::sle, ranges.iLo, ranges.iHi),
      emitter.compareValues(CmpIPredicate::sle,
                            emitter.emit<arith::SubIOp>(high, low), one));
  Value anything = emitter.logicalNot(isKnown);
  auto join = [&](Value x, Value y) {
    return emitter.emit<arith::OrIOp>(anything,
                                      emitter.emit<arith::OrIOp>(x, y));
  };
  return {join(a.canBeTrue, b.canBeTrue), join(a.canBeFalse, b.canBeFalse)};
}

void MaskClassifier::emitTables(OpBuilder &builder, Location loc,
                                int64_t blockSize) {
  tables.emit(builder, loc, blockSize);
}

TileClass MaskClassifier::classify(OpBuilder &builder, Location loc,
                                   const TileRanges &ranges) {
  RangeEvaluator evaluator(builder, loc, &tables);
  evaluator.evaluate(keep, ranges);
  Truth truth = evaluator.getTruth(cast<YieldOp>(keep.back()).getValue());
  // Both say what may be: what only one of them says cannot.
  if (quotient && ranges.iLo != ranges.iHi) {
    Truth other = classifyByQuotient(builder, loc, ranges);
    IntervalEmitter &emitter = evaluator.getEmitter();
    truth = {emitter.emit<arith::AndIOp>(truth.canBeTrue, other.canBeTrue),
             emitter.emit<arith::AndIOp>(truth.canBeFalse, other.canBeFalse)};
  }
  bool same = matchPattern(truth.canBeTrue, m_One()) &&
              matchPattern(truth.canBeFalse, m_One());
  if (!classified || !same)
    unknownCause = same ? evaluator.getUnknownCause() : nullptr;
  classified = true;
  return {truth.canBeTrue, truth.canBeFalse};
}

//===- 32 bits ------------------------------------------------------------===//

namespace {

/// Collects the conditions under which 32 bits do.
struct FitsInt32 {
  RangeEvaluator &evaluator;
  IntervalEmitter &emitter;
  Value fits;

  void require(Value condition) {
    fits = emitter.emit<arith::AndIOp>(fits, condition);
  }
  void requireRange(Value value, int64_t least, int64_t greatest) {
    Interval range = evaluator.getInterval(value);
    require(emitter.compareValues(CmpIPredicate::sge, range.lo,
                                  emitter.constant(least)));
    require(emitter.compareValues(CmpIPredicate::sle, range.hi,
                                  emitter.constant(greatest)));
  }
  void requireNarrow(Value value) {
    Type type = value.getType();
    if (type.isIndex() || type.isInteger(64))
      requireRange(value, std::numeric_limits<int32_t>::min(),
                   std::numeric_limits<int32_t>::max());
  }

  /// Operations whose results differ although operands and results fit.
  void requireSameResult(Operation &op) {
    Type type = op.getOperand(0).getType();
    if (!type.isIndex() && !type.isInteger(64))
      return;
    // A negative number is another one when read as unsigned.
    if (isa<arith::DivUIOp, arith::CeilDivUIOp, arith::RemUIOp, arith::ShRUIOp>(
            op))
      for (Value operand : op.getOperands())
        requireRange(operand, 0, std::numeric_limits<int32_t>::max());
    if (isa<arith::UIToFPOp>(op))
      requireRange(op.getOperand(0), 0, std::numeric_limits<int32_t>::max());
    // The least number divided by -1 leaves 0 only where there are more bits.
    if (isa<arith::RemSIOp>(op))
      requireRange(op.getOperand(0), -std::numeric_limits<int32_t>::max(),
                   std::numeric_limits<int32_t>::max());
    if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
      requireRange(op.getOperand(1), 0, 31);
  }

  /// Indices are clamped to sizes.
  void requireSizes(OpBuilder &builder, Location loc, Value shaped) {
    for (int64_t dim = 0; dim < cast<ShapedType>(shaped.getType()).getRank();
         ++dim) {
      Value size = emitter.toInt64(getSize(builder, loc, shaped, dim));
      require(emitter.compareValues(
          CmpIPredicate::sle, size,
          emitter.constant(std::numeric_limits<int32_t>::max())));
    }
  }
};

} // namespace

Value attn::emitFitsInt32(OpBuilder &builder, Location loc, Block &block,
                          const TileRanges &ranges, Operation **misfit) {
  RangeEvaluator evaluator(builder, loc, /*tables=*/nullptr);
  evaluator.evaluate(block, ranges);
  IntervalEmitter &emitter = evaluator.getEmitter();
  FitsInt32 conditions{evaluator, emitter, emitter.flag(true)};
  for (Value argument : block.getArguments().take_back(4))
    conditions.requireNarrow(argument);
  auto isFalse = [&] { return matchPattern(conditions.fits, m_Zero()); };
  for (Operation &op : block.without_terminator()) {
    bool wasFalse = isFalse();
    // Captured scalars, and constants that folding has moved out.
    for (Value operand : op.getOperands())
      if (operand.getParentBlock() != &block)
        conditions.requireNarrow(operand);
    conditions.requireNarrow(op.getResult(0));
    if (isa<tensor::ExtractOp, memref::LoadOp>(op))
      conditions.requireSizes(builder, loc, op.getOperand(0));
    else if (op.getNumOperands() != 0)
      conditions.requireSameResult(op);
    if (misfit && !wasFalse && isFalse())
      *misfit = &op;
  }
  return conditions.fits;
}
