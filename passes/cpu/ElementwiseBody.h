// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The body of a linalg op on buffers, as vector code along its last loop.

#ifndef ATTN_PASSES_CPU_ELEMENTWISEBODY_H
#define ATTN_PASSES_CPU_ELEMENTWISEBODY_H

#include "passes/cpu/KernelBuilder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::attn {

class ElementwiseBody {
public:
  /// The body of `op`, if all of it has a vector form; else tells `rewriter`
  /// why it has none.
  static FailureOr<ElementwiseBody> match(RewriterBase &rewriter,
                                          linalg::LinalgOp op);

  /// Whether elements of an operand differ along the last loop.
  bool isVarying(OpOperand &operand) const;
  bool isReduction() const { return !combiners.empty(); }
  /// The operation that adds an element to an output, or the like; one per
  /// output of a reduction.
  ArrayRef<Operation *> getCombiners() const { return combiners; }
  /// Two partial results of a combiner in one.
  static Value combine(const KernelBuilder &kb, Operation *combiner, Value x,
                       Value y);
  /// What a combiner leaves as it is.
  static Value getNeutral(const KernelBuilder &kb, Operation *combiner,
                          Type type);

  /// Emits the body at the loops `ivs`, from the last one on, of `width` lanes
  /// (scalars for 1). `args` are the elements of operands, vectors where they
  /// vary; those that are not needed may be null. Returns the new elements of
  /// the outputs, or of a reduction those that are to be combined.
  SmallVector<Value> emit(const KernelBuilder &kb, ArrayRef<Value> args,
                          ArrayRef<Value> ivs, int64_t width) const;

private:
  explicit ElementwiseBody(linalg::LinalgOp op)
      : op(op), lastLoop(op.getNumLoops() - 1) {}

  LogicalResult matchOperands(RewriterBase &rewriter);
  LogicalResult matchOperations(RewriterBase &rewriter);
  LogicalResult matchCombiners(RewriterBase &rewriter);
  /// True for reads of elements that lie behind each other along the last loop.
  bool isContiguous(memref::LoadOp load) const;

  mutable linalg::LinalgOp op;
  unsigned lastLoop;
  llvm::DenseSet<Value> varying;
  SmallVector<Operation *> combiners;
};

} // namespace mlir::attn

#endif // ATTN_PASSES_CPU_ELEMENTWISEBODY_H
