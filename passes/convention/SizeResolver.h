// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes inside a function as code over the sizes of its arguments. Used by the
// plan functions, which run before anything is allocated.

#ifndef ATTN_PASSES_CONVENTION_SIZERESOLVER_H
#define ATTN_PASSES_CONVENTION_SIZERESOLVER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::attn {

/// True if a call's scalar arguments and the sizes of its tensors say what
/// `number` is, so that SizeResolver::getScalar() can build it.
bool followsFromCall(Value number);

/// Builds sizes and scalars of a function in another function, in straight-line
/// code that loads what it needs of the call from an array of i64: the sizes of
/// each tensor argument, or the value of a scalar one, in order.
class SizeResolver {
public:
  /// `function` is a copy that belongs to the caller: shapes are reified in it.
  /// `builder` stands in the plan function, whose argument `in` is the array.
  SizeResolver(func::FuncOp function, OpBuilder &builder, Value in);

  /// The size of dimension `dim` of `tensor`, as an index. Emits an error that
  /// names the operation if it depends on more than the arguments' sizes.
  FailureOr<Value> getDim(Value tensor, int64_t dim);

  /// The value of a number that `function` computes.
  FailureOr<Value> getScalar(Value value);

  /// True for sizes of arguments, which are those of buffers: never negative.
  bool isArgumentSize(Value size) const { return argumentSizes.contains(size); }

private:
  FailureOr<Value> buildDim(Value tensor, int64_t dim);
  FailureOr<Value> buildScalar(Value value);
  FailureOr<Value> reifyDim(OpResult result, int64_t dim);
  Value loadSlot(int64_t slot);

  func::FuncOp function;
  OpBuilder &builder;
  Value in;
  SmallVector<int64_t> firstSlots;
  DenseMap<int64_t, Value> slots;
  DenseMap<std::pair<Value, int64_t>, Value> dims;
  DenseMap<Value, Value> scalars;
  DenseSet<Value> argumentSizes;
  DenseMap<Operation *, ReifiedRankedShapedTypeDims> reified;
  int depth = 0;
};

} // namespace mlir::attn

#endif // ATTN_PASSES_CONVENTION_SIZERESOLVER_H
