// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads of captured tensors in lane form: a load and a broadcast where all
// lanes read the same element, a vector load where they read a row of elements,
// else a gather. Every index is clamped to the tensor.

#include "passes/cpu/LaneRegion.h"

#include "passes/cpu/FloatCasts.h"
#include "passes/cpu/VectorMath.h"

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

/// The indices of the element that the first lane reads, each clamped.
SmallVector<Value> LaneRegion::getFirstElement(Value memref,
                                               ArrayRef<LaneValue> indices) {
  SmallVector<Value> element;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    LaneValue first(index.isLanes ? index.first : index.value);
    element.push_back(toIndex(clampToDim(memref, dim, first)));
  }
  return element;
}

LaneValue LaneRegion::emitRead(Operation *op, Value memref,
                               ArrayRef<LaneValue> indices) {
  auto isLanes = [](const LaneValue &v) { return v.isLanes; };
  auto isSame = [](const LaneValue &v) {
    return !v.isLanes || (v.first && v.step == 0);
  };
  // f16 and bf16 are extended where they are read: they have no vector code of
  // their own, and LLVM would call the library for as little as a broadcast.
  auto extend = [&](Value value) {
    Type element = getElementTypeOrSelf(value.getType());
    return element.isF16() || element.isBF16() ? emitToF32(kb, value) : value;
  };
  auto narrow = [&](LaneValue value) -> LaneValue {
    Type to = convertType(op->getResult(0).getType(), value.isLanes);
    if (value.value.getType() == to ||
        isa<FloatType>(getElementTypeOrSelf(value.value.getType())))
      return value;
    if (getElementTypeOrSelf(value.value.getType()).isIndex())
      return {arith::IndexCastOp::create(kb.b, kb.loc, to, value.value),
              value.isLanes};
    return {arith::TruncIOp::create(kb.b, kb.loc, to, value.value),
            value.isLanes};
  };
  if (llvm::none_of(indices, isLanes))
    return narrow({extend(kb.load(memref, getFirstElement(memref, indices)))});

  const LaneValue &last = indices.back();
  bool isRow = last.first && last.step == 1 &&
               cast<MemRefType>(memref.getType()).isLastDimUnitStride();
  if (!llvm::all_of(indices.drop_back(), isSame) || !(isRow || isSame(last)))
    return narrow({extend(emitGather(memref, indices)), true});

  // Lanes of one head read one element, or a row of them. A row that reaches
  // beyond the tensor has lanes that are clamped, and is gathered as well.
  Value direct = oneHead;
  if (isRow) {
    Value first = toIndex(last.first);
    Value inside = arith::AndIOp::create(
        kb.b, kb.loc, kb.cmp(CmpIPredicate::sge, first, kb.index(0)),
        kb.cmp(
            CmpIPredicate::sle, first,
            kb.sub(kb.dim(memref, indices.size() - 1), kb.index(kb.width()))));
    direct = kb.fold<arith::AndIOp>(direct, inside);
  }
  SmallVector<Value> lanes = kb.ifElse(
      direct,
      [&] {
        SmallVector<Value> first = getFirstElement(memref, indices);
        return SmallVector<Value>{
            isRow ? extend(kb.loadLanes(memref, first))
                  : kb.broadcast(extend(kb.load(memref, first)))};
      },
      [&] { return SmallVector<Value>{extend(emitGather(memref, indices))}; });
  return narrow({lanes.front(), true});
}
