// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loop nests that decompositions are made of.

#ifndef ATTN_PASSES_DECOMPOSE_PLAINGENERIC_H
#define ATTN_PASSES_DECOMPOSE_PLAINGENERIC_H

#include "mlir/IR/Builders.h"

namespace mlir::attn {

/// A linalg.generic of `numLoops` loops over `inputs` and `init`; a map per
/// operand, init last, names the loops of its dimensions. The loops that the
/// map of init doesn't have are summed over. `body` gives the new element from
/// those of the operands.
Value buildPlainGeneric(OpBuilder &builder, Location loc, ValueRange inputs,
                        Value init, ArrayRef<ArrayRef<int64_t>> maps,
                        int64_t numLoops, function_ref<Value(ValueRange)> body);

} // namespace mlir::attn

#endif // ATTN_PASSES_DECOMPOSE_PLAINGENERIC_H
