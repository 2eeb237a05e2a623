// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The micro-kernel of AMX: tdpbf16ps multiplies a tile of 16 rows of 32 bf16
// with one of 16 rows of 16 pairs and adds to 16 x 16 sums in f32. Rows are
// keys for the scores, so that K is read where it lies, and value columns for
// the weighted sum, for which V is transposed once per key tile. The right
// operands are the packed query and the weights, which have the form that the
// instruction wants: pairs by queries. It takes subnormal bf16 for 0.
//
// All tiles have one shape, so that the tile registers are configured once;
// what does not fill tiles is copied and padded with zeros.

#include "passes/cpu/PairVectors.h"
#include "passes/cpu/PairWeights.h"
#include "passes/cpu/TileCopies.h"
#include "passes/cpu/VectorMath.h"

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

/// Rows of a tile, and columns of a tile of sums.
static constexpr int64_t kTileRows = 16;
/// Products that one instruction adds to each sum: columns of a left operand.
static constexpr int64_t kTileDepth = 32;
/// Of eight tile registers, four at most hold sums.
static constexpr int64_t kSumTiles = 4;

namespace {

class AmxKernel : public PairWeights {
public:
  AmxKernel(const KernelBuilder &kb, OnlineSoftmaxOp op)
      : PairWeights(kb, op, kTileDepth) {}

  StringRef getName() const override { return "amx"; }
  int64_t getScoreRows() override { return maxKeys; }
  ScoreBounds emitScores(Value scores) override;
  Value emitValues(Value hasMasked) override;
  void emitWeightedSum(const LaneVectors &rescale) override;

private:
  amx::TileType operandTile() {
    return amx::TileType::get({kTileRows, kTileDepth}, kb.b.getBF16Type());
  }
  amx::TileType sumTile() {
    return amx::TileType::get({kTileRows, kTileRows}, kb.b.getF32Type());
  }
  /// Tiles of sums, one below the other, of the widest block.
  int64_t blockTiles() { return kSumTiles / kb.vectors; }
  Value roundDown(Value x, int64_t multiple) {
    return kb.mul(kb.fold<arith::DivUIOp>(x, kb.index(multiple)),
                  kb.index(multiple));
  }
  Value roundUp(Value x, int64_t multiple) {
    return roundDown(kb.add(x, multiple - 1), multiple);
  }
  Value isMultiple(Value x, int64_t multiple) {
    return kb.cmp(arith::CmpIPredicate::eq, roundDown(x, multiple), x);
  }

  /// A block of `sums`, lane vectors by tiles from row `row` on: adds the
  /// products of as many tiles of rows of `left`, `depth` columns wide, and of
  /// `right`, a row per pair of these columns.
  SmallVector<Value> multiply(Value left, Value row, Value right, Value depth,
                              ValueRange sums);
  void storeSums(ValueRange sums, Value memref, Value row);
  /// The scores of `tiles` tiles of keys a time, from `first` to `end`, with
  /// the bounds of those among them that are keys.
  ScoreBounds emitScoreTiles(Value keys, Value first, Value end, int64_t tiles,
                             Value scores, const ScoreBounds &bounds);
  /// A copy of V with 0 for NaN and infinity, padded with zeros to whole tiles;
  /// and whether there were any.
  SmallVector<Value> copyValues();
  void transposeValues(Value values);
  void emitRescale(const LaneVectors &rescale);
  void emitSumTiles(Value first, Value end, int64_t tiles, Value depth);

  Value transposed; ///< value columns x keys
};

} // namespace

SmallVector<Value> AmxKernel::multiply(Value left, Value row, Value right,
                                       Value depth, ValueRange sums) {
  OpBuilder &b = kb.b;
  int64_t tiles = sums.size() / kb.vectors;
  return kb.loop(
      kb.index(0), depth, kTileDepth, sums, [&](Value k, ValueRange carried) {
        SmallVector<Value> products(carried), rights;
        Value pair = kb.fold<arith::ShRUIOp>(k, kb.index(1));
        for (int64_t v = 0; v < kb.vectors; ++v)
          rights.push_back(
              amx::TileLoadOp::create(b, kb.loc, operandTile(), right,
                                      {pair, kb.index(v * kTileDepth)}));
        for (int64_t r = 0; r < tiles; ++r) {
          Value tile = amx::TileLoadOp::create(b, kb.loc, operandTile(), left,
                                               {kb.add(row, r * kTileRows), k});
          for (int64_t v = 0; v < kb.vectors; ++v) {
            Value &sum = products[r * kb.vectors + v];
            sum = amx::TileMulFOp::create(b, kb.loc, sumTile(), tile, rights[v],
                                          sum);
          }
        }
        return products;
      });
}

