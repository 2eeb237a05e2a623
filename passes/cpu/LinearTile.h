// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kernels of linear attention share. Columns of the values are lanes:
// rows of values and of the state are read as they lie, and an element of a
// query, a key or a score is broadcast. Rows come in register blocks of
// `blockRows`; those beyond the last one hold anything, and nothing of them is
// kept.

#ifndef ATTN_PASSES_CPU_LINEARTILE_H
#define ATTN_PASSES_CPU_LINEARTILE_H

#include "dialect/Attn.h"
#include "passes/cpu/KernelBuilder.h"

namespace mlir::attn {

class LinearTile {
public:
  LinearTile(const KernelBuilder &kb, Value state, Value output,
             std::optional<APFloat> scale, std::optional<Normalizer> normalizer,
             Value features);

protected:
  /// Lane vectors of one register block, which begin at `column`.
  struct Panel {
    KernelBuilder kb;
    Value column;
    int64_t width() const { return kb.vectors * kb.width(); }
  };

  /// Runs `body` for the panels of a row of `columns` columns.
  void forEachPanel(llvm::function_ref<void(const Panel &)> body);
  /// The columns of `panel` of all rows of `buffer`.
  Value getPanel(const Panel &panel, Value buffer);
  /// `init` + left(k, r) right[k, panel], summed over k < count, for the rows r
  /// of a register block.
  SmallVector<Value>
  multiply(const Panel &panel, Value count, Value right,
           llvm::function_ref<Value(Value k, int64_t r)> left, ValueRange init);
  SmallVector<Value> zeros(const Panel &panel);
  Value &at(SmallVectorImpl<Value> &block, const Panel &panel, int64_t r,
            int64_t v) {
    return block[r * panel.kb.vectors + v];
  }
  void storeBlock(const Panel &panel, ArrayRef<Value> block, Value buffer,
                  Value row);

  /// A scratch buffer of rows of features, whole vectors.
  Value createFeatureRows(OpFoldResult count);
  /// to[toRow, :] = map(from[fromRow, :]), widened, with zeros up to a whole
  /// vector. The row `prefetchDistance` ahead is fetched into a cache.
  void copyFeatures(Value from, ValueRange fromRow, Value to, ValueRange toRow,
                    llvm::function_ref<Value(Value)> map = nullptr,
                    Value prefetchDistance = Value());
  /// The rows from `row` on of query head `head`, scaled, in `queries`.
  void copyQueries(Value query, Value head, Value row, Value count,
                   Value queries);
  /// Divides what is in `outputs` by the normaliser and writes the `count` rows
  /// to the output of `head`, from `row` on.
  void writeOutput(Value outputs, Value head, Value row, Value count);
  /// The sums of the features, the last column of the state, in `sums`.
  void copyNormalizer(Value sums);
  /// x / sum, or 0 where the sum is.
  Value divide(Value x, Value sum);
  /// Runs `body` for the vectors of a row of features.
  void forEachFeatureVector(llvm::function_ref<void(Value column)> body) {
    kb.loop(kb.index(0), paddedFeatures, kb.width(), body);
  }

  const KernelBuilder &kb;
  Value state, output;
  double scale;
  std::optional<Normalizer> normalizer;
  Value features, paddedFeatures;
  int64_t columns;   ///< of the state, whole vectors
  int64_t blockRows; ///< of a register block
};

} // namespace mlir::attn

#endif // ATTN_PASSES_CPU_LINEARTILE_H
