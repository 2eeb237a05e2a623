// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loop nests that decompositions are made of.

#ifndef ATTN_PASSES_DECOMPOSE_PLAINGENERIC_H
#define ATTN_PASSES_DECOMPOSE_PLAINGENERIC_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

namespace mlir::attn {

/// A linalg.generic of `numLoops` loops over `inputs` and `init`; a map per
/// operand, init last, names the loops of its dimensions. The loops that the
/// map of init doesn't have are summed over. `body` gives the new element from
/// those of the operands.
Value buildPlainGeneric(OpBuilder &builder, Location loc, ValueRange inputs,
                        Value init, ArrayRef<ArrayRef<int64_t>> maps,
                        int64_t numLoops, function_ref<Value(ValueRange)> body);

/// Short forms for scalar code in one float type.
struct FloatBuilder {
  FloatBuilder(OpBuilder &builder, Location loc, FloatType type)
      : builder(builder), loc(loc), type(type) {}

  Value makeFloat(double value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(type, value));
  }
  Value isEqual(Value x, double y) {
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, x,
                                 makeFloat(y));
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  }
  /// exp(logit - max), 0 where the logit is -inf. Where there is no key the
  /// maximum is -inf, too, from which nothing is subtracted.
  Value makeWeight(Value logit, Value max);

  OpBuilder &builder;
  Location loc;
  FloatType type;
};

/// The same in f64, with sizes of tensors.
struct F64Builder : FloatBuilder {
  F64Builder(OpBuilder &builder, Location loc)
      : FloatBuilder(builder, loc, builder.getF64Type()), f64(type) {}

  Value getDim(Value tensor, int64_t dim) {
    return builder.createOrFold<tensor::DimOp>(loc, tensor, dim);
  }
  Value makeIndex(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value makeEmpty(ArrayRef<OpFoldResult> sizes, Type elementType) {
    return tensor::EmptyOp::create(builder, loc, sizes, elementType);
  }
  /// A tensor of f64 that holds `value` everywhere.
  Value makeFilled(ArrayRef<OpFoldResult> sizes, double value);
  Value buildGeneric(ValueRange inputs, Value init,
                     ArrayRef<ArrayRef<int64_t>> maps, int64_t numLoops,
                     function_ref<Value(ValueRange)> body) {
    return buildPlainGeneric(builder, loc, inputs, init, maps, numLoops, body);
  }
  /// A loop from `first` to below `end`; `body` gives the values that the loop
  /// carries from the index and those before it.
  SmallVector<Value>
  buildLoop(Value first, Value end, ValueRange inits,
            function_ref<SmallVector<Value>(Value, ValueRange)> body);
  SmallVector<Value>
  buildLoop(Value end, ValueRange inits,
            function_ref<SmallVector<Value>(Value, ValueRange)> body) {
    return buildLoop(makeIndex(0), end, inits, body);
  }
  /// Each element rounded to `elementType`, once.
  Value roundAll(Value tensor, Type elementType);
  /// Keys in use in batch entry `b` of so many, clamped to them; all without
  /// `lengths`.
  Value buildLength(Value lengths, Value b, Value keys);

  FloatType f64;
};

} // namespace mlir::attn

#endif // ATTN_PASSES_DECOMPOSE_PLAINGENERIC_H
