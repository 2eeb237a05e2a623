// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The micro-kernel of multiply-adds in f32 or f64, for vectors of any width.
// Operands of these types are read where they lie; f16 and bf16 are widened
// into a buffer once per key tile.

#include "passes/cpu/FloatCasts.h"
#include "passes/cpu/MicroKernels.h"
#include "passes/cpu/VectorMath.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

namespace {

class FmaKernel : public WideWeights {
public:
  FmaKernel(const KernelBuilder &kb, OnlineSoftmaxOp op)
      : WideWeights(kb, op),
        isWide(getElementTypeOrSelf(op.getKey().getType()) == kb.wide) {}

  StringRef getName() const override { return "fma"; }
  ScoreBounds emitScores(Value scores) override;
  Value emitValues(Value hasMasked) override;
  void emitWeightedSum(const LaneVectors &rescale) override;

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

  bool isWide;
  Value values;
};

} // namespace

Value FmaKernel::createKeyBuffer(Value columns) {
  return kb.scratch(
      {kb.b.getIndexAttr(op.getKeyTile()), getAsOpFoldResult(columns)},
      kb.wide);
}

ScoreBounds FmaKernel::emitScores(Value scores) {
  Value headDim = kb.dim(op.getKey(), 1);
  Value keys = op.getKey();
  if (!isWide) {
    keys = createKeyBuffer(kb.dim(op.getQuery(), 0));
    copyRows(op.getKey(), keys, [&](Value x) { return emitWiden(kb, x); });
  }
  Value zero = kb.constant(kb.wideLanes(), 0.0);
  return emitScoreBlocks(kb, keyRows, scores, [&](ArrayRef<Value> keyRow) {
    return emitBlock(
        headDim, op.getQuery(),
        [&](Value d, int64_t r) { return kb.load(keys, {keyRow[r], d}); },
        SmallVector<Value>(kb.blockRows() * kb.vectors, zero));
  });
}

Value FmaKernel::emitValues(Value hasMasked) {
  Value copy = createKeyBuffer(kb.dim(op.getAcc(), 0));
  Value notFound = arith::ConstantIntOp::create(kb.b, kb.loc, 0, 1);
  SmallVector<Value> results = kb.ifElse(
      hasMasked,
      [&] {
        NonFiniteFilter filter(kb);
        copyRows(op.getValue(), copy,
                 [&](Value x) { return filter.emitFilter(emitWiden(kb, x)); });
        return SmallVector<Value>{kb.castToRows(copy), filter.emitFound()};
      },
      [&] {
        if (isWide)
          return SmallVector<Value>{kb.castToRows(op.getValue()), notFound};
        copyRows(op.getValue(), copy,
                 [&](Value x) { return emitWiden(kb, x); });
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
