// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scores of a block of rows with the keys of a chunk, and what they and the
// state give to the rows.

#include "passes/cpu/LinearChunk.h"

using namespace mlir;
using namespace mlir::attn;

/// scores[r, j] = weights[r, j] sum_d rows[r, d] columns[d, j]
void LinearChunk::emitProductScores(const ChunkReader &reader,
                                    const ChunkKeys &from, Value scores,
                                    Value row) {
  KernelBuilder panel{kb.b, kb.loc, kb.target, kb.wide, tokenVectors};
  // Tokens after the last row of the block are not read.
  kb.loop(kb.index(0), kb.add(row, blockRows), tokenVectors * kb.width(),
          [&](Value token) {
            Panel part{panel, token};
            SmallVector<Value> block = multiply(
                part, features, from.columns,
                [&](Value d, int64_t r) {
                  return kb.load(reader.rows, {number(r), d});
                },
                zeros(part));
            for (int64_t r = 0; r < blockRows && decay.isPerToken(); ++r)
              for (int64_t v = 0; v < tokenVectors; ++v) {
                Value weights = decay.getWeights(r, kb.add(token, kb.lane(v)),
                                                 reader.readsBefore);
                at(block, part, r, v) = kb.mulf(at(block, part, r, v), weights);
              }
            storeBlock(part, block, scores, kb.index(0));
          });
}

/// The same where each feature has decays: the keys are multiplied by those of
/// one row after the other, in registers.
void LinearChunk::emitRunningScores(const ChunkReader &reader,
                                    const ChunkKeys &from, Value scores,
                                    Value row) {
  kb.loop(kb.index(0), kb.dim(scores, 1), kb.width(), [&](Value token) {
    SmallVector<Value> isBefore;
    for (int64_t r = 0; r < blockRows; ++r)
      isBefore.push_back(decay.isBefore(token, row, r));
    SmallVector<Value> init(blockRows, kb.constant(kb.wideLanes(), 0.0));
    SmallVector<Value> block = kb.loop(
        kb.index(0), features, 1, init, [&](Value d, ValueRange carried) {
          SmallVector<Value> result;
          Value key = kb.loadLanes(from.columns, {d, token});
          for (int64_t r = 0; r < blockRows; ++r) {
            Value gate = kb.broadcast(decay.getGate(kb.add(row, r), d));
            Value after = kb.select(isBefore[r], kb.mulf(key, gate), key);
            Value read = kb.broadcast(kb.load(reader.rows, {number(r), d}));
            result.push_back(
                kb.fma(read, reader.readsBefore ? key : after, carried[r]));
            key = after;
          }
          kb.storeLanes(key, from.nextColumns, {d, token});
          return result;
        });
    for (int64_t r = 0; r < blockRows; ++r)
      kb.storeLanes(block[r], scores, {number(r), token});
  });
}

void LinearChunk::emitScores(ChunkReader &reader, Value row) {
  for (auto [from, scores] : llvm::zip(keys, reader.scores)) {
    if (decay.isPerFeature())
      emitRunningScores(reader, from, scores, row);
    else
      emitProductScores(reader, from, scores, row);
  }
  if (decay.isPerFeature())
    decay.scaleReader(reader.rows, row, reader.readsBefore);
}

//===- products -----------------------------------------------------------===//

SmallVector<Value> LinearChunk::emitBefore(const ChunkReader &reader,
                                           const Panel &panel, Value row) {
  SmallVector<Value> block = multiply(
      panel, features, state,
      [&](Value d, int64_t r) { return kb.load(reader.rows, {number(r), d}); },
      zeros(panel));
  for (int64_t r = 0; r < blockRows && decay.isPerToken(); ++r) {
    Value factor = kb.broadcast(decay.getFactor(row, r, reader.readsBefore));
    for (int64_t v = 0; v < panel.kb.vectors; ++v)
      at(block, panel, r, v) = kb.mulf(at(block, panel, r, v), factor);
  }
  for (auto [from, scores] : llvm::zip(keys, reader.scores)) {
    Value left = scores;
    block = multiply(
        panel, row, from.values,
        [&](Value j, int64_t r) { return kb.load(left, {number(r), j}); },
        block);
  }
  return block;
}

SmallVector<Value> LinearChunk::loadValueRow(Value values, const Panel &panel,
                                             Value row) {
  SmallVector<Value> vectors;
  for (int64_t v = 0; v < panel.kb.vectors; ++v)
    vectors.push_back(
        kb.loadLanes(values, {row, kb.add(panel.column, kb.lane(v))}));
  return vectors;
}

void LinearChunk::addColumn(const ChunkReader &reader, unsigned source,
                            const Panel &panel, Value row, int64_t jj,
                            ArrayRef<Value> vector,
                            SmallVectorImpl<Value> &block) {
  for (int64_t r = reader.isExclusive ? jj + 1 : jj; r < blockRows; ++r) {
    Value score = kb.broadcast(
        kb.load(reader.scores[source], {number(r), kb.add(row, jj)}));
    for (int64_t v = 0; v < panel.kb.vectors; ++v)
      at(block, panel, r, v) = kb.fma(score, vector[v], at(block, panel, r, v));
  }
}
