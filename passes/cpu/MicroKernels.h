// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two products of a key tile, and the forms that their operands need.
// Scores and weights have queries as lanes, so that maximum and sum over keys
// need no horizontal step.

#ifndef ATTN_PASSES_CPU_MICROKERNELS_H
#define ATTN_PASSES_CPU_MICROKERNELS_H

#include "dialect/Attn.h"
#include "passes/cpu/VectorMath.h"

namespace mlir::attn {

/// One lane vector per `kb.vectors`.
using LaneVectors = SmallVector<Value>;

/// Largest and smallest score of every query.
struct ScoreBounds {
  LaneVectors max, min;

  SmallVector<Value> flatten() const {
    SmallVector<Value> all(max);
    llvm::append_range(all, min);
    return all;
  }
  static ScoreBounds unflatten(ValueRange values) {
    ScoreBounds bounds;
    llvm::append_range(bounds.max, values.take_front(values.size() / 2));
    llvm::append_range(bounds.min, values.drop_front(values.size() / 2));
    return bounds;
  }
};

/// Bounds that any score widens.
ScoreBounds createEmptyBounds(const KernelBuilder &kb);

/// Widens `bounds` by the scores `score` of lane vector `v`.
void widen(const KernelBuilder &kb, ScoreBounds &bounds, unsigned v,
           Value score);

/// The products of one key tile, emitted at the builder's insertion point in
/// the order in which the methods stand. `emitWeights` may be called more than
/// once, for branches of which one runs. Scores and weights have a row per key
/// and a column per query.
class MicroKernel {
public:
  virtual ~MicroKernel() = default;

  /// Rows that a buffer of scores needs: those of a key tile, in whole blocks.
  virtual int64_t getScoreRows() {
    return llvm::alignTo(op.getKeyTile(), kb.blockRows());
  }

  /// scores[t, :] = scale * sum_d K[t, d] Q[:, d] for the keys of the tile, and
  /// their bounds. Rows of `scores` up to the next multiple of the block are
  /// overwritten too.
  virtual ScoreBounds emitScores(Value scores) = 0;

  /// Stores `weight(t, v)`, lane vector v of the weights of key t, for every
  /// key of the tile; returns their sums over keys. `weight` may be asked for
  /// one key beyond the tile's where their number is odd.
  virtual LaneVectors
  emitWeights(Value scores,
              llvm::function_ref<Value(Value row, int64_t v)> weight) = 0;

  /// Puts V into the form of the second product, with 0 for NaN and infinity if
  /// `hasMasked`. Returns whether there were any, an i1.
  virtual Value emitValues(Value hasMasked) = 0;

  /// acc[d, :] = rescale * acc[d, :] + sum_t V[t, d] weights[t, :] for
  /// d < value dim. Rows of `acc` up to the next multiple of the block are
  /// overwritten too.
  virtual void emitWeightedSum(const LaneVectors &rescale) = 0;

  /// "fma", "dot", "amx" or "row", for remarks.
  virtual StringRef getName() const = 0;

  /// How accurate weights must be: what rounding them leaves.
  virtual ExpAccuracy getAccuracy() const = 0;

  /// Lane vector `v` of the weights of key `row`, widened.
  virtual Value loadWeight(Value row, int64_t v) = 0;

protected:
  MicroKernel(const KernelBuilder &kb, OnlineSoftmaxOp op)
      : kb(kb), op(op), keyRows(kb.dim(op.getKey(), 0)) {}

  const KernelBuilder &kb;
  OnlineSoftmaxOp op;
  Value keyRows;
};

/// What kernels have in common whose weights are not rounded and take the place
/// of the scores.
class WideWeights : public MicroKernel {
public:
  LaneVectors
  emitWeights(Value scores,
              llvm::function_ref<Value(Value, int64_t)> weight) override;
  ExpAccuracy getAccuracy() const override { return ExpAccuracy::full; }
  Value loadWeight(Value row, int64_t v) override;

protected:
  using MicroKernel::MicroKernel;

  /// Maps the rows of K or V in use into `copy`.
  void copyRows(Value rows, Value copy, llvm::function_ref<Value(Value)> map);

  Value weights;
};

/// The fma kernel, in f32 or f64; f16 and bf16 are widened. On every target.
std::unique_ptr<MicroKernel> createFmaKernel(const KernelBuilder &kb,
                                             OnlineSoftmaxOp op);
/// The dot kernel, on pairs of bf16 accumulated in f32.
std::unique_ptr<MicroKernel> createDotKernel(const KernelBuilder &kb,
                                             OnlineSoftmaxOp op);

/// The AMX kernel, on tiles of pairs of bf16.
std::unique_ptr<MicroKernel> createAmxKernel(const KernelBuilder &kb,
                                             OnlineSoftmaxOp op);

/// The kernel of tiles of few query rows, which are not packed, on every
/// target.
std::unique_ptr<MicroKernel> createRowKernel(const KernelBuilder &kb,
                                             OnlineSoftmaxOp op);
/// Whether that kernel takes `op`: it needs a known number of query rows, at
/// most the lanes of a vector.
bool hasRowKernel(OnlineSoftmaxOp op, const TargetInfo &target);

/// Accumulates a register block: acc[r][v] = multiply(left(k, r), right[k][v],
/// acc[r][v]) for k in 0..count and as many rows as `init` has. `right` is a
/// buffer whose rows are the lane vectors of the tile.
SmallVector<Value> emitRegisterBlock(
    const KernelBuilder &kb, Value count, Value right,
    llvm::function_ref<Value(Value k, int64_t r)> left,
    llvm::function_ref<Value(Value left, Value right, Value acc)> multiply,
    ValueRange init);

/// The loop over register blocks of the scores. `block` gives the products of
/// the keys `keyRow`, of which there are `kb.blockRows()`; keys beyond the last
/// one repeat it, so that nothing is read out of bounds and the bounds are
/// those of real scores.
ScoreBounds emitScoreBlocks(
    const KernelBuilder &kb, Value keyRows, Value scores,
    llvm::function_ref<SmallVector<Value>(ArrayRef<Value> keyRow)> block);

/// The loop over register blocks of the weighted sum. `block` accumulates the
/// columns from `column` on onto `init`.
void emitSumBlocks(
    const KernelBuilder &kb, Value valueDim, const LaneVectors &rescale,
    Value acc,
    llvm::function_ref<SmallVector<Value>(Value column, ValueRange init)>
        block);

/// Replaces NaN and infinity in lane vectors or scalars of any float type by 0
/// and remembers whether there were any.
class NonFiniteFilter {
public:
  explicit NonFiniteFilter(const KernelBuilder &kb);
  Value emitFilter(Value x);
  /// Whether any filtered value was not finite, an i1.
  Value emitFound();

private:
  const KernelBuilder &kb;
  Value flags;
};

/// True where a scalar or lane vector is NaN or infinite.
Value isNonFinite(const KernelBuilder &kb, Value x);

} // namespace mlir::attn

#endif // ATTN_PASSES_CPU_MICROKERNELS_H
