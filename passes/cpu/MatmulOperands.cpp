// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See MatmulOperands.h.

#include "passes/cpu/MatmulOperands.h"

#include "passes/cpu/FloatCasts.h"
#include "passes/cpu/PairVectors.h"
#include "passes/cpu/TileCopies.h"
#include "passes/cpu/VectorMath.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;
using arith::CmpIPredicate;

static Type getElement(Value memref) {
  return cast<MemRefType>(memref.getType()).getElementType();
}

MatmulForm::MatmulForm(MatmulTileOp op, const TargetInfo &target) {
  isPairs = target.multipliesPairs(getElement(op.getLeft())) &&
            target.multipliesPairs(getElement(op.getRight())) &&
            !getElement(op.getOut()).isF64();
  panel = op.getPanel();
  rows = llvm::alignTo(op.getRows(), target.rowMultiple());
  // A panel of this depth and the rows of A that meet it stay in a cache.
  depth = 256 * perElement();
  int64_t known = cast<MemRefType>(op.getLeft().getType())
                      .getDimSize(op.getTransposeLeft() ? 0 : 1);
  if (!ShapedType::isDynamic(known))
    depth = std::min<int64_t>(depth,
                              llvm::alignTo(std::max<int64_t>(known, 1),
                                            target.vectorWidth * perElement()));
  // As measured: rows of bf16 are shorter.
  shallowDepth = isPairs ? 64 : 16;
}

Value MatmulForm::countElements(const KernelBuilder &kb, Value count) const {
  return isPairs ? countPairs(kb, count) : count;
}

/// The part of `memref` from `row` and `column` on.
static Value createView(const KernelBuilder &kb, Value memref, Value row,
                        Value column, OpFoldResult rows, OpFoldResult columns) {
  SmallVector<OpFoldResult> strides(2, kb.b.getIndexAttr(1));
  return memref::SubViewOp::create(
      kb.b, kb.loc, memref,
      SmallVector<OpFoldResult>{getAsOpFoldResult(row),
                                getAsOpFoldResult(column)},
      SmallVector<OpFoldResult>{rows, columns}, strides);
}

//===- A ------------------------------------------------------------------===//

LeftBlock::LeftBlock(const KernelBuilder &kb, MatmulTileOp op,
                     const MatmulForm &form)
    : kb(kb), op(op), form(form) {}

/// A block with a row per row of A.
Value LeftBlock::emitRows(Value k, Value count) {
  Value left = op.getLeft(), zero = kb.index(0);
  Value rows = kb.dim(left, 0);
  auto createDirect = [&] {
    return kb.castToRows(createView(kb, left, zero, k, getAsOpFoldResult(rows),
                                    getAsOpFoldResult(count)));
  };
  if (getElement(left) == kb.wide)
    return createDirect();
  auto createCopy = [&](Type element) {
    return kb.scratch(
        {kb.b.getIndexAttr(form.rows), kb.b.getIndexAttr(form.depth)}, element);
  };
  if (!form.isPairs) {
    Value copy = createCopy(kb.wide);
    Value from = createDirect();
    kb.loop(zero, rows, 1, [&](Value row) {
      emitRowCopy(kb, from, row, copy, row, count,
                  [&](Value x) { return emitWiden(kb, x); });
    });
    return copy;
  }
  // With an odd depth the last pair would reach beyond its row.
  return kb
      .ifElse(
          kb.isOdd(kb.dim(left, 1)),
          [&] {
            Value copy = createCopy(kb.b.getBF16Type());
            Value from = createDirect();
            kb.loop(zero, rows, 1, [&](Value row) {
              emitPairRowCopy(kb, from, row, copy, row, count);
            });
            return SmallVector<Value>{kb.castToRows(copy)};
          },
          [&] { return SmallVector<Value>{createDirect()}; })
      .front();
}

/// A block with a row per element of k.
Value LeftBlock::emitColumns(Value k, Value count) {
  Value left = op.getLeft(), zero = kb.index(0);
  Value rows = kb.dim(left, 1);
  // Rows at a distance of a power of two would share their places in a cache.
  int64_t padded = form.rows + kb.width();
  Value copy =
      kb.scratch({kb.b.getIndexAttr(form.depth / form.perElement()),
                  kb.b.getIndexAttr(padded * form.perElement())},
                 form.isPairs ? Type(kb.b.getBF16Type()) : Type(kb.wide));
  if (form.isPairs)
    emitInterleavedRows(kb, left, k, count, zero, rows, copy);
  else
    kb.loop(zero, count, 1, [&](Value step) {
      emitRowCopy(kb, left, kb.add(k, step), copy, step, rows,
                  [&](Value x) { return emitWiden(kb, x); });
    });
  return copy;
}

void LeftBlock::emitPrepare(Value k, Value count) {
  block = op.getTransposeLeft() ? emitColumns(k, count) : emitRows(k, count);
}

Value LeftBlock::emitBroadcast(Value element, Value row) {
  auto times = [&](Value x) { return kb.mul(x, kb.index(form.perElement())); };
  SmallVector<Value> at{row, times(element)};
  if (op.getTransposeLeft())
    at = {element, times(row)};
  return form.isPairs ? broadcastPair(kb, block, at)
                      : kb.broadcast(kb.load(block, at));
}

//===- B ------------------------------------------------------------------===//

bool RightPanel::canBeDirect() {
  return !op.getTransposeRight() && getElement(op.getRight()) == kb.wide;
}

