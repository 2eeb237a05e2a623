// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Feature maps that are more than a body per entry.

#ifndef ATTN_PASSES_REWRITE_FEATUREMAPS_H
#define ATTN_PASSES_REWRITE_FEATUREMAPS_H

#include "dialect/Attn.h"
#include "passes/rewrite/RowBuilder.h"

namespace mlir::attn {

/// What #attn.cosformer knows beside the entries: their scale, M as a number or
/// a value, null for the number of rows, and the position of row 0, null for 0.
struct CosformerRows {
  double scale;
  std::optional<int64_t> length;
  Value lengthValue, offset;
  Value angles; ///< of each row, in place of all but the scale; may be null
};

/// pi / 2 M, and M is at least 1.
Value buildAngleStep(RowBuilder &rows, Value length);

/// #attn.cosformer of `entries`, B x H x S x D, in elements of `result`.
Value buildCosformer(RowBuilder &rows, Value entries,
                     const CosformerRows &options, FloatType result);

/// #attn.taylor2 of `scale` times `entries`.
Value buildTaylor2(RowBuilder &rows, Value entries, double scale,
                   FloatType result);

} // namespace mlir::attn

#endif // ATTN_PASSES_REWRITE_FEATUREMAPS_H
