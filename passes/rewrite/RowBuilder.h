// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short forms for linalg on B x H x S x D tensors, whose rows are vectors that
// features are made of.

#ifndef ATTN_PASSES_REWRITE_ROWBUILDER_H
#define ATTN_PASSES_REWRITE_ROWBUILDER_H

#include "passes/decompose/PlainGeneric.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::attn {

/// Code in `type`, that of sums. An operand of rank n goes by the first n of
/// the dimensions (b, h, s, d); elements reach bodies widened to `type`.
struct RowBuilder : FloatBuilder {
  using FloatBuilder::FloatBuilder;
  using Body = function_ref<Value(ValueRange)>;

  template <typename OpTy> Value apply(Value x, Value y) {
    return OpTy::create(builder, loc, x, y);
  }
  Value add(Value x, Value y) { return apply<arith::AddFOp>(x, y); }
  Value sub(Value x, Value y) { return apply<arith::SubFOp>(x, y); }
  Value mul(Value x, Value y) { return apply<arith::MulFOp>(x, y); }
  Value exp(Value x) { return math::ExpOp::create(builder, loc, x); }
  /// The number of entries in dimension `dim`, as a `type`.
  Value countAsFloat(Value tensor, int64_t dim);

  SmallVector<OpFoldResult> sizes(Value tensor) {
    return tensor::getMixedSizes(builder, loc, tensor);
  }
  Value empty(ArrayRef<OpFoldResult> sizes, Type element) {
    return tensor::EmptyOp::create(builder, loc, sizes, element);
  }
  Value filled(ArrayRef<OpFoldResult> sizes, double value);

  /// A tensor like `like` of `element`s that `body` makes of those of `inputs`.
  Value map(ValueRange inputs, Value like, FloatType element, Body body);
  /// The elements of `tensor` replaced by what `body` makes of those of
  /// `inputs` and itself, which is in place if this is its last use.
  Value update(ValueRange inputs, Value tensor, Body body);
  /// Per index of the dimensions `kept`: `OpTy` of what `body` makes of the
  /// elements of `inputs`, the first of which has all loops, and of `init`.
  template <typename OpTy>
  Value reduce(ValueRange inputs, ArrayRef<int64_t> kept, double init,
               Body body) {
    return reduce(inputs, kept, init, [&](ValueRange args) {
      return apply<OpTy>(args.back(), body(args.drop_back()));
    });
  }
  Value reduce(ValueRange inputs, ArrayRef<int64_t> kept, double init,
               Body body);

  /// W x for each row x: B x H x S x M, a product of matrices.
  Value project(Value input, Value projection);
  /// factor |x|^2 for each row x: B x H x S.
  Value squareNorms(Value input, Value factor);
  /// One behind the other in the last dimension.
  Value concat(ArrayRef<Value> parts);
  /// `lengths`, an index or a tensor, as a tensor with one for each batch entry
  /// of `like`; null for null.
  Value lengthsPerBatch(Value lengths, Value like);
  /// Position `s` of the element that a body is at, below its batch entry's
  /// length; true without one.
  Value isInUse(Value length);
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

} // namespace mlir::attn

#endif // ATTN_PASSES_REWRITE_ROWBUILDER_H
