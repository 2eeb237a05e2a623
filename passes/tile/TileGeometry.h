// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the tiles of an attention op lie: which heads, rows, positions and keys
// each covers. Tiling and tile counting emit the same geometry.

#ifndef ATTN_PASSES_TILE_TILEGEOMETRY_H
#define ATTN_PASSES_TILE_TILEGEOMETRY_H

#include "dialect/Attn.h"
#include "passes/analysis/MaskAnalysis.h"
#include "passes/tile/TileShape.h"

namespace mlir::attn {

/// A query tile: `heads` query heads from `head` on, times `rows` query rows
/// from `row` on, of index `batch` of the first dimension. There may be none
/// where sequences are packed.
struct QueryTile {
  Value batch, keyHead;
  Value entry; ///< batch entry, or the number of a packed sequence
  Value head, heads;
  Value row, rows;
  Value position; ///< position i of the first row
  Value keyRow;   ///< row of the first key of this entry
  Value keyRows;  ///< keys of this entry, in use or not
  Value length;   ///< keys in use of this entry
};

/// A key tile: `rows` keys from row `row` of the key operand on.
struct KeyTile {
  Value row, rows;
  Value position; ///< position j of the first row
};

/// The rows of packed sequences, index values.
struct PackedRows {
  Value starts;            ///< ascending and within the operand, a tensor
  Value longest, shortest; ///< numbers of rows; 0 without sequences
};

/// Emits them for the sequences that begin at `starts` in an operand of `size`
/// rows.
PackedRows emitPackedRows(OpBuilder &builder, Location loc, Value starts,
                          OpFoldResult size);

/// Emits the geometry of one op. The rows of a query tile are heads times
/// positions: where there are fewer positions than rows in a tile, several
/// heads of a group share it.
class TileGeometry {
public:
  /// Emits what all tiles share at the insertion point. Where the version is
  /// not needed there are no batch entries.
  TileGeometry(OpBuilder &builder, SoftmaxFamilyInterface op,
               const TileVersion &version);

  TileShape getShape() const { return shape; }

  /// Upper bounds of the loops over batch entries, key heads, head groups and
  /// query tiles; all start at 0 with step 1.
  SmallVector<OpFoldResult> getBounds() const {
    return {entries, keyHeads, headTiles, queryTiles};
  }

  /// The induction variables of the query tile `number` of query head `head` in
  /// batch entry `batch`.
  SmallVector<Value> getIvs(OpBuilder &builder, Value batch, Value head,
                            Value number);

  /// Query heads that a tile holds.
  Value getHeadsPerTile(OpBuilder &builder);

  /// The most keys that an entry has.
  OpFoldResult getMaxKeyRows() const { return keyRows; }

  /// The query tile at the four induction variables.
  QueryTile getQueryTile(OpBuilder &builder, ValueRange ivs);

  /// The key tile that starts at key `row` of the entry.
  KeyTile getKeyTile(OpBuilder &builder, const QueryTile &query, Value row);

  /// What a mask may be asked about the pair of tiles.
  TileRanges getRanges(OpBuilder &builder, const QueryTile &query,
                       const KeyTile &key);

private:
  SoftmaxFamilyInterface op;
  Location loc;
  TileShape shape;
  OpFoldResult entries, keyHeads, headTiles, queryTiles;
  /// The most rows of an entry.
  OpFoldResult queryRows, keyRows;
  OpFoldResult groupSize, headsPerTile;
  Value queryStarts, keyStarts; ///< null without packed sequences
};

} // namespace mlir::attn

#endif // ATTN_PASSES_TILE_TILEGEOMETRY_H
