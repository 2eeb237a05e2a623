// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.linear as loops over tokens in f64: what the reference device runs and
// what every form of it is compared with. It is written from the op's
// definition; no rewrite runs before it. The state is a tensor that the loop
// over tokens carries.

#include "passes/decompose/PackedRows.h"
#include "passes/decompose/TokenBuilder.h"
#include "passes/decompose/WidenRegion.h"

#include "passes/Passes.h"

namespace mlir::attn {
#define GEN_PASS_DEF_DECOMPOSELINEAR
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// Builds the decomposition of one op at the builder's insertion point.
class LinearDecomposer : F64Builder {
public:
  LinearDecomposer(LinearOp op, OpBuilder &builder)
      : F64Builder(builder, op.getLoc()), op(op), tokens(op, builder) {}

  /// The values for the results of the op.
  SmallVector<Value> build();

private:
  using Head = TokenBuilder::Head;

  SmallVector<Value> buildHead(const Head &head, ValueRange results);
  Value buildFirstState(const Head &head);
  /// The output and the state after all tokens.
  std::pair<Value, Value> buildCausal(const Head &head, Value state,
                                      Value length, Value output);
  std::pair<Value, Value> buildBlocks(const Head &head, Value state,
                                      Value length, Value output);
  /// The state after tokens `first` to below `end`.
  Value buildTokens(const Head &head, Value first, Value end, Value state);
  /// `output` with rows `first` to below `end`, which read `state`.
  Value buildRows(const Head &head, Value first, Value end, Value state,
                  Value output);

  /// The state of a head in a tensor of all.
  struct StateSlice {
    SmallVector<OpFoldResult> offsets, sizes, strides;
  };
  StateSlice getStateSlice(const Head &head);
  template <typename OpTy> Value apply(Value x, Value y) {
    return OpTy::create(builder, loc, x, y);
  }

  LinearOp op;
  TokenBuilder tokens;
};

} // namespace

Value LinearDecomposer::buildTokens(const Head &head, Value first, Value end,
                                    Value state) {
  return buildLoop(first, end, state,
                   [&](Value t, ValueRange carried) -> SmallVector<Value> {
                     Token token = tokens.readToken(head, t);
                     return {tokens.buildNext(token, carried[0])};
                   })[0];
}

Value LinearDecomposer::buildRows(const Head &head, Value first, Value end,
                                  Value state, Value output) {
  return buildLoop(first, end, output,
                   [&](Value t, ValueRange carried) -> SmallVector<Value> {
                     return {
                         tokens.buildRows(head, t, state, nullptr, carried[0])};
                   })[0];
}

/// Rows read the state after their token, or before it with the bonus. Those
/// from the length on have no token.
std::pair<Value, Value> LinearDecomposer::buildCausal(const Head &head,
                                                      Value state, Value length,
                                                      Value output) {
  SmallVector<Value> carried =
      buildLoop(makeIndex(0), length, {state, output},
                [&](Value t, ValueRange carried) -> SmallVector<Value> {
                  auto [state, output] = std::pair(carried[0], carried[1]);
                  Token token = tokens.readToken(head, t);
                  if (op.getBonus())
                    output = tokens.buildRows(head, t, state, &token, output);
                  state = tokens.buildNext(token, state);
                  if (!op.getBonus())
                    output = tokens.buildRows(head, t, state, nullptr, output);
                  return {state, output};
                });
  Value rows = getDim(op.getQuery(), 2);
  return {buildRows(head, length, rows, carried[0], carried[1]), carried[0]};
}

/// All rows of a block read the state before it.
std::pair<Value, Value> LinearDecomposer::buildBlocks(const Head &head,
                                                      Value state, Value length,
                                                      Value output) {
  Value rows = getDim(op.getQuery(), 2);
  Value size = makeIndex(static_cast<int64_t>(*op.getBlock()));
  Value count = arith::CeilDivSIOp::create(builder, loc, rows, size);
  SmallVector<Value> carried = buildLoop(
      count, {state, output},
      [&](Value n, ValueRange carried) -> SmallVector<Value> {
        Value first = apply<arith::MulIOp>(n, size);
        Value left = apply<arith::SubIOp>(rows, first);
        Value end =
            apply<arith::AddIOp>(first, apply<arith::MinSIOp>(size, left));
        Value rowsDone = buildRows(head, first, end, carried[0], carried[1]);
        Value lastToken = apply<arith::MinSIOp>(end, length);
        return {buildTokens(head, first, lastToken, carried[0]), rowsDone};
      });
  return {carried[1], carried[0]};
}

