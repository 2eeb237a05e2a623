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

/// Short forms for scalar code in f64.
struct F64Builder {
  explicit F64Builder(OpBuilder &builder, Location loc)
      : builder(builder), loc(loc), f64(builder.getF64Type()) {}

  Value getDim(Value tensor, int64_t dim) {
    return builder.createOrFold<tensor::DimOp>(loc, tensor, dim);
  }
  Value makeIndex(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value makeFloat(double value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(f64, value));
  }
  Value compare(arith::CmpFPredicate predicate, Value left, Value right) {
    return arith::CmpFOp::create(builder, loc, predicate, left, right);
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  }

  OpBuilder &builder;
  Location loc;
  FloatType f64;
};

} // namespace mlir::attn

#endif // ATTN_PASSES_DECOMPOSE_PLAINGENERIC_H
