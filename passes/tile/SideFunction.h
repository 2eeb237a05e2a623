// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions beside a public function that take its arguments and return
// something about its attention instead of its results.

#ifndef ATTN_PASSES_TILE_SIDEFUNCTION_H
#define ATTN_PASSES_TILE_SIDEFUNCTION_H

#include "dialect/Attn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::attn {

/// The attention ops of `function` in order. Each has to stand in it directly;
/// else an error is emitted.
FailureOr<SmallVector<SoftmaxFamilyInterface>>
findAttention(func::FuncOp function);

/// A copy of `function` behind it, called NAME.SUFFIX. Emits an error if there
/// is one of that name.
FailureOr<func::FuncOp> createSideFunction(func::FuncOp function,
                                           const Twine &suffix);

/// Makes `function` return `result` alone. Attention of which only the sizes
/// are needed then is removed.
LogicalResult returnInstead(func::FuncOp function, Value result);

} // namespace mlir::attn

#endif // ATTN_PASSES_TILE_SIDEFUNCTION_H