LinearDecomposer::StateSlice LinearDecomposer::getStateSlice(const Head &head) {
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  SmallVector<OpFoldResult> sizes = tokens.getStateSizes();
  return {{head.b, head.state, zero, zero},
          {one, one, sizes[0], sizes[1]},
          SmallVector<OpFoldResult>(4, one)};
}

/// The operand, or zeros.
Value LinearDecomposer::buildFirstState(const Head &head) {
  Value state = makeFilled(tokens.getStateSizes(), 0.0);
  if (!op.getState())
    return state;
  auto type =
      RankedTensorType::get(cast<RankedTensorType>(state.getType()).getShape(),
                            getElementTypeOrSelf(op.getState().getType()));
  StateSlice slice = getStateSlice(head);
  Value first =
      tensor::ExtractSliceOp::create(builder, loc, type, op.getState(),
                                     slice.offsets, slice.sizes, slice.strides);
  return buildGeneric(first, state, {{0, 1}, {0, 1}}, 2, [&](ValueRange args) {
    return widenFloat(builder, loc, args[0], f64);
  });
}

/// One state of one batch entry; `results` and the values returned are whole.
SmallVector<Value> LinearDecomposer::buildHead(const Head &head,
                                               ValueRange results) {
  Value count = getDim(op.getKey(), 2), rows = getDim(op.getQuery(), 2);
  Value length = buildLength(op.getLengths(), head.b, count);
  Value state = buildFirstState(head), output = results[0];
  if (op.getBlock()) {
    std::tie(output, state) = buildBlocks(head, state, length, output);
  } else if (op.getCausal()) {
    std::tie(output, state) = buildCausal(head, state, length, output);
  } else {
    state = buildTokens(head, makeIndex(0), length, state);
    output = buildRows(head, makeIndex(0), rows, state, output);
  }
  SmallVector<Value> after{output};
  if (op.getFinalState()) {
    StateSlice slice = getStateSlice(head);
    after.push_back(tensor::InsertSliceOp::create(
        builder, loc, roundAll(state, op.getComputeType()), results[1],
        slice.offsets, slice.sizes, slice.strides));
  }
  return after;
}

SmallVector<Value> LinearDecomposer::build() {
  ReifiedRankedShapedTypeDims shapes;
  (void)op.reifyResultShapes(builder, shapes);
  SmallVector<Value> inits;
  for (auto [result, sizes] : llvm::zip(op->getResults(), shapes))
    inits.push_back(makeEmpty(sizes, getElementTypeOrSelf(result.getType())));
  return buildLoop(
      getDim(op.getQuery(), 0), inits, [&](Value b, ValueRange carried) {
        return buildLoop(getDim(op.getValue(), 1), carried,
                         [&](Value h, ValueRange carried) {
                           return buildHead(tokens.buildHead(b, h), carried);
                         });
      });
}

namespace {

struct DecomposeLinearPass
    : public attn::impl::DecomposeLinearBase<DecomposeLinearPass> {
  void runOnOperation() override {
    SmallVector<LinearOp> packed, ops;
    getOperation().walk([&](LinearOp op) {
      if (op.getQueryStarts())
        packed.push_back(op);
    });
    for (LinearOp op : packed) {
      OpBuilder builder(op);
      unpackLinear(builder, op);
    }
    getOperation().walk([&](LinearOp op) { ops.push_back(op); });
    for (LinearOp op : ops) {
      OpBuilder builder(op);
      SmallVector<Value> results = LinearDecomposer(op, builder).build();
      op->replaceAllUsesWith(castToResults(builder, op, results));
      op->erase();
    }
  }
};

} // namespace
