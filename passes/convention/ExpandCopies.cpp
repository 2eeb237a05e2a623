// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies between buffers of which one is strided become loops, over vectors
// where rows lie close. The lowering to LLVM would call a function of MLIR's
// runner library for them.

#include "passes/Passes.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"

namespace mlir::attn {
#define GEN_PASS_DEF_EXPANDCOPIES
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;

/// Lanes of the vectors that elements of `type` are copied in, a cache line, or
/// 0 where they are not copied in vectors.
static int64_t getVectorLanes(MemRefType source, MemRefType target) {
  Type type = source.getElementType();
  if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() % 8 != 0 ||
      source.getRank() == 0 || !source.isLastDimUnitStride() ||
      !target.isLastDimUnitStride())
    return 0;
  return 512 / type.getIntOrFloatBitWidth();
}

/// memref.copy of rows of n elements
///   ->
/// loops over rows {
///   scf.for %c = 0 to %n - %n mod 16 step 16 { vector.load; vector.store }
///   scf.for %c = %n - %n mod 16 to %n { memref.load; memref.store }
/// }
static void copyRows(OpBuilder &b, memref::CopyOp copy, int64_t lanes) {
  Location loc = copy.getLoc();
  Value source = copy.getSource(), target = copy.getTarget();
  auto type = cast<MemRefType>(source.getType());
  auto index = [&](int64_t x) -> Value {
    return arith::ConstantIndexOp::create(b, loc, x);
  };
  auto dim = [&](int64_t d) {
    return b.createOrFold<memref::DimOp>(loc, source, d);
  };
  int64_t last = type.getRank() - 1;
  SmallVector<Value> zeros(last, index(0)), ones(last, index(1)), ends, at;
  for (int64_t d = 0; d < last; ++d)
    ends.push_back(dim(d));
  OpBuilder::InsertionGuard guard(b);
  for (int64_t d = 0; d < last; ++d) {
    auto loop = scf::ForOp::create(b, loc, zeros[d], ends[d], ones[d]);
    b.setInsertionPointToStart(loop.getBody());
    at.push_back(loop.getInductionVar());
  }
  Value count = dim(last);
  Value rest = b.createOrFold<arith::RemUIOp>(loc, count, index(lanes));
  Value whole = b.createOrFold<arith::SubIOp>(loc, count, rest);
  at.push_back(Value());
  scf::ForOp::create(b, loc, index(0), whole, index(lanes), ValueRange(),
                     [&](OpBuilder &, Location, Value column, ValueRange) {
                       at.back() = column;
                       auto vector =
                           VectorType::get({lanes}, type.getElementType());
                       Value x =
                           vector::LoadOp::create(b, loc, vector, source, at);
                       vector::StoreOp::create(b, loc, x, target, at);
                       scf::YieldOp::create(b, loc);
                     });
  scf::ForOp::create(b, loc, whole, count, index(1), ValueRange(),
                     [&](OpBuilder &, Location, Value column, ValueRange) {
                       at.back() = column;
                       Value x = memref::LoadOp::create(b, loc, source, at);
                       memref::StoreOp::create(b, loc, x, target, at);
                       scf::YieldOp::create(b, loc);
                     });
}

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
      if (int64_t lanes = getVectorLanes(source, target)) {
        copyRows(rewriter, copy, lanes);
        rewriter.eraseOp(copy);
        return WalkResult::advance();
      }
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
