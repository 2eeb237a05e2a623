// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention sinks: the state that a query tile starts from.

#include "passes/tile/Tile.h"

using namespace mlir;
using namespace mlir::attn;

/// The sink of row `row` of `tile`, as the type of logits.
static Value emitSink(OpBuilder &b, Location loc, SoftmaxFamilyInterface op,
                      const QueryTile &tile, Value row) {
  Value head = tile.head;
  if (op.hasGroupedHeads()) {
    // Rows of padding have some head's sink; what they hold is not used.
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value positions = b.createOrFold<arith::MaxSIOp>(loc, tile.rows, one);
    Value last = b.createOrFold<arith::SubIOp>(loc, tile.heads, one);
    Value inTile = arith::MinSIOp::create(
        b, loc, arith::DivUIOp::create(b, loc, row, positions), last);
    head = arith::AddIOp::create(b, loc, head, inTile);
  }
  Value sink = tensor::ExtractOp::create(b, loc, op.getSinks(), head);
  FloatType type = getComputeType(op);
  if (sink.getType() == type)
    return sink;
  return arith::ExtFOp::create(b, loc, type, sink);
}

void attn::emitSinkState(OpBuilder &builder, SoftmaxFamilyInterface op,
                         const QueryTile &tile, SmallVectorImpl<Value> &state) {
  FloatType type = getComputeType(op);
  auto build = [&](OpBuilder &b, Location loc, ValueRange) {
    auto number = [&](double x) -> Value {
      return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, x));
    };
    auto equals = [&](Value x, Value y) -> Value {
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y);
    };
    Value sink = emitSink(b, loc, op, tile, linalg::IndexOp::create(b, loc, 0));
    // A sink of -inf has no weight; NaN and infinity make the sum NaN, and with
    // it the row, whatever the maximum.
    Value none = number(-std::numeric_limits<double>::infinity());
    Value nothing = arith::SubFOp::create(b, loc, sink, sink);
    Value weight = arith::SelectOp::create(
        b, loc, equals(sink, none), number(0.0),
        arith::AddFOp::create(b, loc, number(1.0), nothing));
    Value max = arith::SelectOp::create(b, loc, equals(nothing, number(0.0)),
                                        sink, none);
    linalg::YieldOp::create(b, loc, {max, weight});
  };
  AffineMap rows = builder.getMultiDimIdentityMap(1);
  auto generic = linalg::GenericOp::create(
      builder, op.getLoc(), TypeRange{state[1].getType(), state[2].getType()},
      ValueRange{}, ValueRange{state[1], state[2]},
      ArrayRef<AffineMap>{rows, rows},
      ArrayRef<utils::IteratorType>{utils::IteratorType::parallel}, build);
  state[1] = generic.getResult(0);
  state[2] = generic.getResult(1);
}
