// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is refused of an AttentionSpec. Internal to Attention.cpp; no LLVM.

#ifndef ATTN_RUNTIME_ATTENTIONCHECK_H
#define ATTN_RUNTIME_ATTENTIONCHECK_H

#include "runtime/Attention.h"

namespace attn {

/// The sizes of the problem, without defaults.
struct SpecSizes {
  explicit SpecSizes(const AttentionSpec &spec)
      : batch(spec.sequences && spec.batch == anySize ? 1 : spec.batch),
        entries(spec.sequences.value_or(spec.batch)),
        queryHeads(spec.queryHeads), queries(spec.queries), keys(spec.keys),
        keyHeads(spec.keyHeads.value_or(spec.queryHeads)), keyDim(spec.keyDim),
        valueDim(spec.valueDim.value_or(spec.keyDim)) {}

  Result<void> check() const;

  int64_t batch;
  /// Batch entries, or sequences in a packed batch.
  int64_t entries;
  int64_t queryHeads, queries, keys, keyHeads, keyDim, valueDim;
};

/// The first field that does not fit, with what is expected and what it is.
Result<void> checkAttention(const AttentionSpec &spec);

} // namespace attn

#endif // ATTN_RUNTIME_ATTENTIONCHECK_H
