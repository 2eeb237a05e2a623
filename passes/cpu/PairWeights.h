// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the micro-kernels of bf16 have in common: weights in pairs of
// neighbouring keys, and copies of K with whole vectors of pairs.

#ifndef ATTN_PASSES_CPU_PAIRWEIGHTS_H
#define ATTN_PASSES_CPU_PAIRWEIGHTS_H

#include "passes/cpu/MicroKernels.h"

namespace mlir::attn {

class PairWeights : public MicroKernel {
public:
  LaneVectors
  emitWeights(Value scores,
              llvm::function_ref<Value(Value, int64_t)> weight) override;
  ExpAccuracy getAccuracy() const override { return ExpAccuracy::bf16; }
  Value loadWeight(Value row, int64_t v) override;

protected:
  /// For a kernel that takes keys in multiples of `keyMultiple`, which is even.
  PairWeights(const KernelBuilder &kb, OnlineSoftmaxOp op, int64_t keyMultiple);

  /// A bf16 buffer.
  Value createBuffer(OpFoldResult rows, OpFoldResult columns);
  /// Keys of a tile, up to the multiple.
  OpFoldResult keyTile() { return kb.b.getIndexAttr(maxKeys); }
  /// Copies the rows of K from `first` on, with zeros behind them up to whole
  /// vectors of pairs.
  void copyKeys(Value first, Value copy);

  int64_t maxKeys;
  Value weights; ///< pairs of keys x queries x 2
};

} // namespace mlir::attn

#endif // ATTN_PASSES_CPU_PAIRWEIGHTS_H
