// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The types of a compiled function's arguments and results.

#ifndef ATTN_RUNTIME_SIGNATURE_H
#define ATTN_RUNTIME_SIGNATURE_H

#include "runtime/Result.h"
#include "runtime/TensorView.h"

#include <string>
#include <vector>

namespace attn {

/// An argument or a result. Tensors have a dtype and sizes, with -1 for
/// dimensions that are known only at the call. `index` has dtype i64.
struct Parameter {
  enum class Kind { tensor, index, scalar };
  Kind kind = Kind::tensor;
  DType dtype = DType::f32;
  std::vector<int64_t> sizes;
  /// The name of the value in the source text without %; may be empty.
  std::string name;
  /// For results: the logarithm of the sum of exponentials of an attention.
  bool isLogSumExp = false;
  /// For results: the narrowest type that a number is rounded to on the way.
  DType rounding = DType::f64;
  /// For results: operations on the way at which a difference in rounding may
  /// become a large one, "12:5: 'arith.fptosi' rounds to an integer". At
  /// most 8.
  std::vector<std::string> jumps = {};
};

struct Signature {
  std::string function;
  std::vector<Parameter> arguments;
  std::vector<Parameter> results;
};

/// "4x?x64xf32", "index" or "f32".
ATTN_API std::string formatType(const Parameter &parameter);

/// Why no argument of kind, element type and sizes `given` can be argument
/// `index`, as a call would say; success for one that may fit. Nothing has to
/// be allocated for that.
ATTN_API Result<void> checkArgumentType(const Signature &signature,
                                        size_t index, const Parameter &given);

/// "attend(q: 4x?x64xf32, n: index) -> (4x?x64xf32)".
ATTN_API std::string format(const Signature &signature);

} // namespace attn

#endif // ATTN_RUNTIME_SIGNATURE_H
