// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ways to make an attention program smaller.

#ifndef ATTN_TOOLS_ATTN_REDUCE_CHANGES_H
#define ATTN_TOOLS_ATTN_REDUCE_CHANGES_H

#include "mlir/IR/Operation.h"

namespace attn {

/// Changes an operation or what is around it, and says whether there was
/// something to change. The program may be invalid afterwards.
using Change = std::function<bool(mlir::Operation *)>;

/// What may make the program around `op` smaller, most of all first:
/// - an operation is left out, or gives way to an operand or to an argument of
///   the function;
/// - attention is without a clause, a mask of a list, a region or its last
///   result;
/// - a function is without a result or an argument;
/// - a static size is smaller, wherever it stands in the module.
llvm::SmallVector<Change> findChanges(mlir::Operation *op);

} // namespace attn

#endif // ATTN_TOOLS_ATTN_REDUCE_CHANGES_H
