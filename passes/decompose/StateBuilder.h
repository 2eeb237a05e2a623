// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The equations of a state of linear attention in f64, on vectors: what a token
// does to it, and the row of the output that reads it. Decompositions of
// attn.linear and of its tile ops bring the vectors.

#ifndef ATTN_PASSES_DECOMPOSE_STATEBUILDER_H
#define ATTN_PASSES_DECOMPOSE_STATEBUILDER_H

#include "dialect/Attn.h"
#include "passes/decompose/PlainGeneric.h"

namespace mlir::attn {

/// What a token brings, as vectors; null where a clause is absent.
struct Token {
  Value k, v;
  Value roots;               // exp(g / 2)
  Value a, b;                // of the transition
  bool readsDecayed = false; // a, the state after the decay
  Value bonus;
};

/// How rows are read.
struct Readout {
  double scale;
  std::optional<Normalizer> normalize;
  Value columns; // of the values
  Value divisor; // the column of the normaliser
};

/// A state is a tensor of features x columns.
struct StateBuilder : F64Builder {
  using F64Builder::F64Builder;

  /// The delta rule for a token with its k and v: a = k, which reads the state
  /// after the decay, b = -beta k, and beta v in place of v.
  void applyDeltaRule(Token &token, Value beta);
  /// diag(exp(g)) state + b^T read + k^T v, where read = a state, or
  /// a diag(exp(g)) state.
  Value buildNext(const Token &token, Value state);
  /// The row of query `q` of all `columns`, in f64. The bonus is that of
  /// `token`, which may be null.
  Value buildRow(Value q, Value state, const Token *token,
                 const Readout &readout);

  /// The last dimension of `tensor` at indices of the others.
  Value getRow(Value tensor, ArrayRef<Value> leading);
  /// `tensor` with `row` as its last dimension there.
  Value insertRow(Value row, Value tensor, ArrayRef<Value> leading);
  Value getScalar(Value tensor, ArrayRef<Value> at);
  /// A vector of f64, the element of each entry of those given.
  Value buildVector(ValueRange vectors, function_ref<Value(ValueRange)> body);
  /// exp(g / 2) of a vector g, or of a scalar that stands for `size` entries: a
  /// decay is two factors, so that neither leaves the range of f64 before their
  /// product with a number does, and 0 stays 0.
  Value buildRoots(Value g, OpFoldResult size);

  template <typename OpTy> Value apply(Value x, Value y) {
    return OpTy::create(builder, loc, x, y);
  }

private:
  Value buildDecayed(Value roots, Value state);
  Value buildOuter(Value features, Value columns, Value state);
  Value buildProduct(Value features, Value state);
  Value buildBonus(Value q, const Token &token, Value total);
  Value buildScaledKey(const Token &token);
  Value buildDivided(Value q, Value state, Value column);
};

} // namespace mlir::attn

#endif // ATTN_PASSES_DECOMPOSE_STATEBUILDER_H
