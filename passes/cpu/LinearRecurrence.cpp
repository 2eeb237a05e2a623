// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tokens of linear attention one by one: each passes once over the state, which
// is what decoding costs. The delta rule and transitions read it once before.

#include "passes/cpu/Cpu.h"
#include "passes/cpu/FloatCasts.h"
#include "passes/cpu/LinearDecay.h"
#include "passes/cpu/LinearTile.h"
#include "passes/cpu/TileCopies.h"
#include "passes/cpu/VectorMath.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

namespace {

class LinearRecurrence : public LinearTile {
public:
  LinearRecurrence(const KernelBuilder &kb, LinearChunkOp op);

  /// Takes the tokens from `first` on.
  void run(Value first);

private:
  using Vectors = SmallVector<Value>;

  Value createRow(OpFoldResult size) { return kb.scratch({size}, kb.wide); }
  Value createFeatureRow() {
    return createRow(getAsOpFoldResult(paddedFeatures));
  }
  Value createColumnRow() { return createRow(kb.b.getIndexAttr(columns)); }
  Value place(const Panel &panel, int64_t v) {
    return kb.add(panel.column, kb.lane(v));
  }
  Vectors loadRow(Value row, const Panel &panel);
  /// A row of the state that is read: the initial one, or what tokens left.
  Vectors loadState(Value feature, const Panel &panel);
  void storeState(Value vector, Value feature, Value column);
  void storeRow(ArrayRef<Value> vectors, Value row, const Panel &panel);

  void loadToken(Value token);
  /// exp(g) of a feature, a scalar, or 1 where the state has been decayed; null
  /// without decay.
  Value getGate(Value feature);
  /// Decays the rows of the state whose exp(g) is large before anything is
  /// added to them.
  void applyLargeGates(Value token);
  void applyLargeGate(Value feature, Value g);
  Value loadBeta(Value token) {
    return kb.broadcast(emitWiden(kb, kb.load(op.getBeta(), token)));
  }
  /// sum_d row[d] S[d, :]
  Vectors readState(Value row, const Panel &panel);
  void solve(Value token);
  /// S = gate S + k^T v, and what `reader` reads of it if there is one.
  void update(Value reader);
  /// Whether the state lies where it can be written past the caches, an i1.
  Value emitCanStream();
  void readHeads(Value token);

  LinearChunkOp op;
  Value keyRow, queryRow, readRow, writeRow, bonusRow, gates, gate, sums;
  Value source; ///< of the state
  bool isStreaming = false;
  Value values, moves; ///< what key and write are multiplied with
  Value outputs;       ///< 1 x columns
};

} // namespace

LinearRecurrence::LinearRecurrence(const KernelBuilder &kb, LinearChunkOp op)
    : LinearTile(kb, op.getState(), op.getOutput(), op.getScale(),
                 op.getNormalize(), kb.dim(op.getKey(), 1)),
      op(op), keyRow(createFeatureRow()),
      source(op.getInitial() ? op.getInitial() : op.getState()),
      values(createColumnRow()) {
  if (op.getQuery()) {
    queryRow = createFeatureRows(kb.b.getIndexAttr(1));
    outputs =
        kb.scratch({kb.b.getIndexAttr(1), kb.b.getIndexAttr(columns)}, kb.wide);
    if (normalizer == Normalizer::Feature)
      sums = createFeatureRow();
  }
  if (op.getRead()) {
    readRow = createFeatureRow();
    writeRow = createFeatureRow();
    moves = createColumnRow();
  } else if (op.getBeta()) {
    readRow = createFeatureRow();
  }
  if (op.getBonus() && op.getQuery())
    bonusRow = createFeatureRow();
  if (op.hasFeatureDecay())
    gates = createFeatureRow();
}

LinearRecurrence::Vectors LinearRecurrence::loadRow(Value row,
                                                    const Panel &panel) {
  Vectors vectors;
  for (int64_t v = 0; v < panel.kb.vectors; ++v)
    vectors.push_back(kb.loadLanes(row, place(panel, v)));
  return vectors;
}

