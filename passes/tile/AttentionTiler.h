// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops that tiling makes of softmax attention: parallel over query tiles,
// each carrying a running softmax over key tiles.

#ifndef ATTN_PASSES_TILE_ATTENTIONTILER_H
#define ATTN_PASSES_TILE_ATTENTIONTILER_H

#include "passes/tile/Tile.h"

namespace mlir::attn {

/// Emits the loops of one version of one op.
class AttentionTiler {
public:
  AttentionTiler(RewriterBase &rewriter, SoftmaxFamilyInterface op,
                 const TargetInfo &target, const TileVersion &version)
      : b(rewriter), op(op), target(target), loc(op->getLoc()),
        shape(version.shape), geometry(rewriter, op, version),
        mask(rewriter, op) {}

  /// Emits the loops at the insertion point and returns what they make of
  /// `outputs`. Takes the regions of the op.
  SmallVector<Value> run(ValueRange outputs);

private:
  Value index(int64_t x) { return arith::ConstantIndexOp::create(b, loc, x); }
  OpFoldResult dim(Value tensor, int64_t d) {
    return tensor::getMixedSize(b, loc, tensor, d);
  }
  /// A tensor of the type of logits, weights and sums.
  Value emptyState(ArrayRef<OpFoldResult> sizes) {
    return tensor::EmptyOp::create(b, loc, sizes, getComputeType(op));
  }
  Value fill(Value init, double value) {
    Value scalar = arith::ConstantOp::create(
        b, loc, b.getFloatAttr(getComputeType(op), value));
    return linalg::FillOp::create(b, loc, scalar, init).getResult(0);
  }
  /// The slice of heads `head`.. and rows `row`.. of a B x H x S (x D) tensor,
  /// without its batch dimension.
  Value slice(Value tensor, Value batch, Value head, OpFoldResult heads,
              Value row, OpFoldResult rows, bool dropHeads);
  /// acc, max and sum of a query tile that has seen no key and no sink.
  SmallVector<Value> createState();
  /// The same with the sinks, of which each row's counts once.
  SmallVector<Value> createSinkState(const QueryTile &tile);
  /// The state after the key rows from `lower` to `upper`, from `state` on.
  SmallVector<Value> createKeyLoop(const QueryTile &tile, Value lower,
                                   Value upper, SmallVector<Value> state);
  /// Tensors of the states after each `splitKeys` keys of each query tile.
  void createPartialStates();
  /// The state after all keys, merged from the partial ones.
  SmallVector<Value> createMergeLoop(const QueryTile &tile, ValueRange ivs);
  /// The state `split` of the query tile at `ivs`, of which each tensor of
  /// `states` has one per index of its first dimension.
  SmallVector<Value> sliceState(ValueRange states, ValueRange ivs, Value split);
  /// The state after one key tile.
  SmallVector<Value> createKeyTile(const QueryTile &tile, Value query,
                                   Value row, ValueRange state);
  SmallVector<Value> createUpdate(const QueryTile &tile, const KeyTile &key,
                                  Value query, Value masked, ValueRange state);
  /// Inserts `results` where the slices `outputs` were taken.
  void createParallelInserts(ValueRange results, ValueRange outputs);

  RewriterBase &b;
  SoftmaxFamilyInterface op;
  const TargetInfo &target;
  Location loc;
  TileShape shape;
  TileGeometry geometry;
  TileMask mask;
  Value scale;
  OpFoldResult accRows;
  Value splits; ///< parts of the keys; null if they are in one
  SmallVector<Value> partialStates;
};

} // namespace mlir::attn

#endif // ATTN_PASSES_TILE_ATTENTIONTILER_H