void AmxKernel::storeSums(ValueRange sums, Value memref, Value row) {
  for (auto [n, sum] : llvm::enumerate(sums))
    amx::TileStoreOp::create(
        kb.b, kb.loc, memref,
        {kb.add(row, n / kb.vectors * kTileRows), kb.lane(n % kb.vectors)},
        sum);
}

ScoreBounds AmxKernel::emitScoreTiles(Value keys, Value first, Value end,
                                      int64_t tiles, Value scores,
                                      const ScoreBounds &bounds) {
  Value scale = kb.broadcast(op.getScale());
  Value depth = kb.mul(kb.dim(op.getQuery(), 0), kb.index(2));
  auto scaleRow = [&](Value row, ValueRange carried) {
    ScoreBounds widened = ScoreBounds::unflatten(carried);
    for (int64_t v = 0; v < kb.vectors; ++v) {
      Value score = kb.mulf(kb.loadLanes(scores, {row, kb.lane(v)}), scale);
      kb.storeLanes(score, scores, {row, kb.lane(v)});
      widen(kb, widened, v, score);
    }
    return widened.flatten();
  };
  int64_t rows = tiles * kTileRows;
  return ScoreBounds::unflatten(kb.loop(
      first, end, rows, bounds.flatten(), [&](Value key, ValueRange carried) {
        SmallVector<Value> sums;
        for (int64_t n = 0; n < tiles * kb.vectors; ++n)
          sums.push_back(amx::TileZeroOp::create(kb.b, kb.loc, sumTile()));
        storeSums(multiply(keys, key, op.getQuery(), depth, sums), scores, key);
        return kb.loop(key, kb.min(kb.add(key, rows), keyRows), 1, carried,
                       scaleRow);
      }));
}

ScoreBounds AmxKernel::emitScores(Value scores) {
  Value headDim = kb.dim(op.getKey(), 1);
  int64_t rows = blockTiles() * kTileRows;
  // What fills whole blocks is read where it lies, the rest from a copy. Rows
  // of the copy beyond the last key give scores that nothing reads.
  Value copy = createBuffer(
      keyTile(),
      getAsOpFoldResult(kb.mul(kb.dim(op.getQuery(), 0), kb.index(2))));
  Value direct =
      kb.ifElse(
            isMultiple(headDim, kTileDepth),
            [&] { return SmallVector<Value>{roundDown(keyRows, rows)}; },
            [&] { return SmallVector<Value>{kb.index(0)}; })
          .front();
  copyKeys(direct, copy);
  ScoreBounds bounds =
      emitScoreTiles(op.getKey(), kb.index(0), direct, blockTiles(), scores,
                     createEmptyBounds(kb));
  return emitScoreTiles(copy, direct, keyRows, 1, scores, bounds);
}

SmallVector<Value> AmxKernel::copyValues() {
  Value columns = kb.dim(op.getAcc(), 0);
  Value copy = createBuffer(keyTile(), getAsOpFoldResult(columns));
  int64_t width = kb.width();
  NonFiniteFilter filter(kb);
  kb.loop(kb.index(0), keyRows, 1, [&](Value row) {
    forEachPartOfRow(
        kb, kb.dim(op.getValue(), 1), width, [&](Value column, Value mask) {
          Value part = loadPart(kb, op.getValue(), {row, column}, width, mask);
          kb.storeLanes(filter.emitFilter(part), copy, {row, column});
        });
  });
  auto zeroType = VectorType::get({width}, kb.b.getBF16Type());
  Value zeros =
      arith::ConstantOp::create(kb.b, kb.loc, kb.b.getZeroAttr(zeroType));
  kb.loop(keyRows, roundUp(keyRows, kTileDepth), 1, [&](Value row) {
    kb.loop(kb.index(0), columns, width,
            [&](Value column) { kb.storeLanes(zeros, copy, {row, column}); });
  });
  return {kb.castToRows(copy), filter.emitFound()};
}

