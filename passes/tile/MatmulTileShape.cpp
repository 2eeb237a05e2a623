// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See MatmulTileShape.h.

#include "passes/tile/MatmulTileShape.h"

#include "dialect/Attn.h"
#include "passes/tile/IndexMath.h"
#include "passes/tile/TileShape.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;

MatmulTileShape attn::chooseMatmulTileShape(int64_t rows, int64_t columns,
                                            int64_t width,
                                            const TargetInfo &target) {
  // A panel of B is packed for as many rows of A as a tile of C has; the block
  // of A and the tile of C share the second level of cache. A tile of few rows
  // is wide, for long streams.
  constexpr int64_t kRows = 256, kColumns = 192, kColumnsOfFewRows = 768;
  int64_t vectors = target.maxVectors();
  if (!ShapedType::isDynamic(columns))
    vectors = chooseVectors(target, width, [&](int64_t lanes) {
      return int64_t(llvm::divideCeil(columns, lanes));
    });
  MatmulTileShape shape;
  shape.panel = vectors * width;
  shape.blockRows = target.blockRows[vectors - 1];
  shape.fewRows = target.fewRows(vectors);
  auto limit = [](int64_t size, int64_t most, int64_t multiple) {
    if (!ShapedType::isDynamic(size))
      most = std::min(most, std::max<int64_t>(size, 1));
    return int64_t(llvm::alignTo(most, multiple));
  };
  shape.rows = limit(rows, kRows, shape.blockRows);
  shape.columns = limit(columns, kColumns, shape.panel);
  shape.columnsOfFewRows = limit(columns, kColumnsOfFewRows, shape.panel);
  bool mayBeFew = ShapedType::isDynamic(rows) || rows <= shape.fewRows;
  shape.mostColumns = mayBeFew ? shape.columnsOfFewRows : shape.columns;
  return shape;
}

namespace {

/// Emits the choice of the steps.
class StepChooser {
public:
  StepChooser(OpBuilder &builder, Location loc, const MatmulTileShape &shape,
              const MatmulSizes &sizes)
      : math{builder, loc}, shape(shape), sizes(sizes),
        numRows(sizes.result[sizes.result.size() - 2]),
        numColumns(sizes.result.back()) {}

  MatmulSteps choose();

private:
  /// What a call could use: tiles for each of the leading dimensions.
  struct Wanted {
    Value enough; ///< for every thread one
    Value better; ///< so many that all threads end at about the same time
  };

  /// The step that divides `size` into at most `tiles` tiles, evenly and by
  /// whole multiples of `multiple`.
  Value divide(OpFoldResult size, Value tiles, int64_t multiple) {
    Value blocks = math.ceilDiv(math.ceilDiv(size, tiles), multiple);
    return math.mul(math.max(blocks, one()), math.constant(multiple));
  }
  /// `step`, or a smaller one that makes about `wanted` tiles together with
  /// those of the other dimension, but none of fewer than `least`.
  Value refine(OpFoldResult size, Value step, Value wanted, Value otherTiles,
               Value least, int64_t multiple) {
    if (getConstantIntValue(step) == multiple)
      return step;
    Value tiles =
        math.min(math.ceilDiv(wanted, otherTiles), math.ceilDiv(size, least));
    return math.min(step, divide(size, math.max(tiles, one()), multiple));
  }
  /// `step`, or a smaller one that makes at least `wanted` tiles together with
  /// those of the other dimension, as long as these are whole multiples.
  Value refineToEnough(OpFoldResult size, Value step, Value wanted,
                       Value otherTiles, int64_t multiple) {
    if (getConstantIntValue(step) == multiple)
      return step;
    Value blocks = math.div(math.ceilDiv(size, multiple),
                            math.ceilDiv(wanted, otherTiles));
    Value smaller = math.mul(math.max(blocks, one()), math.constant(multiple));
    Value isEnough =
        math.isAtMost(wanted, math.mul(countTiles(size, step), otherTiles));
    return math.select(isEnough, step, math.min(step, smaller));
  }
  Value countTiles(OpFoldResult size, Value step) {
    return math.max(math.ceilDiv(size, step), one());
  }
  Value one() { return math.constant(1); }
  /// None if there is no work for two. `tiles` is how many there are anyway.
  std::optional<Wanted> emitWanted(Value tiles);

