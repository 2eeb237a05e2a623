// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.merge as linalg: a few operations per row, and two products and a sum
// per element.

#include "passes/rewrite/Rewrite.h"

#include "passes/Passes.h"
#include "passes/decompose/PlainGeneric.h"
#include "passes/decompose/WidenRegion.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::attn {
#define GEN_PASS_DEF_EXPANDMERGE
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The shares of both parts in a row's output, and its lse in f64 or f32.
static SmallVector<Value> buildShares(FloatBuilder math, Value first,
                                      Value second, FloatType lseType) {
  OpBuilder &b = math.builder;
  Location loc = math.loc;
  Value max = arith::MaximumFOp::create(b, loc, first, second);
  Value weights[] = {math.makeWeight(first, max), math.makeWeight(second, max)};
  Value sum = arith::AddFOp::create(b, loc, weights[0], weights[1]);
  Value isEmpty = math.isEqual(sum, 0.0);
  auto share = [&](Value weight) {
    return math.select(isEmpty, math.makeFloat(0.0),
                       arith::DivFOp::create(b, loc, weight, sum));
  };
  Value lse = math.select(
      isEmpty, math.makeFloat(-kInfinity),
      arith::AddFOp::create(b, loc, max, math::LogOp::create(b, loc, sum)));
  return {share(weights[0]), share(weights[1]),
          roundOnce(b, loc, lse, lseType)};
}

void attn::expandMerge(RewriterBase &rewriter, MergeOp op, FloatType type) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  FloatBuilder math(rewriter, loc, type);
  auto lseType = cast<FloatType>(op.getLse().getType().getElementType());
  auto outputType = cast<FloatType>(op.getOutput().getType().getElementType());
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, op.getFirstOutput());
  ArrayRef<OpFoldResult> rows = ArrayRef(sizes).take_front(3);
  auto empty = [&](ArrayRef<OpFoldResult> sizes, Type element) -> Value {
    return tensor::EmptyOp::create(rewriter, loc, sizes, element);
  };

  AffineMap rowMap = rewriter.getMultiDimIdentityMap(3);
  SmallVector<Value> inits{empty(rows, type), empty(rows, type),
                           empty(rows, lseType)};
  auto shares = linalg::GenericOp::create(
      rewriter, loc, ValueRange(inits).getTypes(),
      ValueRange{op.getFirstLse(), op.getSecondLse()}, inits,
      SmallVector<AffineMap>(5, rowMap),
      SmallVector<utils::IteratorType>(3, utils::IteratorType::parallel),
      [&](OpBuilder &b, Location, ValueRange args) {
        FloatBuilder inner(b, loc, type);
        linalg::YieldOp::create(
            b, loc,
            buildShares(inner, widenFloat(b, loc, args[0], type),
                        widenFloat(b, loc, args[1], type), lseType));
      });

  Value output = buildPlainGeneric(
      rewriter, loc,
      {op.getFirstOutput(), shares.getResult(0), op.getSecondOutput(),
       shares.getResult(1)},
      empty(sizes, outputType),
      {{0, 1, 2, 3}, {0, 1, 2}, {0, 1, 2, 3}, {0, 1, 2}, {0, 1, 2, 3}}, 4,
      [&](ValueRange args) -> Value {
        // A part without a share is not used.
        auto term = [&](Value element, Value share) {
          Value product = arith::MulFOp::create(
              rewriter, loc, widenFloat(rewriter, loc, element, type), share);
          return math.select(math.isEqual(share, 0.0), math.makeFloat(0.0),
                             product);
        };
        Value sum = arith::AddFOp::create(rewriter, loc, term(args[0], args[1]),
                                          term(args[2], args[3]));
        return roundOnce(rewriter, loc, sum, outputType);
      });
  rewriter.replaceOp(
      op, castToResults(rewriter, op, {output, shares.getResult(2)}));
}

namespace {

struct ExpandMergePass : public attn::impl::ExpandMergeBase<ExpandMergePass> {
  using ExpandMergeBase::ExpandMergeBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](MergeOp op) {
      FloatType sum = getComputeType(op.getOutput().getType().getElementType());
      expandMerge(rewriter, op, wide ? rewriter.getF64Type() : sum);
    });
  }
};

} // namespace
