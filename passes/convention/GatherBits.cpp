// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of f16 and bf16 are gathered as integers. A target without vectors
// of the type takes a gather apart, and carries an element of bf16 from one
// block to another as an f32, which a library rounds. Runs on the LLVM dialect,
// whose pointers have no element type.

#include "passes/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::attn {
#define GEN_PASS_DEF_GATHERBITS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;

namespace {

/// %x = llvm.intr.masked.gather %pointers, %mask, %rest -> vector<8xbf16>
///   ->
/// %r = llvm.bitcast %rest : vector<8xbf16> to vector<8xi16>
/// %b = llvm.intr.masked.gather %pointers, %mask, %r -> vector<8xi16>
/// %x = llvm.bitcast %b : vector<8xi16> to vector<8xbf16>
struct GatherBits : public OpRewritePattern<LLVM::masked_gather> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LLVM::masked_gather op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<VectorType>(op.getRes().getType());
    if (!type.getElementType().isF16() && !type.getElementType().isBF16())
      return rewriter.notifyMatchFailure(op, "nothing to do: not f16 or bf16");
    Location loc = op.getLoc();
    VectorType bitsType = type.clone(rewriter.getI16Type());
    SmallVector<Value> rest;
    for (Value value : op.getPassThru())
      rest.push_back(LLVM::BitcastOp::create(rewriter, loc, bitsType, value));
    Value bits =
        LLVM::masked_gather::create(rewriter, loc, bitsType, op.getPtrs(),
                                    op.getMask(), rest, op.getAlignmentAttr());
    rewriter.replaceOpWithNewOp<LLVM::BitcastOp>(op, type, bits);
    return success();
  }
};

struct GatherBitsPass : public attn::impl::GatherBitsBase<GatherBitsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<GatherBits>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
