// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tile ops as plain linalg in f64, one equation of their definitions after the
// other. Nothing of the cpu stage is shared: what the tile stage leaves can be
// run by these, and so be told from what the cpu stage makes of it.

#include "passes/decompose/LinearTileBuilder.h"
#include "passes/decompose/PlainGeneric.h"
#include "passes/decompose/WidenRegion.h"

#include "passes/Passes.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::attn {
#define GEN_PASS_DEF_DECOMPOSETILES
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

static constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {

/// Builds the decompositions at the builder's insertion point.
class TileDecomposer : F64Builder {
public:
  using F64Builder::F64Builder;

  SmallVector<Value> build(OnlineSoftmaxOp op);
  SmallVector<Value> build(OnlineMergeOp op);
  SmallVector<Value> build(OnlineFinishOp op);
  SmallVector<Value> build(MatmulTileOp op);
  SmallVector<Value> build(RunningMaxOp op);

private:
  using Maps = ArrayRef<ArrayRef<int64_t>>;
  using Body = function_ref<Value(ValueRange)>;

  Value buildLogits(OnlineSoftmaxOp op);
  Value buildLogit(OnlineSoftmaxOp op, Value dot, Value row, Value key);
  Value buildDots(OnlineSoftmaxOp op);
  /// acc'[d,r] = factor[r] acc[d,r] + sum_t weights[r,t] V[t,d]
  Value buildAccumulator(OnlineSoftmaxOp op, Value logits, Value weights,
                         Value factor);
  /// exp(from[r] - to[r]), 0 where from is -inf.
  Value buildFactor(Value from, Value to);
  /// Head and position of a row, which may be beyond the tile's last: then
  /// those of the last, so that nothing is read out of bounds.
  std::pair<Value, Value> splitRow(OnlineSoftmaxOp op, Value row);

  /// Each element computed in f64 and rounded to the type of `init`, which
  /// `body` gets last where it is an operand of the sum.
  Value map(ValueRange inputs, Value init, Maps maps, Body body);
  Value empty(Value like) {
    return tensor::EmptyOp::create(builder, loc,
                                   tensor::getMixedSizes(builder, loc, like),
                                   getElementTypeOrSelf(like.getType()));
  }
  Value filled(ArrayRef<OpFoldResult> sizes, double value) {
    Value init = tensor::EmptyOp::create(builder, loc, sizes, f64);
    return linalg::FillOp::create(builder, loc, makeFloat(value), init)
        .getResult(0);
  }
  OpFoldResult dim(Value tensor, int64_t dim) {
    return tensor::getMixedSize(builder, loc, tensor, dim);
  }
  Value index(OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(builder, loc, value);
  }
  Value wide(Value value) { return widenFloat(builder, loc, value, f64); }
  template <typename OpTy> Value apply(Value x, Value y) {
    return OpTy::create(builder, loc, x, y);
  }
};

} // namespace

Value TileDecomposer::map(ValueRange inputs, Value init, Maps maps, Body body) {
  auto element = cast<FloatType>(getElementTypeOrSelf(init.getType()));
  return buildPlainGeneric(builder, loc, inputs, init, maps, maps.back().size(),
                           [&](ValueRange args) {
                             SmallVector<Value> widened;
                             for (Value arg : args)
                               widened.push_back(wide(arg));
                             return roundOnce(builder, loc, body(widened),
                                              element);
                           });
}

//===- online_softmax -----------------------------------------------------===//

std::pair<Value, Value> TileDecomposer::splitRow(OnlineSoftmaxOp op,
                                                 Value row) {
  Value zero = makeIndex(0), one = makeIndex(1);
  Value heads = index(dim(op.getQuery(), 0));
  Value positions = index(dim(op.getQuery(), 1));
  Value last =
      apply<arith::SubIOp>(apply<arith::MulIOp>(heads, positions), one);
  Value inside = apply<arith::MaxSIOp>(apply<arith::MinSIOp>(row, last), zero);
  Value perHead = op.getFold() ? op.getFold() : positions;
  perHead = apply<arith::MaxSIOp>(perHead, one);
  return {apply<arith::DivUIOp>(inside, perHead),
          apply<arith::RemUIOp>(inside, perHead)};
}

