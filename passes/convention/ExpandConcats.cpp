// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A concatenation becomes insertions into one tensor. Upstream bufferizes
// those, and no concatenation; runs just before bufferization.

#include "passes/Passes.h"

namespace mlir::attn {
#define GEN_PASS_DEF_EXPANDCONCATS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;

namespace {

struct ExpandConcatsPass
    : public attn::impl::ExpandConcatsBase<ExpandConcatsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<tensor::ConcatOp> concats;
    getOperation().walk([&](tensor::ConcatOp op) { concats.push_back(op); });
    for (tensor::ConcatOp op : concats) {
      rewriter.setInsertionPoint(op);
      FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
      if (failed(parts)) {
        op.emitOpError() << "expected tensors that can be inserted into one";
        return signalPassFailure();
      }
      rewriter.replaceOp(op, *parts);
    }
  }
};

} // namespace