LinearRecurrence::Vectors LinearRecurrence::loadState(Value feature,
                                                      const Panel &panel) {
  Vectors vectors;
  for (int64_t v = 0; v < panel.kb.vectors; ++v)
    vectors.push_back(kb.loadLanes(source, {feature, place(panel, v)}));
  return vectors;
}

void LinearRecurrence::storeState(Value vector, Value feature, Value column) {
  if (!isStreaming)
    return kb.storeLanes(vector, state, {feature, column});
  int64_t bytes = kb.width() * kb.wide.getIntOrFloatBitWidth() / 8;
  vector::StoreOp::create(kb.b, kb.loc, vector, state,
                          ValueRange{feature, column}, /*nontemporal=*/true,
                          llvm::MaybeAlign(bytes));
}

Value LinearRecurrence::emitCanStream() {
  int64_t element = kb.wide.getIntOrFloatBitWidth() / 8,
          bytes = kb.width() * element;
  auto parts = memref::ExtractStridedMetadataOp::create(kb.b, kb.loc, state);
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(
      kb.b, kb.loc, parts.getBaseBuffer());
  Value first = kb.add(address, kb.mul(parts.getOffset(), kb.index(element)));
  Value stride = kb.mul(parts.getStrides()[0], kb.index(element));
  Value misaligned = kb.fold<arith::AndIOp>(
      kb.fold<arith::OrIOp>(first, stride), kb.index(bytes - 1));
  return kb.fold<arith::AndIOp>(
      op.getStreams(),
      kb.cmp(arith::CmpIPredicate::eq, misaligned, kb.index(0)));
}

void LinearRecurrence::storeRow(ArrayRef<Value> vectors, Value row,
                                const Panel &panel) {
  for (auto [v, vector] : llvm::enumerate(vectors))
    kb.storeLanes(vector, row, place(panel, v));
}

void LinearRecurrence::loadToken(Value token) {
  auto widen = [&](Value x) { return emitWiden(kb, x); };
  copyFeatures(op.getKey(), token, keyRow, {});
  emitRowCopy(kb, op.getValue(), token, values, {}, kb.dim(op.getValue(), 1),
              widen);
  if (normalizer)
    memref::StoreOp::create(kb.b, kb.loc, kb.constant(kb.wide, 1.0), values,
                            kb.index(columns - 1));
  if (gates)
    copyFeatures(op.getDecay(), token, gates, {},
                 [&](Value x) { return emitExp(kb, x); });
  else if (op.getDecay())
    gate = emitExp(kb, kb.load(op.getDecay(), token));
  if (op.getRead()) {
    copyFeatures(op.getRead(), token, readRow, {});
    copyFeatures(op.getWrite(), token, writeRow, {});
  }
}

Value LinearRecurrence::getGate(Value feature) {
  return gates ? kb.load(gates, feature) : gate;
}

LinearRecurrence::Vectors LinearRecurrence::readState(Value row,
                                                      const Panel &panel) {
  Vectors zeros(panel.kb.vectors, kb.constant(kb.wideLanes(), 0.0));
  return kb.loop(kb.index(0), features, 1, zeros,
                 [&](Value d, ValueRange carried) {
                   Vectors sums;
                   Value factor = kb.broadcast(kb.load(row, d));
                   for (auto [s, sum] : llvm::zip(loadState(d, panel), carried))
                     sums.push_back(kb.fma(factor, s, sum));
                   return sums;
                 });
}

void LinearRecurrence::applyLargeGate(Value feature, Value g) {
  Value root = kb.broadcast(emitRootOfGate(kb, g));
  kb.loop(kb.index(0), kb.index(columns), kb.width(), [&](Value column) {
    Value old = kb.loadLanes(source, {feature, column});
    kb.storeLanes(kb.mulf(kb.mulf(old, root), root), state, {feature, column});
  });
}

