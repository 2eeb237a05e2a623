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

/// Rows beyond the last one have no decay, so that what there is after a block
/// is what there is after the last token.
void LinearDecay::prepare(Value count) {
  if (kind == Kind::none)
    return;
  Value zero = kb.index(0), one = kb.constant(kb.wide, 1.0);
  Value ones = kb.constant(kb.wideLanes(), 1.0);
  auto exp = [&](Value x) { return emitExp(kb, x); };
  if (isPerFeature()) {
    kb.loop(zero, count, 1, [&](Value row) {
      emitRowCopy(kb, decay, row, gates, row, features, exp);
      kb.loop(features, paddedFeatures, 1, [&](Value column) {
        memref::StoreOp::create(kb.b, kb.loc, one, gates,
                                ValueRange{row, column});
      });
    });
    kb.loop(count, paddedRows, 1, [&](Value row) {
      kb.loop(zero, paddedFeatures, kb.width(),
              [&](Value column) { kb.storeLanes(ones, gates, {row, column}); });
    });
    emitFill(kb, ones, products);
    return;
  }
  emitRowCopy(kb, decay, {}, gates, {}, count, exp);
  kb.loop(count, paddedRows, 1, [&](Value row) {
    memref::StoreOp::create(kb.b, kb.loc, one, gates, row);
  });
  forEachTokenVector(
      [&](Value token) { kb.storeLanes(ones, weights, {zero, token}); });
  memref::StoreOp::create(kb.b, kb.loc, one, products, zero);
  kb.loop(zero, paddedRows, 1, one, [&](Value row, ValueRange carried) {
    Value product = kb.mulf(carried[0], kb.load(gates, row));
    memref::StoreOp::create(kb.b, kb.loc, product, products,
                            ValueRange{kb.add(row, 1)});
    return SmallVector<Value>{product};
  });
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
