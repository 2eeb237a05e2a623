// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles softmax attention over queries and keys. Before this pass attention is
// one op on whole tensors; after it, it is a parallel loop over query tiles
// that carries a running softmax (max, sum and unnormalised output) over key
// tiles.

#include "passes/Passes.h"
#include "passes/analysis/Explain.h"
#include "passes/tile/AttentionTiler.h"

namespace mlir::attn {
#define GEN_PASS_DEF_TILEATTENTION
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// What the results of `op` are written over. Of packed sequences some rows may
/// belong to none, and hold what a row without a key does.
static SmallVector<Value> createOutputs(OpBuilder &b,
                                        SoftmaxFamilyInterface op) {
  Location loc = op.getLoc();
  SmallVector<Value> outputs;
  for (Value result : op->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<OpFoldResult> sizes;
    for (int64_t d = 0; d < std::min<int64_t>(type.getRank(), 3); ++d)
      sizes.push_back(tensor::getMixedSize(b, loc, op.getQuery(), d));
    if (type.getRank() == 4)
      sizes.push_back(tensor::getMixedSize(b, loc, op.getValue(), 3));
    Value output =
        tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
    if (op.getQueryStarts()) {
      double rest =
          type.getRank() == 4 ? 0.0 : -std::numeric_limits<double>::infinity();
      Value scalar = arith::ConstantOp::create(
          b, loc, b.getFloatAttr(type.getElementType(), rest));
      output = linalg::FillOp::create(b, loc, scalar, output).getResult(0);
    }
    outputs.push_back(output);
  }
  return outputs;
}

LogicalResult attn::tileAttention(RewriterBase &rewriter,
                                  SoftmaxFamilyInterface op,
                                  const TargetInfo &target) {
  if (op.getSoftcapValue() || op.getAlibi() || op.getBias() || op.getSelect())
    return op->emitOpError() << "expected no softcap value, alibi, bias or "
                                "select, which attn-expand-clauses makes "
                                "regions of";
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  SmallVector<Value> outputs = createOutputs(rewriter, op);
  // All versions are loops over the same outputs; those that a call does not
  // need have no iterations.
  SmallVector<TileVersion> versions = emitTileVersions(rewriter, op, target);
  for (const TileVersion &version : ArrayRef(versions).drop_back()) {
    auto copy = cast<SoftmaxFamilyInterface>(rewriter.clone(*op));
    rewriter.setInsertionPoint(op);
    outputs = AttentionTiler(rewriter, copy, target, version).run(outputs);
    rewriter.eraseOp(copy);
  }
  outputs = AttentionTiler(rewriter, op, target, versions.back()).run(outputs);
  rewriter.replaceOp(op, castToResults(rewriter, op, outputs));
  return success();
}

namespace {

struct TileAttentionPass
    : public attn::impl::TileAttentionBase<TileAttentionPass> {
  void runOnOperation() override {
    const TargetInfo *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    SmallVector<SoftmaxFamilyInterface> ops;
    getOperation().walk([&](SoftmaxFamilyInterface op) { ops.push_back(op); });
    ExplainingRewriter rewriter(*this, &getContext());
    for (SoftmaxFamilyInterface op : ops) {
      rewriter.visit(op);
      if (failed(tileAttention(rewriter, op, *target)))
        return signalPassFailure();
    }
  }
};

} // namespace
