// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The softmax family as plain linalg in f64: what the reference device runs and
// what every optimised form is compared with. It is written from the ops'
// definition and shares nothing with tiling; no rewrite runs before it. One
// batch and head at a time, so that the logits of one head are the largest
// temporary.

#include "passes/decompose/LogitBuilder.h"
#include "passes/decompose/PlainGeneric.h"
#include "passes/decompose/WidenRegion.h"

#include "passes/Passes.h"

namespace mlir::attn {
#define GEN_PASS_DEF_DECOMPOSESOFTMAX
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// Builds the decomposition of one op at the builder's insertion point.
class SoftmaxDecomposer : F64Builder {
public:
  SoftmaxDecomposer(SoftmaxFamilyInterface op, OpBuilder &builder)
      : F64Builder(builder, op.getLoc()), op(op), logit(op, builder) {}

  /// The values for the results of the op.
  SmallVector<Value> build();

private:
  /// Rows of the third dimension of an operand.
  struct Rows {
    OpFoldResult first, count;
  };
  /// Batch entry `number`: all rows of that index of the first dimension, or
  /// some of those of index 0 where sequences are packed.
  struct Entry {
    Value number;
    OpFoldResult batch;
    Rows queries, keys;
  };

  SmallVector<Value> buildBatches(ValueRange results);
  SmallVector<Value> buildSequences(ValueRange results);
  SmallVector<Value> buildHeads(const Entry &entry, ValueRange results);
  SmallVector<Value> buildHead(const Entry &entry, Value h, ValueRange results);
  Value buildDots(Value query, Value key);
  Value buildLogits(Value dots, const Entry &entry, Value h);
  Value buildSinkWeights(Value sinks, Value rowMax);
  Value buildWeights(Value logits, Value rowMax);
  Value buildAverage(Value logits, Value weights, Value rowSum, Value value);
  Value buildLse(Value rowMax, Value rowSum);

  /// The plane of a B x H x S x D tensor, or the row of a B x H x S one.
  struct HeadSlice {
    SmallVector<OpFoldResult> offsets, sizes, strides;
  };
  HeadSlice getHeadSlice(Value tensor, OpFoldResult batch, Value h, Rows rows);
  Value extractHead(Value tensor, OpFoldResult batch, Value h, Rows rows);
  Value insertHead(Value head, Value tensor, OpFoldResult batch, Value h,
                   Rows rows);

  SoftmaxFamilyInterface op;
  LogitBuilder logit;
};

} // namespace

static constexpr double infinity = std::numeric_limits<double>::infinity();

SoftmaxDecomposer::HeadSlice SoftmaxDecomposer::getHeadSlice(Value tensor,
                                                             OpFoldResult batch,
                                                             Value h,
                                                             Rows rows) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  OpFoldResult one = builder.getIndexAttr(1), zero = builder.getIndexAttr(0);
  HeadSlice slice{{batch, h, rows.first},
                  {one, one, rows.count},
                  SmallVector<OpFoldResult>(rank, one)};
  if (rank == 4) {
    slice.offsets.push_back(zero);
    slice.sizes.push_back(tensor::getMixedSize(builder, loc, tensor, 3));
  }
  return slice;
}

Value SoftmaxDecomposer::extractHead(Value tensor, OpFoldResult batch, Value h,
                                     Rows rows) {
  HeadSlice slice = getHeadSlice(tensor, batch, h, rows);
  SmallVector<int64_t> shape;
  for (OpFoldResult size : ArrayRef(slice.sizes).drop_front(2))
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  auto headType =
      RankedTensorType::get(shape, getElementTypeOrSelf(tensor.getType()));
  return tensor::ExtractSliceOp::create(builder, loc, headType, tensor,
                                        slice.offsets, slice.sizes,
                                        slice.strides);
}

Value SoftmaxDecomposer::insertHead(Value head, Value tensor,
                                    OpFoldResult batch, Value h, Rows rows) {
  HeadSlice slice = getHeadSlice(tensor, batch, h, rows);
  return tensor::InsertSliceOp::create(
      builder, loc, head, tensor, slice.offsets, slice.sizes, slice.strides);
}

/// dots[r,t] = sum_d q[r,d] k[t,d]
Value SoftmaxDecomposer::buildDots(Value query, Value key) {
  OpFoldResult rows = tensor::getMixedSize(builder, loc, query, 0);
  OpFoldResult keys = tensor::getMixedSize(builder, loc, key, 0);
  return buildGeneric(
      {query, key}, makeFilled({rows, keys}, 0.0), {{0, 2}, {1, 2}, {0, 1}}, 3,
      [&](ValueRange args) -> Value {
        Value product = arith::MulFOp::create(
            builder, loc, widenFloat(builder, loc, args[0], f64),
            widenFloat(builder, loc, args[1], f64));
        return arith::AddFOp::create(builder, loc, args[2], product);
      });
}

