// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies between row-major operands and the buffers of CPU kernels.

#include "passes/cpu/TileCopies.h"

#include "passes/cpu/PairVectors.h"

using namespace mlir;
using namespace mlir::attn;

/// `row` with `column` behind it.
static SmallVector<Value> at(ValueRange row, Value column) {
  SmallVector<Value> indices(row);
  indices.push_back(column);
  return indices;
}

void attn::emitRowCopy(const KernelBuilder &kb, Value from, ValueRange fromRow,
                       Value to, ValueRange toRow, Value count, ElementMap map,
                       Value prefetchDistance) {
  Value zero = kb.index(0);
  Value width = kb.index(kb.width());
  auto copyVectors = [&] {
    Value last = kb.sub(count, width);
    kb.loop(zero, count, kb.width(), [&](Value iv) {
      Value column = kb.min(iv, last);
      if (prefetchDistance) {
        SmallVector<Value> ahead = at(fromRow, column);
        Value &row = ahead[ahead.size() - 2];
        row = kb.add(row, prefetchDistance);
        kb.prefetch(from, ahead, /*cacheLevel=*/2);
      }
      Value vector = map(kb.loadLanes(from, at(fromRow, column)));
      kb.storeLanes(vector, to, at(toRow, column));
    });
    return SmallVector<Value>();
  };
  auto copyElements = [&] {
    kb.loop(zero, count, 1, [&](Value column) {
      Value element = map(kb.load(from, at(fromRow, column)));
      memref::StoreOp::create(kb.b, kb.loc, element, to, at(toRow, column));
    });
    return SmallVector<Value>();
  };
  kb.ifElse(kb.cmp(arith::CmpIPredicate::sge, count, width), copyVectors,
            copyElements);
}

void attn::emitPairRowCopy(const KernelBuilder &kb, Value from,
                           ValueRange fromRow, Value to, ValueRange toRow,
                           Value count) {
  int64_t width = 2 * kb.width();
  bool isF32 = cast<MemRefType>(to.getType()).getElementType().isF32();
  forEachPartOfRow(kb, count, width, [&](Value column, Value mask) {
    Value pairs = loadPart(kb, from, at(fromRow, column), width, mask);
    Value place = column;
    if (isF32) {
      pairs = vector::BitCastOp::create(kb.b, kb.loc, kb.f32Lanes(), pairs);
      place = kb.fold<arith::ShRUIOp>(column, kb.index(1));
    }
    kb.storeLanes(pairs, to, at(toRow, place));
  });
}

void attn::emitInterleavedRows(const KernelBuilder &kb, Value from, Value row,
                               Value count, Value column, Value columns,
                               Value to, ElementMap map,
                               Value prefetchDistance) {
  int64_t width = kb.width();
  auto interleave = [&](Value pair, bool isWhole) {
    Value first = kb.add(row, kb.mul(pair, kb.index(2)));
    forEachPartOfRow(kb, columns, width, [&](Value part, Value mask) {
      Value place = kb.add(column, part);
      auto load = [&](int64_t p) {
        Value elements =
            loadPart(kb, from, {kb.add(first, p), place}, width, mask);
        return map ? map(elements) : elements;
      };
      if (prefetchDistance && isWhole)
        for (int64_t p = 0; p < 2; ++p)
          kb.prefetch(from, {kb.add(kb.add(first, p), prefetchDistance), place},
                      /*cacheLevel=*/2);
      Value even = load(0);
      Value odd = isWhole
                      ? load(1)
                      : Value(arith::ConstantOp::create(
                            kb.b, kb.loc, kb.b.getZeroAttr(even.getType())));
      kb.storeLanes(vector::InterleaveOp::create(kb.b, kb.loc, even, odd), to,
                    {pair, kb.mul(part, kb.index(2))});
    });
  };
  Value wholePairs = kb.fold<arith::ShRUIOp>(count, kb.index(1));
  kb.loop(kb.index(0), wholePairs, 1,
          [&](Value pair) { interleave(pair, /*isWhole=*/true); });
  kb.ifThen(kb.isOdd(count),
            [&] { interleave(wholePairs, /*isWhole=*/false); });
}

void attn::emitFill(const KernelBuilder &kb, Value vector, Value to) {
  int64_t lastDim = cast<MemRefType>(to.getType()).getRank() - 1;
  auto fillRow = [&](ValueRange row) {
    kb.loop(kb.index(0), kb.dim(to, lastDim), kb.width(),
            [&](Value column) { kb.storeLanes(vector, to, at(row, column)); });
  };
  if (lastDim == 0)
    return fillRow({});
  kb.loop(kb.index(0), kb.dim(to, 0), 1, [&](Value row) { fillRow(row); });
}

std::pair<Value, Value> attn::exchangeLanes(const KernelBuilder &kb, Value x,
                                            Value y, int64_t step) {
  int64_t width = kb.width();
  SmallVector<int64_t> low, high;
  for (int64_t lane = 0; lane < width; ++lane) {
    bool swapped = lane & step;
    low.push_back(swapped ? width + lane - step : lane);
    high.push_back(swapped ? width + lane : lane + step);
  }
  return {vector::ShuffleOp::create(kb.b, kb.loc, x, y, low),
          vector::ShuffleOp::create(kb.b, kb.loc, x, y, high)};
}

// Step s swaps, between vectors that differ in bit s of their number, the lanes
// that differ in it.
void attn::transposeInRegisters(const KernelBuilder &kb,
                                SmallVectorImpl<Value> &rows) {
  int64_t width = kb.width();
  for (int64_t step = 1; step < width; step *= 2)
    for (int64_t row = 0; row < width; ++row)
      if (!(row & step))
        std::tie(rows[row], rows[row + step]) =
            exchangeLanes(kb, rows[row], rows[row + step], step);
}

void attn::emitTranspose(const KernelBuilder &kb, Value from, Value to,
                         Value prefetchDistance) {
  int64_t width = kb.width();
  auto holdsPairs = [](Value memref) {
    return cast<MemRefType>(memref.getType()).getElementType().isBF16();
  };
  bool isPairs = holdsPairs(to), isFromPairs = holdsPairs(from);
  int64_t fromWidth = isFromPairs ? 2 * width : width;
  Value zero = kb.index(0);
  kb.loop(zero, kb.dim(from, 0), width, [&](Value row) {
    kb.loop(zero, kb.dim(from, 1), fromWidth, [&](Value fromColumn) {
      SmallVector<Value> block;
      for (int64_t k = 0; k < width; ++k) {
        Value lanes =
            kb.loadVector(from, {kb.add(row, k), fromColumn}, fromWidth);
        if (prefetchDistance)
          kb.prefetch(from,
                      {kb.add(row, k), kb.add(fromColumn, prefetchDistance)},
                      /*cacheLevel=*/2);
        block.push_back(isFromPairs ? Value(vector::BitCastOp::create(
                                          kb.b, kb.loc, kb.f32Lanes(), lanes))
                                    : lanes);
      }
      Value column = isFromPairs
                         ? kb.fold<arith::ShRUIOp>(fromColumn, kb.index(1))
                         : fromColumn;
      transposeInRegisters(kb, block);
      for (int64_t k = 0; k < width; ++k) {
        if (isPairs)
          block[k] =
              vector::BitCastOp::create(kb.b, kb.loc, pairLanes(kb), block[k]);
        kb.storeLanes(
            block[k], to,
            {kb.add(column, k), isPairs ? kb.mul(row, kb.index(2)) : row});
      }
    });
  });
}
