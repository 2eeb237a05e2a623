// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A chunk of tokens of linear attention by products of matrices (Yang et al.
// 2024, "Gated Linear Attention Transformers with Hardware-Efficient Training",
// section 4). With c the running products of decays, for rows i, j of the chunk
// and S the state from before it:
//
//   scores_ij = sum_d q_id k_jd c_id / c_jd      j <= i
//   O = scores V + (Q .* c) S
//   S' = c_end .* S + (K .* c_end / c)^T V
//
// The delta rule and transitions put into the place of values, or beside them,
// what a triangular system gives, solved row by row: its right side is the same
// product with another reader in the place of Q. The triangle of scores is
// never computed with tokens after its row, so that nothing they hold matters.

#include "passes/cpu/LinearChunk.h"

#include "passes/cpu/Cpu.h"
#include "passes/cpu/FloatCasts.h"
#include "passes/cpu/TileCopies.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace mlir;
using namespace mlir::attn;

/// Tokens of the buffers of a chunk of `rows`: whole register blocks and panels
/// of `vectors` lane vectors, which it chooses.
static OpFoldResult choosePaddedRows(const KernelBuilder &kb, Value rows,
                                     int64_t blockRows, int64_t &vectors) {
  vectors = kb.target.maxVectors();
  if (std::optional<int64_t> known = getConstantIntValue(rows)) {
    int64_t total = llvm::divideCeil(*known, kb.width());
    vectors = llvm::divideCeil(total,
                               llvm::divideCeil(total, kb.target.maxVectors()));
  }
  int64_t multiple = std::lcm(blockRows, vectors * kb.width());
  Value blocks =
      kb.fold<arith::DivUIOp>(kb.add(rows, multiple - 1), kb.index(multiple));
  return getAsOpFoldResult(kb.mul(blocks, kb.index(multiple)));
}

LinearChunk::LinearChunk(const KernelBuilder &kb, LinearChunkOp op)
    : LinearTile(kb, op.getState(), op.getOutput(), op.getScale(),
                 op.getNormalize(), kb.dim(op.getKey(), 1)),
      op(op),
      paddedRows(choosePaddedRows(kb, op.getRows(), blockRows, tokenVectors)),
      decay(kb, op, features, paddedFeatures, paddedRows, blockRows) {
  keyRows = createFeatureRows(paddedRows);
  keys.push_back(createKeys());
  if (op.getWrite())
    keys.push_back(createKeys());
  if (op.getBeta() || op.getRead())
    solver = createReader(/*readsBefore=*/static_cast<bool>(op.getRead()),
                          /*isExclusive=*/true);
  if (op.getBeta())
    betas = kb.scratch({paddedRows}, kb.wide);
  if (!op.getQuery() && (solver || !decay.isPerFeature()))
    return;
  bool hasBonus = static_cast<bool>(op.getBonus());
  query = createReader(/*readsBefore=*/hasBonus, /*isExclusive=*/hasBonus);
  if (hasBonus)
    bonus = kb.scratch({getAsOpFoldResult(paddedFeatures)}, kb.wide);
  // The delta rule writes over the values.
  bonusValues = keys[0].values;
  if (hasBonus && op.getBeta())
    bonusValues = kb.scratch({paddedRows, attr(columns)}, kb.wide);
  outputs = kb.scratch({attr(blockRows), attr(columns)}, kb.wide);
  if (normalizer == Normalizer::Feature) {
    sums = kb.scratch({getAsOpFoldResult(paddedFeatures)}, kb.wide);
    nextSums = kb.scratch({getAsOpFoldResult(paddedFeatures)}, kb.wide);
    if (op.getWrite())
      writeRows = createFeatureRows(paddedRows);
  }
}

ChunkKeys LinearChunk::createKeys() {
  OpFoldResult height = getAsOpFoldResult(paddedFeatures);
  ChunkKeys result;
  result.columns = kb.scratch({height, paddedRows}, kb.wide);
  if (decay.isPerFeature())
    result.nextColumns = kb.scratch({height, paddedRows}, kb.wide);
  result.values = kb.scratch({paddedRows, attr(columns)}, kb.wide);
  return result;
}

ChunkReader LinearChunk::createReader(bool readsBefore, bool isExclusive) {
  ChunkReader reader{
      createFeatureRows(attr(blockRows)), readsBefore, isExclusive, {}};
  for (unsigned source = 0; source < keys.size(); ++source)
    reader.scores.push_back(kb.scratch({attr(blockRows), paddedRows}, kb.wide));
  return reader;
}

//===- operands -----------------------------------------------------------===//

void LinearChunk::loadRows(Value from, Value row, Value count, Value rows) {
  kb.loop(kb.index(0), count, 1,
          [&](Value r) { copyFeatures(from, kb.add(row, r), rows, r); });
}

