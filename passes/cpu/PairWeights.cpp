// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PairWeights.h.

#include "passes/cpu/PairWeights.h"

#include "passes/cpu/PairVectors.h"
#include "passes/cpu/TileCopies.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;

PairWeights::PairWeights(const KernelBuilder &kb, OnlineSoftmaxOp op,
                         int64_t keyMultiple)
    : MicroKernel(kb, op), maxKeys(llvm::alignTo(op.getKeyTile(), keyMultiple)),
      weights(createBuffer(kb.b.getIndexAttr(maxKeys / 2),
                           kb.b.getIndexAttr(2 * kb.rows()))) {}

Value PairWeights::createBuffer(OpFoldResult rows, OpFoldResult columns) {
  return kb.scratch({rows, columns}, kb.b.getBF16Type());
}

void PairWeights::copyKeys(Value first, Value copy) {
  kb.loop(first, keyRows, 1, [&](Value row) {
    emitPairRowCopy(kb, op.getKey(), row, copy, row, kb.dim(op.getKey(), 1));
  });
}

LaneVectors
PairWeights::emitWeights(Value scores,
                         llvm::function_ref<Value(Value, int64_t)> weight) {
  OpBuilder &b = kb.b;
  // The key that the last one of an odd number is paired with weighs nothing.
  kb.ifThen(kb.isOdd(keyRows), [&] {
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
      kb.index(0), countPairs(kb, keyRows), 1, zeros,
      [&](Value pair, ValueRange carried) {
        SmallVector<Value> sums(carried);
        Value first = kb.mul(pair, kb.index(2));
        for (auto [v, sum] : llvm::enumerate(sums)) {
          Value both =
              emitPair(kb, weight(first, v), weight(kb.add(first, 1), v));
          kb.storeLanes(both, weights, {pair, kb.index(2 * v * kb.width())});
          // The sum is over what the products see: rounded weights.
          sum = emitDot(kb, both, ones, sum);
        }
        return sums;
      });
}

Value PairWeights::loadWeight(Value row, int64_t v) {
  Value pair = kb.fold<arith::ShRUIOp>(row, kb.index(1));
  Value both = kb.loadVector(weights, {pair, kb.index(2 * v * kb.width())},
                             2 * kb.width());
  return extractFromPairs(kb, both, kb.isOdd(row));
}
