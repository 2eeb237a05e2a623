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

/// Rebuilds `op` on the buffers of its operands, without results; `inits`
/// become its results.
static LogicalResult rebuildOnBuffers(Operation *op, MutableOperandRange inits,
                                      RewriterBase &rewriter,
                                      const BufferizationOptions &options,
                                      BufferizationState &state) {
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
  SmallVector<Value> results;
  for (OpOperand &init : inits)
    results.push_back(operands[init.getOperandNumber()]);

  OperationState newState(op->getLoc(), op->getName(), operands, TypeRange{},
                          op->getAttrs());
  newState.propertiesAttr = op->getPropertiesAsAttribute();
  for (unsigned i = 0, e = op->getNumRegions(); i < e; ++i)
    newState.addRegion();
  Operation *newOp = rewriter.create(newState);
  for (auto [from, to] : llvm::zip(op->getRegions(), newOp->getRegions()))
    rewriter.inlineRegionBefore(from, to, to.begin());
  replaceOpWithBufferizedValues(rewriter, op, results);
  return success();
}

namespace {

/// %r = attn.op ins(%a : tensor) outs(%b : tensor) -> tensor
///   ->  attn.op ins(%a : memref) outs(%b : memref), with %r being %b.
/// For ops that overwrite every element of their inits that is read later.
template <typename OpTy>
struct OverwritingModel
    : public DstBufferizableOpInterfaceExternalModel<OverwritingModel<OpTy>,
                                                     OpTy> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &state) const {
    return !cast<OpTy>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    return rebuildOnBuffers(op, cast<OpTy>(op).getDpsInitsMutable(), rewriter,
                            options, state);
  }
};

/// The same for attn.matmul_tile, which adds to its init unless it has another.
struct MatmulTileModel
    : public DstBufferizableOpInterfaceExternalModel<MatmulTileModel,
                                                     MatmulTileOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &state) const {
    auto tile = cast<MatmulTileOp>(op);
    return !tile.isDpsInit(&operand) || !tile.getInit();
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    return rebuildOnBuffers(op, cast<MatmulTileOp>(op).getDpsInitsMutable(),
                            rewriter, options, state);
  }
};

static MutableOperandRange getInits(OnlineSoftmaxOp op) {
  return op.getInitsMutable();
}
static MutableOperandRange getInits(OnlineMergeOp op) {
  return op.getDpsInitsMutable();
}

/// The same for ops that update their inits.
template <typename OpTy>
struct UpdatingModel
    : public BufferizableOpInterface::ExternalModel<UpdatingModel<OpTy>, OpTy> {
  /// The result of the init `operand`, or null for an input.
  static OpResult getTiedResult(Operation *op, OpOperand &operand) {
    for (auto [result, init] :
         llvm::zip(op->getResults(), getInits(cast<OpTy>(op))))
      if (&init == &operand)
        return result;
    return {};
  }

  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &state) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *op, OpOperand &operand,
                               const AnalysisState &state) const {
    return static_cast<bool>(getTiedResult(op, operand));
  }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand,
                                      const AnalysisState &state) const {
    if (OpResult result = getTiedResult(op, operand))
      return {{result, BufferRelation::Equivalent}};
    return {};
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    return rebuildOnBuffers(op, getInits(cast<OpTy>(op)), rewriter, options,
                            state);
  }
};

} // namespace

void attn::registerBufferizationModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, AttnDialect *) {
    OnlineSoftmaxOp::attachInterface<UpdatingModel<OnlineSoftmaxOp>>(*context);
    OnlineMergeOp::attachInterface<UpdatingModel<OnlineMergeOp>>(*context);
    PackQueryOp::attachInterface<OverwritingModel<PackQueryOp>>(*context);
    OnlineFinishOp::attachInterface<OverwritingModel<OnlineFinishOp>>(*context);
    MatmulTileOp::attachInterface<MatmulTileModel>(*context);
  });
}
