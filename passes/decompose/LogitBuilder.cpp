// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LogitBuilder.h.

#include "passes/decompose/LogitBuilder.h"

#include "passes/decompose/WidenRegion.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::attn;
using arith::CmpIPredicate;

static constexpr double infinity = std::numeric_limits<double>::infinity();

LogitBuilder::Positions LogitBuilder::buildPositions(Value b, Value queryRows,
                                                     Value keyRows) {
  Positions positions;
  Value zero = makeIndex(0);
  positions.length = buildLength(op.getLengths(), b, keyRows);
  positions.keyOffset = op.getKeyOffset() ? op.getKeyOffset() : zero;
  positions.offset = zero;
  if (Value offset = op.getOffset())
    positions.offset = buildPerBatch(builder, loc, offset, b);
  else if (op.getAlign() == Alignment::BottomRight)
    positions.offset =
        arith::SubIOp::create(builder, loc, positions.length, queryRows);
  return positions;
}

/// The conjunction of mask attributes and the keep region, or null. A keep
/// region is computed in the types it is written in: a predicate has no more
/// exact form than the one that the program states.
Value LogitBuilder::buildMask(Value b, Value h, Value i, Value j) {
  return buildKeep(op, builder, loc, b, h, i, j,
                   [](Region &region, OpBuilder &builder, ValueRange args) {
                     return inlineWidened(region, builder, args,
                                          builder.getF32Type());
                   });
}

/// The element of `operand`, which broadcasts to B x Hq x Sq x Skv.
Value LogitBuilder::readBroadcast(Value operand, Value b, Value h, Value r,
                                  Value t) {
  int64_t rank = cast<RankedTensorType>(operand.getType()).getRank();
  Value all[] = {b, h, r, t};
  SmallVector<Value> indices;
  for (int64_t dim = 0; dim < rank; ++dim) {
    Value isOne = arith::CmpIOp::create(builder, loc, CmpIPredicate::eq,
                                        getDim(operand, dim), makeIndex(1));
    indices.push_back(select(isOne, makeIndex(0), all[4 - rank + dim]));
  }
  return tensor::ExtractOp::create(builder, loc, operand, indices);
}

/// The number, the value or 1/sqrt(Dk).
Value LogitBuilder::buildScale() {
  if (Value scale = op.getScaleValue())
    return widenFloat(builder, loc, scale, f64);
  if (std::optional<double> number = getStaticScale(op))
    return makeFloat(*number);
  Value headDim = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                             getDim(op.getQuery(), 3));
  Value root = math::SqrtOp::create(
      builder, loc, arith::SIToFPOp::create(builder, loc, f64, headDim));
  return arith::DivFOp::create(builder, loc, makeFloat(1.0), root);
}

Value LogitBuilder::buildLogit(Value dot, Value b, Value h, Value r, Value t,
                               const Positions &positions) {
  Value logit = arith::MulFOp::create(builder, loc, dot, buildScale());
  if (op.getSoftcap() || op.getSoftcapValue()) {
    Value cap = op.getSoftcap()
                    ? makeFloat(op.getSoftcap()->convertToDouble())
                    : widenFloat(builder, loc, op.getSoftcapValue(), f64);
    Value ratio = arith::DivFOp::create(builder, loc, logit, cap);
    logit = arith::MulFOp::create(builder, loc, cap,
                                  math::TanhOp::create(builder, loc, ratio));
  }
  Value i = arith::AddIOp::create(builder, loc, r, positions.offset);
  Value j = arith::AddIOp::create(builder, loc, t, positions.keyOffset);
  // f32 is only what the region of an op in f32 happens to be written in;
  // beside f64 it is what the program asks for.
  FloatType least = getComputeType(op).isF64() ? builder.getF32Type() : f64;
  if (!op.getScore().empty())
    logit = inlineWidened(op.getScore(), builder, {logit, b, h, i, j}, least);
  if (Value slopes = op.getAlibi()) {
    Value slope = tensor::ExtractOp::create(builder, loc, slopes, h);
    Value distance =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                   arith::SubIOp::create(builder, loc, j, i));
    Value term = arith::MulFOp::create(
        builder, loc, widenFloat(builder, loc, slope, f64),
        arith::SIToFPOp::create(builder, loc, f64, distance));
    logit = arith::AddFOp::create(builder, loc, logit, term);
  }
  if (Value bias = op.getBias())
    logit = arith::AddFOp::create(
        builder, loc, logit,
        widenFloat(builder, loc, readBroadcast(bias, b, h, r, t), f64));
  Value keep = buildMask(b, h, i, j);
  auto conjoin = [&](Value condition) {
    keep =
        keep ? arith::AndIOp::create(builder, loc, keep, condition).getResult()
             : condition;
  };
  if (Value selected = op.getSelect()) {
    Value byte = readBroadcast(selected, b, h, r, t);
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(byte.getType(), 0));
    conjoin(arith::CmpIOp::create(builder, loc, CmpIPredicate::ne, byte, zero));
  }
  if (op.getLengths())
    conjoin(arith::CmpIOp::create(builder, loc, CmpIPredicate::slt, t,
                                  positions.length));
  return keep ? select(keep, logit, makeFloat(-infinity)) : logit;
}

Value LogitBuilder::buildSink(Value h) {
  if (!op.getSinks())
    return makeFloat(-infinity);
  Value sink = tensor::ExtractOp::create(builder, loc, op.getSinks(), h);
  return widenFloat(builder, loc, sink, f64);
}