/// dots[r,t] = sum_d Q[g,s,d] K[t,d] for row r, of head g at position s.
Value TileDecomposer::buildDots(OnlineSoftmaxOp op) {
  Value init =
      filled({builder.getIndexAttr(op.getNumRows()), dim(op.getKey(), 0)}, 0.0);
  return buildPlainGeneric(
      builder, loc, op.getKey(), init, {{1, 2}, {0, 1}}, 3,
      [&](ValueRange args) -> Value {
        auto [head, position] =
            splitRow(op, linalg::IndexOp::create(builder, loc, 0));
        Value element = tensor::ExtractOp::create(
            builder, loc, op.getQuery(),
            ValueRange{head, position,
                       linalg::IndexOp::create(builder, loc, 2)});
        Value product = apply<arith::MulFOp>(wide(element), wide(args[0]));
        return apply<arith::AddFOp>(args[1], product);
      });
}

Value TileDecomposer::buildLogit(OnlineSoftmaxOp op, Value dot, Value row,
                                 Value key) {
  Value logit = apply<arith::MulFOp>(dot, wide(op.getScale()));
  if (std::optional<APFloat> softcap = op.getSoftcap()) {
    Value cap = makeFloat(softcap->convertToDouble());
    Value ratio = apply<arith::DivFOp>(logit, cap);
    logit =
        apply<arith::MulFOp>(cap, math::TanhOp::create(builder, loc, ratio));
  }
  auto [head, position] = splitRow(op, row);
  Value h = apply<arith::AddIOp>(op.getH(), head);
  Value i = apply<arith::AddIOp>(op.getI(), position);
  Value j = apply<arith::AddIOp>(op.getJ(), key);
  // As in the decomposition of the whole op.
  bool isF64 = getElementTypeOrSelf(op.getAcc().getType()).isF64();
  FloatType least = isF64 ? builder.getF32Type() : f64;
  if (!op.getScore().empty())
    logit = inlineWidened(op.getScore(), builder, {logit, op.getB(), h, i, j},
                          least);
  if (op.getKeep().empty())
    return logit;
  Value keep = inlineWidened(op.getKeep(), builder, {op.getB(), h, i, j},
                             builder.getF32Type());
  Value isMasked = apply<arith::AndIOp>(
      op.getMasked(), apply<arith::XOrIOp>(keep, arith::ConstantIntOp::create(
                                                     builder, loc, true, 1)));
  return select(isMasked, makeFloat(-infinity), logit);
}

Value TileDecomposer::buildLogits(OnlineSoftmaxOp op) {
  Value dots = buildDots(op);
  return map(dots, empty(dots), {{0, 1}, {0, 1}}, [&](ValueRange args) {
    return buildLogit(op, args[0], linalg::IndexOp::create(builder, loc, 0),
                      linalg::IndexOp::create(builder, loc, 1));
  });
}

Value TileDecomposer::buildFactor(Value from, Value to) {
  Value init = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, from), f64);
  return map({from, to}, init, {{0}, {0}, {0}},
             [&](ValueRange args) { return makeWeight(args[0], args[1]); });
}

Value TileDecomposer::buildAccumulator(OnlineSoftmaxOp op, Value logits,
                                       Value weights, Value factor) {
  // acc may have rows beyond the columns of V, which nobody reads.
  Value lastColumn =
      apply<arith::SubIOp>(index(dim(op.getValue(), 1)), makeIndex(1));
  Value total = buildPlainGeneric(
      builder, loc, {logits, weights},
      filled(tensor::getMixedSizes(builder, loc, op.getAcc()), 0.0),
      {{1, 2}, {1, 2}, {0, 1}}, 3, [&](ValueRange args) {
        Value column = apply<arith::MinSIOp>(
            linalg::IndexOp::create(builder, loc, 0), lastColumn);
        Value element = tensor::ExtractOp::create(
            builder, loc, op.getValue(),
            ValueRange{linalg::IndexOp::create(builder, loc, 2), column});
        // A key without weight adds 0, not 0 times what its row holds.
        Value term = select(isEqual(args[0], -infinity), makeFloat(0.0),
                            apply<arith::MulFOp>(args[1], wide(element)));
        return apply<arith::AddFOp>(args[2], term);
      });
  return map({op.getAcc(), factor, total}, empty(op.getAcc()),
             {{0, 1}, {1}, {0, 1}, {0, 1}}, [&](ValueRange args) {
               return apply<arith::AddFOp>(
                   apply<arith::MulFOp>(args[0], args[1]), args[2]);
             });
}