Value RightPanel::castToPanel(Value memref) {
  constexpr int64_t kDynamic = ShapedType::kDynamic;
  auto type = MemRefType::get(
      {kDynamic, form.panel * form.perElement()}, getElement(memref),
      StridedLayoutAttr::get(kb.b.getContext(), kDynamic, {kDynamic, 1}));
  return memref::CastOp::create(kb.b, kb.loc, type, memref);
}

Value RightPanel::useInPlace(const PanelPlace &place) {
  kb.loop(kb.index(0), place.count, 1, [&](Value row) {
    Value next = kb.add(kb.add(place.k, place.step), row);
    for (int64_t v = 0; v < kb.vectors; ++v)
      kb.prefetch(op.getRight(), {next, kb.add(place.column, kb.lane(v))},
                  /*cacheLevel=*/2);
  });
  return castToPanel(createView(kb, op.getRight(), place.k, place.column,
                                getAsOpFoldResult(place.count),
                                kb.b.getIndexAttr(form.panel)));
}

void RightPanel::packRows(const PanelPlace &place, Value buffer) {
  Value right = op.getRight(), zero = kb.index(0);
  auto widen = [&](Value x) { return emitWiden(kb, x); };
  auto packWhole = [&] {
    kb.loop(zero, place.count, 1, [&](Value step) {
      Value row = kb.add(place.k, step);
      for (int64_t v = 0; v < kb.vectors; ++v) {
        Value column = kb.add(place.column, kb.lane(v));
        kb.prefetch(right, {kb.add(row, place.step), column}, /*cacheLevel=*/2);
        kb.storeLanes(widen(kb.loadLanes(right, {row, column})), buffer,
                      {step, kb.lane(v)});
      }
    });
    return SmallVector<Value>();
  };
  auto packPart = [&] {
    Value view = createView(kb, right, place.k, place.column,
                            getAsOpFoldResult(place.count),
                            getAsOpFoldResult(place.columns));
    kb.loop(zero, place.count, 1, [&](Value step) {
      emitRowCopy(kb, view, step, buffer, step, place.columns, widen);
    });
    return SmallVector<Value>();
  };
  kb.ifElse(isWhole(place), packWhole, packPart);
}

void RightPanel::packPairs(const PanelPlace &place, Value buffer) {
  auto pack = [&](Value columns) {
    emitInterleavedRows(kb, op.getRight(), place.k, place.count, place.column,
                        columns, buffer, /*map=*/nullptr, place.step);
    return SmallVector<Value>();
  };
  kb.ifElse(
      isWhole(place), [&] { return pack(kb.index(form.panel)); },
      [&] { return pack(place.columns); });
}

/// Transposes a copy of the rows of B, widened or as pairs that are moved about
/// as f32. `depth` is the elements of k in whole vectors.
void RightPanel::packTransposedCopy(const PanelPlace &place, Value depth,
                                    Value buffer) {
  Value zero = kb.index(0);
  OpFoldResult panel = kb.b.getIndexAttr(form.panel);
  // Rows at a distance of a power of two would share their places in a cache.
  int64_t elements = form.depth / form.perElement() + kb.width();
  Value rows = kb.scratch({panel, kb.b.getIndexAttr(elements)}, kb.wide);
  Value view = createView(kb, op.getRight(), place.column, place.k,
                          getAsOpFoldResult(place.columns),
                          getAsOpFoldResult(place.count));
  kb.loop(zero, place.columns, 1, [&](Value row) {
    if (form.isPairs)
      emitPairRowCopy(kb, view, row, rows, row, place.count);
    else
      emitRowCopy(kb, view, row, rows, row, place.count,
                  [&](Value x) { return emitWiden(kb, x); });
  });
  emitTranspose(
      kb, createView(kb, rows, zero, zero, panel, getAsOpFoldResult(depth)),
      buffer);
}

void RightPanel::packTransposed(const PanelPlace &place, Value buffer) {
  Value right = op.getRight(), width = kb.index(kb.width());
  Value depth = kb.mul(
      kb.fold<arith::CeilDivUIOp>(form.countElements(kb, place.count), width),
      width);
  if (!form.isPairs && getElement(right) != kb.wide)
    return packTransposedCopy(place, depth, buffer);
  // Whole blocks of whole vectors are read where they are.
  Value isDeep =
      kb.cmp(CmpIPredicate::eq, kb.mul(depth, kb.index(form.perElement())),
             place.count);
  kb.ifElse(
      kb.fold<arith::AndIOp>(isWhole(place), isDeep),
      [&] {
        emitTranspose(kb,
                      createView(kb, right, place.column, place.k,
                                 kb.b.getIndexAttr(form.panel),
                                 getAsOpFoldResult(place.count)),
                      buffer, place.step);
        return SmallVector<Value>();
      },
      [&] {
        packTransposedCopy(place, depth, buffer);
        return SmallVector<Value>();
      });
}

Value RightPanel::pack(const PanelPlace &place) {
  Value buffer =
      kb.scratch({kb.b.getIndexAttr(form.depth / form.perElement()),
                  kb.b.getIndexAttr(form.panel * form.perElement())},
                 form.isPairs ? Type(kb.b.getBF16Type()) : Type(kb.wide));
  if (op.getTransposeRight())
    packTransposed(place, buffer);
  else if (form.isPairs)
    packPairs(place, buffer);
  else
    packRows(place, buffer);
  return castToPanel(buffer);
}

Value RightPanel::emitPanel(const PanelPlace &place, Value isDirect) {
  return kb
      .ifElse(
          kb.fold<arith::AndIOp>(isDirect, isWhole(place)),
          [&] { return SmallVector<Value>{useInPlace(place)}; },
          [&] { return SmallVector<Value>{pack(place)}; })
      .front();
}
