// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The micro-kernel of tiles with few query rows, as in decoding: bound by
// reading K and V, each of which is used by a few rows only. Columns are lanes,
// so that rows of K and V are loaded as whole vectors, in order, once. The
// scores' horizontal sums are taken for a vector of them at a time.
//
// For f32 and f64, and for f16 and bf16 widened in registers or, for the scores
// of bf16, multiplied in pairs where the target has it.

#include "passes/cpu/FloatCasts.h"
#include "passes/cpu/MicroKernels.h"
#include "passes/cpu/PairVectors.h"
#include "passes/cpu/TileCopies.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

/// Bytes between the row that is read and the row that is fetched into the
/// cache: enough to cover the latency of memory at full bandwidth.
static constexpr int64_t kPrefetchBytes = 16384;

namespace {

class RowKernel : public WideWeights {
public:
  RowKernel(const KernelBuilder &kb, OnlineSoftmaxOp op)
      : WideWeights(kb, op),
        element(getElementTypeOrSelf(op.getKey().getType())),
        usesPairs(kb.target.multipliesPairs(element)),
        numRows(*op.getNumUnpackedRows()) {
    auto query = cast<MemRefType>(op.getQuery().getType());
    positions = query.getDimSize(1);
  }

  StringRef getName() const override { return "row"; }
  int64_t getScoreRows() override {
    return llvm::alignTo(op.getKeyTile(), getKeysPerBlock());
  }
  ScoreBounds emitScores(Value scores) override;
  Value emitValues(Value hasMasked) override;
  void emitWeightedSum(const LaneVectors &rescale) override;

private:
  /// Keys whose scores of all rows fill a vector.
  int64_t getKeysPerBlock() const { return kb.width() / numRows; }
  /// Adds the products of columns of a key from `column` on to a lane vector
  /// for each query row, whose lanes are still to be added up.
  SmallVector<Value> multiplyColumns(Value key, Value column, Value mask,
                                     ValueRange acc);
  /// Lane l of the result is the sum of the lanes of sums[l].
  Value addUpLanes(SmallVector<Value> sums);
  /// A load for products: pairs of bf16, or what is widened.
  Value loadOperand(Value memref, ValueRange indices, Value mask);
  void prefetchRow(Value memref, Value row, Value column);
  /// Adds weights times columns of V in the vectors `columns` to `products`.
  void emitColumns(Value products, ArrayRef<Value> columns, Value mask);

  Type element;
  bool usesPairs;
  int64_t numRows;   ///< query rows
  int64_t positions; ///< of which so many per head
  Value values;
};

} // namespace

Value RowKernel::loadOperand(Value memref, ValueRange indices, Value mask) {
  int64_t width = kb.width() * (usesPairs ? 2 : 1);
  Value part = loadPart(kb, memref, indices, width, mask);
  return usesPairs ? part : emitWiden(kb, part);
}

void RowKernel::prefetchRow(Value memref, Value row, Value column) {
  constexpr int64_t kUsualColumns = 128;
  auto type = cast<MemRefType>(memref.getType());
  int64_t columns = type.isDynamicDim(1)
                        ? kUsualColumns
                        : std::max<int64_t>(type.getDimSize(1), 1);
  int64_t rowBytes = columns * element.getIntOrFloatBitWidth() / 8;
  Value ahead = kb.add(row, llvm::divideCeil(kPrefetchBytes, rowBytes));
  kb.prefetch(memref, {ahead, column}, /*cacheLevel=*/1);
}

SmallVector<Value> RowKernel::multiplyColumns(Value key, Value column,
                                              Value mask, ValueRange acc) {
  Value part = loadOperand(op.getKey(), {key, column}, mask);
  SmallVector<Value> sums(acc);
  for (auto [row, sum] : llvm::enumerate(sums)) {
    Value query = loadOperand(
        op.getQuery(),
        {kb.index(row / positions), kb.index(row % positions), column}, mask);
    sum = usesPairs ? emitDot(kb, part, query, sum) : kb.fma(part, query, sum);
  }
  return sums;
}