Value SoftmaxDecomposer::buildLogits(Value dots, const Entry &entry, Value h) {
  LogitBuilder::Positions positions = logit.buildPositions(
      entry.number,
      getValueOrCreateConstantIndexOp(builder, loc, entry.queries.count),
      getValueOrCreateConstantIndexOp(builder, loc, entry.keys.count));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, dots);
  return buildGeneric({dots}, makeEmpty(sizes, f64), {{0, 1}, {0, 1}}, 2,
                      [&](ValueRange args) -> Value {
                        Value r = linalg::IndexOp::create(builder, loc, 0);
                        Value t = linalg::IndexOp::create(builder, loc, 1);
                        return logit.buildLogit(args[0], entry.number, h, r, t,
                                                positions);
                      });
}

/// weights[r,t] = exp(logits[r,t] - rowMax[r])
Value SoftmaxDecomposer::buildWeights(Value logits, Value rowMax) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, logits);
  return buildGeneric(
      {logits, rowMax}, makeEmpty(sizes, f64), {{0, 1}, {0}, {0, 1}}, 2,
      [&](ValueRange args) { return makeWeight(args[0], args[1]); });
}

/// exp(sinks[r] - rowMax[r]), the weight of each row that has no value.
Value SoftmaxDecomposer::buildSinkWeights(Value sinks, Value rowMax) {
  OpFoldResult rows = tensor::getMixedSize(builder, loc, sinks, 0);
  return buildGeneric(
      {sinks, rowMax}, makeEmpty({rows}, f64), {{0}, {0}, {0}}, 1,
      [&](ValueRange args) { return makeWeight(args[0], args[1]); });
}

/// o[r,d] = (sum_t weights[r,t] v[t,d]) / rowSum[r], 0 for a row without a key.
/// A masked key adds 0, not 0 times whatever its value row holds.
Value SoftmaxDecomposer::buildAverage(Value logits, Value weights, Value rowSum,
                                      Value value) {
  OpFoldResult rows = tensor::getMixedSize(builder, loc, logits, 0);
  OpFoldResult columns = tensor::getMixedSize(builder, loc, value, 1);
  Value total = buildGeneric(
      {logits, weights, value}, makeFilled({rows, columns}, 0.0),
      {{0, 2}, {0, 2}, {2, 1}, {0, 1}}, 3, [&](ValueRange args) -> Value {
        Value isMasked = isEqual(args[0], -infinity);
        Value product = arith::MulFOp::create(
            builder, loc, args[1], widenFloat(builder, loc, args[2], f64));
        Value term = select(isMasked, makeFloat(0.0), product);
        return arith::AddFOp::create(builder, loc, args[3], term);
      });
  auto outputType = cast<RankedTensorType>(op.getOutput().getType());
  auto elementType = cast<FloatType>(outputType.getElementType());
  Value empty = makeEmpty({rows, columns}, elementType);
  return buildGeneric(
      {total, rowSum}, empty, {{0, 1}, {0}, {0, 1}}, 2,
      [&](ValueRange args) -> Value {
        Value zero = makeFloat(0.0);
        Value hasNoKey = isEqual(args[1], 0.0);
        Value average = arith::DivFOp::create(builder, loc, args[0], args[1]);
        return roundOnce(builder, loc, select(hasNoKey, zero, average),
                         elementType);
      });
}

/// lse[r] = rowMax[r] + ln(rowSum[r]), -inf for a row without a key.
Value SoftmaxDecomposer::buildLse(Value rowMax, Value rowSum) {
  OpFoldResult rows = tensor::getMixedSize(builder, loc, rowMax, 0);
  FloatType type = getComputeType(op);
  return buildGeneric(
      {rowMax, rowSum}, makeEmpty({rows}, type), {{0}, {0}, {0}}, 1,
      [&](ValueRange args) -> Value {
        Value hasNoKey = isEqual(args[1], 0.0);
        Value log = math::LogOp::create(builder, loc, args[1]);
        Value lse = arith::AddFOp::create(builder, loc, args[0], log);
        return roundOnce(builder, loc,
                         select(hasNoKey, makeFloat(-infinity), lse), type);
      });
}

/// One head of one batch entry; `results` and the values returned are whole.
SmallVector<Value> SoftmaxDecomposer::buildHead(const Entry &entry, Value h,
                                                ValueRange results) {
  // Heads of a group share their key and value head; nothing is repeated.
  Value group = arith::DivUIOp::create(builder, loc, getDim(op.getQuery(), 1),
                                       getDim(op.getKey(), 1));
  Value keyHead = arith::DivUIOp::create(builder, loc, h, group);
  Value query = extractHead(op.getQuery(), entry.batch, h, entry.queries);
  Value key = extractHead(op.getKey(), entry.batch, keyHead, entry.keys);
  Value value = extractHead(op.getValue(), entry.batch, keyHead, entry.keys);

  Value logits = buildLogits(buildDots(query, key), entry, h);
  OpFoldResult rows = tensor::getMixedSize(builder, loc, query, 0);
  Value sinks = linalg::FillOp::create(builder, loc, logit.buildSink(h),
                                       makeEmpty({rows}, f64))
                    .getResult(0);
  Value rowMax = buildGeneric(
      {logits}, sinks, {{0, 1}, {0}}, 2, [&](ValueRange args) -> Value {
        return arith::MaximumFOp::create(builder, loc, args[0], args[1]);
      });
  Value weights = buildWeights(logits, rowMax);
  Value sinkWeights = buildSinkWeights(sinks, rowMax);
  Value rowSum = buildGeneric(
      {weights}, sinkWeights, {{0, 1}, {0}}, 2, [&](ValueRange args) -> Value {
        return arith::AddFOp::create(builder, loc, args[0], args[1]);
      });
  Value output = buildAverage(logits, weights, rowSum, value);
  SmallVector<Value> inserted{
      insertHead(output, results[0], entry.batch, h, entry.queries)};
  if (op.getLse())
    inserted.push_back(insertHead(buildLse(rowMax, rowSum), results[1],
                                  entry.batch, h, entry.queries));
  return inserted;
}

