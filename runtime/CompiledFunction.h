// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler hands to the runtime for one public function: addresses of
// machine code and the facts needed to call it safely. Internal; no LLVM.

#ifndef ATTN_RUNTIME_COMPILEDFUNCTION_H
#define ATTN_RUNTIME_COMPILEDFUNCTION_H

#include "runtime/Engine.h"

namespace attn {

/// A size that is a constant, or dimension `dim` of argument `argument`, or
/// not known from the arguments.
struct SizeSource {
  enum class Kind { constant, argument, unknown };
  Kind kind = Kind::unknown;
  int64_t constant = 0;
  size_t argument = 0;
  size_t dim = 0;
};

/// The sizes of one attention op, for counting its operations.
struct AttentionSizes {
  SizeSource batch, queryHeads, queries, keys, keyDim, valueDim;
};

/// The functions of one attention op that pass attn-map-mask describes. They
/// take the arguments of its function, a batch entry and a head as i64, and one
/// result.
struct MaskFunctions {
  void (*sizes)(void **arguments) = nullptr;
  void (*tiles)(void **arguments) = nullptr;
  void (*elements)(void **arguments) = nullptr;
};

struct CompiledFunction {
  Signature signature;

  /// Texts of the rules that `plan` checks, rule k at index k - 1; the two
  /// sizes, or the number, are appended.
  std::vector<std::string> rules;

  /// `in`: for each argument in order its sizes, or its value (the bits of a
  /// float). `out`: the sizes of all results in order, with room for at least
  /// two. Returns 0, or k if rule k is broken, with the expected size in out[0]
  /// and the size it got in out[1], or -k, with the number in out[1] as the
  /// bits of an f64.
  int64_t (*plan)(int64_t *in, int64_t *out) = nullptr;

  /// One pointer per argument, then one per result: to a memref descriptor for
  /// a tensor, to the value for a scalar.
  void (*kernel)(void **arguments) = nullptr;

  /// The same with one result of three i64: skipped, plain, masked tiles. Null
  /// unless compiled with countTiles.
  void (*tiles)(void **arguments) = nullptr;

  std::vector<AttentionSizes> attentions;

  /// One per attention op; empty unless compiled with mapMask.
  std::vector<MaskFunctions> masks;
};

} // namespace attn

#endif // ATTN_RUNTIME_COMPILEDFUNCTION_H
