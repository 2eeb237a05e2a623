// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Minimum and maximum of integer tensors by blocks of positions. A mask such as
// `document[i] == document[j]` is classified by them without looking at every
// position of every tile.

#ifndef ATTN_PASSES_ANALYSIS_BLOCKTABLES_H
#define ATTN_PASSES_ANALYSIS_BLOCKTABLES_H

#include "passes/analysis/Interval.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"

#include <optional>

namespace mlir::attn {

class BlockTables {
public:
  /// Finds the reads of `keep` at which one index depends on a position (or on
  /// the head) and the others on the batch entry only.
  explicit BlockTables(Block &keep);

  /// Emits the tables; see MaskClassifier::emitTables.
  void emit(OpBuilder &builder, Location loc, int64_t blockSize);

  /// True if there is a table for reads of `tensor` that vary in `dim`.
  bool has(Value tensor, unsigned dim) const;

  /// Emits the range of what a read of `tensor` gives at `indices`, clamped
  /// values of type index, the one in `dim` being anywhere in `range`, which is
  /// clamped to the tensor.
  Interval lookup(OpBuilder &builder, Location loc, Value tensor, unsigned dim,
                  ArrayRef<Value> indices, Interval range) const;

private:
  /// Min and max, i64, of the shape of the tensor but for the one dimension,
  /// which counts blocks.
  struct Table {
    Value min, max;
  };
  using Key = std::pair<Value, unsigned>;

  llvm::MapVector<Key, Table> tables;
  int64_t maxSpan = 0;
  int64_t granule = 0;
};

} // namespace mlir::attn

#endif // ATTN_PASSES_ANALYSIS_BLOCKTABLES_H
