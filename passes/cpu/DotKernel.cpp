// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The micro-kernel of AVX512_BF16: vdpbf16ps multiplies pairs of bf16 and adds
// both products to an f32 lane. Pairs are neighbouring columns of Q and K for
// the scores, so that K is read where it lies, and neighbouring keys of the
// weights and V for the weighted sum, for which V is interleaved once per key
// tile. The instruction takes subnormal bf16 for 0.

#include "passes/cpu/PairVectors.h"
#include "passes/cpu/PairWeights.h"
#include "passes/cpu/TileCopies.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

namespace {

class DotKernel : public PairWeights {
public:
  DotKernel(const KernelBuilder &kb, OnlineSoftmaxOp op)
      : PairWeights(kb, op, /*keyMultiple=*/2) {}

  StringRef getName() const override { return "dot"; }
  ScoreBounds emitScores(Value scores) override;
  Value emitValues(Value hasMasked) override;
  void emitWeightedSum(const LaneVectors &rescale) override;

private:
  /// K, or a copy with zeros behind its rows where their pairs would reach
  /// beyond them.
  Value getKeys();

  Value values; ///< pairs of keys x value columns x 2
};

} // namespace

Value DotKernel::getKeys() {
  auto type = cast<MemRefType>(op.getKey().getType());
  if (!type.isDynamicDim(1) && type.getDimSize(1) % 2 == 0)
    return op.getKey();
  // As wide as the packed query, which comes in whole vectors.
  Value copy = createBuffer(
      keyTile(),
      getAsOpFoldResult(kb.mul(kb.dim(op.getQuery(), 0), kb.index(2))));
  return kb
      .ifElse(
          kb.isOdd(kb.dim(op.getKey(), 1)),
          [&] {
            copyKeys(kb.index(0), copy);
            return SmallVector<Value>{kb.castToRows(copy)};
          },
          [&] { return SmallVector<Value>{kb.castToRows(op.getKey())}; })
      .front();
}

ScoreBounds DotKernel::emitScores(Value scores) {
  Value keys = getKeys();
  Value pairs = countPairs(kb, kb.dim(op.getKey(), 1));
  Value zero = kb.constant(kb.f32Lanes(), 0.0);
  Value scale = kb.broadcast(op.getScale());
  return emitScoreBlocks(kb, keyRows, scores, [&](ArrayRef<Value> keyRow) {
    SmallVector<Value> products = emitRegisterBlock(
        kb, pairs, op.getQuery(),
        [&](Value pair, int64_t r) {
          return broadcastPair(kb, keys,
                               {keyRow[r], kb.mul(pair, kb.index(2))});
        },
        [&](Value x, Value y, Value z) { return emitDot(kb, x, y, z); },
        SmallVector<Value>(kb.blockRows() * kb.vectors, zero));
    for (Value &product : products)
      product = kb.mulf(product, scale);
    return products;
  });
}

Value DotKernel::emitValues(Value hasMasked) {
  values = createBuffer(
      kb.b.getIndexAttr(maxKeys / 2),
      getAsOpFoldResult(kb.mul(kb.dim(op.getAcc(), 0), kb.index(2))));
  auto interleave = [&](ElementMap map) {
    emitInterleavedRows(kb, op.getValue(), kb.index(0), keyRows, kb.index(0),
                        kb.dim(op.getValue(), 1), values, map);
  };
  return kb
      .ifElse(
          hasMasked,
          [&] {
            NonFiniteFilter filter(kb);
            interleave([&](Value x) { return filter.emitFilter(x); });
            return SmallVector<Value>{filter.emitFound()};
          },
          [&] {
            interleave(nullptr);
            return SmallVector<Value>{
                arith::ConstantIntOp::create(kb.b, kb.loc, 0, 1)};
          })
      .front();
}

void DotKernel::emitWeightedSum(const LaneVectors &rescale) {
  Value pairs = countPairs(kb, keyRows);
  emitSumBlocks(
      kb, kb.dim(op.getValue(), 1), rescale, op.getAcc(),
      [&](Value column, ValueRange init) {
        return emitRegisterBlock(
            kb, pairs, weights,
            [&](Value pair, int64_t r) {
              return broadcastPair(
                  kb, values, {pair, kb.mul(kb.add(column, r), kb.index(2))});
            },
            [&](Value x, Value y, Value z) { return emitDot(kb, x, y, z); },
            init);
      });
}

std::unique_ptr<MicroKernel> attn::createDotKernel(const KernelBuilder &kb,
                                                   OnlineSoftmaxOp op) {
  return std::make_unique<DotKernel>(kb, op);
}