void LinearRecurrence::applyLargeGates(Value token) {
  Value zero = kb.index(0), one = kb.constant(kb.wide, 1.0);
  auto isLarge = [&](Value x) {
    return kb.cmpf(arith::CmpFPredicate::OGT, x,
                   kb.constant(kb.wide, kMostGate));
  };
  Value any = gates ? emitHasLargeGate(kb, gates, kMostGate) : isLarge(gate);
  kb.ifThen(any, [&] {
    if (op.getInitial())
      kb.loop(zero, features, 1, [&](Value d) {
        emitRowCopy(kb, source, d, state, d, kb.index(columns),
                    [](Value x) { return x; });
      });
    kb.loop(zero, features, 1, [&](Value d) {
      if (!gates)
        return applyLargeGate(d, kb.load(op.getDecay(), token));
      kb.ifThen(isLarge(kb.load(gates, d)), [&] {
        applyLargeGate(d, kb.load(op.getDecay(), {token, d}));
        memref::StoreOp::create(kb.b, kb.loc, one, gates, d);
      });
    });
  });
  if (gate)
    gate = kb.select(any, one, gate);
  if (op.getInitial())
    source = kb.select(any, kb.castToRows(state), kb.castToRows(source));
}

/// Replaces v by beta (v - exp(g) k S), or gives what is moved, a S.
void LinearRecurrence::solve(Value token) {
  Value beta;
  if (op.getBeta()) {
    beta = loadBeta(token);
    kb.loop(kb.index(0), features, 1, [&](Value d) {
      Value key = kb.load(keyRow, d);
      Value gate = getGate(d);
      memref::StoreOp::create(kb.b, kb.loc, gate ? kb.mulf(key, gate) : key,
                              readRow, d);
    });
  }
  forEachPanel([&](const Panel &panel) {
    Vectors read = readState(readRow, panel);
    if (!beta)
      return storeRow(read, moves, panel);
    for (auto [r, value] : llvm::zip(read, loadRow(values, panel)))
      r = kb.mulf(beta, kb.subf(value, r));
    storeRow(read, values, panel);
  });
}

void LinearRecurrence::update(Value reader) {
  Value zero = kb.index(0);
  forEachPanel([&](const Panel &panel) {
    Vectors value = loadRow(values, panel), move;
    if (moves)
      move = loadRow(moves, panel);
    Vectors init;
    if (reader)
      init.assign(panel.kb.vectors, kb.constant(kb.wideLanes(), 0.0));
    Vectors read =
        kb.loop(zero, features, 1, init, [&](Value d, ValueRange carried) {
          Vectors sums(carried);
          Value key = kb.broadcast(kb.load(keyRow, d)), write, factor;
          if (moves)
            write = kb.broadcast(kb.load(writeRow, d));
          if (Value gate = getGate(d))
            factor = kb.broadcast(gate);
          Value query;
          if (reader)
            query = kb.broadcast(kb.load(reader, {zero, d}));
          for (auto [v, old] : llvm::enumerate(loadState(d, panel))) {
            Value next = factor ? kb.mulf(old, factor) : old;
            next = kb.fma(key, value[v], next);
            if (write)
              next = kb.fma(write, move[v], next);
            storeState(next, d, place(panel, v));
            if (reader)
              sums[v] = kb.fma(query, next, sums[v]);
          }
          return sums;
        });
    for (auto [v, vector] : llvm::enumerate(read))
      kb.storeLanes(vector, outputs, {zero, place(panel, v)});
  });
}

