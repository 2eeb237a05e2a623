// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A chunk of tokens of linear attention by products of matrices.

#ifndef ATTN_PASSES_CPU_LINEARCHUNK_H
#define ATTN_PASSES_CPU_LINEARCHUNK_H

#include "passes/cpu/LinearDecay.h"
#include "passes/cpu/LinearTile.h"

namespace mlir::attn {

/// A block of rows that reads the keys of the chunk and the state.
struct ChunkReader {
  Value rows;       ///< blockRows x features
  bool readsBefore; ///< the state from before the decay of a row's token
  bool isExclusive; ///< a row does not read the key of its own token
  SmallVector<Value> scores; ///< blockRows x tokens for each of the keys
};

class LinearChunk : public LinearTile {
public:
  LinearChunk(const KernelBuilder &kb, LinearChunkOp op);

  void run();

private:
  Value number(int64_t r) { return kb.index(r); }
  OpFoldResult attr(int64_t x) { return kb.b.getIndexAttr(x); }
  ChunkKeys createKeys();
  ChunkReader createReader(bool readsBefore, bool isExclusive);

  /// Puts `from`, tokens x features, into `rows`, and transposed into `to`.
  void loadKeys(Value from, Value rows, const ChunkKeys &to);
  void loadValues();
  void loadRows(Value from, Value row, Value count, Value rows);
  /// Divides the queries of the block by the running sums of keys.
  void normalizeFeatures(Value row);

  /// The scores of a block, and its rows as they read the state.
  void emitScores(ChunkReader &reader, Value row);
  void emitProductScores(const ChunkReader &reader, const ChunkKeys &from,
                         Value scores, Value row);
  void emitRunningScores(const ChunkReader &reader, const ChunkKeys &from,
                         Value scores, Value row);
  /// What the state and the tokens before the block give to its rows.
  SmallVector<Value> emitBefore(const ChunkReader &reader, const Panel &panel,
                                Value row);
  /// block[r] += scores[r, jj] vector for the rows r after `jj`, and for jj
  /// itself unless the reader reads before its token.
  void addColumn(const ChunkReader &reader, unsigned source, const Panel &panel,
                 Value row, int64_t jj, ArrayRef<Value> vector,
                 SmallVectorImpl<Value> &block);
  SmallVector<Value> loadValueRow(Value values, const Panel &panel, Value row);

  void solve(Value row, Value count);
  /// sum_d q[r, d] u[d] k[row + r, d] for each row of the block.
  SmallVector<Value> emitBonusScores(Value row);
  void emitOutput(Value head, Value row, Value count);
  void updateState(Value count);

  LinearChunkOp op;
  OpFoldResult paddedRows;
  int64_t tokenVectors; ///< lane vectors of a panel of scores
  SmallVector<ChunkKeys> keys;
  LinearDecay decay;
  std::optional<ChunkReader> query, solver;
  Value writeRows; ///< where a transition has sums of features to change
  Value keyRows, outputs, sums, nextSums, bonus, betas;
  Value bonusValues; ///< the values that a bonus is multiplied with
};

} // namespace mlir::attn

#endif // ATTN_PASSES_CPU_LINEARCHUNK_H
