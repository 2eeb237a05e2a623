// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention by fields instead of IR text: softmax attention of grouped heads
// with all that attn.gqa takes but for regions, which are written as IR.
//
//   attn::AttentionSpec spec;
//   spec.queryHeads = 32;
//   spec.keyHeads = 8;
//   spec.keyDim = 128;
//   spec.dtype = attn::DType::bf16;
//   spec.position = attn::Position::bottomRight;
//   spec.causal = true;
//   auto program = engine.compile(spec);
//   if (!program)
//     return report(program.error().message);
//   auto out = program->call("attend", {q, k, v});

#ifndef ATTN_RUNTIME_ATTENTION_H
#define ATTN_RUNTIME_ATTENTION_H

#include "runtime/Api.h"
#include "runtime/DType.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace attn {

/// A size that each call may choose.
inline constexpr int64_t anySize = -1;

/// Stands for a number that each call passes, as an argument of type f32.
struct AtCall {};
inline constexpr AtCall atCall;

/// A number, or one that each call passes, or none.
class Setting {
public:
  Setting() = default;
  Setting(double number) : state(number) {}
  Setting(AtCall) : state(atCall) {}

  bool isSet() const { return state.index() != 0; }
  bool isAtCall() const { return state.index() == 2; }
  /// The number, if it is set and not passed at the call.
  double number() const { return std::get<double>(state); }

private:
  std::variant<std::monostate, double, AtCall> state;
};

/// The position i of query row 0 among the keys, by which masks and ALiBi go.
enum class Position {
  none,          ///< nothing asks for it
  topLeft,       ///< 0
  bottomRight,   ///< the last query stands at the last key in use
  offset,        ///< an argument of type index
  offsetPerBatch ///< an argument of type Bxi64, or one for each sequence
};

/// An integer that each call passes.
enum class CallInteger {
  none,    ///< there is none
  index,   ///< one for all
  perBatch ///< one for each batch entry, a tensor Bxi64, or each sequence
};

/// A tensor argument that broadcasts, right-aligned, to B x Hq x Sq x Skv.
struct BroadcastSpec {
  DType dtype = DType::f32;
  /// 1 to 4 sizes; 1 stretches, and anySize may turn out to be 1.
  std::vector<int64_t> sizes = {anySize, anySize, anySize, anySize};
};

/// A mask of blocks by Zaheer et al. 2020, "Big Bird: Transformers for Longer
/// Sequences"; #attn.bigbird says what its numbers are.
struct BigBirdSpec {
  int64_t block = 64; ///< tokens of a block, at least 1
  int64_t window = 1; ///< blocks to each side
  int64_t global = 1; ///< first blocks that see and are seen by all
  int64_t random = 0; ///< random blocks of keys for each block of queries
  int64_t blocks = 0; ///< blocks of keys to draw from, at most 65536
  int64_t seed = 0;
  int64_t last = 0; ///< last blocks that see and are seen by all
  /// Random blocks of keys for each block of queries, at most 64, from an
  /// argument random_blocks of Hq x blocks x so many i64, in place of `random`
  /// and `blocks`.
  std::optional<int64_t> table = std::nullopt;
};

/// What the fields mean is the definition of attn.gqa: with s = scale Q K^T,
/// soft cap, ALiBi, bias and masks in this order, O = softmax(s) V.
///
/// The arguments of the function are q (B x Hq x Sq x Dk), k (B x Hkv x Skv x
/// Dk), v (B x Hkv x Skv x Dv) and then those that fields ask for, in the order
/// of the clauses: scale, softcap, offset, prefix, random_blocks, alibi, bias,
/// select, lengths, key_offset, sinks, query_starts, key_starts. The results
/// are o (B x Hq x Sq x Dv), and lse (B x Hq x Sq) where it is asked for.
struct AttentionSpec {
  /// The name of the function.
  std::string name = "attend";
  /// Of Q, K, V and O: f16, bf16, f32 or f64.
  DType dtype = DType::f32;

  /// B, Hq, Sq, Skv.
  int64_t batch = anySize, queryHeads = anySize, queries = anySize,
          keys = anySize;
  /// Hkv, of which Hq is a multiple; nothing for Hq.
  std::optional<int64_t> keyHeads;
  /// Dk, at least 1; Dv, nothing for Dk.
  int64_t keyDim = anySize;
  std::optional<int64_t> valueDim;

  /// Nothing for 1 / sqrt(Dk).
  Setting scale;
  /// c of c tanh(s / c), which is > 0.
  Setting softcap;

  Position position = Position::none;
  /// Keeps j <= i.
  bool causal = false;
  /// Keep i - left <= j and j <= i + right.
  std::optional<int64_t> windowLeft, windowRight;
  std::optional<BigBirdSpec> bigBird;
  /// Keeps j < prefix or j <= i; not beside causal.
  CallInteger prefix = CallInteger::none;
  /// A slope for each query head, times j - i: an argument of Hq elements of
  /// this type, f32 or that of Q.
  std::optional<DType> alibi;

  /// Added; f32 or the type of Q.
  std::optional<BroadcastSpec> bias;
  /// An i1 tensor, true where a key may be seen; 1 to 4 sizes as those of a
  /// bias.
  std::optional<std::vector<int64_t>> select;
  /// Keys in use for each batch entry, or each sequence: an argument Bxi64.
  bool lengths = false;
  /// The position j of key row 0: an argument of type index.
  bool keyOffset = false;
  /// A logit for each query head that takes weight and gives no value: an
  /// argument of Hq elements of this type, f32 or that of Q.
  std::optional<DType> sinks;

  /// So many sequences (or anySize) lie one behind the other in a batch of 1:
  /// arguments query_starts and key_starts, of one more i64 each, are the first
  /// row of each one and the end. Positions count from the start of a sequence.
  /// Not beside bias and select.
  std::optional<int64_t> sequences;

  /// The second result, lse: the logarithm of the sum of exponentials of each
  /// row, of f32, or f64 for f64.
  bool logSumExp = false;
};

/// The IR of a module with this one function. An error names the field, what is
/// expected of it and what it is.
ATTN_API Result<std::string> buildAttention(const AttentionSpec &spec);

} // namespace attn

#endif // ATTN_RUNTIME_ATTENTION_H
