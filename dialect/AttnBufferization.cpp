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

/// Whether an op reads what its inits hold before it.
static bool readsInits(PackQueryOp) { return false; }
static bool readsInits(OnlineMergeOp) { return true; }
static bool readsInits(OnlineFinishOp) { return false; }
static bool readsInits(MatmulTileOp op) { return !op.getInit(); }
static bool readsInits(LinearChunkOp op) { return !op.getInitial(); }
static bool readsInits(LinearReadOp) { return false; }
static bool readsInits(RunningMaxOp) { return false; }

namespace {

/// %r = attn.op ins(%a : tensor) outs(%b : tensor) -> tensor
///   ->  attn.op ins(%a : memref) outs(%b : memref), with %r being %b.
template <typename OpTy>
struct TileOpModel
    : public DstBufferizableOpInterfaceExternalModel<TileOpModel<OpTy>, OpTy> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &state) const {
    auto tileOp = cast<OpTy>(op);
    return !tileOp.isDpsInit(&operand) || readsInits(tileOp);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    return rebuildOnBuffers(op, cast<OpTy>(op).getDpsInitsMutable(), rewriter,
                            options, state);
  }
};

/// The same for attn.online_softmax, which is not in destination style and
/// updates its inits.
struct OnlineSoftmaxModel
    : public BufferizableOpInterface::ExternalModel<OnlineSoftmaxModel,
                                                    OnlineSoftmaxOp> {
  /// The result of the init `operand`, or null for an input.
  static OpResult getTiedResult(Operation *op, OpOperand &operand) {
    for (auto [result, init] : llvm::zip(
             op->getResults(), cast<OnlineSoftmaxOp>(op).getInitsMutable()))
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
    return rebuildOnBuffers(op, cast<OnlineSoftmaxOp>(op).getInitsMutable(),
                            rewriter, options, state);
  }
};

} // namespace

void attn::registerBufferizationModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, AttnDialect *) {
    OnlineSoftmaxOp::attachInterface<OnlineSoftmaxModel>(*context);
    PackQueryOp::attachInterface<TileOpModel<PackQueryOp>>(*context);
    OnlineMergeOp::attachInterface<TileOpModel<OnlineMergeOp>>(*context);
    OnlineFinishOp::attachInterface<TileOpModel<OnlineFinishOp>>(*context);
    MatmulTileOp::attachInterface<TileOpModel<MatmulTileOp>>(*context);
    LinearChunkOp::attachInterface<TileOpModel<LinearChunkOp>>(*context);
    LinearReadOp::attachInterface<TileOpModel<LinearReadOp>>(*context);
    RunningMaxOp::attachInterface<TileOpModel<RunningMaxOp>>(*context);
  });
}
