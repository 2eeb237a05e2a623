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
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace {

/// Builds the decomposition of one op at the builder's insertion point.
class SoftmaxDecomposer {
public:
  SoftmaxDecomposer(SoftmaxFamilyInterface op, OpBuilder &builder)
      : op(op), builder(builder), logit(op, builder), loc(op.getLoc()),
        f64(builder.getF64Type()) {}

  /// The values for the results of the op.
  SmallVector<Value> build();

private:
  using Body = function_ref<Value(ValueRange)>;

  SmallVector<Value> buildHead(Value b, Value h, ValueRange results);
  Value buildDots(Value query, Value key);
  Value buildLogits(Value dots, Value b, Value h);
  Value buildWeight(Value logit, Value max);
  Value buildSinkWeights(Value sinks, Value rowMax);
  Value buildWeights(Value logits, Value rowMax);
  Value buildAverage(Value logits, Value weights, Value rowSum, Value value);
  Value buildLse(Value rowMax, Value rowSum);

  Value getDim(Value tensor, int64_t dim) {
    return builder.createOrFold<tensor::DimOp>(loc, tensor, dim);
  }
  Value makeIndex(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value makeFloat(double value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(f64, value));
  }
  Value compare(CmpFPredicate predicate, Value left, Value right) {
    return arith::CmpFOp::create(builder, loc, predicate, left, right);
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  }
  /// The plane of a B x H x S x D tensor, or the row of a B x H x S one.
  struct HeadSlice {
    SmallVector<OpFoldResult> offsets, sizes, strides;
  };
  HeadSlice getHeadSlice(Value tensor, Value b, Value h);
  Value extractHead(Value tensor, Value b, Value h);
  Value insertHead(Value head, Value tensor, Value b, Value h);
  Value makeEmpty(ArrayRef<OpFoldResult> sizes, Type type) {
    return tensor::EmptyOp::create(builder, loc, sizes, type);
  }
  Value makeFilled(ArrayRef<OpFoldResult> sizes, double value) {
    return linalg::FillOp::create(builder, loc, makeFloat(value),
                                  makeEmpty(sizes, f64))
        .getResult(0);
  }
  Value buildGeneric(ValueRange inputs, Value init,
                     ArrayRef<ArrayRef<int64_t>> maps, int64_t numLoops,
                     Body body) {
    return buildPlainGeneric(builder, loc, inputs, init, maps, numLoops, body);
  }

  SoftmaxFamilyInterface op;
  OpBuilder &builder;
  LogitBuilder logit;
  Location loc;
  FloatType f64;
};

} // namespace

static constexpr double infinity = std::numeric_limits<double>::infinity();

SoftmaxDecomposer::HeadSlice SoftmaxDecomposer::getHeadSlice(Value tensor,
                                                             Value b, Value h) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  OpFoldResult one = builder.getIndexAttr(1), zero = builder.getIndexAttr(0);
  HeadSlice slice{{b, h}, {one, one}, SmallVector<OpFoldResult>(rank, one)};
  for (int64_t dim = 2; dim < rank; ++dim) {
    slice.offsets.push_back(zero);
    slice.sizes.push_back(tensor::getMixedSize(builder, loc, tensor, dim));
  }
  return slice;
}

Value SoftmaxDecomposer::extractHead(Value tensor, Value b, Value h) {
  auto type = cast<RankedTensorType>(tensor.getType());
  HeadSlice slice = getHeadSlice(tensor, b, h);
  auto headType = RankedTensorType::get(type.getShape().drop_front(2),
                                        type.getElementType());
  return tensor::ExtractSliceOp::create(builder, loc, headType, tensor,
                                        slice.offsets, slice.sizes,
                                        slice.strides);
}

Value SoftmaxDecomposer::insertHead(Value head, Value tensor, Value b,
                                    Value h) {
  HeadSlice slice = getHeadSlice(tensor, b, h);
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

Value SoftmaxDecomposer::buildLogits(Value dots, Value b, Value h) {
  LogitBuilder::Positions positions = logit.buildPositions(b);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, dots);
  return buildGeneric({dots}, makeEmpty(sizes, f64), {{0, 1}, {0, 1}}, 2,
                      [&](ValueRange args) -> Value {
                        Value r = linalg::IndexOp::create(builder, loc, 0);
                        Value t = linalg::IndexOp::create(builder, loc, 1);
                        return logit.buildLogit(args[0], b, h, r, t, positions);
                      });
}