void LinearChunk::loadKeys(Value from, Value rows, const ChunkKeys &to) {
  loadRows(from, kb.index(0), kb.dim(from, 0), rows);
  emitTranspose(kb, rows, to.columns);
}

void LinearChunk::loadValues() {
  Value one = kb.constant(kb.wide, 1.0), zero = kb.constant(kb.wide, 0.0);
  Value last = kb.index(columns - 1), width = kb.dim(op.getValue(), 1);
  Value values = keys[0].values;
  kb.loop(kb.index(0), kb.dim(op.getValue(), 0), 1, [&](Value row) {
    emitRowCopy(
        kb, op.getValue(), row, values, row, kb.dim(op.getValue(), 1),
        [&](Value x) { return emitWiden(kb, x); }, op.getRows());
    // Columns without values stay what decays make of them.
    kb.loop(width, kb.index(columns), 1, [&](Value column) {
      memref::StoreOp::create(kb.b, kb.loc, zero, values,
                              ValueRange{row, column});
    });
    if (normalizer)
      memref::StoreOp::create(kb.b, kb.loc, one, values, ValueRange{row, last});
  });
}

/// q[r] = q[r] / z[row + r] with z[t] = exp(g[t]) z[t - 1] + k[t], or what the
/// delta rule or a transition makes of values 1, which `solve` has put into the
/// last column. A bonus stands in for the token: z[t - 1] + u .* k[t].
void LinearChunk::normalizeFeatures(Value row) {
  Value last = kb.index(columns - 1), rowsOfKeys[] = {keyRows, writeRows};
  forEachFeatureVector([&](Value column) {
    Value sum = kb.loadLanes(sums, column);
    for (int64_t r = 0; r < blockRows; ++r) {
      Value token = kb.add(row, r), read;
      if (bonus) {
        Value key = kb.loadLanes(keyRows, {token, column});
        Value one = kb.broadcast(kb.load(bonusValues, {token, last}));
        read = kb.fma(kb.mulf(kb.loadLanes(bonus, column), key), one, sum);
      }
      if (op.getDecay())
        sum = kb.mulf(sum, decay.getGates(row, r, column));
      for (auto [rows, from] : llvm::zip(rowsOfKeys, keys)) {
        Value factor = kb.broadcast(kb.load(from.values, {token, last}));
        sum = kb.fma(factor, kb.loadLanes(rows, {token, column}), sum);
      }
      Value q = kb.loadLanes(query->rows, {number(r), column});
      kb.storeLanes(divide(q, read ? read : sum), query->rows,
                    {number(r), column});
    }
    kb.storeLanes(sum, nextSums, column);
  });
}

//===- the steps of a block -----------------------------------------------===//

/// Row t of what the delta rule puts in the place of values is
/// beta_t (v_t - k_t S), of what a transition puts beside them a_t S, S being
/// the state that the rows before t leave.
void LinearChunk::solve(Value row, Value count) {
  if (op.getBeta())
    loadRows(keyRows, row, count, solver->rows);
  else
    loadRows(op.getRead(), row, count, solver->rows);
  emitScores(*solver, row);
  forEachPanel([&](const Panel &panel) {
    SmallVector<Value> block = emitBefore(*solver, panel, row);
    for (int64_t jj = 0; jj < blockRows; ++jj) {
      Value token = kb.add(row, jj);
      SmallVector<Value> values = loadValueRow(keys[0].values, panel, token);
      SmallVector<Value> solved;
      for (int64_t v = 0; v < panel.kb.vectors; ++v) {
        Value known = at(block, panel, jj, v);
        Value place = kb.add(panel.column, kb.lane(v));
        if (op.getBeta()) {
          Value beta = kb.broadcast(kb.load(betas, token));
          known = kb.mulf(beta, kb.subf(values[v], known));
          if (bonus)
            kb.storeLanes(kb.mulf(beta, values[v]), bonusValues,
                          {token, place});
        }
        solved.push_back(known);
        kb.storeLanes(known, keys.back().values, {token, place});
      }
      if (op.getRead())
        addColumn(*solver, 0, panel, row, jj, values, block);
      addColumn(*solver, keys.size() - 1, panel, row, jj, solved, block);
    }
  });
}

SmallVector<Value> LinearChunk::emitBonusScores(Value row) {
  SmallVector<Value> zeros(blockRows, kb.constant(kb.wideLanes(), 0.0));
  SmallVector<Value> sums =
      kb.loop(kb.index(0), paddedFeatures, kb.width(), zeros,
              [&](Value column, ValueRange carried) {
                SmallVector<Value> result;
                Value u = kb.loadLanes(bonus, column);
                for (int64_t r = 0; r < blockRows; ++r) {
                  Value q = kb.loadLanes(query->rows, {number(r), column});
                  Value k = kb.loadLanes(keyRows, {kb.add(row, r), column});
                  result.push_back(kb.fma(kb.mulf(u, q), k, carried[r]));
                }
                return result;
              });
  for (Value &sum : sums)
    sum = kb.broadcast(vector::ReductionOp::create(
        kb.b, kb.loc, vector::CombiningKind::ADD, sum));
  return sums;
}