Value RowKernel::addUpLanes(SmallVector<Value> sums) {
  // Step s adds, in each vector, the lanes that differ in bit s of their
  // number, and puts the sums of vectors that differ in it side by side.
  int64_t width = kb.width();
  sums.resize(width, sums.front());
  for (int64_t step = 1; step < width; step *= 2)
    for (int64_t n = 0; n < width; n += 2 * step) {
      auto [x, y] = exchangeLanes(kb, sums[n], sums[n + step], step);
      sums[n] = kb.addf(x, y);
    }
  return sums.front();
}

ScoreBounds RowKernel::emitScores(Value scores) {
  int64_t width = kb.width();
  int64_t keysPerBlock = getKeysPerBlock();
  Value headDim = kb.dim(op.getKey(), 1);
  Value lastKey = kb.sub(keyRows, kb.index(1));
  Value scale = kb.broadcast(op.getScale());
  SmallVector<Value> zeros(numRows, kb.constant(kb.wideLanes(), 0.0));
  auto block = [&](Value first, ValueRange carried) {
    ScoreBounds bounds = ScoreBounds::unflatten(carried);
    SmallVector<Value> keys;
    for (int64_t k = 0; k < keysPerBlock; ++k)
      keys.push_back(kb.min(kb.add(first, k), lastKey));
    SmallVector<Value> sums;
    for (Value key : keys)
      llvm::append_range(
          sums,
          reducePartsOfRow(kb, headDim, width * (usesPairs ? 2 : 1), zeros,
                           [&](Value column, Value mask, ValueRange acc) {
                             prefetchRow(op.getKey(), key, column);
                             return multiplyColumns(key, column, mask, acc);
                           }));
    Value all = kb.mulf(addUpLanes(sums), scale);
    // A row of scores has the lanes of a query tile; those beyond its rows
    // repeat them, so that the bounds are those of real scores.
    for (int64_t k = 0; k < keysPerBlock; ++k) {
      SmallVector<int64_t> lanes;
      for (int64_t lane = 0; lane < width; ++lane)
        lanes.push_back(k * numRows + lane % numRows);
      Value score = vector::ShuffleOp::create(kb.b, kb.loc, all, all, lanes);
      widen(kb, bounds, 0, score);
      kb.storeLanes(score, scores, {kb.add(first, k), kb.index(0)});
    }
    return bounds.flatten();
  };
  return ScoreBounds::unflatten(kb.loop(kb.index(0), keyRows, keysPerBlock,
                                        createEmptyBounds(kb).flatten(),
                                        block));
}

Value RowKernel::emitValues(Value hasMasked) {
  Value copy = kb.scratch({kb.b.getIndexAttr(op.getKeyTile()),
                           getAsOpFoldResult(kb.dim(op.getAcc(), 0))},
                          element);
  SmallVector<Value> results = kb.ifElse(
      hasMasked,
      [&] {
        NonFiniteFilter filter(kb);
        copyRows(op.getValue(), copy,
                 [&](Value x) { return filter.emitFilter(x); });
        return SmallVector<Value>{kb.castToRows(copy), filter.emitFound()};
      },
      [&] {
        return SmallVector<Value>{
            kb.castToRows(op.getValue()),
            arith::ConstantIntOp::create(kb.b, kb.loc, 0, 1)};
      });
  values = results[0];
  return results[1];
}

