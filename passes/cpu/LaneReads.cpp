// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads of captured tensors in lane form: a load and a broadcast where all
// lanes read the same element, a vector load where they read a row of elements,
// else a gather. Every index is clamped to the tensor.

#include "passes/cpu/LaneRegion.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;
using arith::CmpIPredicate;

/// `index` clamped to [0, size of dimension `dim` - 1], of the type of `index`.
Value LaneRegion::clampToDim(Value memref, int64_t dim,
                             const LaneValue &index) {
  Value last = kb.sub(kb.dim(memref, dim), kb.index(1));
  // An index of 32 bits reaches no further than 2^31 - 1.
  if (indexType.isInteger(32))
    last = kb.min(last, kb.index(INT32_MAX));
  LaneValue limit = fromIndex(last);
  Value zero = integer(index.value.getType(), 0);
  if (index.isLanes)
    limit.value = kb.broadcast(limit.value);
  Value below = arith::MinSIOp::create(kb.b, kb.loc, index.value, limit.value);
  return arith::MaxSIOp::create(kb.b, kb.loc, below, zero);
}

Value LaneRegion::emitGather(Value memref, ArrayRef<LaneValue> indices) {
  OpBuilder &b = kb.b;
  auto type = cast<MemRefType>(memref.getType());
  Type i64 = b.getI64Type();
  auto metadata = memref::ExtractStridedMetadataOp::create(b, kb.loc, memref);

  // The element's distance from the first one, in lanes. One dimension of step
  // 1 needs no multiplication and no wider type.
  Value distance;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Value clamped = clampToDim(memref, dim, index);
    clamped = index.isLanes ? clamped : kb.broadcast(clamped);
    if (type.getRank() == 1 && type.isLastDimUnitStride()) {
      distance = clamped;
      break;
    }
    if (!indexType.isInteger(64))
      clamped = arith::ExtSIOp::create(b, kb.loc, kb.lanes(i64), clamped);
    Value stride = kb.broadcast(
        arith::IndexCastOp::create(b, kb.loc, i64, metadata.getStrides()[dim]));
    Value term = arith::MulIOp::create(b, kb.loc, clamped, stride);
    distance =
        distance ? arith::AddIOp::create(b, kb.loc, distance, term).getResult()
                 : term;
  }
  Type element = type.getElementType();
  auto flatType = MemRefType::get(
      {ShapedType::kDynamic}, element,
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {1}));
  Value flat = memref::ReinterpretCastOp::create(
      b, kb.loc, flatType, metadata.getBaseBuffer(),
      OpFoldResult(metadata.getOffset()),
      ArrayRef<OpFoldResult>{b.getIndexAttr(INT64_MAX)},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  Value all = arith::ConstantOp::create(
      b, kb.loc, DenseElementsAttr::get(kb.lanes(b.getI1Type()), true));
  Value none = arith::ConstantOp::create(
      b, kb.loc, cast<TypedAttr>(b.getZeroAttr(kb.lanes(element))));
  return vector::GatherOp::create(b, kb.loc, kb.lanes(element), flat,
                                  ValueRange{kb.index(0)}, distance, all, none);
}

LaneValue LaneRegion::emitRead(Operation *op, Value memref,
                               ArrayRef<LaneValue> indices) {
  bool isLanes =
      llvm::any_of(indices, [](const LaneValue &v) { return v.isLanes; });
  auto scalarIndex = [&](unsigned dim) {
    return toIndex(clampToDim(memref, dim, indices[dim]));
  };
  auto narrow = [&](LaneValue value) -> LaneValue {
    Type to = convertType(op->getResult(0).getType(), value.isLanes);
    if (value.value.getType() == to)
      return value;
    if (getElementTypeOrSelf(value.value.getType()).isIndex())
      return {arith::IndexCastOp::create(kb.b, kb.loc, to, value.value),
              value.isLanes};
    return {arith::TruncIOp::create(kb.b, kb.loc, to, value.value),
            value.isLanes};
  };
  if (!isLanes) {
    SmallVector<Value> at;
    for (unsigned dim = 0; dim < indices.size(); ++dim)
      at.push_back(scalarIndex(dim));
    return narrow({kb.load(memref, at)});
  }

  bool isRow = indices.back().first &&
               cast<MemRefType>(memref.getType()).isLastDimUnitStride() &&
               llvm::none_of(indices.drop_back(),
                             [](const LaneValue &v) { return v.isLanes; });
  if (!isRow)
    return narrow({emitGather(memref, indices), true});

  // Inside the tensor the lanes are one load; at its edges some are clamped.
  Value first = toIndex(indices.back().first);
  Value fits = arith::AndIOp::create(
      kb.b, kb.loc, kb.cmp(CmpIPredicate::sge, first, kb.index(0)),
      kb.cmp(CmpIPredicate::sle, first,
             kb.sub(kb.dim(memref, indices.size() - 1),
                    kb.index(kb.target.vectorWidth))));
  SmallVector<Value> row = kb.ifElse(
      fits,
      [&] {
        SmallVector<Value> at;
        for (unsigned dim = 0; dim + 1 < indices.size(); ++dim)
          at.push_back(scalarIndex(dim));
        at.push_back(first);
        return SmallVector<Value>{kb.loadLanes(memref, at)};
      },
      [&] { return SmallVector<Value>{emitGather(memref, indices)}; });
  return narrow({row.front(), true});
}
