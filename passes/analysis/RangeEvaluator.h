// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates a score or keep region on ranges of its coordinates: a value that
// is the same over the whole tile is computed as it stands, on scalars, an
// integer that varies becomes the range of what it can be.

#ifndef ATTN_PASSES_ANALYSIS_RANGEEVALUATOR_H
#define ATTN_PASSES_ANALYSIS_RANGEEVALUATOR_H

#include "passes/analysis/Interval.h"
#include "passes/analysis/MaskAnalysis.h"

#include "llvm/ADT/DenseMap.h"

namespace mlir::attn {

class RangeEvaluator {
public:
  /// `tables` may be null.
  RangeEvaluator(OpBuilder &builder, Location loc, const BlockTables *tables)
      : builder(builder), loc(loc), emitter(builder, loc), tables(tables) {}

  /// Takes `value` for the result of `op` in what is evaluated next.
  void pin(Operation *op, Value value) { pinned[op] = value; }

  /// Evaluates every operation of `block` on `ranges`. The arguments are (b, h,
  /// i, j), after others of which nothing is known.
  void evaluate(Block &block, const TileRanges &ranges);

  /// The range of a value of integer type or index.
  Interval getInterval(Value value);
  /// Whether an i1 may be true and may be false.
  Truth getTruth(Value value);
  /// True if the value is the same over the whole tile.
  bool isExact(Value value) const;

  /// The first operation without a rule for what it was given, or null.
  Operation *getUnknownCause() const { return unknownCause; }
  IntervalEmitter &getEmitter() { return emitter; }

private:
  /// What is known of a value: itself, or a range, or a truth value, or
  /// nothing.
  struct Abstract {
    Value exact;
    std::optional<Interval> interval;
    std::optional<Truth> truth;

    bool isUnknown() const { return !exact && !interval && !truth; }
  };

  Abstract lookup(Value value) const;
  Abstract getArgument(Value lo, Value hi);
  /// Nothing is known of the results of `op`; it is to blame unless nothing was
  /// known of what it was given.
  Abstract unknown(Operation *op);

  Abstract evaluateOp(Operation *op);
  Abstract evaluateBool(Operation *op);
  Abstract evaluateInteger(Operation *op);
  Abstract evaluateCast(Operation *op);
  Abstract evaluateCompare(arith::CmpIOp op);
  Abstract evaluateSelect(arith::SelectOp op);
  Abstract evaluateRead(Operation *op);

  OpBuilder &builder;
  Location loc;
  IntervalEmitter emitter;
  const BlockTables *tables;
  llvm::DenseMap<Value, Abstract> values;
  llvm::DenseMap<Operation *, Value> pinned;
  Operation *unknownCause = nullptr;
};

/// Bits of an integer type; 64 for index.
unsigned getIntegerWidth(Type type);

} // namespace mlir::attn

#endif // ATTN_PASSES_ANALYSIS_RANGEEVALUATOR_H