void AmxKernel::transposeValues(Value values) {
  int64_t width = kb.width();
  kb.loop(kb.index(0), keyRows, kTileDepth, [&](Value key) {
    kb.loop(kb.index(0), kb.dim(op.getValue(), 1), width, [&](Value column) {
      // A pair of bf16 is moved about as one f32.
      auto cast = [&](VectorType type, Value x) -> Value {
        return vector::BitCastOp::create(kb.b, kb.loc, type, x);
      };
      auto load = [&](int64_t t) {
        return kb.loadLanes(values, {kb.add(key, t), column});
      };
      SmallVector<Value> pairs;
      for (int64_t t = 0; t < kTileDepth; t += 2)
        pairs.push_back(cast(
            kb.f32Lanes(),
            vector::InterleaveOp::create(kb.b, kb.loc, load(t), load(t + 1))));
      transposeInRegisters(kb, pairs);
      for (auto [k, keys] : llvm::enumerate(pairs))
        kb.storeLanes(cast(pairLanes(kb), keys), transposed,
                      {kb.add(column, k), key});
    });
  });
}

Value AmxKernel::emitValues(Value hasMasked) {
  OpBuilder &b = kb.b;
  transposed =
      createBuffer(getAsOpFoldResult(kb.dim(op.getAcc(), 0)), keyTile());
  Value fillsTiles =
      kb.fold<arith::AndIOp>(isMultiple(keyRows, kTileDepth),
                             isMultiple(kb.dim(op.getValue(), 1), kTileRows));
  Value isTrue = arith::ConstantIntOp::create(b, kb.loc, 1, 1);
  Value needsCopy = kb.fold<arith::OrIOp>(
      hasMasked, kb.fold<arith::XOrIOp>(fillsTiles, isTrue));
  SmallVector<Value> results = kb.ifElse(
      needsCopy, [&] { return copyValues(); },
      [&] {
        return SmallVector<Value>{
            kb.castToRows(op.getValue()),
            arith::ConstantIntOp::create(b, kb.loc, 0, 1)};
      });
  transposeValues(results[0]);
  return results[1];
}

/// Multiplies the accumulator, which is seldom needed: only where a maximum
/// has changed.
void AmxKernel::emitRescale(const LaneVectors &rescale) {
  Value one = kb.constant(kb.f32Lanes(), 1.0);
  Value changed;
  for (Value factor : rescale) {
    Value differs = kb.cmpf(arith::CmpFPredicate::UNE, factor, one);
    changed = changed ? arith::OrIOp::create(kb.b, kb.loc, changed, differs)
                      : differs;
  }
  Value any = vector::ReductionOp::create(kb.b, kb.loc,
                                          vector::CombiningKind::OR, changed);
  kb.ifThen(any, [&] {
    kb.loop(kb.index(0), kb.dim(op.getAcc(), 0), 1, [&](Value column) {
      for (int64_t v = 0; v < kb.vectors; ++v) {
        Value acc = kb.loadLanes(op.getAcc(), {column, kb.lane(v)});
        kb.storeLanes(kb.mulf(acc, rescale[v]), op.getAcc(),
                      {column, kb.lane(v)});
      }
    });
  });
}

void AmxKernel::emitSumTiles(Value first, Value end, int64_t tiles,
                             Value depth) {
  kb.loop(first, end, tiles * kTileRows, [&](Value column) {
    SmallVector<Value> sums;
    for (int64_t n = 0; n < tiles * kb.vectors; ++n)
      sums.push_back(
          amx::TileLoadOp::create(kb.b, kb.loc, sumTile(), op.getAcc(),
                                  {kb.add(column, n / kb.vectors * kTileRows),
                                   kb.lane(n % kb.vectors)}));
    storeSums(multiply(transposed, column, weights, depth, sums), op.getAcc(),
              column);
  });
}

void AmxKernel::emitWeightedSum(const LaneVectors &rescale) {
  Value depth = roundUp(keyRows, kTileDepth);
  Value zeros =
      arith::ConstantOp::create(kb.b, kb.loc, kb.b.getZeroAttr(pairLanes(kb)));
  kb.loop(countPairs(kb, keyRows), kb.fold<arith::ShRUIOp>(depth, kb.index(1)),
          1, [&](Value pair) {
            for (int64_t v = 0; v < kb.vectors; ++v)
              kb.storeLanes(zeros, weights, {pair, kb.index(v * kTileDepth)});
          });
  emitRescale(rescale);
  Value columns = kb.dim(op.getAcc(), 0);
  Value whole = roundDown(columns, blockTiles() * kTileRows);
  emitSumTiles(kb.index(0), whole, blockTiles(), depth);
  emitSumTiles(whole, columns, 1, depth);
}

std::unique_ptr<MicroKernel> attn::createAmxKernel(const KernelBuilder &kb,
                                                   OnlineSoftmaxOp op) {
  return std::make_unique<AmxKernel>(kb, op);
}
