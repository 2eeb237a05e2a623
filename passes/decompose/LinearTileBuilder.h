// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tile ops of linear attention as plain linalg in f64, token by token.

#ifndef ATTN_PASSES_DECOMPOSE_LINEARTILEBUILDER_H
#define ATTN_PASSES_DECOMPOSE_LINEARTILEBUILDER_H

#include "dialect/Attn.h"
#include "passes/decompose/StateBuilder.h"

namespace mlir::attn {

/// Builds the values for the results of an op, at the insertion point.
class LinearTileBuilder : StateBuilder {
public:
  using StateBuilder::StateBuilder;

  SmallVector<Value> build(LinearChunkOp op);
  SmallVector<Value> build(LinearReadOp op);

private:
  Token readToken(LinearChunkOp op, Value t);
  /// A row of the values as wide as the state, with its normaliser.
  Value buildValueRow(LinearChunkOp op, Value t);
  /// The rows of a state that belong to a feature, in f64.
  Value buildUsedRows(Value state, Value keyOrQuery);
  Readout makeReadout(std::optional<APFloat> scale,
                      std::optional<Normalizer> normalize, Value output,
                      Value state);
  /// `output` with row t of all heads.
  Value buildHeads(Value query, Value t, Value state, const Token *token,
                   const Readout &readout, Value output);
};

} // namespace mlir::attn

#endif // ATTN_PASSES_DECOMPOSE_LINEARTILEBUILDER_H
