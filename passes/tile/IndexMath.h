// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Index arithmetic, emitted as arith operations that fold where sizes are
// static.

#ifndef ATTN_PASSES_TILE_INDEXMATH_H
#define ATTN_PASSES_TILE_INDEXMATH_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

namespace mlir::attn {

/// Emits index arithmetic on values or constants at a builder's insertion
/// point.
struct IndexMath {
  OpBuilder &builder;
  Location loc;

  Value get(OpFoldResult x) {
    return getValueOrCreateConstantIndexOp(builder, loc, x);
  }
  Value constant(int64_t x) {
    return arith::ConstantIndexOp::create(builder, loc, x);
  }
  template <typename OpTy> Value apply(OpFoldResult a, OpFoldResult b) {
    return builder.createOrFold<OpTy>(loc, get(a), get(b));
  }
  Value add(OpFoldResult a, OpFoldResult b) {
    return apply<arith::AddIOp>(a, b);
  }
  Value sub(OpFoldResult a, OpFoldResult b) {
    return apply<arith::SubIOp>(a, b);
  }
  Value mul(OpFoldResult a, OpFoldResult b) {
    return apply<arith::MulIOp>(a, b);
  }
  /// a / b for a >= 0, b > 0.
  Value div(OpFoldResult a, OpFoldResult b) {
    return apply<arith::DivUIOp>(a, b);
  }
  Value ceilDiv(OpFoldResult a, int64_t b) { return ceilDiv(a, constant(b)); }
  Value ceilDiv(OpFoldResult a, Value b) {
    return div(add(a, sub(b, constant(1))), b);
  }
  Value min(OpFoldResult a, OpFoldResult b) {
    return apply<arith::MinSIOp>(a, b);
  }
  Value max(OpFoldResult a, OpFoldResult b) {
    return apply<arith::MaxSIOp>(a, b);
  }
  Value isAtMost(OpFoldResult a, OpFoldResult b) {
    return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sle,
                                               get(a), get(b));
  }
  Value select(Value condition, OpFoldResult a, OpFoldResult b) {
    return builder.createOrFold<arith::SelectOp>(loc, condition, get(a),
                                                 get(b));
  }
};

} // namespace mlir::attn

#endif // ATTN_PASSES_TILE_INDEXMATH_H
