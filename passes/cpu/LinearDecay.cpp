// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LinearDecay.h.

#include "passes/cpu/LinearDecay.h"

#include "passes/cpu/TileCopies.h"
#include "passes/cpu/VectorMath.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

LinearDecay::LinearDecay(const KernelBuilder &kb, LinearChunkOp op,
                         Value features, Value paddedFeatures,
                         OpFoldResult paddedRows, int64_t blockRows)
    : kb(kb), decay(op.getDecay()), features(features),
      paddedFeatures(paddedFeatures), blockRows(blockRows) {
  this->paddedRows = getValueOrCreateConstantIndexOp(kb.b, kb.loc, paddedRows);
  if (!decay)
    return;
  kind = op.hasFeatureDecay() ? Kind::feature : Kind::token;
  OpFoldResult width = getAsOpFoldResult(paddedFeatures);
  if (isPerFeature()) {
    gates = kb.scratch({paddedRows, width}, kb.wide);
    products = kb.scratch({width}, kb.wide);
    nextProducts = kb.scratch({width}, kb.wide);
    return;
  }
  gates = kb.scratch({paddedRows}, kb.wide);
  weights = kb.scratch({kb.b.getIndexAttr(blockRows + 1), paddedRows}, kb.wide);
  products =
      kb.scratch({getAsOpFoldResult(kb.add(this->paddedRows, 1))}, kb.wide);
}

void LinearDecay::forEachTokenVector(
    llvm::function_ref<void(Value token)> body) {
  kb.loop(kb.index(0), paddedRows, kb.width(), body);
}

Value attn::emitHasLargeGate(const KernelBuilder &kb, Value gates,
                             double most) {
  // Rows of a matrix are taken some at a time, so that no maximum waits for
  // the one before it.
  bool isMatrix = cast<MemRefType>(gates.getType()).getRank() == 2;
  int64_t rows = isMatrix ? 4 : 1;
  Value zero = kb.index(0);
  auto ofRows = [&](Value row, ValueRange init) {
    return kb.loop(zero, kb.dim(gates, isMatrix), kb.width(), init,
                   [&](Value column, ValueRange carried) {
                     SmallVector<Value> largest;
                     for (int64_t r = 0; r < rows; ++r) {
                       SmallVector<Value> place{column};
                       if (isMatrix)
                         place.insert(place.begin(), kb.add(row, r));
                       Value gate = kb.loadLanes(gates, place);
                       largest.push_back(kb.max(carried[r], gate));
                     }
                     return largest;
                   });
  };
  SmallVector<Value> largest(rows, kb.constant(kb.wideLanes(), 0.0));
  if (isMatrix)
    largest = kb.loop(zero, kb.dim(gates, 0), rows, largest, ofRows);
  else
    largest = ofRows(zero, largest);
  Value all = largest.front();
  for (Value other : ArrayRef(largest).drop_front())
    all = kb.max(all, other);
  Value isLarge = kb.cmpf(arith::CmpFPredicate::OGT, all,
                          kb.constant(kb.wideLanes(), most));
  return vector::ReductionOp::create(kb.b, kb.loc, vector::CombiningKind::OR,
                                     isLarge);
}

Value attn::emitRootOfGate(const KernelBuilder &kb, Value g) {
  double most = kb.wide.isF64() ? 709.7 : 88.7;
  Value half = kb.mulf(g, kb.constant(g.getType(), 0.5));
  return emitExp(kb, kb.minf(half, kb.constant(g.getType(), most)));
}

void LinearDecay::loadGates(Value count) {
  auto exp = [&](Value x) { return emitExp(kb, x); };
  if (!isPerFeature())
    return emitRowCopy(kb, decay, {}, gates, {}, count, exp);
  Value one = kb.constant(kb.wide, 1.0);
  kb.loop(kb.index(0), count, 1, [&](Value row) {
    emitRowCopy(kb, decay, row, gates, row, features, exp);
    kb.loop(features, paddedFeatures, 1, [&](Value column) {
      memref::StoreOp::create(kb.b, kb.loc, one, gates,
                              ValueRange{row, column});
    });
  });
}

