// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How large the tiles of a matrix product are. Each element of a result is
// summed in the order of k whatever the tiles are, so that they may depend on
// the number of threads.

#ifndef ATTN_PASSES_TILE_MATMULTILESHAPE_H
#define ATTN_PASSES_TILE_MATMULTILESHAPE_H

#include "passes/analysis/TargetInfo.h"

#include "mlir/IR/Builders.h"

namespace mlir::attn {

/// What is known of the tiles of C before a call.
struct MatmulTileShape {
  int64_t panel;     ///< columns that are multiplied at a time, whole vectors
  int64_t blockRows; ///< rows that are multiplied at a time
  int64_t rows;      ///< most rows of a tile, whole blocks
  int64_t columns;   ///< most columns of a tile, whole panels
  int64_t columnsOfFewRows; ///< the same where C has at most `fewRows` rows
  int64_t fewRows;
  int64_t mostColumns; ///< of either
};

/// Panel and tiles for a product with `rows` rows and `columns` columns, which
/// may be dynamic, in vectors of `width` lanes.
MatmulTileShape chooseMatmulTileShape(int64_t rows, int64_t columns,
                                      int64_t width, const TargetInfo &target);

/// The sizes of one product: of C, its leading dimensions in front, and of the
/// sums.
struct MatmulSizes {
  ArrayRef<OpFoldResult> result;
  OpFoldResult depth;
};

/// Rows and columns of a tile of C, but of the last ones.
struct MatmulSteps {
  OpFoldResult rows, columns;
};

/// Emits the steps of the loops over C: the largest tiles of `shape` that
/// divide it evenly, and smaller ones where these are too few for the threads
/// of a call and there is work for more.
MatmulSteps emitMatmulSteps(OpBuilder &builder, Location loc,
                            const MatmulTileShape &shape,
                            const MatmulSizes &sizes);

} // namespace mlir::attn

#endif // ATTN_PASSES_TILE_MATMULTILESHAPE_H
