// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Frees the buffers of a function after their last use. A source has no control
// flow of its own and results live in the caller's buffers, so every buffer is
// allocated in the entry block and none outlives the call: upstream's ownership
// analysis would be more than is needed, and rejects regions that are no
// control flow.

#include "passes/Passes.h"

#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"

namespace mlir::attn {
#define GEN_PASS_DEF_FREEBUFFERS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;

/// The last operation of `block` that uses `buffer` or a view of it.
static Operation *findLastUse(Block &block, Value buffer,
                              const BufferViewFlowAnalysis &views) {
  Operation *last = buffer.getDefiningOp();
  for (Value alias : views.resolve(buffer))
    for (Operation *user : alias.getUsers())
      if (Operation *ancestor = block.findAncestorOpInBlock(*user);
          ancestor && last->isBeforeInBlock(ancestor))
        last = ancestor;
  return last;
}

namespace {

struct FreeBuffersPass : public attn::impl::FreeBuffersBase<FreeBuffersPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration())
      return;
    BufferViewFlowAnalysis views(function);
    Block &entry = function.front();
    OpBuilder builder(&getContext());
    WalkResult result = function.walk([&](memref::AllocOp alloc) {
      bool isFreed = llvm::any_of(alloc->getUsers(), [](Operation *user) {
        return isa<memref::DeallocOp>(user);
      });
      if (isFreed)
        return WalkResult::advance();
      if (alloc->getBlock() != &entry) {
        alloc.emitOpError() << "expected an allocation in the entry block";
        return WalkResult::interrupt();
      }
      Operation *last = findLastUse(entry, alloc, views);
      if (last->hasTrait<OpTrait::IsTerminator>())
        builder.setInsertionPoint(last);
      else
        builder.setInsertionPointAfter(last);
      memref::DeallocOp::create(builder, alloc.getLoc(), alloc);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
