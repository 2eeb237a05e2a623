// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bufferization of the tile ops: each is rebuilt on the buffers of its operands
// and writes its inits in place.

#include "dialect/Attn.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace mlir::attn;
using namespace mlir::bufferization;

namespace {

/// %r = attn.op ins(%a : tensor) outs(%b : tensor) -> tensor
///   ->  attn.op ins(%a : memref) outs(%b : memref), with %r being %b.
template <typename OpTy>
struct TileOpModel
    : public DstBufferizableOpInterfaceExternalModel<TileOpModel<OpTy>, OpTy> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &state) const {
    // pack_query and online_finish overwrite every element of their inits that
    // is read later.
    if (auto dst = cast<DestinationStyleOpInterface>(op);
        dst.isDpsInit(&operand))
      return isa<OnlineSoftmaxOp>(op);
    return isa<TensorType>(operand.get().getType());
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto dst = cast<DestinationStyleOpInterface>(op);
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<TensorType>(operand.get().getType())) {
        operands.push_back(operand.get());
        continue;
      }
      FailureOr<Value> buffer =
          getBuffer(rewriter, operand.get(), options, state);
      if (failed(buffer))
        return failure();
      operands.push_back(*buffer);
    }
    SmallVector<Value> inits;
    for (OpOperand &init : dst.getDpsInitsMutable())
      inits.push_back(operands[init.getOperandNumber()]);

    OperationState newState(op->getLoc(), op->getName(), operands, TypeRange{},
                            op->getAttrs());
    newState.propertiesAttr = op->getPropertiesAsAttribute();
    for (unsigned i = 0, e = op->getNumRegions(); i < e; ++i)
      newState.addRegion();
    Operation *newOp = rewriter.create(newState);
    for (auto [from, to] : llvm::zip(op->getRegions(), newOp->getRegions()))
      rewriter.inlineRegionBefore(from, to, to.begin());
    replaceOpWithBufferizedValues(rewriter, op, inits);
    return success();
  }
};

} // namespace

void attn::registerBufferizationModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, AttnDialect *) {
    OnlineSoftmaxOp::attachInterface<TileOpModel<OnlineSoftmaxOp>>(*context);
    PackQueryOp::attachInterface<TileOpModel<PackQueryOp>>(*context);
    OnlineFinishOp::attachInterface<TileOpModel<OnlineFinishOp>>(*context);
  });
}
