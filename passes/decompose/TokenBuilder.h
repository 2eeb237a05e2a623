// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The equations of attn.linear for one token in f64, from the op's definition:
// what it does to a state, and the row of the output that reads one.

#ifndef ATTN_PASSES_DECOMPOSE_TOKENBUILDER_H
#define ATTN_PASSES_DECOMPOSE_TOKENBUILDER_H

#include "dialect/Attn.h"
#include "passes/decompose/PlainGeneric.h"

namespace mlir::attn {

class TokenBuilder : F64Builder {
public:
  /// Builds the features of all tokens at the insertion point.
  TokenBuilder(LinearOp op, OpBuilder &builder);

  /// A state and the heads that go with it: of the key, and the first of
  /// `count` of query and output.
  struct Head {
    Value b, state, key, firstQuery, firstOutput, count;
  };
  Head buildHead(Value b, Value h);

  /// Sizes of a state.
  SmallVector<OpFoldResult> getStateSizes();
  /// The state after token t: the old one decayed, through the transition, and
  /// with the token's own product.
  Value buildToken(const Head &head, Value t, Value state);
  /// `output` with row t of all heads, which read `state`; `hasToken` adds the
  /// bonus.
  Value buildRow(const Head &head, Value t, Value state, Value output,
                 bool hasToken);

private:
  Value buildFeatures(Value input, FeatureAttrInterface kind, Value lengths);
  Value buildValues();

  Value buildDecayed(const Head &head, Value t, Value state);
  Value buildOuter(Value features, Value columns, Value state);
  /// Rows a and b of the transition, null for none.
  std::pair<Value, Value> buildTransition(const Head &head, Value t);
  Value buildExpDecay(const Head &head, Value t);
  /// The value of the token as it enters the state.
  Value buildWrittenValue(const Head &head, Value t);

  Value buildReadout(Value query, Value state);
  Value buildBonus(const Head &head, Value t, Value query);
  /// A query row, each feature divided by its sum in the state.
  Value buildDivided(Value query, Value state);
  Value buildOutputRow(Value total);

  Value getRow(Value tensor, ArrayRef<Value> leading);
  /// A vector of f64, the element of each entry of those given.
  Value buildVector(ValueRange vectors, function_ref<Value(ValueRange)> body);
  Value getScalar(Value tensor, ArrayRef<Value> at);
  template <typename OpTy> Value apply(Value x, Value y) {
    return OpTy::create(builder, loc, x, y);
  }

  LinearOp op;
  Value query, key, values; // features, and values with the column of ones
};

} // namespace mlir::attn

#endif // ATTN_PASSES_DECOMPOSE_TOKENBUILDER_H
