// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fma micro-kernels: a register block of `blockRows` by `blockVectors`
// accumulators, carried by the inner loop.

#include "passes/cpu/MicroKernels.h"

using namespace mlir;
using namespace mlir::attn;

ScoreBounds attn::createEmptyBounds(const KernelBuilder &kb) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value low = kb.constant(kb.f32Lanes(), -infinity);
  Value high = kb.constant(kb.f32Lanes(), infinity);
  ScoreBounds bounds;
  bounds.max.assign(kb.target.blockVectors, low);
  bounds.min.assign(kb.target.blockVectors, high);
  return bounds;
}

void attn::widen(const KernelBuilder &kb, ScoreBounds &bounds, unsigned v,
                 Value score) {
  bounds.max[v] = kb.max(bounds.max[v], score);
  bounds.min[v] = kb.minf(bounds.min[v], score);
}

/// Accumulates a register block: acc[r][v] += left(k, r) * right[k, v] for k in
/// 0..count, where left is a scalar and right a row of lane vectors.
static SmallVector<Value>
accumulateBlock(const KernelBuilder &kb, Value count, Value right,
                llvm::function_ref<Value(Value k, int64_t r)> left,
                ValueRange init) {
  int64_t rows = kb.target.blockRows, vectors = kb.target.blockVectors;
  return kb.loop(kb.index(0), count, 1, init, [&](Value k, ValueRange carried) {
    SmallVector<Value> lanes, acc(carried);
    for (int64_t v = 0; v < vectors; ++v)
      lanes.push_back(
          kb.loadLanes(right, {k, kb.index(v * kb.target.vectorWidth)}));
    for (int64_t r = 0; r < rows; ++r) {
      Value scalar = kb.broadcast(left(k, r));
      for (int64_t v = 0; v < vectors; ++v) {
        Value &sum = acc[r * vectors + v];
        sum = kb.fma(scalar, lanes[v], sum);
      }
    }
    return acc;
  });
}

ScoreBounds attn::emitScores(const KernelBuilder &kb, Value query, Value keys,
                             Value keyRows, Value headDim, Value scores) {
  int64_t rows = kb.target.blockRows, vectors = kb.target.blockVectors;
  Value zero = kb.constant(kb.f32Lanes(), 0.0);
  Value lastKey = kb.sub(keyRows, kb.index(1));
  auto block = [&](Value key, ValueRange carried) {
    ScoreBounds bounds = ScoreBounds::unflatten(carried);
    // Rows beyond the last key repeat it: nothing is read out of bounds, and
    // the bounds stay those of real scores.
    SmallVector<Value> keyRow;
    for (int64_t r = 0; r < rows; ++r)
      keyRow.push_back(kb.min(kb.add(key, r), lastKey));
    SmallVector<Value> acc = accumulateBlock(
        kb, headDim, query,
        [&](Value d, int64_t r) { return kb.load(keys, {keyRow[r], d}); },
        SmallVector<Value>(rows * vectors, zero));
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t v = 0; v < vectors; ++v) {
        Value score = acc[r * vectors + v];
        widen(kb, bounds, v, score);
        kb.storeLanes(score, scores,
                      {kb.add(key, r), kb.index(v * kb.target.vectorWidth)});
      }
    return bounds.flatten();
  };
  return ScoreBounds::unflatten(kb.loop(
      kb.index(0), keyRows, rows, createEmptyBounds(kb).flatten(), block));
}

void attn::emitWeightedSum(const KernelBuilder &kb, Value weights, Value values,
                           Value keyRows, Value valueDim,
                           const LaneVectors &scale, Value acc) {
  int64_t rows = kb.target.blockRows, vectors = kb.target.blockVectors;
  Value lastColumn = kb.sub(valueDim, kb.index(1));
  kb.loop(kb.index(0), valueDim, rows, [&](Value column) {
    // Columns beyond the last one repeat it; their sums are never read.
    SmallVector<Value> valueColumn, init;
    auto place = [&](int64_t r, int64_t v) {
      return SmallVector<Value>{kb.add(column, r),
                                kb.index(v * kb.target.vectorWidth)};
    };
    for (int64_t r = 0; r < rows; ++r) {
      valueColumn.push_back(kb.min(kb.add(column, r), lastColumn));
      for (int64_t v = 0; v < vectors; ++v)
        init.push_back(kb.mulf(kb.loadLanes(acc, place(r, v)), scale[v]));
    }
    SmallVector<Value> sums = accumulateBlock(
        kb, keyRows, weights,
        [&](Value t, int64_t r) {
          return kb.load(values, {t, valueColumn[r]});
        },
        init);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t v = 0; v < vectors; ++v)
        kb.storeLanes(sums[r * vectors + v], acc, place(r, v));
  });
}
