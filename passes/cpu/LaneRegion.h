// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inlines a score or keep region into a kernel in lane form: b and j are
// scalars, i and h lane vectors (h a scalar where a tile has one head).

#ifndef ATTN_PASSES_CPU_LANEREGION_H
#define ATTN_PASSES_CPU_LANEREGION_H

#include "passes/cpu/KernelBuilder.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::attn {

/// A value of a region: one scalar for all lanes, or a lane vector.
struct LaneValue {
  LaneValue() = default;
  LaneValue(Value value, bool isLanes = false, Value first = Value(),
            int64_t step = 1)
      : value(value), isLanes(isLanes), first(first), step(step) {}

  Value value;
  bool isLanes = false;
  /// The first element of a lane vector that goes by steps of `step` (0 or 1)
  /// where the lanes are of one head; null for any other.
  Value first;
  int64_t step = 1;
};

/// A region evaluated for one lane vector of queries. What does not depend on
/// the key is emitted once, at construction; the rest by `emitRow`.
///
/// Index and i64 values are computed in `indexBits` (32 or 64) bits. 32 is
/// right where every such value of the region fits (see emitFitsInt32).
class LaneRegion {
public:
  /// `arguments` are those of the region that are the same for every key, null
  /// for the others: {null, b, h, i, null} of a score region, {b, h, i, null}
  /// of a keep region. `oneHead` is an i1: whether the lanes are of one head.
  LaneRegion(const KernelBuilder &kb, Region &region, int64_t indexBits,
             ArrayRef<LaneValue> arguments, Value oneHead);

  /// The region's result for one key as a lane vector. `arguments` are the
  /// scores, where the region takes them, and j of type index. `row` is the
  /// number of the key in its tile.
  Value emitRow(ArrayRef<Value> arguments, Value row);

  /// A read of one element per query and key, of which the lanes are the rows
  /// of a matrix and the keys its columns.
  struct MatrixRead {
    Operation *op;
    SmallVector<Value> outer; ///< indices in front, within bounds
    Value row;                ///< row of the first lane
    Value column;             ///< column of the first key, j being `firstKey`
  };
  SmallVector<MatrixRead> getMatrixReads(Value firstKey);

  /// What `read` gives for one key, as emitRow would read it.
  Value emitReadRow(Operation *read, ArrayRef<Value> arguments);

  /// Takes what `read` gives from `buffer`, of keys by lanes, where this
  /// region's lanes begin at `lane`.
  void setBuffer(Operation *read, Value buffer, Value lane) {
    buffers[read] = {buffer, lane};
  }

private:
  using ValueMap = llvm::DenseMap<Value, LaneValue>;

  /// Emits `op` after the operations of one key whose results it takes.
  void emitNeeded(Operation *op);
  /// Enters the arguments of one key.
  void setRow(ArrayRef<Value> arguments);
  /// The index `value` at `firstKey` if it goes up by one with each key, else
  /// null.
  Value emitKeyIndex(Value value, Value firstKey);
  bool isPerRow(Value value) const;

  LaneValue find(Value value);
  void emitOp(Operation *op);
  LaneValue emitElementwise(Operation *op, ArrayRef<LaneValue> operands);
  LaneValue emitConstant(Operation *op);
  LaneValue emitCast(Operation *op, const LaneValue &operand);
  LaneValue emitRead(Operation *op, Value memref, ArrayRef<LaneValue> indices);
  Value emitGather(Value memref, ArrayRef<LaneValue> indices);
  SmallVector<Value> getFirstElement(Value memref, ArrayRef<LaneValue> indices);
  Value clampToDim(Value memref, int64_t dim, const LaneValue &index);
  LaneValue fromIndex(Value index);
  Value toIndex(Value scalar);
  Value getLanes(const LaneValue &value);
  Type convertType(Type type, bool isLanes);
  Value integer(Type type, int64_t value);

  const KernelBuilder &kb;
  Region &region;
  Type indexType;
  Value oneHead;
  llvm::DenseSet<Operation *> perRow;
  ValueMap values;
  struct Buffer {
    Value memref, lane;
  };
  llvm::DenseMap<Operation *, Buffer> buffers;
  Value currentRow; ///< of emitRow
};

} // namespace mlir::attn

#endif // ATTN_PASSES_CPU_LANEREGION_H
