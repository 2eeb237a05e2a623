// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tiles a mask touches. A keep region is a predicate over single
// positions; the classifier emits IR that evaluates it on ranges of positions,
// so that a tile of keys is skipped, run without mask code, or run with it. No
// mask is ever stored, and a new mask is skipped without new code.

#ifndef ATTN_PASSES_ANALYSIS_MASKANALYSIS_H
#define ATTN_PASSES_ANALYSIS_MASKANALYSIS_H

#include "dialect/Attn.h"
#include "passes/analysis/BlockTables.h"
#include "passes/analysis/Interval.h"

namespace mlir::attn {

/// The coordinates of a tile: index values, the ranges inclusive and not empty.
/// A range whose ends are one value, or equal constants, is exact. Positions
/// far out may wrap, and with them the end of a range: then it may hold
/// anything.
struct TileRanges {
  Value b;
  Value hLo, hHi, iLo, iHi, jLo, jHi;
};

/// Whether some (h, i, j) of a tile may be kept, and whether some may be
/// masked, as i1 values. Either may be true where it need not be, never the
/// other way round.
struct TileClass {
  Value canBeTrue, canBeFalse;
};

class MaskClassifier {
public:
  /// `keep` has the arguments (b, h, i, j : index) and ends in `attn.yield` of
  /// an i1; see `buildKeep`. It has to outlive the classifier.
  explicit MaskClassifier(Block &keep);

  /// Emits what is computed once before the loops over tiles: the minimum and
  /// maximum of integer tensors that the mask reads at one position, block by
  /// block. A tile whose positions span at most `blockSize` can then be
  /// classified by such a read; without tables, or over a longer span, it is
  /// taken to hold anything. Emits nothing for a mask without such reads.
  void emitTables(OpBuilder &builder, Location loc, int64_t blockSize);

  /// Emits the class of a tile. Constant ranges give constants where the mask
  /// reads no tensor.
  TileClass classify(OpBuilder &builder, Location loc,
                     const TileRanges &ranges);

  /// The operation for which no rule is known, where it makes every tile look
  /// the same in all calls of `classify` so far; else null. For a remark.
  Operation *getUnknownCause() const { return unknownCause; }

private:
  /// The class of a tile from that of its parts with one quotient
  /// floor(i / divisor) each, of which it may have two; then a mask may do with
  /// that number what it likes, such as hashing it.
  Truth classifyByQuotient(OpBuilder &builder, Location loc,
                           const TileRanges &ranges);

  Block &keep;
  BlockTables tables;
  /// floor(i / divisor) by a constant divisor, or null.
  arith::FloorDivSIOp quotient;
  Operation *unknownCause = nullptr;
  bool classified = false;
};

/// Emits an i1 that is true if every index and i64 that `block` computes or
/// takes from outside, from its arguments on, fits a signed 32-bit integer for
/// all coordinates in `ranges`, and computing in 32 bits gives the same values.
/// `block` is a score or keep block that reads tensors or memrefs. Folds to a
/// constant where everything is static. If it is false there, `*misfit` is the
/// operation that needs more, or null where a position does.
Value emitFitsInt32(OpBuilder &builder, Location loc, Block &block,
                    const TileRanges &ranges, Operation **misfit = nullptr);

} // namespace mlir::attn

#endif // ATTN_PASSES_ANALYSIS_MASKANALYSIS_H