void LinearDecay::clearGates(Value count) {
  kb.loop(count, paddedRows, 1, [&](Value row) {
    if (!isPerFeature()) {
      memref::StoreOp::create(kb.b, kb.loc, kb.constant(kb.wide, 1.0), gates,
                              row);
      return;
    }
    kb.loop(kb.index(0), paddedFeatures, kb.width(), [&](Value column) {
      kb.storeLanes(kb.constant(kb.wideLanes(), 1.0), gates, {row, column});
    });
  });
}

/// The tokens before the product of all gates above 1, of any feature, is above
/// kMostGate. It bounds every product, and is none of the later tokens'.
Value LinearDecay::countTokens(Value count) {
  Value zero = kb.index(0), ones = kb.constant(kb.wideLanes(), 1.0);
  Value one = kb.constant(kb.wide, 1.0), most = kb.constant(kb.wide, kMostGate);
  auto countWhile = [&](Value isSmall, Value number) {
    return kb.select(isSmall, kb.add(number, 1), number);
  };
  auto countByToken = [&] {
    return kb.loop(zero, count, 1, ValueRange{zero, one},
                   [&](Value row, ValueRange carried) -> SmallVector<Value> {
                     Value bound =
                         kb.mulf(carried[1], kb.max(one, kb.load(gates, row)));
                     Value isSmall =
                         kb.cmpf(arith::CmpFPredicate::OLE, bound, most);
                     return {countWhile(isSmall, carried[0]), bound};
                   });
  };
  auto countByFeature = [&] {
    emitFill(kb, ones, nextProducts);
    return kb.loop(
        zero, count, 1, zero,
        [&](Value row, ValueRange carried) -> SmallVector<Value> {
          kb.loop(zero, paddedFeatures, kb.width(), [&](Value column) {
            Value gate = kb.max(ones, kb.loadLanes(gates, {row, column}));
            Value bound = kb.mulf(kb.loadLanes(nextProducts, column), gate);
            kb.storeLanes(bound, nextProducts, column);
          });
          Value isLarge = emitHasLargeGate(kb, nextProducts, kMostGate);
          return {kb.select(isLarge, carried[0], kb.add(carried[0], 1))};
        });
  };
  return kb
      .ifElse(
          emitHasLargeGate(kb, gates, 1.0),
          [&]() -> SmallVector<Value> {
            return {isPerFeature() ? countByFeature().front()
                                   : countByToken().front()};
          },
          [&]() -> SmallVector<Value> { return {count}; })
      .front();
}

/// Rows beyond the last one have no decay, so that what there is after a block
/// is what there is after the last token.
Value LinearDecay::prepare(Value count) {
  if (kind == Kind::none)
    return count;
  Value zero = kb.index(0), one = kb.constant(kb.wide, 1.0);
  Value ones = kb.constant(kb.wideLanes(), 1.0);
  loadGates(count);
  clearGates(count);
  Value number = countTokens(count);
  kb.ifThen(kb.cmp(arith::CmpIPredicate::ne, number, count),
            [&] { clearGates(number); });
  if (isPerFeature()) {
    emitFill(kb, ones, products);
    return number;
  }
  forEachTokenVector(
      [&](Value token) { kb.storeLanes(ones, weights, {zero, token}); });
  memref::StoreOp::create(kb.b, kb.loc, one, products, zero);
  kb.loop(zero, paddedRows, 1, one, [&](Value row, ValueRange carried) {
    Value product = kb.mulf(carried[0], kb.load(gates, row));
    memref::StoreOp::create(kb.b, kb.loc, product, products,
                            ValueRange{kb.add(row, 1)});
    return SmallVector<Value>{product};
  });
  return number;
}