  IndexMath math;
  const MatmulTileShape &shape;
  const MatmulSizes &sizes;
  OpFoldResult numRows, numColumns;
};

} // namespace

std::optional<StepChooser::Wanted> StepChooser::emitWanted(Value tiles) {
  // As many multiplications as take some 5 us of one core: more than it takes
  // to wake a thread.
  constexpr int64_t kWork = int64_t(1) << 19;
  // Larger sizes have work enough, and their product is an integer.
  constexpr int64_t kMostSize = int64_t(1) << 20;
  auto bound = [&](OpFoldResult x) {
    return math.min(x, math.constant(kMostSize));
  };
  Value entries = one();
  for (OpFoldResult size : sizes.result.drop_back(2))
    entries = bound(math.mul(bound(size), entries));
  Value work =
      math.mul(math.mul(bound(numRows), bound(numColumns)), bound(sizes.depth));
  Value worthwhile = math.div(work, math.constant(kWork));
  if (std::optional<int64_t> known = getConstantIntValue(worthwhile);
      known && *known <= 1)
    return std::nullopt;
  Value workers =
      NumWorkersOp::create(math.builder, math.loc, math.builder.getIndexType());
  entries = math.max(entries, one());
  auto getTiles = [&](int64_t perWorker) {
    Value tasks = math.mul(workers, math.constant(perWorker));
    return math.max(math.min(math.ceilDiv(tasks, entries), worthwhile), one());
  };
  Value enough = getTiles(1);
  // Threads that have as many tiles each end at the same time.
  Value rest = math.apply<arith::RemUIOp>(math.mul(tiles, entries), workers);
  Value isEven = math.isAtMost(rest, math.constant(0));
  return Wanted{enough, math.select(isEven, enough, getTiles(4))};
}

MatmulSteps StepChooser::choose() {
  auto divideByMost = [&](OpFoldResult size, int64_t most, int64_t multiple) {
    return divide(size, math.max(math.ceilDiv(size, most), one()), multiple);
  };
  Value isFew = math.isAtMost(numRows, math.constant(shape.fewRows));
  Value rows = divideByMost(numRows, shape.rows, shape.blockRows);
  Value columns = math.select(
      isFew, divideByMost(numColumns, shape.columnsOfFewRows, shape.panel),
      divideByMost(numColumns, shape.columns, shape.panel));
  std::optional<Wanted> wanted = emitWanted(
      math.mul(countTiles(numRows, rows), countTiles(numColumns, columns)));
  if (!wanted)
    return {getAsOpFoldResult(rows), getAsOpFoldResult(columns)};

  auto align = [&](int64_t least, int64_t multiple, int64_t most) {
    return math.constant(
        std::min(int64_t(llvm::alignTo(least, multiple)), most));
  };
  // Few rows are bound by streams of B. Tiles of fewer columns are free
  // otherwise: all of A meets each panel anyway. B is packed once for each tile
  // of rows, which costs nothing with 128 of them, and 6 % with 64.
  constexpr int64_t kLeastColumnsOfFewRows = 256, kLeastRows = 128;
  Value leastColumns = math.select(
      isFew, align(kLeastColumnsOfFewRows, shape.panel, shape.columnsOfFewRows),
      math.constant(shape.panel));
  columns = refine(numColumns, columns, wanted->better,
                   countTiles(numRows, rows), leastColumns, shape.panel);
  rows =
      refine(numRows, rows, wanted->better, countTiles(numColumns, columns),
             align(kLeastRows, shape.blockRows, shape.rows), shape.blockRows);
  // A thread without work costs more than any of this.
  rows = refineToEnough(numRows, rows, wanted->enough,
                        countTiles(numColumns, columns), shape.blockRows);
  columns = refineToEnough(numColumns, columns, wanted->enough,
                           countTiles(numRows, rows), shape.panel);
  return {getAsOpFoldResult(rows), getAsOpFoldResult(columns)};
}

MatmulSteps attn::emitMatmulSteps(OpBuilder &builder, Location loc,
                                  const MatmulTileShape &shape,
                                  const MatmulSizes &sizes) {
  return StepChooser(builder, loc, shape, sizes).choose();
}