SmallVector<Value> SoftmaxDecomposer::buildHeads(const Entry &entry,
                                                 ValueRange results) {
  return buildLoop(getDim(op.getQuery(), 1), results,
                   [&](Value h, ValueRange carried) {
                     return buildHead(entry, h, carried);
                   });
}

SmallVector<Value> SoftmaxDecomposer::buildBatches(ValueRange results) {
  OpFoldResult zero = builder.getIndexAttr(0);
  Rows queries{zero, tensor::getMixedSize(builder, loc, op.getQuery(), 2)};
  Rows keys{zero, tensor::getMixedSize(builder, loc, op.getKey(), 2)};
  return buildLoop(getDim(op.getQuery(), 0), results,
                   [&](Value b, ValueRange carried) {
                     return buildHeads({b, b, queries, keys}, carried);
                   });
}

/// Sequence n has the rows from start n to below start n + 1. Where a start is
/// less than one before it, the sequence is empty.
SmallVector<Value> SoftmaxDecomposer::buildSequences(ValueRange results) {
  auto readStart = [&](Value starts, Value n, Value least, Value tensor) {
    Value start = arith::MinSIOp::create(builder, loc,
                                         buildPerBatch(builder, loc, starts, n),
                                         getDim(tensor, 2));
    return arith::MaxSIOp::create(builder, loc, start, least).getResult();
  };
  Value zero = makeIndex(0), one = makeIndex(1);
  Value queryStarts = op.getQueryStarts(), keyStarts = op.getKeyStarts();
  SmallVector<Value> inits(results);
  inits.push_back(readStart(queryStarts, zero, zero, op.getQuery()));
  inits.push_back(readStart(keyStarts, zero, zero, op.getKey()));
  Value count =
      arith::SubIOp::create(builder, loc, getDim(queryStarts, 0), one);
  SmallVector<Value> all =
      buildLoop(count, inits, [&](Value n, ValueRange carried) {
        Value query = carried[carried.size() - 2], key = carried.back();
        Value next = arith::AddIOp::create(builder, loc, n, one);
        Value queryEnd = readStart(queryStarts, next, query, op.getQuery());
        Value keyEnd = readStart(keyStarts, next, key, op.getKey());
        auto count = [&](Value first, Value end) -> OpFoldResult {
          return arith::SubIOp::create(builder, loc, end, first).getResult();
        };
        Entry entry{n,
                    builder.getIndexAttr(0),
                    {query, count(query, queryEnd)},
                    {key, count(key, keyEnd)}};
        SmallVector<Value> after = buildHeads(entry, carried.drop_back(2));
        after.append({queryEnd, keyEnd});
        return after;
      });
  all.truncate(results.size());
  return all;
}

SmallVector<Value> SoftmaxDecomposer::build() {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, op.getQuery());
  sizes[3] = tensor::getMixedSize(builder, loc, op.getValue(), 3);
  SmallVector<Value> inits;
  for (Value result : op->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    Value init =
        makeEmpty(ArrayRef<OpFoldResult>(sizes).take_front(type.getRank()),
                  type.getElementType());
    // A row of no sequence is a row without a key.
    if (op.getQueryStarts()) {
      Value rest = arith::ConstantOp::create(
          builder, loc,
          builder.getFloatAttr(type.getElementType(),
                               type.getRank() == 4 ? 0.0 : -infinity));
      init = linalg::FillOp::create(builder, loc, rest, init).getResult(0);
    }
    inits.push_back(init);
  }
  return op.getQueryStarts() ? buildSequences(inits) : buildBatches(inits);
}

namespace {

struct DecomposeSoftmaxPass
    : public attn::impl::DecomposeSoftmaxBase<DecomposeSoftmaxPass> {
  void runOnOperation() override {
    SmallVector<SoftmaxFamilyInterface> ops;
    getOperation().walk([&](SoftmaxFamilyInterface op) { ops.push_back(op); });
    for (SoftmaxFamilyInterface op : ops) {
      OpBuilder builder(op);
      SmallVector<Value> results = SoftmaxDecomposer(op, builder).build();
      op->replaceAllUsesWith(castToResults(builder, op, results));
      op->erase();
    }
  }
};

} // namespace
