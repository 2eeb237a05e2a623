// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on ranges as IR: every rule of integer arithmetic that a mask may
// use, emitted as straight-line scalar code on the two ends of a range. Used by
// the evaluator of regions on ranges.

#ifndef ATTN_PASSES_ANALYSIS_INTERVAL_H
#define ATTN_PASSES_ANALYSIS_INTERVAL_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::attn {

/// All values of an integer lie in lo..hi, both of type i64 and inclusive.
/// Narrower integers are sign-extended; index has 64 bits.
struct Interval {
  Value lo, hi;
};

/// Whether an i1 may be true and may be false, both of type i1.
struct Truth {
  Value canBeTrue, canBeFalse;
};

/// Emits the rules. `width` is the number of bits of the result (of the
/// operands for compares). Where a result may wrap, or an operation has no
/// defined result, the range becomes that of the whole type, at run time.
class IntervalEmitter {
public:
  IntervalEmitter(OpBuilder &builder, Location loc)
      : builder(builder), loc(loc) {}

  Value constant(int64_t value);
  Value flag(bool value);
  Value logicalNot(Value value);
  Interval full(unsigned width);
  /// `a`, or the whole type if its ends have passed each other by wrapping.
  Interval ordered(Interval a);
  Interval point(Value value) { return {value, value}; }
  /// value, extended or cast to i64.
  Value toInt64(Value value, bool isSigned = true);

  Interval add(Interval a, Interval b, unsigned width);
  Interval sub(Interval a, Interval b, unsigned width);
  Interval mul(Interval a, Interval b, unsigned width);
  template <typename DivOpTy>
  Interval divSigned(Interval a, Interval b, unsigned width);
  template <typename DivOpTy>
  Interval divUnsigned(Interval a, Interval b, unsigned width);
  Interval remSigned(Interval a, Interval b, unsigned width);
  Interval remUnsigned(Interval a, Interval b, unsigned width);
  template <typename MinMaxOpTy> Interval minMaxSigned(Interval a, Interval b);
  template <typename MinMaxOpTy>
  Interval minMaxUnsigned(Interval a, Interval b, unsigned width);
  Interval shiftLeft(Interval a, Interval b, unsigned width);
  Interval shiftRightSigned(Interval a, Interval b, unsigned width);
  Interval shiftRightUnsigned(Interval a, Interval b, unsigned width);
  Interval bitAnd(Interval a, Interval b, unsigned width);
  Interval bitOr(Interval a, Interval b, unsigned width);
  Interval bitXor(Interval a, Interval b, unsigned width);
  Interval abs(Interval a, unsigned width);

  /// The range of `a` as a value of fewer bits.
  Interval truncate(Interval a, unsigned width);
  /// The range of the `width` bits of `a` read as an unsigned number.
  Interval zeroExtend(Interval a, unsigned width);
  /// Either range, as `which` says.
  Interval select(Truth which, Interval a, Interval b);

  Truth compare(arith::CmpIPredicate predicate, Interval a, Interval b,
                unsigned width);
  Truth both() { return {flag(true), flag(true)}; }
  Truth logicalAnd(Truth a, Truth b);
  Truth logicalOr(Truth a, Truth b);
  Truth logicalXor(Truth a, Truth b);
  Truth select(Truth which, Truth a, Truth b);
  /// The lowest bit of a range.
  Truth lowestBit(Interval a);

  /// Creates an op of one result, or folds it.
  template <typename OpTy, typename... Args> Value emit(Args... args) {
    return builder.createOrFold<OpTy>(loc, args...);
  }
  Value compareValues(arith::CmpIPredicate predicate, Value a, Value b) {
    return emit<arith::CmpIOp>(predicate, a, b);
  }

private:
  /// `a` where `ok` and it fits into `width` bits, else the whole type.
  Interval guard(Interval a, Value ok, unsigned width);
  /// The ends of a range of `width` bits as unsigned numbers: bit patterns in
  /// i64, ordered as such.
  Interval toUnsigned(Interval a, unsigned width);
  Interval fromUnsigned(Interval a, Value ok, unsigned width);
  /// The least and greatest of `corners`.
  Interval hull(ArrayRef<Value> corners);
  /// True if every amount of `b` shifts `width` bits in a defined way; also
  /// replaces the amounts by 0 where it is false.
  Value checkShift(Interval &b, int64_t limit);
  /// a * b, and-ing into `ok` that it has not wrapped at 64 bits.
  Value checkedMul(Value a, Value b, Value &ok);

  OpBuilder &builder;
  Location loc;
};

} // namespace mlir::attn

#endif // ATTN_PASSES_ANALYSIS_INTERVAL_H
