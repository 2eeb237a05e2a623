// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PackedRows.h.

#include "passes/decompose/PackedRows.h"

#include "passes/decompose/PlainGeneric.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

SmallVector<Value> attn::buildSequenceLoop(
    OpBuilder &b, Location loc, ValueRange starts, ValueRange sizes,
    ValueRange inits,
    function_ref<SmallVector<Value>(ArrayRef<SequenceRows>, ValueRange)> body) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto readStart = [&](size_t operand, Value n, Value least) -> Value {
    Value start = arith::MinSIOp::create(
        b, loc, buildPerBatch(b, loc, starts[operand], n), sizes[operand]);
    return arith::MaxSIOp::create(b, loc, start, least);
  };
  SmallVector<Value> carried(inits);
  for (size_t operand = 0; operand < starts.size(); ++operand)
    carried.push_back(readStart(operand, zero, zero));
  Value entries = b.createOrFold<tensor::DimOp>(loc, starts[0], 0);
  Value count = arith::SubIOp::create(b, loc, entries, one);
  auto loop = scf::ForOp::create(b, loc, zero, count, one, carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value n = loop.getInductionVar();
  Value next = arith::AddIOp::create(b, loc, n, one);
  ValueRange before = loop.getRegionIterArgs();
  SmallVector<SequenceRows> rows;
  SmallVector<Value> ends;
  for (size_t operand = 0; operand < starts.size(); ++operand) {
    Value first = before[inits.size() + operand];
    Value end = readStart(operand, next, first);
    Value count = arith::SubIOp::create(b, loc, end, first);
    rows.push_back({n, first, count});
    ends.push_back(end);
  }
  SmallVector<Value> after = body(rows, before.take_front(inits.size()));
  llvm::append_range(after, ends);
  scf::YieldOp::create(b, loc, after);
  return SmallVector<Value>(loop.getResults().take_front(inits.size()));
}

namespace {
/// Where a part of a tensor lies.
struct Part {
  SmallVector<OpFoldResult> offsets, sizes, strides;
};
} // namespace

static Part getPart(OpBuilder &b, Location loc, Value tensor, int64_t dim,
                    OpFoldResult first, OpFoldResult count) {
  Part part;
  part.sizes = tensor::getMixedSizes(b, loc, tensor);
  part.offsets.assign(part.sizes.size(), b.getIndexAttr(0));
  part.strides.assign(part.sizes.size(), b.getIndexAttr(1));
  part.offsets[dim] = first;
  part.sizes[dim] = count;
  return part;
}

Value attn::slicePart(OpBuilder &b, Location loc, Value tensor, int64_t dim,
                      OpFoldResult first, OpFoldResult count) {
  Part part = getPart(b, loc, tensor, dim, first, count);
  return tensor::ExtractSliceOp::create(b, loc, tensor, part.offsets,
                                        part.sizes, part.strides);
}

Value attn::insertPart(OpBuilder &b, Location loc, Value value, Value into,
                       int64_t dim, OpFoldResult first) {
  Part part = getPart(b, loc, value, dim, first,
                      tensor::getMixedSize(b, loc, value, dim));
  return tensor::InsertSliceOp::create(b, loc, value, into, part.offsets,
                                       part.sizes, part.strides);
}

/// The types of the results of `op` for one sequence.
static SmallVector<Type> getTypesOfSequence(LinearOp op) {
  SmallVector<Type> types;
  for (auto [number, result] : llvm::enumerate(op->getResults())) {
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<int64_t> sizes(type.getShape());
    sizes[0] = 1;
    if (number == 0)
      sizes[2] = ShapedType::kDynamic;
    types.push_back(type.clone(sizes));
  }
  return types;
}

/// `op` on the rows of one sequence; the results of all, with its own.
static SmallVector<Value> buildSequence(OpBuilder &b, LinearOp op,
                                        const SequenceRows &queries,
                                        const SequenceRows &keys,
                                        ValueRange results) {
  Location loc = op.getLoc();
  OpFoldResult one = b.getIndexAttr(1), zero = b.getIndexAttr(0);
  auto rowsOf = [&](Value tensor, const SequenceRows &rows) -> Value {
    if (!tensor)
      return {};
    // There is one batch entry, also where only the call knows that.
    Value entry = slicePart(b, loc, tensor, 0, zero, one);
    return slicePart(b, loc, entry, 2, rows.first, rows.count);
  };
  auto entryOf = [&](Value tensor) -> Value {
    if (!tensor)
      return {};
    return slicePart(b, loc, tensor, 0, queries.number, one);
  };
  Value lengths = op.getLengths();
  if (lengths && !lengths.getType().isIndex())
    lengths = entryOf(lengths);
  Value decay = op.getDecay();
  if (decay && cast<RankedTensorType>(decay.getType()).getRank() > 1)
    decay = rowsOf(decay, keys);
  auto single = LinearOp::create(
      b, loc, getTypesOfSequence(op), rowsOf(op.getQuery(), queries),
      rowsOf(op.getKey(), keys), rowsOf(op.getValue(), keys), op.getScaleAttr(),
      decay, rowsOf(op.getBeta(), keys), rowsOf(op.getRead(), keys),
      rowsOf(op.getWrite(), keys), op.getBonus(), entryOf(op.getState()),
      lengths,
      /*query_starts=*/Value(), /*key_starts=*/Value(), op.getFeatureAttr(),
      op.getNormalizeAttr(), op.getBlockAttr(), op.getCausalAttr());
  SmallVector<Value> after{
      insertPart(b, loc, single.getOutput(), results[0], 2, queries.first)};
  if (op.getFinalState())
    after.push_back(insertPart(b, loc, single.getFinalState(), results[1], 0,
                               queries.number));
  return after;
}

void attn::unpackLinear(OpBuilder &b, LinearOp op) {
  Location loc = op.getLoc();
  ReifiedRankedShapedTypeDims shapes;
  (void)op.reifyResultShapes(b, shapes);
  SmallVector<Value> inits;
  for (auto [result, sizes] : llvm::zip(op->getResults(), shapes))
    inits.push_back(tensor::EmptyOp::create(
        b, loc, sizes, getElementTypeOrSelf(result.getType())));
  // A row of no sequence reads nothing.
  Value zero = arith::ConstantOp::create(
      b, loc, b.getZeroAttr(getElementTypeOrSelf(inits[0].getType())));
  inits[0] = linalg::FillOp::create(b, loc, zero, inits[0]).getResult(0);
  SmallVector<Value> results = buildSequenceLoop(
      b, loc, {op.getQueryStarts(), op.getRowsOfKeys()},
      {b.createOrFold<tensor::DimOp>(loc, op.getQuery(), 2),
       b.createOrFold<tensor::DimOp>(loc, op.getKey(), 2)},
      inits, [&](ArrayRef<SequenceRows> rows, ValueRange carried) {
        return buildSequence(b, op, rows[0], rows[1], carried);
      });
  for (auto [result, value] : llvm::zip(op->getResults(), results)) {
    if (result.getType() != value.getType())
      value = tensor::CastOp::create(b, loc, result.getType(), value);
    result.replaceAllUsesWith(value);
  }
  op->erase();
}
