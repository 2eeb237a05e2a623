// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar code in a wider float type, and the way back.

#ifndef ATTN_PASSES_DECOMPOSE_WIDENREGION_H
#define ATTN_PASSES_DECOMPOSE_WIDENREGION_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Region.h"

namespace mlir::attn {

/// `value` as a `wide`, unless its type is as wide.
Value widenFloat(OpBuilder &builder, Location loc, Value value, FloatType wide);

/// `value` of type f32 or f64 rounded once to `type`, which arith.truncf does
/// not do for f16 and bf16: its expansion goes through f32.
Value roundOnce(OpBuilder &builder, Location loc, Value value, FloatType type);

/// `value` as a `type`, by arith.extf and arith.truncf.
Value convertFloat(OpBuilder &builder, Location loc, Value value,
                   FloatType type);

/// Clones the block of a score or keep region at the insertion point with
/// `args` for its arguments and returns what it yields. Floats are computed in
/// `wide`, or in their own type where that is wider. Indices into captured
/// tensors are clamped to their bounds.
Value inlineWidened(Region &region, OpBuilder &builder, ValueRange args,
                    FloatType wide);

} // namespace mlir::attn

#endif // ATTN_PASSES_DECOMPOSE_WIDENREGION_H