void LinearChunk::emitOutput(Value head, Value row, Value count) {
  copyQueries(op.getQuery(), head, row, count, query->rows);
  if (sums)
    normalizeFeatures(row);
  SmallVector<Value> bonusScores;
  if (bonus)
    bonusScores = emitBonusScores(row);
  emitScores(*query, row);
  forEachPanel([&](const Panel &panel) {
    SmallVector<Value> block = emitBefore(*query, panel, row);
    for (int64_t jj = 0; jj < blockRows; ++jj)
      for (unsigned source = 0; source < keys.size(); ++source) {
        SmallVector<Value> values =
            loadValueRow(keys[source].values, panel, kb.add(row, jj));
        addColumn(*query, source, panel, row, jj, values, block);
      }
    for (int64_t r = 0; bonus && r < blockRows; ++r) {
      SmallVector<Value> values =
          loadValueRow(bonusValues, panel, kb.add(row, r));
      for (int64_t v = 0; v < panel.kb.vectors; ++v)
        at(block, panel, r, v) =
            kb.fma(bonusScores[r], values[v], at(block, panel, r, v));
    }
    storeBlock(panel, block, outputs, kb.index(0));
  });
  writeOutput(outputs, head, row, count);
}

/// S[d, :] = factor S[d, :] + sum_j columns[d, j] values[j, :]
void LinearChunk::updateState(Value count) {
  for (const ChunkKeys &each : keys)
    decay.finish(each);
  kb.loop(kb.index(0), paddedFeatures, blockRows, [&](Value feature) {
    forEachPanel([&](const Panel &panel) {
      SmallVector<Value> block;
      for (int64_t r = 0; r < blockRows; ++r) {
        Value factor = decay.getStateFactor(kb.add(feature, r));
        for (Value old : loadValueRow(state, panel, kb.add(feature, r)))
          block.push_back(factor ? kb.mulf(old, kb.broadcast(factor)) : old);
      }
      for (const ChunkKeys &each : keys)
        block = multiply(
            panel, count, each.values,
            [&](Value j, int64_t r) {
              return kb.load(each.columns, {kb.add(feature, r), j});
            },
            block);
      storeBlock(panel, block, state, feature);
    });
  });
}

void LinearChunk::run() {
  Value zero = kb.index(0), count = kb.dim(op.getKey(), 0);
  // The rows of the keys stay in `keyRows`.
  if (op.getWrite())
    loadKeys(op.getWrite(), writeRows ? writeRows : keyRows, keys[1]);
  loadKeys(op.getKey(), keyRows, keys[0]);
  loadValues();
  // Rows from `number` on are computed by the recurrence, too, which overwrites
  // what is made of them here.
  Value number = decay.prepare(count);
  if (betas)
    emitRowCopy(kb, op.getBeta(), {}, betas, {}, count,
                [&](Value x) { return emitWiden(kb, x); });
  if (bonus)
    copyFeatures(op.getBonus(), {}, bonus, {});
  if (sums)
    copyNormalizer(sums);
  Value heads = op.getQuery() ? kb.dim(op.getQuery(), 0) : Value(kb.index(0));
  kb.loop(zero, count, blockRows, [&](Value row) {
    Value rows = kb.min(kb.index(blockRows), kb.sub(count, row));
    decay.begin(row);
    if (solver)
      solve(row, rows);
    // Decays per feature go on with a reader only.
    if (decay.isPerFeature() && !solver)
      kb.ifThen(kb.cmp(arith::CmpIPredicate::eq, heads, zero),
                [&] { emitScores(*query, row); });
    if (op.getQuery())
      kb.loop(zero, heads, 1, [&](Value head) { emitOutput(head, row, rows); });
    if (sums)
      forEachFeatureVector([&](Value column) {
        kb.storeLanes(kb.loadLanes(nextSums, column), sums, column);
      });
    decay.advance(row, keys);
  });
  if (!op.getDecay())
    return updateState(count);
  kb.ifElse(
      kb.cmp(arith::CmpIPredicate::eq, number, count),
      [&] {
        updateState(count);
        return SmallVector<Value>();
      },
      [&] {
        updateState(number);
        emitLinearRecurrence(kb, op, number);
        return SmallVector<Value>();
      });
}

void attn::emitLinearChunk(const KernelBuilder &kb, LinearChunkOp op) {
  LinearChunk(kb, op).run();
}
