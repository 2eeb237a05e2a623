// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PlainGeneric.h.

#include "passes/decompose/PlainGeneric.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

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
