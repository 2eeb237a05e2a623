// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The micro-kernel of f32 multiply-adds, for vectors of any width. f32 operands
// are read where they lie; bf16 is widened into a buffer once per key tile.

#include "passes/cpu/MicroKernels.h"
#include "passes/cpu/TileCopies.h"
#include "passes/cpu/VectorMath.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

namespace {

class FmaKernel : public MicroKernel {
public:
  FmaKernel(const KernelBuilder &kb, OnlineSoftmaxOp op)
      : kb(kb), op(op), keyRows(kb.dim(op.getKey(), 0)),
        isF32(getElementTypeOrSelf(op.getKey().getType()).isF32()) {}

  ScoreBounds emitScores(Value scores) override;
  LaneVectors
  emitWeights(Value scores,
              llvm::function_ref<Value(Value, int64_t)> weight) override;
  Value emitValues(Value hasMasked) override;
  void emitWeightedSum(const LaneVectors &rescale) override;
  ExpAccuracy getAccuracy() const override { return ExpAccuracy::f32; }
  Value loadWeight(Value row, int64_t v) override {
    return kb.loadLanes(weights, {row, kb.lane(v)});
  }

private:
  /// A buffer of a row per key of the tile and `columns` columns.
  Value createKeyBuffer(Value columns);
  /// emitRegisterBlock with multiply-adds of the broadcast element `left`.
  SmallVector<Value>
  emitBlock(Value count, Value right,
            llvm::function_ref<Value(Value k, int64_t r)> left,
            ValueRange init) {
    return emitRegisterBlock(
        kb, count, right,
        [&](Value k, int64_t r) { return kb.broadcast(left(k, r)); },
        [&](Value x, Value y, Value z) { return kb.fma(x, y, z); }, init);
  }

  const KernelBuilder &kb;
  OnlineSoftmaxOp op;
  Value keyRows;
  bool isF32;
  Value weights; ///< takes the place of the scores
  Value values;
};

} // namespace

Value FmaKernel::createKeyBuffer(Value columns) {
  return kb.scratch(
      {kb.b.getIndexAttr(op.getKeyTile()), getAsOpFoldResult(columns)},
      kb.b.getF32Type());
}

ScoreBounds FmaKernel::emitScores(Value scores) {
  Value headDim = kb.dim(op.getKey(), 1);
  Value keys = op.getKey();
  if (!isF32) {
    keys = createKeyBuffer(kb.dim(op.getQuery(), 0));
    kb.loop(kb.index(0), keyRows, 1, [&](Value row) {
      emitRowCopy(kb, op.getKey(), row, keys, row, headDim,
                  [&](Value x) { return emitToF32(kb, x); });
    });
  }
  Value zero = kb.constant(kb.f32Lanes(), 0.0);
  return emitScoreBlocks(kb, keyRows, scores, [&](ArrayRef<Value> keyRow) {
    return emitBlock(
        headDim, op.getQuery(),
        [&](Value d, int64_t r) { return kb.load(keys, {keyRow[r], d}); },
        SmallVector<Value>(kb.blockRows() * kb.vectors, zero));
  });
}

LaneVectors
FmaKernel::emitWeights(Value scores,
                       llvm::function_ref<Value(Value, int64_t)> weight) {
  weights = scores;
  SmallVector<Value> zeros(kb.vectors, kb.constant(kb.f32Lanes(), 0.0));
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

Value FmaKernel::emitValues(Value hasMasked) {
  Value valueDim = kb.dim(op.getValue(), 1);
  Value copy = createKeyBuffer(kb.dim(op.getAcc(), 0));
  auto copyRows = [&](ElementMap map) {
    kb.loop(kb.index(0), keyRows, 1, [&](Value row) {
      emitRowCopy(kb, op.getValue(), row, copy, row, valueDim, map);
    });
  };
  Value notFound = arith::ConstantIntOp::create(kb.b, kb.loc, 0, 1);
  SmallVector<Value> results = kb.ifElse(
      hasMasked,
      [&] {
        NonFiniteFilter filter(kb);
        copyRows([&](Value x) { return filter.emitFilter(emitToF32(kb, x)); });
        return SmallVector<Value>{kb.castToRows(copy), filter.emitFound()};
      },
      [&] {
        if (isF32)
          return SmallVector<Value>{kb.castToRows(op.getValue()), notFound};
        copyRows([&](Value x) { return emitToF32(kb, x); });
        return SmallVector<Value>{kb.castToRows(copy), notFound};
      });
  values = results[0];
  return results[1];
}

void FmaKernel::emitWeightedSum(const LaneVectors &rescale) {
  Value valueDim = kb.dim(op.getValue(), 1);
  Value lastColumn = kb.sub(valueDim, kb.index(1));
  emitSumBlocks(kb, valueDim, rescale, op.getAcc(),
                [&](Value column, ValueRange init) {
                  // Columns beyond the last one repeat it; their sums are never
                  // read.
                  SmallVector<Value> columns;
                  for (int64_t r = 0; r < kb.blockRows(); ++r)
                    columns.push_back(kb.min(kb.add(column, r), lastColumn));
                  return emitBlock(
                      keyRows, weights,
                      [&](Value t, int64_t r) {
                        return kb.load(values, {t, columns[r]});
                      },
                      init);
                });
}

std::unique_ptr<MicroKernel> attn::createFmaKernel(const KernelBuilder &kb,
                                                   OnlineSoftmaxOp op) {
  return std::make_unique<FmaKernel>(kb, op);
}
