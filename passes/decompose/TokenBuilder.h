// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tokens of attn.linear: what each brings to a state, read from the
// operands, and its rows of the output.

#ifndef ATTN_PASSES_DECOMPOSE_TOKENBUILDER_H
#define ATTN_PASSES_DECOMPOSE_TOKENBUILDER_H

#include "dialect/Attn.h"
#include "passes/decompose/StateBuilder.h"

namespace mlir::attn {

class TokenBuilder : StateBuilder {
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
  /// The vectors of token t.
  Token readToken(const Head &head, Value t);
  using StateBuilder::buildNext;
  /// `output` with row t of all heads, which read `state`, with the bonus of
  /// `token` if there is one.
  Value buildRows(const Head &head, Value t, Value state, const Token *token,
                  Value output);

private:
  Value buildFeatures(Value input, FeatureAttrInterface kind, Value lengths);
  Value buildValues();

  LinearOp op;
  Value query, key, values; // features, and values with the column of ones
  Value longest;            // the larger number of rows of query and key
};

} // namespace mlir::attn

#endif // ATTN_PASSES_DECOMPOSE_TOKENBUILDER_H
