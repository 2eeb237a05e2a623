// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention as the operators of ONNX have it in common, and the text of it.

#ifndef ATTN_TOOLS_ATTN_RUN_ONNX_PROBLEM_H
#define ATTN_TOOLS_ATTN_RUN_ONNX_PROBLEM_H

#include "IrText.h"

#include <optional>

namespace attn::importer {

/// Adds lines that compute a scalar of one score, f32 (f64 where the operands
/// are), from it and from the indices of batch, head, query row and key row.
using ScoreMap = std::function<std::string(
    const std::string &score, const std::vector<std::string> &indices)>;

struct Problem {
  /// B x Hq x Sq x Dk, B x Hkv x Skv x Dk, B x Hkv x Skv x Dv, of one type;
  /// only B, the lengths and Dv may be dynamic.
  IrValue query, key, value;
  /// Absent: 1/sqrt(Dk).
  std::optional<double> scale;
  /// 0: none.
  double softcap = 0;
  bool isCausal = false;
  /// Bounds of a window around the position of a query; absent: unbounded.
  std::optional<int64_t> left, right;
  /// Broadcast to B x Hq x Sq x Skv: floats that are added, booleans that are
  /// true where a key may be seen.
  std::optional<IrValue> bias, select;
  /// B lengths of keys.
  std::optional<IrValue> lengths;
  /// The position of the first query; absent: length - Sq where there are
  /// lengths, else 0.
  std::optional<IrSize> offset;
  /// What happens to scores after the softcap, and whether a key is kept.
  ScoreMap score, keep;
  /// What happens to weights after their normalisation. Not served by
  /// emitAttention, which has none in memory.
  ScoreMap weight;

  bool hasPositions() const { return isCausal || left || right; }
  /// The type in which scores are computed.
  DType scoreType() const {
    return query.dtype == DType::f64 ? DType::f64 : DType::f32;
  }
};

struct AttentionResult {
  IrValue output;
  /// ln sum exp of the scores, B x Hq x Sq, if it was asked for.
  std::optional<IrValue> lse;
};

AttentionResult emitAttention(IrText &text, const Problem &problem,
                              const std::string &hint, bool wantsLse);

/// How far scores have come; the numbers are those of qk_matmul_output_mode.
enum class ScoreStage { product = 0, softcapped = 1, masked = 2, weights = 3 };

/// B x Hq x Sq x Skv scores of type `dtype`, in memory, which attention itself
/// never needs. The weights need the log-sum-exp.
IrValue emitScores(IrText &text, const Problem &problem, ScoreStage stage,
                   const std::optional<IrValue> &lse, DType dtype,
                   const std::string &hint);

/// The weighted sums of value rows, B x Hq x Sq x Dv of type `dtype`.
IrValue emitWeightedSum(IrText &text, const Problem &problem,
                        const IrValue &weights, DType dtype,
                        const std::string &hint);

/// `value` with elements of another type; itself where it has that already.
IrValue convert(IrText &text, const IrValue &value, DType dtype,
                const std::string &hint);

/// A scalar in another type.
std::string convertScalar(IrText &text, const std::string &scalar, DType from,
                          DType to);

} // namespace attn::importer

#endif // ATTN_TOOLS_ATTN_RUN_ONNX_PROBLEM_H