Value LinearDecay::isBefore(Value token, Value row, int64_t r) {
  Type i32 = kb.b.getI32Type();
  SmallVector<int32_t> numbers;
  for (int64_t lane = 0; lane < kb.width(); ++lane)
    numbers.push_back(static_cast<int32_t>(lane));
  Value lanes = arith::ConstantOp::create(
      kb.b, kb.loc,
      DenseElementsAttr::get(kb.lanes(i32), ArrayRef<int32_t>(numbers)));
  Value distance = arith::IndexCastOp::create(kb.b, kb.loc, i32,
                                              kb.sub(kb.add(row, r), token));
  return arith::CmpIOp::create(kb.b, kb.loc, arith::CmpIPredicate::slt, lanes,
                               kb.broadcast(distance));
}

void LinearDecay::begin(Value row) {
  if (!isPerToken())
    return;
  forEachTokenVector([&](Value token) {
    Value product = kb.loadLanes(weights, {kb.index(0), token});
    for (int64_t r = 0; r < blockRows; ++r) {
      Value gate = kb.broadcast(kb.load(gates, kb.add(row, r)));
      product =
          kb.select(isBefore(token, row, r), kb.mulf(product, gate), product);
      kb.storeLanes(product, weights, {kb.index(r + 1), token});
    }
  });
}

Value LinearDecay::getWeights(int64_t r, Value token, bool readsBefore) {
  return kb.loadLanes(weights, {kb.index(readsBefore ? r : r + 1), token});
}

Value LinearDecay::getFactor(Value row, int64_t r, bool readsBefore) {
  return kb.load(products, kb.add(row, readsBefore ? r : r + 1));
}

Value LinearDecay::getGates(Value row, int64_t r, Value column) {
  Value token = kb.add(row, r);
  if (isPerFeature())
    return kb.loadLanes(gates, {token, column});
  return kb.broadcast(kb.load(gates, token));
}

void LinearDecay::scaleReader(Value rows, Value row, bool readsBefore) {
  kb.loop(kb.index(0), paddedFeatures, kb.width(), [&](Value column) {
    Value product = kb.loadLanes(products, column);
    for (int64_t r = 0; r < blockRows; ++r) {
      Value after = kb.mulf(product, getGates(row, r, column));
      Value read = kb.loadLanes(rows, {kb.index(r), column});
      kb.storeLanes(kb.mulf(read, readsBefore ? product : after), rows,
                    {kb.index(r), column});
      product = after;
    }
    kb.storeLanes(product, nextProducts, column);
  });
}

void LinearDecay::advance(Value row, ArrayRef<ChunkKeys> keys) {
  if (isPerToken())
    forEachTokenVector([&](Value token) {
      kb.storeLanes(kb.loadLanes(weights, {kb.index(blockRows), token}),
                    weights, {kb.index(0), token});
    });
  if (!isPerFeature())
    return;
  kb.loop(kb.index(0), paddedFeatures, kb.width(), [&](Value column) {
    kb.storeLanes(kb.loadLanes(nextProducts, column), products, column);
  });
  for (const ChunkKeys &each : keys)
    kb.loop(kb.index(0), features, 1, [&](Value feature) {
      forEachTokenVector([&](Value token) {
        kb.storeLanes(kb.loadLanes(each.nextColumns, {feature, token}),
                      each.columns, {feature, token});
      });
    });
}

void LinearDecay::finish(const ChunkKeys &keys) {
  if (!isPerToken())
    return;
  kb.loop(kb.index(0), features, 1, [&](Value feature) {
    forEachTokenVector([&](Value token) {
      Value key = kb.loadLanes(keys.columns, {feature, token});
      Value weight = kb.loadLanes(weights, {kb.index(0), token});
      kb.storeLanes(kb.mulf(key, weight), keys.columns, {feature, token});
    });
  });
}

Value LinearDecay::getStateFactor(Value feature) {
  if (isPerFeature())
    return kb.load(products, feature);
  if (isPerToken())
    return kb.load(products, paddedRows);
  return {};
}
