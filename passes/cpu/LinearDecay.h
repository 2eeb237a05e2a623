// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decays within a chunk, as running products of exp(g). Nothing is divided by a
// decay and no logarithms are summed, so that decays of any size lose no digits
// of those that come after them, and a product depends on the tokens before it
// only. Where products would grow large, tokens go one by one, and a state is
// multiplied by exp(g / 2) twice: an infinite factor would make NaN of a 0.

#ifndef ATTN_PASSES_CPU_LINEARDECAY_H
#define ATTN_PASSES_CPU_LINEARDECAY_H

#include "dialect/Attn.h"
#include "passes/cpu/KernelBuilder.h"

namespace mlir::attn {

/// The largest product of decays that is formed by itself: it can be multiplied
/// by queries and keys and stays in the range of f32.
inline constexpr double kMostGate = 0x1p40;

/// Whether any of `gates`, a row of whole vectors or a multiple of 4 of them,
/// is above `most`, an i1.
Value emitHasLargeGate(const KernelBuilder &kb, Value gates, double most);

/// exp(min(g / 2, x)), with x so large that the factor, taken twice, makes an
/// infinity of any number but 0.
Value emitRootOfGate(const KernelBuilder &kb, Value g);

/// The keys of a chunk that are scored against readers: a row per feature, a
/// column per token.
struct ChunkKeys {
  Value columns;     ///< features x tokens
  Value nextColumns; ///< the same after a block; with decays per feature only
  Value values;      ///< tokens x columns of the state
};

/// Decays of the tokens of a chunk. They are taken a block of `blockRows` rows
/// at a time, in order; between `begin` and `advance` the block may be used by
/// any number of readers. A reader of row i reads the state after token i, or
/// before it.
class LinearDecay {
public:
  LinearDecay(const KernelBuilder &kb, LinearChunkOp op, Value features,
              Value paddedFeatures, OpFoldResult paddedRows, int64_t blockRows);

  bool isPerToken() const { return kind == Kind::token; }
  bool isPerFeature() const { return kind == Kind::feature; }

  /// Takes the decays of the `count` tokens of the chunk. Returns how many of
  /// them come before products of decays grow large.
  Value prepare(Value count);
  /// Computes the products for the rows from `row` on.
  void begin(Value row);
  /// What a score of row r of the block with the tokens from `token` on is
  /// multiplied by; with decays per token.
  Value getWeights(int64_t r, Value token, bool readsBefore);
  /// What row r of the block is multiplied by where it reads the state from
  /// before the chunk; with decays per token.
  Value getFactor(Value row, int64_t r, bool readsBefore);
  /// exp(g) of the vector of features at `column` of token `row` + r.
  Value getGates(Value row, int64_t r, Value column);
  /// exp(g) of one feature of a token; with decays per feature.
  Value getGate(Value token, Value feature) {
    return kb.load(gates, {token, feature});
  }
  /// The lanes of the tokens from `token` on that come before `row` + r.
  Value isBefore(Value token, Value row, int64_t r);
  /// Multiplies the rows of a reader by the decay of the state from before the
  /// chunk; with decays per feature.
  void scaleReader(Value rows, Value row, bool readsBefore);
  /// Ends the block.
  void advance(Value row, ArrayRef<ChunkKeys> keys);
  /// Multiplies `keys` by their decays to the end of the chunk.
  void finish(const ChunkKeys &keys);
  /// What row `feature` of the state is multiplied by to the end of the chunk,
  /// a scalar, or null for 1.
  Value getStateFactor(Value feature);

private:
  enum class Kind { none, token, feature };
  void loadGates(Value count);
  /// Has the rows from `count` on keep what is there.
  void clearGates(Value count);
  Value countTokens(Value count);
  void forEachTokenVector(llvm::function_ref<void(Value token)> body);

  const KernelBuilder &kb;
  Kind kind = Kind::none;
  Value decay;
  Value features, paddedFeatures, paddedRows;
  int64_t blockRows;
  Value gates;    ///< exp(g): tokens, or tokens x features
  Value weights;  ///< blockRows + 1 rows of products back to each token
  Value products; ///< since the start of the chunk: after each token, or, per
                  ///< feature, up to the block
  Value nextProducts; ///< per feature, up to the next block
};

} // namespace mlir::attn

#endif // ATTN_PASSES_CPU_LINEARDECAY_H
