// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the micro-kernels share: register blocks, the loops over them, and the
// filter of values that are not finite.

#include "passes/cpu/MicroKernels.h"

#include "passes/cpu/FloatCasts.h"
#include "passes/cpu/TileCopies.h"

using namespace mlir;
using namespace mlir::attn;
using arith::CmpFPredicate;

ScoreBounds attn::createEmptyBounds(const KernelBuilder &kb) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value low = kb.constant(kb.wideLanes(), -infinity);
  Value high = kb.constant(kb.wideLanes(), infinity);
  ScoreBounds bounds;
  bounds.max.assign(kb.vectors, low);
  bounds.min.assign(kb.vectors, high);
  return bounds;
}

void attn::widen(const KernelBuilder &kb, ScoreBounds &bounds, unsigned v,
                 Value score) {
  bounds.max[v] = kb.max(bounds.max[v], score);
  bounds.min[v] = kb.minf(bounds.min[v], score);
}

SmallVector<Value> attn::emitRegisterBlock(
    const KernelBuilder &kb, Value count, Value right,
    llvm::function_ref<Value(Value k, int64_t r)> left,
    llvm::function_ref<Value(Value left, Value right, Value acc)> multiply,
    ValueRange init) {
  return kb.loop(kb.index(0), count, 1, init, [&](Value k, ValueRange carried) {
    SmallVector<Value> lanes, acc(carried);
    int64_t width =
        cast<MemRefType>(right.getType()).getDimSize(1) / kb.vectors;
    for (int64_t v = 0; v < kb.vectors; ++v)
      lanes.push_back(kb.loadVector(right, {k, kb.index(v * width)}, width));
    int64_t rows = int64_t(init.size()) / kb.vectors;
    for (int64_t r = 0; r < rows; ++r) {
      Value element = left(k, r);
      for (int64_t v = 0; v < kb.vectors; ++v) {
        Value &sum = acc[r * kb.vectors + v];
        sum = multiply(element, lanes[v], sum);
      }
    }
    return acc;
  });
}

ScoreBounds attn::emitScoreBlocks(
    const KernelBuilder &kb, Value keyRows, Value scores,
    llvm::function_ref<SmallVector<Value>(ArrayRef<Value> keyRow)> block) {
  Value lastKey = kb.sub(keyRows, kb.index(1));
  auto body = [&](Value key, ValueRange carried) {
    ScoreBounds bounds = ScoreBounds::unflatten(carried);
    SmallVector<Value> keyRow;
    for (int64_t r = 0; r < kb.blockRows(); ++r)
      keyRow.push_back(kb.min(kb.add(key, r), lastKey));
    SmallVector<Value> products = block(keyRow);
    for (int64_t r = 0; r < kb.blockRows(); ++r)
      for (int64_t v = 0; v < kb.vectors; ++v) {
        Value score = products[r * kb.vectors + v];
        widen(kb, bounds, v, score);
        kb.storeLanes(score, scores, {kb.add(key, r), kb.lane(v)});
      }
    return bounds.flatten();
  };
  return ScoreBounds::unflatten(kb.loop(kb.index(0), keyRows, kb.blockRows(),
                                        createEmptyBounds(kb).flatten(), body));
}

void attn::emitSumBlocks(
    const KernelBuilder &kb, Value valueDim, const LaneVectors &rescale,
    Value acc,
    llvm::function_ref<SmallVector<Value>(Value column, ValueRange init)>
        block) {
  kb.loop(kb.index(0), valueDim, kb.blockRows(), [&](Value column) {
    SmallVector<Value> init;
    for (int64_t r = 0; r < kb.blockRows(); ++r)
      for (int64_t v = 0; v < kb.vectors; ++v)
        init.push_back(kb.mulf(
            kb.loadLanes(acc, {kb.add(column, r), kb.lane(v)}), rescale[v]));
    SmallVector<Value> sums = block(column, init);
    for (int64_t r = 0; r < kb.blockRows(); ++r)
      for (int64_t v = 0; v < kb.vectors; ++v)
        kb.storeLanes(sums[r * kb.vectors + v], acc,
                      {kb.add(column, r), kb.lane(v)});
  });
}

Value attn::isNonFinite(const KernelBuilder &kb, Value x) {
  Value difference = kb.subf(x, x); // 0, or NaN
  return kb.cmpf(CmpFPredicate::UNO, difference, difference);
}

NonFiniteFilter::NonFiniteFilter(const KernelBuilder &kb) : kb(kb) {
  Type i32 = kb.b.getI32Type();
  flags = kb.scratch({kb.b.getIndexAttr(kb.width())}, i32);
  Value none =
      arith::ConstantOp::create(kb.b, kb.loc, kb.b.getZeroAttr(kb.lanes(i32)));
  kb.storeLanes(none, flags, kb.index(0));
}

Value NonFiniteFilter::emitFilter(Value x) {
  Value wide = emitWiden(kb, x);
  Value bad = isNonFinite(kb, wide);
  Value zero = kb.index(0);
  bool isVector = isa<VectorType>(x.getType());
  Type i32 = kb.b.getI32Type();
  Value bits = arith::ExtUIOp::create(
      kb.b, kb.loc, isVector ? Type(kb.lanes(i32)) : i32, bad);
  Value old = isVector ? kb.loadLanes(flags, zero) : kb.load(flags, zero);
  Value either = arith::OrIOp::create(kb.b, kb.loc, old, bits);
  if (isVector)
    kb.storeLanes(either, flags, zero);
  else
    memref::StoreOp::create(kb.b, kb.loc, either, flags, zero);
  Value kept = kb.select(bad, kb.constant(wide.getType(), 0.0), wide);
  return emitRound(kb, kept, getElementTypeOrSelf(x.getType()));
}

Value NonFiniteFilter::emitFound() {
  Value any =
      vector::ReductionOp::create(kb.b, kb.loc, vector::CombiningKind::OR,
                                  kb.loadLanes(flags, kb.index(0)));
  Value none = arith::ConstantIntOp::create(kb.b, kb.loc, 0, 32);
  return arith::CmpIOp::create(kb.b, kb.loc, arith::CmpIPredicate::ne, any,
                               none);
}

LaneVectors
WideWeights::emitWeights(Value scores,
                         llvm::function_ref<Value(Value, int64_t)> weight) {
  weights = scores;
  SmallVector<Value> zeros(kb.vectors, kb.constant(kb.wideLanes(), 0.0));
  return kb.loop(kb.index(0), keyRows, 1, zeros,
                 [&](Value row, ValueRange carried) {
                   SmallVector<Value> sums(carried);
                   for (auto [v, sum] : llvm::enumerate(sums)) {
                     Value w = weight(row, v);
                     kb.storeLanes(w, weights, {row, kb.lane(v)});
                     sum = kb.addf(sum, w);
                   }
                   return sums;
                 });
}

Value WideWeights::loadWeight(Value row, int64_t v) {
  return kb.loadLanes(weights, {row, kb.lane(v)});
}

void WideWeights::copyRows(Value rows, Value copy,
                           llvm::function_ref<Value(Value)> map) {
  kb.loop(kb.index(0), keyRows, 1, [&](Value row) {
    emitRowCopy(kb, rows, row, copy, row, kb.dim(rows, 1), map);
  });
}
