// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads of a dense bias or mask: an element per query and key. The operand has
// its keys side by side while queries are lanes, so that a key's elements lie
// far apart. The tile is transposed once, square by square in registers,
// instead of being gathered key by key.

#include "passes/cpu/MatrixReads.h"

#include "passes/cpu/FloatCasts.h"
#include "passes/cpu/TileCopies.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;
using arith::CmpIPredicate;

//===- which reads --------------------------------------------------------===//

bool LaneRegion::isPerRow(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == &region.front() && !values.contains(argument);
  return perRow.contains(value.getDefiningOp());
}

Value LaneRegion::emitKeyIndex(Value value, Value firstKey) {
  if (value == region.front().getArguments().back())
    return firstKey;
  Operation *op = value.getDefiningOp();
  if (!op || !value.getType().isIndex() || !isPerRow(value) ||
      !isa<arith::AddIOp, arith::SubIOp>(op))
    return {};
  bool isSum = isa<arith::AddIOp>(op);
  Value key = op->getOperand(0), other = op->getOperand(1);
  if (isSum && !isPerRow(key))
    std::swap(key, other);
  if (isPerRow(other))
    return {};
  LaneValue offset = find(other);
  Value first = emitKeyIndex(key, firstKey);
  if (!first || offset.isLanes)
    return {};
  return isSum ? kb.add(first, toIndex(offset.value))
               : kb.sub(first, toIndex(offset.value));
}

SmallVector<LaneRegion::MatrixRead> LaneRegion::getMatrixReads(Value firstKey) {
  SmallVector<MatrixRead> reads;
  for (auto load : region.front().getOps<memref::LoadOp>()) {
    auto type = load.getMemRefType();
    unsigned bits = type.getElementType().isIntOrFloat()
                        ? type.getElementTypeBitWidth()
                        : 64;
    if (type.getRank() < 2 || !type.isLastDimUnitStride() ||
        bits > Type(kb.wide).getIntOrFloatBitWidth())
      continue;
    ValueRange indices = load.getIndices();
    Value column = emitKeyIndex(indices.back(), firstKey);
    if (!column || llvm::any_of(indices.drop_back(),
                                [&](Value index) { return isPerRow(index); }))
      continue;
    LaneValue row = find(indices[indices.size() - 2]);
    if (!row.isLanes || !row.first || row.step != 1)
      continue;
    MatrixRead read{load, {}, toIndex(row.first), column};
    bool isUniform = true;
    for (auto [dim, value] : llvm::enumerate(indices.drop_back(2))) {
      LaneValue index = find(value);
      isUniform &= !index.isLanes || (index.first && index.step == 0);
      if (!isUniform)
        break;
      LaneValue scalar(index.isLanes ? index.first : index.value);
      read.outer.push_back(toIndex(clampToDim(load.getMemRef(), dim, scalar)));
    }
    if (isUniform)
      reads.push_back(std::move(read));
  }
  return reads;
}

//===- buffers ------------------------------------------------------------===//

namespace {

/// Fills the buffer of one read.
class MatrixBuffer {
public:
  MatrixBuffer(const KernelBuilder &kb, const LaneRegion::MatrixRead &read)
      : kb(kb), read(read), matrix(cast<memref::LoadOp>(read.op).getMemRef()),
        type(cast<MemRefType>(matrix.getType())) {}

  /// Type of the elements of the buffer: that of the matrix, but f32 for f16
  /// and bf16.
  Type getElementType() {
    Type element = type.getElementType();
    return element.isF16() || element.isBF16() ? Type(kb.b.getF32Type())
                                               : element;
  }

  /// Whether the columns of `key` and the keys behind it, as many as lanes, are
  /// in the matrix.
  Value emitIsInside(Value key);

  /// Transposes the square of the lanes from `lane` on and the keys from `key`.
  void emitSquare(Value buffer, Value key, Value lane);

private:
  /// Lanes of integers as wide as the floats that the kernel computes in.
  VectorType bitLanes() {
    return kb.lanes(kb.b.getIntegerType(Type(kb.wide).getIntOrFloatBitWidth()));
  }
  Value emitRow(Value row, Value column);
  Value toWide(Value vector);
  Value fromWide(Value vector);

  const KernelBuilder &kb;
  const LaneRegion::MatrixRead &read;
  Value matrix;
  MemRefType type;
};

} // namespace

