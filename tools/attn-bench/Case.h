// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is timed: an attention op with its sizes, and how it is run. Ops of the
// linear family have their text and counts in LinearCase.cpp.

#ifndef ATTN_TOOLS_ATTN_BENCH_CASE_H
#define ATTN_TOOLS_ATTN_BENCH_CASE_H

#include "runtime/DType.h"

#include <cstdint>
#include <string>
#include <vector>

namespace attn::bench {

/// Of attn.linear and attn.favor. Empty texts and 0: none.
struct LinearClauses {
  /// "head", "token" or "feature": what has a decay of its own.
  std::string decay;
  /// Decays are uniform between -gate and 0.
  double gate = 0.1;
  bool hasDelta = false;
  bool hasTransition = false;
  bool hasBonus = false;
  /// A state comes in and goes out.
  bool hasState = false;
  /// Mnemonics of the maps of query and key.
  std::string queryFeature = "identity";
  std::string keyFeature = "identity";
  /// "token" or "feature".
  std::string normalize;
  /// Of attn.favor, with the rows of its projection.
  std::string kind = "positive";
  int64_t rows = 0;
  /// How it is computed, which changes no meaning.
  std::string form = "auto";
  int64_t chunk = 0;
};

struct Case {
  std::string name;
  /// Cases of one group take turns, so that the ratios between them hold on a
  /// machine whose speed drifts.
  std::string group;
  /// "file:line", for messages.
  std::string where;

  /// "softmax", "gqa", "linear" or "favor".
  std::string op = "softmax";
  DType dtype = DType::f32;
  int64_t batch = 1;
  int64_t queryHeads = 1;
  /// Of values and states, too.
  int64_t keyHeads = 1;
  int64_t queries = 1;
  int64_t keys = 1;
  int64_t keyDim = 1;
  int64_t valueDim = 1;
  bool isCausal = false;
  /// Keys that a query sees, up to its own position; 0: as many as there are.
  int64_t window = 0;
  /// 0: none.
  double softcap = 0;
  /// "alibi" or "bias" (Sq x Sk, f32); empty: logits stay as they are.
  std::string score;
  /// "select" (Sq x Sk) or "xor", masks of which three of four pairs are kept
  /// and that no tile is free of; empty: none.
  std::string keep;
  LinearClauses linear;
  /// Of queries, keys and values, as normal numbers; 0: uniform ones of 1.
  double deviation = 0;

  std::string target = "host";
  /// 0: the default of the run.
  int threads = 0;

  bool isLinear() const { return op == "linear" || op == "favor"; }
  bool hasMask() const { return isCausal || window > 0; }
};

/// A tensor that a call reads or writes.
struct Operand {
  /// Of the argument.
  std::string name;
  DType dtype;
  std::vector<int64_t> sizes;
  /// Of the random numbers that an argument is filled with.
  double mean = 0;
  double deviation = 1;
  /// Normal numbers; else they are uniform. Three of four i1 are true.
  bool isNormal = false;
};

/// The arguments of main: q, k, v, then what the clauses read.
std::vector<Operand> inputsOf(const Case &problem);

/// The results of main: o, then the state where there is one.
std::vector<Operand> outputsOf(const Case &problem);

/// "tensor<2x3xf32>".
std::string typeText(const Operand &operand);

/// A number as MLIR reads it.
std::string numberText(double number);

/// The module with one function, main. The last query stands at the last key.
std::string irText(const Case &problem);

/// What has to be done for one call.
struct Work {
  /// Multiplies and adds of both products over the full rectangle; of the
  /// linear family those of chunks, see countLinearWork().
  double flops = 0;
  /// The same over the pairs of query and key that causal and window keep; of
  /// the linear family those that the recurrence needs.
  double keptFlops = 0;
  /// Queries, output, and the keys and values that any query sees, once each;
  /// of the linear family all operands and results.
  double bytes = 0;
};

Work countWork(const Case &problem);

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_CASE_H
