// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops that tiling makes of linear attention.

#ifndef ATTN_PASSES_TILE_LINEARTILER_H
#define ATTN_PASSES_TILE_LINEARTILER_H

#include "passes/analysis/CostModel.h"
#include "passes/tile/Tile.h"

namespace mlir::attn {

/// Sizes of the tiles of linear attention.
struct LinearShape {
  LinearForm form;
  /// Tokens that are taken at a time; dynamic for all of a call.
  int64_t rows;
  /// Columns of the state of a tile, whole vectors, and how many of them are
  /// columns of the values.
  int64_t columns, valueColumns;
  /// Parts of the sequence that run in parallel.
  int64_t segments = 1;
};

/// Name of the attribute of attn.linear that asks for segments.
inline constexpr StringLiteral kSegmentsAttrName = "attn.segments";

/// The sizes for `op`, which has the form `form`; `rows` replaces the choice of
/// the chunk unless it is 0.
LinearShape chooseLinearShape(LinearOp op, const TargetInfo &target,
                              LinearForm form, int64_t rows);

/// One dimension of a slice; `drop` leaves it out of the result.
struct SliceRange {
  OpFoldResult offset, size;
  bool drop = false;
};

/// Where an iteration of the loops works: batch entry, or number of a packed
/// sequence, head of the state, and the tile of the columns of the values.
struct LinearPlace {
  OpFoldResult entry, head, column, columns, tile;
  OpFoldResult batch; ///< of operands that have rows: the entry, 0 of sequences
  /// Rows of the entry. Those of a packed sequence begin at the first ones,
  /// which are null else.
  OpFoldResult queries, keys, firstQuery, firstKey;
  OpFoldResult firstRow; ///< of what is written of the output; null for 0
};

/// Emits the loops of one op.
class LinearTiler {
public:
  LinearTiler(RewriterBase &rewriter, LinearOp op, const TargetInfo &target,
              const LinearShape &shape);

  /// Emits the loops at the insertion point and returns what replaces the
  /// results of the op.
  SmallVector<Value> run();

private:
  Value get(OpFoldResult x);
  OpFoldResult index(int64_t x) { return b.getIndexAttr(x); }
  OpFoldResult dim(Value tensor, int64_t d) {
    return tensor::getMixedSize(b, loc, tensor, d);
  }
  template <typename OpTy> OpFoldResult fold(OpFoldResult x, OpFoldResult y) {
    return getAsOpFoldResult(b.createOrFold<OpTy>(loc, get(x), get(y)));
  }
  OpFoldResult ceilDiv(OpFoldResult x, OpFoldResult y);
  /// Tokens of the tile at `row`, of those from `begin` to before `end`.
  OpFoldResult getTileRows(OpFoldResult begin, OpFoldResult row,
                           OpFoldResult end);

  Value slice(Value tensor, ArrayRef<SliceRange> ranges);
  /// `tensor` with `value` where `slice` was taken from another form of it.
  Value insertBack(Value value, Value slice, Value tensor);
  /// Ends an iteration of `loop` with `value` where `slice` was taken.
  void insertParallel(scf::ForallOp loop, Value value, Value slice);
  Value fill(ArrayRef<OpFoldResult> sizes, double x);
  /// The rows from `row` on, of the one head or of the heads that share a
  /// state, of a B x H x S (x D) tensor.
  Value sliceRows(Value tensor, const LinearPlace &place, OpFoldResult head,
                  OpFoldResult row, OpFoldResult rows, SliceRange columns = {});
  Value sliceQuery(const LinearPlace &place, OpFoldResult row,
                   OpFoldResult rows);
  SliceRange getOutputHeads(const LinearPlace &place);
  /// The rows from `row` on of what an iteration writes of the output.
  Value sliceOutput(const LinearPlace &place, Value output, OpFoldResult row,
                    OpFoldResult rows);

  /// Emits where packed sequences begin, for all loops.
  void emitStarts();
  LinearPlace getPlace(ValueRange ivs);
  /// Rows, counted from the first one of the entry, in an operand of all.
  OpFoldResult getRow(OpFoldResult first, OpFoldResult row) {
    return first ? fold<arith::AddIOp>(first, row) : row;
  }
  OpFoldResult getLength(const LinearPlace &place);
  Value createState(const LinearPlace &place);
  /// Whether one token goes from the state of the operand to the final state,
  /// which need no copy of their own.
  bool isStep();
  /// Whether all states together are more than caches hold, an i1.
  Value emitStreams();
  Value createHeadDecay(const LinearPlace &place);
  Value createChunk(const LinearPlace &place, OpFoldResult row,
                    OpFoldResult rows, Value output, Value &state,
                    bool withOutput, Value initial = Value(),
                    Value streams = Value());
  Value createRead(const LinearPlace &place, OpFoldResult row,
                   OpFoldResult rows, Value output, Value state);
  /// The output with the rows of the tokens from `begin` to `end` read from
  /// `state`.
  Value createReads(const LinearPlace &place, OpFoldResult begin,
                    OpFoldResult end, Value output, Value state);
  /// The loop over the tokens from `begin` to `end`; `body` maps what is
  /// carried.
  SmallVector<Value>
  createLoop(OpFoldResult begin, OpFoldResult end, ValueRange inits,
             function_ref<SmallVector<Value>(OpFoldResult row,
                                             OpFoldResult rows, ValueRange)>
                 body);
  void insertState(Value state, Value into, const LinearPlace &place);
  SmallVector<Value> runStep(Value output, Value finalState);
  SmallVector<Value> runCausal(Value output, Value finalState);
  SmallVector<Value> runBidirectional(Value output, Value finalState);
  SmallVector<Value> runSegments(Value output, Value finalState);
  /// The first token of a segment, and the one behind its last.
  std::pair<OpFoldResult, OpFoldResult> getSegment(OpFoldResult number);
  Value createSegmentSums();
  /// Columns of the state in `sums` that segment `number` leaves.
  Value sliceSegment(Value sums, const LinearPlace &place, OpFoldResult number,
                     SliceRange columns);
  /// `state` after the segments before `end`.
  Value createScan(Value sums, const LinearPlace &place, OpFoldResult end,
                   Value state);

  RewriterBase &b;
  LinearOp op;
  Location loc;
  LinearShape shape;
  OpFoldResult features, stateRows, valueDim, group, valuesPerKey, tiles;
  OpFoldResult entries;         ///< states per head
  OpFoldResult mostQueries;     ///< of an entry
  Value queryStarts, keyStarts; ///< of packed sequences, index; else null
  OpFoldResult rows;            ///< most tokens at a time
  Value headDecay;              ///< of the head that is being emitted
};

} // namespace mlir::attn

#endif // ATTN_PASSES_TILE_LINEARTILER_H