Value MatrixBuffer::emitIsInside(Value key) {
  Value first = kb.add(read.column, key);
  Value last = kb.sub(kb.dim(matrix, type.getRank() - 1), kb.index(kb.width()));
  return kb.fold<arith::AndIOp>(kb.cmp(CmpIPredicate::sge, first, kb.index(0)),
                                kb.cmp(CmpIPredicate::sle, first, last));
}

/// The lanes of `vector` as floats of the width in which the kernel computes,
/// bit for bit where they are integers.
Value MatrixBuffer::toWide(Value vector) {
  Type element = getElementTypeOrSelf(vector.getType());
  if (isa<FloatType>(element)) {
    Value value =
        element.isF16() || element.isBF16() ? emitToF32(kb, vector) : vector;
    if (getElementTypeOrSelf(value.getType()) == kb.wide)
      return value;
    return arith::ExtFOp::create(kb.b, kb.loc, kb.wideLanes(), value);
  }
  Type bits = bitLanes();
  if (vector.getType() != bits)
    vector = arith::ExtUIOp::create(kb.b, kb.loc, bits, vector);
  return arith::BitcastOp::create(kb.b, kb.loc, kb.wideLanes(), vector);
}

/// Lanes of a transposed square as elements of the buffer.
Value MatrixBuffer::fromWide(Value vector) {
  Type element = getElementType();
  if (element == kb.wide)
    return vector;
  if (isa<FloatType>(element))
    return arith::TruncFOp::create(kb.b, kb.loc, kb.lanes(element), vector);
  Type bits = bitLanes();
  Value integer = arith::BitcastOp::create(kb.b, kb.loc, bits, vector);
  if (kb.lanes(element) == bits)
    return integer;
  return arith::TruncIOp::create(kb.b, kb.loc, kb.lanes(element), integer);
}

Value MatrixBuffer::emitRow(Value row, Value column) {
  Value last = kb.sub(kb.dim(matrix, type.getRank() - 2), kb.index(1));
  Value clamped = kb.fold<arith::MaxSIOp>(kb.min(row, last), kb.index(0));
  SmallVector<Value> indices(read.outer);
  indices.append({clamped, column});
  return toWide(kb.loadLanes(matrix, indices));
}

void MatrixBuffer::emitSquare(Value buffer, Value key, Value lane) {
  Value column = kb.add(read.column, key);
  SmallVector<Value> rows;
  for (int64_t l = 0; l < kb.width(); ++l)
    rows.push_back(emitRow(kb.add(kb.add(read.row, lane), l), column));
  transposeInRegisters(kb, rows);
  for (auto [k, vector] : llvm::enumerate(rows))
    kb.storeLanes(fromWide(vector), buffer, {kb.add(key, k), lane});
}

void attn::bufferMatrixReads(const KernelBuilder &kb,
                             MutableArrayRef<LaneRegion> lanes,
                             const KeyRange &keys, Value oneHead,
                             Value someScores) {
  int64_t width = kb.width();
  for (const LaneRegion::MatrixRead &read :
       lanes.front().getMatrixReads(keys.first)) {
    MatrixBuffer matrix(kb, read);
    Value buffer =
        kb.scratch({kb.b.getIndexAttr(llvm::alignTo(keys.most, width)),
                    kb.b.getIndexAttr(kb.rows())},
                   matrix.getElementType());
    kb.loop(kb.index(0), keys.count, width, [&](Value key) {
      Value isSquare =
          kb.fold<arith::AndIOp>(oneHead, matrix.emitIsInside(key));
      auto transpose = [&] {
        kb.loop(kb.index(0), kb.index(kb.rows()), width,
                [&](Value lane) { matrix.emitSquare(buffer, key, lane); });
        return SmallVector<Value>();
      };
      auto gather = [&] {
        Value end = kb.min(kb.add(key, width), keys.count);
        kb.loop(key, end, 1, [&](Value row) {
          SmallVector<Value> arguments;
          if (someScores)
            arguments.push_back(someScores);
          arguments.push_back(kb.add(keys.first, row));
          for (auto [v, region] : llvm::enumerate(lanes))
            kb.storeLanes(region.emitReadRow(read.op, arguments), buffer,
                          {row, kb.lane(v)});
        });
        return SmallVector<Value>();
      };
      kb.ifElse(isSquare, transpose, gather);
    });
    for (auto [v, region] : llvm::enumerate(lanes))
      region.setBuffer(read.op, buffer, kb.lane(v));
  }
}
