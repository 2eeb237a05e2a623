// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The logits of softmax attention in f64, one at a time, as every clause of the
// op defines them. Part of the decomposition.

#ifndef ATTN_PASSES_DECOMPOSE_LOGITBUILDER_H
#define ATTN_PASSES_DECOMPOSE_LOGITBUILDER_H

#include "dialect/Attn.h"

namespace mlir::attn {

class LogitBuilder {
public:
  LogitBuilder(SoftmaxFamilyInterface op, OpBuilder &builder)
      : op(op), builder(builder), loc(op.getLoc()), f64(builder.getF64Type()) {}

  /// Where the rows of one batch entry stand and how many keys it has.
  struct Positions {
    Value offset, keyOffset, length;
  };
  /// Of a batch entry with so many query and key rows.
  Positions buildPositions(Value b, Value queryRows, Value keyRows);

  /// The final logit of query row r and key row t, whose product is `dot`: -inf
  /// where the key is masked.
  Value buildLogit(Value dot, Value b, Value h, Value r, Value t,
                   const Positions &positions);

  /// The sink of head h, -inf without the clause.
  Value buildSink(Value h);

private:
  Value buildScale();
  Value buildMask(Value b, Value h, Value i, Value j);
  Value readBroadcast(Value operand, Value b, Value h, Value r, Value t);

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
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  }

  SoftmaxFamilyInterface op;
  OpBuilder &builder;
  Location loc;
  FloatType f64;
};

} // namespace mlir::attn

#endif // ATTN_PASSES_DECOMPOSE_LOGITBUILDER_H
