// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Case files: one case per line, a name and then words.
//
//   # What follows takes turns.
//   [decode]
//   llama3-8b-decode  dtype=bf16 H=32:8 sq=1 sk=16384 D=128 causal
//
//   dtype=f32|bf16|f16     required
//   op=softmax|gqa|linear|favor
//                          default: gqa where H has two numbers
//   B=N                    batch, default 1
//   H=N or H=N:M           query heads, and key heads where they differ
//   S=N, or sq=N and sk=N  queries and keys
//   D=N or D=N:M           head dimension of queries and keys, and of values
//   causal                 a query sees the keys up to its own position, where
//                          the last query stands at the last key
//   window=N               the last N of those
//   softcap=X              logits become X tanh(logit / X)
//   score=alibi|bias       slopes per head, or a number per query and key, are
//                          added to the logits
//   keep=select|xor        a mask that no tile is free of: of a boolean per
//                          query and key, or by arithmetic on their positions
//   deviation=X            queries, keys and values are normal numbers of this
//                          standard deviation, default: uniform ones of 1
// of op=linear, with as many queries as keys where it is causal, and a scale of
// 1 / sqrt(D):
//   decay=head|token|feature
//   gate=X                 decays are uniform between -X and 0, default 0.1
//   delta, transition, bonus
//                          the clauses beta, transition and bonus
//   feature=MAP or MAP:MAP of query and key: identity (default), elu1, relu,
//                          relu2, softmax_features, softmax_positions,
//                          hedgehog or taylor2
//   normalize=token|feature
//   state                  a state comes in and goes out
//   form=auto|quadratic|chunk|recurrent
//                          how it is computed, default auto
//   chunk=N                tokens of a chunk, default: the compiler's choice
// of op=favor:
//   M=N                    rows of the projection, required
//   kind=positive|hyperbolic|trigonometric|relu
//                          default positive
// of all:
//   target=TARGET          as of attn-run, default host
//   threads=N              default: --threads

#ifndef ATTN_TOOLS_ATTN_BENCH_CASEFILE_H
#define ATTN_TOOLS_ATTN_BENCH_CASEFILE_H

#include "Case.h"

#include "runtime/Result.h"

#include <string_view>
#include <vector>

namespace attn::bench {

/// Parses one line without a comment. Errors don't say where.
Result<Case> parseCase(std::string_view line);

/// Parses the text of a file that is called `path` in errors, "path:line: ...".
/// The names must differ from one another and from those of `cases`, to which
/// the result is appended.
Result<void> parseCases(std::string_view text, const std::string &path,
                        std::vector<Case> &cases);

/// The same with the text of the file at `path`.
Result<void> readCases(const std::string &path, std::vector<Case> &cases);

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_CASEFILE_H
