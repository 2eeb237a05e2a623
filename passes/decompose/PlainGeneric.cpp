// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PlainGeneric.h.

#include "passes/decompose/PlainGeneric.h"

#include "dialect/Attn.h"
#include "passes/decompose/WidenRegion.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::attn;

Value attn::buildPlainGeneric(OpBuilder &builder, Location loc,
                              ValueRange inputs, Value init,
                              ArrayRef<ArrayRef<int64_t>> maps,
                              int64_t numLoops,
                              function_ref<Value(ValueRange)> body) {
  MLIRContext *context = builder.getContext();
  SmallVector<AffineMap> affineMaps;
  for (ArrayRef<int64_t> dims : maps) {
    SmallVector<AffineExpr> exprs = llvm::map_to_vector(
        dims, [&](int64_t dim) { return getAffineDimExpr(dim, context); });
    affineMaps.push_back(AffineMap::get(numLoops, 0, exprs, context));
  }
  SmallVector<utils::IteratorType> iterators(numLoops,
                                             utils::IteratorType::reduction);
  for (int64_t dim : maps.back())
    iterators[dim] = utils::IteratorType::parallel;
  return linalg::GenericOp::create(
             builder, loc, init.getType(), inputs, init, affineMaps, iterators,
             [&](OpBuilder &inner, Location, ValueRange args) {
               OpBuilder::InsertionGuard guard(builder);
               builder.setInsertionPointToEnd(inner.getInsertionBlock());
               linalg::YieldOp::create(builder, loc, body(args));
             })
      .getResult(0);
}

Value FloatBuilder::makeWeight(Value logit, Value max) {
  Value shifted = arith::SubFOp::create(builder, loc, logit, max);
  return select(isEqual(logit, -std::numeric_limits<double>::infinity()),
                makeFloat(0.0), math::ExpOp::create(builder, loc, shifted));
}

Value F64Builder::makeFilled(ArrayRef<OpFoldResult> sizes, double value) {
  return linalg::FillOp::create(builder, loc, makeFloat(value),
                                makeEmpty(sizes, f64))
      .getResult(0);
}

SmallVector<Value> F64Builder::buildLoop(
    Value first, Value end, ValueRange inits,
    function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(
      builder, loc, first, end, makeIndex(1), inits,
      [&](OpBuilder &inner, Location, Value index, ValueRange carried) {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToEnd(inner.getInsertionBlock());
        scf::YieldOp::create(builder, loc, body(index, carried));
      });
  return SmallVector<Value>(loop.getResults());
}

Value F64Builder::buildLength(Value lengths, Value b, Value keys) {
  if (!lengths)
    return keys;
  Value low = arith::MinSIOp::create(
      builder, loc, buildPerBatch(builder, loc, lengths, b), keys);
  return arith::MaxSIOp::create(builder, loc, low, makeIndex(0));
}

Value F64Builder::roundAll(Value tensor, Type elementType) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor);
  SmallVector<int64_t> loops =
      llvm::to_vector(llvm::seq<int64_t>(0, sizes.size()));
  return buildGeneric(tensor, makeEmpty(sizes, elementType), {loops, loops},
                      loops.size(), [&](ValueRange args) {
                        return roundOnce(builder, loc, args[0],
                                         cast<FloatType>(elementType));
                      });
}
