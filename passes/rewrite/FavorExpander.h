// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What makes attn.favor attention that other passes know. Where eps is added to
// features, they are exponentials against the maximum of the published code
// (see the op), and their logarithms take it: ln(exp(log) + eps). All else is
// as without it.

#ifndef ATTN_PASSES_REWRITE_FAVOREXPANDER_H
#define ATTN_PASSES_REWRITE_FAVOREXPANDER_H

#include "dialect/Attn.h"
#include "passes/rewrite/RowBuilder.h"

namespace mlir::attn {

/// Builds one attn.favor, with x = sqrt(scale) q and y = sqrt(scale) k.
class FavorExpander {
public:
  FavorExpander(OpBuilder &builder, FavorOp op);

  Value buildTwoSoftmaxes();
  Value buildDecayedExponentials();
  Value buildWaves();
  Value buildRelu();
  /// The stabiliser of the reference code, which is not that of the definition.
  Value buildTextbookExponentials();

private:
  bool isHyperbolic() { return op.getKind() == FavorKind::Hyperbolic; }
  Value number(double x) { return rows.makeFloat(x); }
  Value negated(Value x) {
    return arith::NegFOp::create(rows.builder, rows.loc, x);
  }
  /// exp(x - max), 0 without any x but -inf.
  Value shiftedExp(Value x, Value max) {
    return rows.select(rows.isEqual(max, -kInfinity), number(0.0),
                       rows.exp(rows.sub(x, max)));
  }
  /// W, or W and -W one below the other.
  Value buildRows();
  /// w.x, or w.y, for each row w of W: B x H x S x M.
  Value project(Value vectors, Value projection);
  /// factor |y|^2.
  Value keyNorms(double factor);
  Value queryNorms(double factor) {
    return rows.squareNorms(op.getQuery(), rows.mul(scale, number(factor)));
  }
  /// ln(exp(log) + eps), or `log` without eps.
  Value addEps(Value log);
  /// The largest w.x of each query, and w.y of all keys in use.
  Value maxOfQuery(Value products) {
    return rows.reduce<arith::MaximumFOp>(
        {products}, {0, 1, 2}, -kInfinity,
        [](ValueRange args) { return args[0]; });
  }
  /// B x Hkv x M x D: rows of W for each head, in the type that both softmaxes
  /// compute their products from.
  Value broadcastRows(Value projection, FloatType element, bool isScaled);
  Value castTo(Value tensor, FloatType element);
  /// What goes onto each logit: terms[b, h, i] of rows and terms[b, h, j] of
  /// keys before eps is added to its exponential, and after that. Null terms
  /// are 0.
  struct LogitTerms {
    Value ofRow, ofKey, after;
  };
  /// Softmax attention of logits with these terms.
  GqaOp attend(Value query, Value key, Value value, const LogitTerms &terms,
               FloatAttr scale, Value lengths);
  /// Running maximum over positions in use and what it grows by, negated.
  std::pair<Value, Value> runningMax(Value logs);
  /// w.x_t + c_t, c being of the key head that a query head reads.
  Value addMaxima(Value logs, Value maxima);
  /// `reduce` of keys in use only.
  Value maxOfKeys(Value values, ArrayRef<int64_t> kept);
  /// The quotient, of attn.linear.
  Value divide(Value query, Value key, Value decay);

  FavorOp op;
  RowBuilder rows;
  std::optional<double> staticRoot; ///< sqrt(scale), where D is known
  double eps;                       ///< that is added to features, or 0
  Value scale, root;
};

} // namespace mlir::attn

#endif // ATTN_PASSES_REWRITE_FAVOREXPANDER_H
