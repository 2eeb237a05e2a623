// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The logits of softmax attention in f64, one at a time, as every clause of the
// op defines them. Part of the decomposition.

#ifndef ATTN_PASSES_DECOMPOSE_LOGITBUILDER_H
#define ATTN_PASSES_DECOMPOSE_LOGITBUILDER_H

#include "dialect/Attn.h"
#include "passes/decompose/PlainGeneric.h"

namespace mlir::attn {

class LogitBuilder : F64Builder {
public:
  LogitBuilder(SoftmaxFamilyInterface op, OpBuilder &builder)
      : F64Builder(builder, op.getLoc()), op(op) {}

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

  SoftmaxFamilyInterface op;
};

} // namespace mlir::attn

#endif // ATTN_PASSES_DECOMPOSE_LOGITBUILDER_H
