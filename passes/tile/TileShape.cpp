// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TileShape.h.

#include "passes/tile/TileShape.h"

#include "passes/tile/TileGeometry.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;

/// Where a key head has one query tile there may be fewer tiles than threads,
/// and keys are spread over threads instead: as many at a time as take many
/// times the bytes of the state that is kept for them.
static constexpr int64_t kSplitKeys = 2048;

/// Query tiles of `rows` rows that the heads of one key head take, each of
/// `positions` query positions. Tiles that hold all positions of a head hold
/// several heads.
static int64_t countQueryTiles(int64_t heads, int64_t positions, int64_t rows) {
  if (positions >= rows)
    return heads * llvm::divideCeil(positions, rows);
  return llvm::divideCeil(heads, std::min(rows / positions, heads));
}

int64_t
attn::chooseVectors(const TargetInfo &target, int64_t width,
                    llvm::function_ref<int64_t(int64_t rows)> countTiles) {
  // Beside work that grows with the vectors of a tile there is some that does
  // not: reading and packing what the lanes are multiplied with. It is about a
  // third of a vector.
  auto cost = [&](int64_t v) { return countTiles(v * width) * (3 * v + 1); };
  int64_t vectors = target.maxVectors();
  for (int64_t v = vectors - 1; v > 0; --v)
    if (cost(v) < cost(vectors))
      vectors = v;
  return vectors;
}

/// Query heads of a key head, or dynamic.
static int64_t getGroupSize(SoftmaxFamilyInterface op) {
  if (!op.hasGroupedHeads())
    return 1;
  auto query = cast<ShapedType>(op.getQuery().getType());
  auto key = cast<ShapedType>(op.getKey().getType());
  if (query.isDynamicDim(1) || key.isDynamicDim(1) || key.getDimSize(1) == 0)
    return ShapedType::kDynamic;
  return query.getDimSize(1) / key.getDimSize(1);
}

/// Query positions of a head, or dynamic. Those of packed sequences are known
/// at run time only.
static int64_t getPositions(SoftmaxFamilyInterface op) {
  return op.getQueryStarts()
             ? ShapedType::kDynamic
             : cast<ShapedType>(op.getQuery().getType()).getDimSize(2);
}

TileShape attn::chooseTileShape(SoftmaxFamilyInterface op,
                                const TargetInfo &target,
                                std::optional<int64_t> known) {
  int64_t positions = known.value_or(getPositions(op));
  int64_t heads = getGroupSize(op);
  int64_t width = target.lanes(getComputeType(op));
  // The heads of a group count only where a tile has room for more than one.
  int64_t widest = target.maxVectors() * width;
  bool areRowsKnown = !ShapedType::isDynamic(positions) && positions > 0 &&
                      (!ShapedType::isDynamic(heads) || positions >= widest);
  if (!areRowsKnown)
    return {widest, target.keyTile, 0, known};
  heads = std::max<int64_t>(heads, 1);

  // Up to a vector of rows is bound by reading K and V. The scores are narrow,
  // so that key tiles can be longer and state updates fewer.
  constexpr int64_t kKeysOfFewRows = 512;
  if (heads * positions <= width)
    return {width, kKeysOfFewRows, kSplitKeys, known};

  auto countTiles = [&](int64_t rows) {
    return countQueryTiles(heads, positions, rows);
  };
  int64_t rows = chooseVectors(target, width, countTiles) * width;
  bool isOneTile = countTiles(rows) == 1;
  return {rows, target.keyTile, isOneTile ? kSplitKeys : 0, known};
}

SmallVector<TileVersion> attn::emitTileVersions(OpBuilder &builder,
                                                SoftmaxFamilyInterface op,
                                                const TargetInfo &target) {
  TileShape shape = chooseTileShape(op, target);
  constexpr int64_t kDecodePositions = 1;
  int64_t heads = getGroupSize(op);
  if (!ShapedType::isDynamic(getPositions(op)) ||
      ShapedType::isDynamic(heads) ||
      heads * kDecodePositions > target.lanes(getComputeType(op)))
    return {{shape, Value()}};

  Location loc = op.getLoc();
  Value one = arith::ConstantIndexOp::create(builder, loc, kDecodePositions);
  auto isOne = [&](Value rows) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rows,
                                 one);
  };
  OpFoldResult rows = tensor::getMixedSize(builder, loc, op.getQuery(), 2);
  Value isDecode;
  if (Value starts = op.getQueryStarts()) {
    PackedRows packed = emitPackedRows(builder, loc, starts, rows);
    isDecode = arith::AndIOp::create(builder, loc, isOne(packed.longest),
                                     isOne(packed.shortest));
  } else {
    isDecode = isOne(getValueOrCreateConstantIndexOp(builder, loc, rows));
  }
  Value yes = arith::ConstantIntOp::create(builder, loc, 1, /*width=*/1);
  Value isOther = arith::XOrIOp::create(builder, loc, isDecode, yes);
  return {{chooseTileShape(op, target, kDecodePositions), isDecode},
          {shape, isOther}};
}
