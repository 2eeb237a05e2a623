// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What of a program makes the results of two devices differ: how narrow the
// types are that numbers are rounded to, and where rounding alone may decide.

#ifndef ATTN_RUNTIME_COMPILE_ROUNDING_H
#define ATTN_RUNTIME_COMPILE_ROUNDING_H

#include "runtime/Signature.h"

#include "mlir/IR/Value.h"

namespace attn {

/// What Parameter says of a result.
struct Rounding {
  DType narrowest = DType::f64;
  std::vector<std::string> jumps;
};

/// Follows `result`, which a function of the source returns, back to the
/// arguments of the function.
Rounding findRounding(mlir::Value result);

} // namespace attn

#endif // ATTN_RUNTIME_COMPILE_ROUNDING_H
