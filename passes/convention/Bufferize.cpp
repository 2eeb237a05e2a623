// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One-shot bufferization with attn's boundary: tensor arguments become buffers
// with inner stride 1, and what ends in an out parameter is computed there.
// Upstream's pass offers fully dynamic strides, which make vector loads
// illegal, or none, which make strided callers copy.

#include "passes/convention/Convention.h"

#include "passes/Passes.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"

namespace mlir::attn {
#define GEN_PASS_DEF_BUFFERIZE
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;

namespace {

struct BufferizePass : public attn::impl::BufferizeBase<BufferizePass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    if (failed(bufferization::eliminateEmptyTensors(rewriter, getOperation())))
      return signalPassFailure();
    bufferization::OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.allowReturnAllocsFromLoops = true;
    options.functionArgTypeConverterFn =
        [](bufferization::TensorLikeType type, Attribute, func::FuncOp,
           const bufferization::BufferizationOptions &) {
          return cast<bufferization::BufferLikeType>(
              attn::getBoundaryType(cast<RankedTensorType>(type)));
        };
    bufferization::BufferizationState state;
    if (failed(bufferization::runOneShotModuleBufferize(getOperation(), options,
                                                        state)))
      signalPassFailure();
  }
};

} // namespace