SmallVector<Value> TileDecomposer::build(OnlineSoftmaxOp op) {
  Value logits = buildLogits(op);
  OpFoldResult rows = dim(logits, 0);
  Value tileMax =
      buildPlainGeneric(builder, loc, logits, filled({rows}, -infinity),
                        {{0, 1}, {0}}, 2, [&](ValueRange args) {
                          return apply<arith::MaximumFOp>(args[0], args[1]);
                        });
  Value max = map({op.getMax(), tileMax}, empty(op.getMax()), {{0}, {0}, {0}},
                  [&](ValueRange args) {
                    return apply<arith::MaximumFOp>(args[0], args[1]);
                  });
  Value weights =
      map({logits, max}, empty(logits), {{0, 1}, {0}, {0, 1}},
          [&](ValueRange args) { return makeWeight(args[0], args[1]); });
  Value tileSum = buildPlainGeneric(
      builder, loc, weights, filled({rows}, 0.0), {{0, 1}, {0}}, 2,
      [&](ValueRange args) { return apply<arith::AddFOp>(args[0], args[1]); });
  Value factor = buildFactor(op.getMax(), max);
  Value sum = map({op.getSum(), factor, tileSum}, empty(op.getSum()),
                  {{0}, {0}, {0}, {0}}, [&](ValueRange args) {
                    return apply<arith::AddFOp>(
                        apply<arith::MulFOp>(args[0], args[1]), args[2]);
                  });
  return {buildAccumulator(op, logits, weights, factor), max, sum};
}

//===- the other ops ------------------------------------------------------===//

SmallVector<Value> TileDecomposer::build(OnlineMergeOp op) {
  Value max = map({op.getMax(), op.getOtherMax()}, empty(op.getMax()),
                  {{0}, {0}, {0}}, [&](ValueRange args) {
                    return apply<arith::MaximumFOp>(args[0], args[1]);
                  });
  Value factor = buildFactor(op.getMax(), max);
  Value otherFactor = buildFactor(op.getOtherMax(), max);
  auto add = [&](Value x, Value other, Maps maps) {
    return map(
        {x, factor, other, otherFactor}, empty(x), maps, [&](ValueRange args) {
          return apply<arith::AddFOp>(apply<arith::MulFOp>(args[0], args[1]),
                                      apply<arith::MulFOp>(args[2], args[3]));
        });
  };
  Value acc =
      add(op.getAcc(), op.getOtherAcc(), {{0, 1}, {1}, {0, 1}, {1}, {0, 1}});
  Value sum = add(op.getSum(), op.getOtherSum(), {{0}, {0}, {0}, {0}, {0}});
  return {acc, max, sum};
}

SmallVector<Value> TileDecomposer::build(OnlineFinishOp op) {
  // Row r of the state is head r / m at position r mod m.
  Value positions = index(dim(op.getOutput(), 1));
  auto get = [&](Value tensor, std::optional<unsigned> leadingLoop) {
    Value row = apply<arith::AddIOp>(
        apply<arith::MulIOp>(linalg::IndexOp::create(builder, loc, 0),
                             positions),
        linalg::IndexOp::create(builder, loc, 1));
    SmallVector<Value> at;
    if (leadingLoop)
      at.push_back(linalg::IndexOp::create(builder, loc, *leadingLoop));
    at.push_back(row);
    return wide(tensor::ExtractOp::create(builder, loc, tensor, at));
  };
  SmallVector<Value> results;
  results.push_back(map({}, op.getOutput(), {{0, 1, 2}}, [&](ValueRange) {
    Value sum = get(op.getSum(), std::nullopt);
    Value average = apply<arith::DivFOp>(get(op.getAcc(), 2), sum);
    return select(isEqual(sum, 0.0), makeFloat(0.0), average);
  }));
  if (op.getLse())
    results.push_back(map({}, op.getLse(), {{0, 1}}, [&](ValueRange) {
      Value sum = get(op.getSum(), std::nullopt);
      Value lse = apply<arith::AddFOp>(get(op.getMax(), std::nullopt),
                                       math::LogOp::create(builder, loc, sum));
      return select(isEqual(sum, 0.0), makeFloat(-infinity), lse);
    }));
  return results;
}

