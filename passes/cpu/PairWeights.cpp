// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PairWeights.h.

#include "passes/cpu/PairWeights.h"

#include "passes/cpu/PairVectors.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;

PairWeights::PairWeights(const KernelBuilder &kb, OnlineSoftmaxOp op,
                         int64_t keyMultiple)
    : kb(kb), op(op), keyRows(kb.dim(op.getKey(), 0)),
      maxKeys(llvm::alignTo(op.getKeyTile(), keyMultiple)),
      weights(createBuffer(kb.b.getIndexAttr(maxKeys / 2),
                           kb.b.getIndexAttr(2 * kb.rows()))) {}

Value PairWeights::countPairs(Value count) {
  return kb.fold<arith::ShRUIOp>(kb.add(count, 1), kb.index(1));
}

Value PairWeights::createBuffer(OpFoldResult rows, OpFoldResult columns) {
  return kb.scratch({rows, columns}, kb.b.getBF16Type());
}

void PairWeights::copyKeys(Value first, Value copy) {
  Value headDim = kb.dim(op.getKey(), 1);
  int64_t width = 2 * kb.target.vectorWidth;
  kb.loop(first, keyRows, 1, [&](Value row) {
    forEachPartOfRow(kb, headDim, width, [&](Value column, Value mask) {
      kb.storeLanes(loadPart(kb, op.getKey(), {row, column}, width, mask), copy,
                    {row, column});
    });
  });
}

LaneVectors
PairWeights::emitWeights(Value scores,
                         llvm::function_ref<Value(Value, int64_t)> weight) {
  OpBuilder &b = kb.b;
  // The key that the last one of an odd number is paired with weighs nothing.
  Value odd = kb.fold<arith::AndIOp>(keyRows, kb.index(1));
  kb.ifThen(kb.cmp(arith::CmpIPredicate::ne, odd, kb.index(0)), [&] {
    Value low =
        kb.constant(kb.f32Lanes(), -std::numeric_limits<double>::infinity());
    for (int64_t v = 0; v < kb.vectors; ++v)
      kb.storeLanes(low, scores, {keyRows, kb.lane(v)});
  });

  VectorType pairType = pairLanes(kb);
  Value ones = arith::ConstantOp::create(
      b, kb.loc,
      DenseElementsAttr::get(pairType, b.getFloatAttr(b.getBF16Type(), 1.0)));
  SmallVector<Value> zeros(kb.vectors, kb.constant(kb.f32Lanes(), 0.0));
  return kb.loop(
      kb.index(0), countPairs(keyRows), 1, zeros,
      [&](Value pair, ValueRange carried) {
        SmallVector<Value> sums(carried);
        Value first = kb.mul(pair, kb.index(2));
        for (auto [v, sum] : llvm::enumerate(sums)) {
          Value both =
              emitPair(kb, weight(first, v), weight(kb.add(first, 1), v));
          kb.storeLanes(both, weights,
                        {pair, kb.index(2 * v * kb.target.vectorWidth)});
          // The sum is over what the products see: rounded weights.
          sum = emitDot(kb, both, ones, sum);
        }
        return sums;
      });
}

Value PairWeights::loadWeight(Value row, int64_t v) {
  Value pair = kb.fold<arith::ShRUIOp>(row, kb.index(1));
  Value both =
      kb.loadVector(weights, {pair, kb.index(2 * v * kb.target.vectorWidth)},
                    2 * kb.target.vectorWidth);
  Value odd = kb.fold<arith::AndIOp>(row, kb.index(1));
  return extractFromPairs(kb, both,
                          kb.cmp(arith::CmpIPredicate::ne, odd, kb.index(0)));
}