/// o = q S, of all heads; with a bonus + (q . u . k) v, and 1 in place of v in
/// what that is divided by.
void LinearRecurrence::readHeads(Value token) {
  Value zero = kb.index(0);
  if (sums)
    copyNormalizer(sums);
  Value beta;
  if (bonusRow) {
    copyFeatures(op.getBonus(), {}, bonusRow, {});
    if (op.getBeta())
      beta = loadBeta(token);
  }
  // The bonus is in the divisors, too.
  if (sums && bonusRow)
    forEachFeatureVector([&](Value column) {
      Value term =
          kb.mulf(kb.loadLanes(bonusRow, column), kb.loadLanes(keyRow, column));
      if (beta)
        term = kb.mulf(term, beta);
      kb.storeLanes(kb.addf(kb.loadLanes(sums, column), term), sums, column);
    });
  kb.loop(zero, kb.dim(op.getQuery(), 0), 1, [&](Value head) {
    copyQueries(op.getQuery(), head, token, kb.index(1), queryRow);
    if (sums)
      forEachFeatureVector([&](Value column) {
        Value q = kb.loadLanes(queryRow, {zero, column});
        kb.storeLanes(divide(q, kb.loadLanes(sums, column)), queryRow,
                      {zero, column});
      });
    Value bonus;
    if (bonusRow) {
      Value sum =
          kb.loop(zero, paddedFeatures, kb.width(),
                  kb.constant(kb.wideLanes(), 0.0),
                  [&](Value column, ValueRange carried) {
                    Value product =
                        kb.mulf(kb.loadLanes(bonusRow, column),
                                kb.loadLanes(queryRow, {zero, column}));
                    return Vectors{kb.fma(product, kb.loadLanes(keyRow, column),
                                          carried[0])};
                  })
              .front();
      bonus = kb.broadcast(vector::ReductionOp::create(
          kb.b, kb.loc, vector::CombiningKind::ADD, sum));
      if (beta)
        bonus = kb.mulf(bonus, beta);
    }
    Value row = memref::CollapseShapeOp::create(
        kb.b, kb.loc, queryRow, ArrayRef<ReassociationIndices>{{0, 1}});
    forEachPanel([&](const Panel &panel) {
      Vectors read = readState(row, panel);
      for (auto [v, value] : llvm::enumerate(loadRow(values, panel))) {
        if (bonus)
          read[v] = kb.fma(bonus, value, read[v]);
        kb.storeLanes(read[v], outputs, {zero, place(panel, v)});
      }
    });
    writeOutput(outputs, head, token, kb.index(1));
  });
}

void LinearRecurrence::run(Value first) {
  // One head reads the state as it is written.
  bool isFused = op.getQuery() && !bonusRow && !sums &&
                 getConstantIntValue(kb.dim(op.getQuery(), 0)) == 1;
  // Columns without values stay what decays make of them.
  emitFill(kb, kb.constant(kb.wideLanes(), 0.0), values);
  kb.loop(first, kb.dim(op.getKey(), 0), 1, [&](Value token) {
    loadToken(token);
    // The bonus stands in for the token's own key: it is read before.
    if (bonusRow)
      readHeads(token);
    // A transition reads the state before its decay, the delta rule after it.
    if (op.getRead())
      solve(token);
    if (op.getDecay())
      applyLargeGates(token);
    if (op.getBeta())
      solve(token);
    if (isFused)
      copyQueries(op.getQuery(), kb.index(0), token, kb.index(1), queryRow);
    Value reader = isFused ? queryRow : Value();
    auto updateBy = [&](bool streams) {
      isStreaming = streams;
      update(reader);
      // Other threads see what was written past the caches from here on.
      if (streams)
        kb.callIntrinsic("llvm.x86.sse.sfence");
      return Vectors();
    };
    if (op.getInitial())
      kb.ifElse(
          emitCanStream(), [&] { return updateBy(true); },
          [&] { return updateBy(false); });
    else
      updateBy(false);
    source = state;
    if (isFused)
      return writeOutput(outputs, kb.index(0), token, kb.index(1));
    if (op.getQuery() && !bonusRow)
      readHeads(token);
  });
}

void attn::emitLinearRecurrence(const KernelBuilder &kb, LinearChunkOp op,
                                Value first) {
  LinearRecurrence(kb, op).run(first);
}
