// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of linalg in a wider type than that of their result, rounded once. On
// the reference device all are of f64, so that it is the better judge; on the
// cpu those of f16 and bf16 are of f32. Runs on tensors, before bufferization.

#include "passes/Passes.h"
#include "passes/analysis/Explain.h"
#include "passes/analysis/MatrixProduct.h"
#include "passes/convention/SumBody.h"
#include "passes/decompose/PlainGeneric.h"
#include "passes/decompose/WidenRegion.h"

#include "mlir/IR/TypeUtilities.h"

namespace mlir::attn {
#define GEN_PASS_DEF_WIDENSUMS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// The floats of `init` as a `wide`.
static Value widenInit(OpBuilder &builder, Location loc, Value init,
                       FloatType wide) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, init);
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, wide);
  // One number is widened rather than a tensor of it.
  if (auto fill = init.getDefiningOp<linalg::FillOp>();
      fill && isa<FloatType>(fill.value().getType())) {
    Value number = convertFloat(builder, loc, fill.value(), wide);
    return linalg::FillOp::create(builder, loc, number, empty).getResult(0);
  }
  SmallVector<int64_t> loops =
      llvm::to_vector(llvm::seq<int64_t>(0, sizes.size()));
  return buildPlainGeneric(builder, loc, init, empty, {loops, loops},
                           loops.size(), [&](ValueRange args) {
                             return convertFloat(builder, loc, args[0], wide);
                           });
}

/// `sum` rounded to the elements of `init`, in its place.
static Value roundInto(OpBuilder &builder, Location loc, Value sum,
                       Value init) {
  auto type = cast<FloatType>(getElementTypeOrSelf(init.getType()));
  int64_t rank = cast<RankedTensorType>(init.getType()).getRank();
  SmallVector<int64_t> loops = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  return buildPlainGeneric(
      builder, loc, sum, init, {loops, loops}, rank,
      [&](ValueRange args) { return roundOnce(builder, loc, args[0], type); });
}

/// The type in which sums of elements of `type` are computed.
static Type getSumType(Type type, FloatType wide) {
  auto element = dyn_cast<FloatType>(type);
  return element && element.getWidth() < wide.getWidth() ? wide : type;
}

/// %r = linalg.matmul ins(%a, %b : bf16) outs(%c : bf16)
///   ->
/// %w = linalg.generic ins(%c) outs(%empty : f32) { arith.extf }
/// %s = linalg.generic ins(%a, %b) outs(%w) {
///   %p = arith.mulf (arith.extf %x), (arith.extf %y) : f32
///   linalg.yield (arith.addf %sum, %p) }
/// %r = linalg.generic ins(%s) outs(%c) { arith.truncf }
LogicalResult attn::widenSums(RewriterBase &rewriter, linalg::LinalgOp op,
                              FloatType wide) {
  auto fail = [&](const char *why) {
    return rewriter.notifyMatchFailure(op, why);
  };
  if (!op.hasPureTensorSemantics())
    return fail("expected tensors");
  if (op.getNumReductionLoops() == 0)
    return fail("no sum");
  SmallVector<Type> sumTypes;
  for (Value init : op.getDpsInits())
    sumTypes.push_back(getSumType(getElementTypeOrSelf(init.getType()), wide));
  bool isWide =
      llvm::all_of(llvm::zip_equal(op.getDpsInits(), sumTypes), [](auto pair) {
        auto [init, type] = pair;
        return getElementTypeOrSelf(init.getType()) == type;
      });
  if (isWide)
    return fail("sums are as wide already");
  SumBody body(op, wide);
  if (!body.canWiden())
    return fail("the body has operations with regions");

  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  SmallVector<Value> inits;
  SmallVector<Type> types;
  for (auto [init, type] : llvm::zip_equal(op.getDpsInits(), sumTypes)) {
    bool isNarrow = getElementTypeOrSelf(init.getType()) != type;
    inits.push_back(isNarrow
                        ? widenInit(rewriter, loc, init, cast<FloatType>(type))
                        : Value(init));
    types.push_back(inits.back().getType());
  }
  auto sums = linalg::GenericOp::create(
      rewriter, loc, types, op.getDpsInputs(), inits, op.getIndexingMapsArray(),
      op.getIteratorTypesArray(),
      [&](OpBuilder &inner, Location, ValueRange args) {
        linalg::YieldOp::create(inner, loc, body.build(inner, args, sumTypes));
      });
  SmallVector<Value> results;
  for (auto [sum, init] : llvm::zip_equal(sums.getResults(), op.getDpsInits()))
    results.push_back(getElementTypeOrSelf(sum.getType()) ==
                              getElementTypeOrSelf(init.getType())
                          ? Value(sum)
                          : roundInto(rewriter, loc, sum, init));
  rewriter.replaceOp(op, results);
  return success();
}

namespace {

struct WidenSumsPass : public attn::impl::WidenSumsBase<WidenSumsPass> {
  using WidenSumsBase::WidenSumsBase;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    ExplainingRewriter rewriter(*this, &getContext());
    FloatType wide = all ? FloatType(rewriter.getF64Type())
                         : FloatType(rewriter.getF32Type());
    for (linalg::LinalgOp op : ops) {
      rewriter.visit(op);
      // The kernel of a product has wide sums of its own.
      if (!all && succeeded(matchMatrixProduct(rewriter, op)))
        continue;
      (void)widenSums(rewriter, op, wide);
    }
  }
};

} // namespace
