// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is timed: an attention op with its sizes, and how it is run.

#ifndef ATTN_TOOLS_ATTN_BENCH_CASE_H
#define ATTN_TOOLS_ATTN_BENCH_CASE_H

#include "runtime/DType.h"

#include <cstdint>
#include <string>
#include <vector>

namespace attn::bench {

struct Case {
  std::string name;
  /// Cases of one group take turns, so that the ratios between them hold on a
  /// machine whose speed drifts.
  std::string group;
  /// "file:line", for messages.
  std::string where;

  std::string op = "softmax";
  DType dtype = DType::f32;
  int64_t batch = 1;
  int64_t queryHeads = 1;
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

  std::string target = "host";
  /// 0: the default of the run.
  int threads = 0;

  bool hasMask() const { return isCausal || window > 0; }
  /// What score and keep read: "alibi", "bias" and "select", in the order of
  /// the arguments.
  std::vector<std::string> extraInputs() const;
};

/// The module with one function, main(q, k, v, extra inputs...) -> o. The last
/// query stands at the last key.
std::string irText(const Case &problem);

/// What has to be done for one call.
struct Work {
  /// Multiplies and adds of both products over the full rectangle.
  double flops = 0;
  /// The same over the pairs of query and key that causal and window keep.
  double keptFlops = 0;
  /// Queries, output, and the keys and values that any query sees, once each.
  double bytes = 0;
};

Work countWork(const Case &problem);

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_CASE_H
