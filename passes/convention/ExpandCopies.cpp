// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies between buffers of which one is strided become loops. The lowering to
// LLVM would call a function of MLIR's runner library for them.

#include "passes/Passes.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"

namespace mlir::attn {
#define GEN_PASS_DEF_EXPANDCOPIES
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;

namespace {

struct ExpandCopiesPass
    : public attn::impl::ExpandCopiesBase<ExpandCopiesPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    WalkResult walked = getOperation().walk([&](memref::CopyOp copy) {
      auto source = dyn_cast<MemRefType>(copy.getSource().getType());
      auto target = dyn_cast<MemRefType>(copy.getTarget().getType());
      if (!source || !target) {
        copy.emitOpError() << "expected ranked buffers";
        return WalkResult::interrupt();
      }
      if (source.getLayout().isIdentity() && target.getLayout().isIdentity())
        return WalkResult::advance();
      rewriter.setInsertionPoint(copy);
      linalg::GenericOp loops = linalg::makeMemRefCopyOp(
          rewriter, copy.getLoc(), copy.getSource(), copy.getTarget());
      if (failed(linalg::linalgOpToLoops(rewriter, loops))) {
        copy.emitOpError() << "expected a copy that loops can do";
        return WalkResult::interrupt();
      }
      rewriter.eraseOp(loops);
      rewriter.eraseOp(copy);
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