SmallVector<Value> TileDecomposer::build(MatmulTileOp op) {
  using Dims = SmallVector<int64_t>;
  Dims left{0, 2}, right{2, 1};
  if (op.getTransposeLeft())
    std::swap(left[0], left[1]);
  if (op.getTransposeRight())
    std::swap(right[0], right[1]);
  Value products = buildPlainGeneric(
      builder, loc, {op.getLeft(), op.getRight()},
      filled(tensor::getMixedSizes(builder, loc, op.getOut()), 0.0),
      {left, right, {0, 1}}, 3, [&](ValueRange args) {
        return apply<arith::AddFOp>(
            args[2], apply<arith::MulFOp>(wide(args[0]), wide(args[1])));
      });
  return {map({products}, op.getOut(), {{0, 1}, {0, 1}}, [&](ValueRange args) {
    Value before = op.getInit() ? wide(op.getInit()) : args[1];
    return apply<arith::AddFOp>(before, args[0]);
  })};
}

/// max[t] = max_{u <= t} x[u] and step[t] = max_{u < t} x[u] - max[t]
SmallVector<Value> TileDecomposer::build(RunningMaxOp op) {
  auto maxOf = [&](arith::CmpIPredicate order) {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(builder, loc, op.getInput());
    return buildPlainGeneric(
        builder, loc, {op.getInput()}, filled(sizes, -infinity),
        {{0, 1, 3, 4}, {0, 1, 2, 4}}, 5, [&](ValueRange args) {
          Value other = linalg::IndexOp::create(builder, loc, 3);
          Value isSeen =
              arith::CmpIOp::create(builder, loc, order, other,
                                    linalg::IndexOp::create(builder, loc, 2));
          if (op.getLengths()) {
            Value length =
                buildPerBatch(builder, loc, op.getLengths(),
                              linalg::IndexOp::create(builder, loc, 0));
            isSeen = apply<arith::AndIOp>(
                isSeen,
                arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                      other, length));
          }
          Value x = wide(args[0]);
          Value isLarger = arith::CmpFOp::create(
              builder, loc, arith::CmpFPredicate::OGT, x, args[1]);
          return select(apply<arith::AndIOp>(isSeen, isLarger), x, args[1]);
        });
  };
  Value max = maxOf(arith::CmpIPredicate::ule);
  Value before = maxOf(arith::CmpIPredicate::ult);
  const int64_t all[] = {0, 1, 2, 3};
  return {
      map({max}, op.getMax(), {all, all},
          [](ValueRange args) { return args[0]; }),
      map({before, max}, op.getStep(), {all, all, all}, [&](ValueRange args) {
        return select(isEqual(args[0], -infinity), makeFloat(0.0),
                      apply<arith::SubFOp>(args[0], args[1]));
      })};
}

namespace {

struct DecomposeTilesPass
    : public attn::impl::DecomposeTilesBase<DecomposeTilesPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<OnlineSoftmaxOp, PackQueryOp, OnlineMergeOp, OnlineFinishOp,
              MatmulTileOp, LinearChunkOp, LinearReadOp, RunningMaxOp,
              NumWorkersOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      auto update = dyn_cast<OnlineSoftmaxOp>(op);
      if (op->getNumResults() == 0 || isa<PackQueryOp>(op) ||
          (update && update.hasPackedQuery())) {
        op->emitOpError() << "expected tensors and a query that is not packed";
        return signalPassFailure();
      }
      OpBuilder builder(op);
      TileDecomposer decomposer(builder, op->getLoc());
      SmallVector<Value> results =
          llvm::TypeSwitch<Operation *, SmallVector<Value>>(op)
              .Case<OnlineSoftmaxOp, OnlineMergeOp, OnlineFinishOp,
                    MatmulTileOp, RunningMaxOp>(
                  [&](auto tileOp) { return decomposer.build(tileOp); })
              .Case<LinearChunkOp, LinearReadOp>([&](auto tileOp) {
                return LinearTileBuilder(builder, op->getLoc()).build(tileOp);
              })
              .Case<NumWorkersOp>([&](NumWorkersOp) {
                // Loops over tiles are sequential here.
                return SmallVector<Value>{
                    arith::ConstantIndexOp::create(builder, op->getLoc(), 1)};
              });
      op->replaceAllUsesWith(results);
      op->erase();
    }
  }
};

} // namespace