/// exp(logit - max), 0 where the logit is -inf. A row without a key and a sink
/// has the maximum -inf, from which nothing is subtracted.
Value SoftmaxDecomposer::buildWeight(Value logit, Value max) {
  Value isMasked = compare(CmpFPredicate::OEQ, logit, makeFloat(-infinity));
  Value shifted = arith::SubFOp::create(builder, loc, logit, max);
  Value weight = math::ExpOp::create(builder, loc, shifted);
  return select(isMasked, makeFloat(0.0), weight);
}

/// weights[r,t] = exp(logits[r,t] - rowMax[r])
Value SoftmaxDecomposer::buildWeights(Value logits, Value rowMax) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, logits);
  return buildGeneric(
      {logits, rowMax}, makeEmpty(sizes, f64), {{0, 1}, {0}, {0, 1}}, 2,
      [&](ValueRange args) { return buildWeight(args[0], args[1]); });
}

/// exp(sinks[r] - rowMax[r]), the weight of each row that has no value.
Value SoftmaxDecomposer::buildSinkWeights(Value sinks, Value rowMax) {
  OpFoldResult rows = tensor::getMixedSize(builder, loc, sinks, 0);
  return buildGeneric(
      {sinks, rowMax}, makeEmpty({rows}, f64), {{0}, {0}, {0}}, 1,
      [&](ValueRange args) { return buildWeight(args[0], args[1]); });
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
        Value isMasked =
            compare(CmpFPredicate::OEQ, args[0], makeFloat(-infinity));
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
        Value hasNoKey = compare(CmpFPredicate::OEQ, args[1], zero);
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
        Value hasNoKey = compare(CmpFPredicate::OEQ, args[1], makeFloat(0.0));
        Value log = math::LogOp::create(builder, loc, args[1]);
        Value lse = arith::AddFOp::create(builder, loc, args[0], log);
        return roundOnce(builder, loc,
                         select(hasNoKey, makeFloat(-infinity), lse), type);
      });
}

/// One head of one batch entry; `results` and the values returned are whole.
SmallVector<Value> SoftmaxDecomposer::buildHead(Value b, Value h,
                                                ValueRange results) {
  // Heads of a group share their key and value head; nothing is repeated.
  Value group = arith::DivUIOp::create(builder, loc, getDim(op.getQuery(), 1),
                                       getDim(op.getKey(), 1));
  Value keyHead = arith::DivUIOp::create(builder, loc, h, group);
  Value query = extractHead(op.getQuery(), b, h);
  Value key = extractHead(op.getKey(), b, keyHead);
  Value value = extractHead(op.getValue(), b, keyHead);

  Value logits = buildLogits(buildDots(query, key), b, h);
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
  SmallVector<Value> inserted{insertHead(output, results[0], b, h)};
  if (op.getLse())
    inserted.push_back(insertHead(buildLse(rowMax, rowSum), results[1], b, h));
  return inserted;
}

SmallVector<Value> SoftmaxDecomposer::build() {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, op.getQuery());
  sizes[3] = tensor::getMixedSize(builder, loc, op.getValue(), 3);
  auto outputType = cast<RankedTensorType>(op.getOutput().getType());
  SmallVector<Value> inits{makeEmpty(sizes, outputType.getElementType())};
  if (op.getLse())
    inits.push_back(makeEmpty(ArrayRef<OpFoldResult>(sizes).take_front(3),
                              getComputeType(op)));
  Value zero = makeIndex(0), one = makeIndex(1);
  auto buildLoop = [&](Value end, ValueRange inits,
                       function_ref<SmallVector<Value>(Value, ValueRange)> body)
      -> SmallVector<Value> {
    auto loop = scf::ForOp::create(
        builder, loc, zero, end, one, inits,
        [&](OpBuilder &inner, Location, Value index, ValueRange carried) {
          OpBuilder::InsertionGuard guard(builder);
          builder.setInsertionPointToEnd(inner.getInsertionBlock());
          scf::YieldOp::create(builder, loc, body(index, carried));
        });
    return SmallVector<Value>(loop.getResults());
  };
  return buildLoop(getDim(op.getQuery(), 0), inits,
                   [&](Value b, ValueRange carried) {
                     return buildLoop(getDim(op.getQuery(), 1), carried,
                                      [&](Value h, ValueRange results) {
                                        return buildHead(b, h, results);
                                      });
                   });
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
      op->replaceAllUsesWith(results);
      op->erase();
    }
  }
};

} // namespace