void RowKernel::emitColumns(Value products, ArrayRef<Value> columns,
                            Value mask) {
  int64_t width = kb.width();
  SmallVector<Value> zeros(numRows * columns.size(),
                           kb.constant(kb.wideLanes(), 0.0));
  SmallVector<Value> sums =
      kb.loop(kb.index(0), keyRows, 1, zeros, [&](Value t, ValueRange carried) {
        SmallVector<Value> acc(carried), parts;
        for (Value column : columns) {
          prefetchRow(op.getValue(), t, column);
          parts.push_back(
              emitWiden(kb, loadPart(kb, values, {t, column}, width, mask)));
        }
        for (int64_t row = 0; row < numRows; ++row) {
          Value weight = kb.broadcast(kb.load(weights, {t, kb.index(row)}));
          for (auto [c, part] : llvm::enumerate(parts)) {
            Value &sum = acc[row * columns.size() + c];
            sum = kb.fma(weight, part, sum);
          }
        }
        return acc;
      });
  for (int64_t row = 0; row < numRows; ++row)
    for (auto [c, column] : llvm::enumerate(columns))
      kb.storeLanes(sums[row * columns.size() + c], products,
                    {kb.index(row), column});
}

void RowKernel::emitWeightedSum(const LaneVectors &rescale) {
  int64_t width = kb.width();
  Value accRows = kb.dim(op.getAcc(), 0);
  Value valueDim = kb.dim(op.getValue(), 1);
  // A row per query, then transposed to what the accumulator is.
  Value products = kb.scratch(
      {kb.b.getIndexAttr(width), getAsOpFoldResult(accRows)}, kb.wide);
  Value transposed = kb.scratch(
      {getAsOpFoldResult(accRows), kb.b.getIndexAttr(width)}, kb.wide);
  emitFill(kb, kb.constant(kb.wideLanes(), 0.0), products);

  // As many columns at a time as there are registers for, in passes over the
  // keys of about the same width.
  int64_t vectors = std::max<int64_t>(kb.target.blockRows[0] / numRows, 1);
  auto type = cast<MemRefType>(op.getValue().getType());
  if (!type.isDynamicDim(1) && type.getDimSize(1) >= width) {
    int64_t all = type.getDimSize(1) / width;
    vectors = llvm::divideCeil(all, llvm::divideCeil(all, vectors));
  }
  Value whole =
      kb.mul(kb.fold<arith::DivUIOp>(valueDim, kb.index(vectors * width)),
             kb.index(vectors * width));
  kb.loop(kb.index(0), whole, vectors * width, [&](Value column) {
    SmallVector<Value> columns;
    for (int64_t v = 0; v < vectors; ++v)
      columns.push_back(kb.add(column, v * width));
    emitColumns(products, columns, /*mask=*/Value());
  });
  forEachPartOfRow(kb, kb.sub(valueDim, whole), width,
                   [&](Value column, Value mask) {
                     emitColumns(products, kb.add(whole, column), mask);
                   });

  emitTranspose(kb, products, transposed);
  kb.loop(kb.index(0), accRows, 1, [&](Value column) {
    Value acc = kb.loadLanes(op.getAcc(), {column, kb.index(0)});
    Value product = kb.loadLanes(transposed, {column, kb.index(0)});
    kb.storeLanes(kb.fma(acc, rescale.front(), product), op.getAcc(),
                  {column, kb.index(0)});
  });
}

bool attn::hasRowKernel(OnlineSoftmaxOp op, const TargetInfo &target) {
  int64_t width = target.lanes(op.getComputeType());
  // Parts of rows of bf16 are loaded under a mask, for which LLVM calls a
  // library where the target has no such type.
  auto isWhole = [&](Value matrix) {
    auto type = cast<ShapedType>(matrix.getType());
    return !type.isDynamicDim(1) && type.getDimSize(1) % width == 0;
  };
  if (getElementTypeOrSelf(op.getKey().getType()).isBF16() &&
      !target.has(CpuFeatures::avx512bf16) &&
      !(isWhole(op.getKey()) && isWhole(op.getValue())))
    return false;
  std::optional<int64_t> rows = op.getNumUnpackedRows();
  return rows && op.getNumRows() == width && *rows > 0 && *rows <= width;
}

std::unique_ptr<MicroKernel> attn::createRowKernel(const KernelBuilder &kb,
                                                   OnlineSoftmaxOp op) {
  return std::make_unique<RowKernel>(kb, op);
}
