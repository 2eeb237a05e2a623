// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FAVOR+ as attention that other passes know: two softmaxes, or linear
// attention whose decay keeps every exponential in range. Nothing reads a later
// token than the definition does, so that a causal form stays causal bit by
// bit.

#include "passes/rewrite/Rewrite.h"

#include "passes/Passes.h"
#include "passes/decompose/WidenRegion.h"
#include "passes/rewrite/FavorExpander.h"

namespace mlir::attn {
#define GEN_PASS_DEF_EXPANDFAVOR
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

FavorExpander::FavorExpander(OpBuilder &builder, FavorOp op)
    : op(op), rows(builder, op.getLoc(),
                   getComputeType(op.getQuery().getType().getElementType())),
      eps(op.getEps() ? op.getEps()->convertToDouble() : 0.0) {
  int64_t dim = op.getQuery().getType().getDimSize(3);
  if (op.getScale() || !ShapedType::isDynamic(dim)) {
    double factor = op.getScale() ? op.getScale()->convertToDouble()
                                  : 1.0 / std::sqrt(static_cast<double>(dim));
    staticRoot = std::sqrt(factor);
    scale = number(factor);
    root = number(*staticRoot);
    return;
  }
  auto squareRoot = [&](Value x) -> Value {
    return math::SqrtOp::create(builder, rows.loc, x);
  };
  scale = rows.apply<arith::DivFOp>(
      number(1.0), squareRoot(rows.countAsFloat(op.getQuery(), 3)));
  root = squareRoot(scale);
}

/// The larger of both, and what the smaller one adds.
Value FavorExpander::addEps(Value log) {
  if (eps == 0.0)
    return log;
  OpBuilder &b = rows.builder;
  Value other = number(std::log(eps));
  Value larger = rows.apply<arith::MaximumFOp>(log, other);
  Value apart = math::AbsFOp::create(b, rows.loc, rows.sub(log, other));
  Value sum = rows.add(number(1.0), rows.exp(negated(apart)));
  return rows.add(larger, math::LogOp::create(b, rows.loc, sum));
}

Value FavorExpander::buildRows() {
  Value projection = op.getProjection();
  if (!isHyperbolic())
    return projection;
  auto type = cast<RankedTensorType>(projection.getType());
  Value opposite = buildPlainGeneric(
      rows.builder, rows.loc, {projection},
      rows.empty(rows.sizes(projection), type.getElementType()),
      {{0, 1}, {0, 1}}, 2, [&](ValueRange args) { return negated(args[0]); });
  return tensor::ConcatOp::create(rows.builder, rows.loc, 0,
                                  ValueRange{projection, opposite});
}

Value FavorExpander::project(Value vectors, Value projection) {
  Value products = rows.project(vectors, projection);
  return rows.update({}, products,
                     [&](ValueRange args) { return rows.mul(args[0], root); });
}

Value FavorExpander::keyNorms(double factor) {
  return rows.squareNorms(op.getKey(), rows.mul(scale, number(factor)));
}

std::pair<Value, Value> FavorExpander::runningMax(Value logs) {
  SmallVector<OpFoldResult> sizes = rows.sizes(logs);
  auto scan = RunningMaxOp::create(
      rows.builder, rows.loc, TypeRange{logs.getType(), logs.getType()}, logs,
      rows.lengthsPerBatch(op.getLengths(), logs), rows.empty(sizes, rows.type),
      rows.empty(sizes, rows.type));
  return {scan->getResult(0), scan->getResult(1)};
}

Value FavorExpander::addMaxima(Value logs, Value maxima) {
  auto headsOf = [](Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).getDimSize(1);
  };
  int64_t heads = headsOf(logs);
  if (!ShapedType::isDynamic(heads) && headsOf(maxima) == heads)
    return rows.update({maxima}, logs, [&](ValueRange args) {
      return rows.add(args[1], args[0]);
    });
  OpBuilder &b = rows.builder;
  Location loc = rows.loc;
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value group = b.createOrFold<arith::DivUIOp>(
      loc, b.createOrFold<tensor::DimOp>(loc, logs, 1),
      b.createOrFold<arith::MaxUIOp>(
          loc, b.createOrFold<tensor::DimOp>(loc, maxima, 1), one));
  group = b.createOrFold<arith::MaxUIOp>(loc, group, one);
  return rows.update({}, logs, [&](ValueRange args) {
    auto index = [&](int64_t loop) -> Value {
      return linalg::IndexOp::create(b, loc, loop);
    };
    Value head = arith::DivUIOp::create(b, loc, index(1), group);
    Value max = tensor::ExtractOp::create(
        b, loc, maxima, ValueRange{index(0), head, index(2), index(3)});
    return rows.add(args[0], max);
  });
}

Value FavorExpander::divide(Value query, Value key, Value decay) {
  auto linear = LinearOp::create(
      rows.builder, rows.loc, op.getOutput().getType(),
      /*final_state=*/Type(), query, key, op.getValue(), /*scale=*/FloatAttr(),
      decay, /*beta=*/Value(), /*read=*/Value(), /*write=*/Value(),
      /*bonus=*/Value(), /*state=*/Value(), op.getLengths(),
      /*query_starts=*/Value(), /*key_starts=*/Value(),
      /*feature=*/ArrayAttr(),
      NormalizerAttr::get(rows.builder.getContext(), Normalizer::Token),
      /*block=*/IntegerAttr(), op.getCausal());
  return linear.getOutput();
}

/// attn.favor %q, %k, %v, %w kind(positive) causal
///   ->
/// %b = W y - |y|^2 / 2
/// %c, %g = attn.running_max ins(%b) ...
/// %fk = exp(%b - %c), %fq = exp(W x + %c - their maximum)
/// attn.linear %fq, %fk, %v decay(%g) normalize(token) causal
///
/// Token t has the features exp(b - c_t) of its own maximum c_t, and the decay
/// turns those of the tokens before it into theirs.
Value FavorExpander::buildDecayedExponentials() {
  Value w = buildRows();
  Value norms = keyNorms(-0.5), products = project(op.getKey(), w), logs;
  if (eps == 0.0) {
    logs = rows.update({norms}, products, [&](ValueRange args) {
      return rows.add(args[1], args[0]);
    });
  } else {
    Value max = maxOfKeys(products, {0, 1});
    logs = rows.update({norms, max}, products, [&](ValueRange args) {
      return addEps(rows.add(rows.sub(args[2], args[1]), args[0]));
    });
  }
  auto [maxima, steps] = runningMax(logs);
  Value key = rows.update({maxima}, logs, [&](ValueRange args) {
    return shiftedExp(args[1], args[0]);
  });
  Value ofQueries = project(op.getQuery(), w);
  // Without eps |x|^2 and the maximum cancel.
  if (eps != 0.0) {
    Value max = maxOfQuery(ofQueries);
    ofQueries =
        rows.update({queryNorms(-0.5), max}, ofQueries, [&](ValueRange args) {
          return addEps(rows.add(rows.sub(args[2], args[1]), args[0]));
        });
  }
  Value sums = addMaxima(ofQueries, maxima);
  Value best = maxOfQuery(sums);
  Value query = rows.update({best}, sums, [&](ValueRange args) {
    return shiftedExp(args[1], args[0]);
  });
  return divide(query, key, steps);
}

Value FavorExpander::maxOfKeys(Value values, ArrayRef<int64_t> kept) {
  SmallVector<Value> inputs{values};
  if (op.getLengths())
    inputs.push_back(rows.lengthsPerBatch(op.getLengths(), values));
  return rows.reduce<arith::MaximumFOp>(
      inputs, kept, -kInfinity, [&](ValueRange args) {
        if (!op.getLengths())
          return args[0];
        return rows.select(rows.isInUse(args[1]), args[0], number(-kInfinity));
      });
}

/// cos(W x) and sin(W x), those of keys with the weight exp(|y|^2 / 2) against
/// its maximum: over all keys, or over those so far, by a decay per token. That
/// of the query cancels. With eps the maximum over all keys is part of what is
/// computed.
Value FavorExpander::buildWaves() {
  OpBuilder &b = rows.builder;
  auto wave = [&](Value angle, bool isSine) -> Value {
    return isSine ? Value(math::SinOp::create(b, rows.loc, angle))
                  : Value(math::CosOp::create(b, rows.loc, angle));
  };
  auto plusEps = [&](Value x) {
    return eps == 0.0 ? x : rows.add(x, number(eps));
  };
  Value norms = keyNorms(0.5), decay, max;
  if (op.getCausal() && eps == 0.0) {
    SmallVector<OpFoldResult> sizes = rows.sizes(norms);
    sizes.push_back(b.getIndexAttr(1));
    Value column = buildPlainGeneric(
        b, rows.loc, {norms}, rows.empty(sizes, rows.type),
        {{0, 1, 2}, {0, 1, 2, 3}}, 4, [](ValueRange args) { return args[0]; });
    auto [maxima, steps] = runningMax(column);
    auto drop = [&](Value tensor) -> Value {
      return tensor::CollapseShapeOp::create(
          b, rows.loc, tensor,
          ArrayRef<ReassociationIndices>{{0}, {1}, {2, 3}});
    };
    max = drop(maxima);
    decay = drop(steps);
  } else {
    max = maxOfKeys(norms, {0, 1});
  }
  Value weights =
      rows.map({norms, max}, norms, rows.type,
               [&](ValueRange args) { return shiftedExp(args[0], args[1]); });
  Value queryAngles = project(op.getQuery(), op.getProjection());
  Value keyAngles = project(op.getKey(), op.getProjection());
  SmallVector<Value> query, key;
  for (bool isSine : {false, true}) {
    query.push_back(
        rows.map({queryAngles}, queryAngles, rows.type, [&](ValueRange args) {
          return plusEps(wave(args[0], isSine));
        }));
    key.push_back(rows.map(
        {keyAngles, weights}, keyAngles, rows.type, [&](ValueRange args) {
          return plusEps(rows.mul(wave(args[0], isSine), args[1]));
        }));
  }
  return divide(rows.concat(query), rows.concat(key), decay);
}

/// max(W x, 0) + eps, for both.
Value FavorExpander::buildRelu() {
  auto features = [&](Value vectors) {
    Value products = project(vectors, op.getProjection());
    return rows.update({}, products, [&](ValueRange args) {
      Value positive = rows.apply<arith::MaximumFOp>(args[0], number(0.0));
      return eps == 0.0 ? positive : rows.add(positive, number(eps));
    });
  };
  Value query = features(op.getQuery());
  return divide(query, features(op.getKey()), /*decay=*/Value());
}

/// exp(W x - |x|^2 / 2 - max) + eps, with the maximum of W x over the features
/// of a query, and over the features and positions of all keys; eps is 1e-6
/// where the op has none.
Value FavorExpander::buildTextbookExponentials() {
  double added = op.getEps() ? eps : 1e-6;
  Value w = buildRows();
  auto features = [&](Value vectors, bool isKey) {
    Value logs = project(vectors, w);
    Value max = isKey ? maxOfKeys(logs, {0, 1}) : maxOfQuery(logs);
    Value norms = rows.squareNorms(vectors, rows.mul(scale, number(-0.5)));
    return rows.update({norms, max}, logs, [&](ValueRange args) {
      Value log = rows.add(rows.sub(args[2], args[1]), args[0]);
      return rows.add(rows.exp(log), number(added));
    });
  };
  Value query = features(op.getQuery(), /*isKey=*/false);
  return divide(query, features(op.getKey(), /*isKey=*/true),
                /*decay=*/Value());
}

void attn::expandFavor(RewriterBase &rewriter, FavorOp op, bool isTextbook) {
  rewriter.setInsertionPoint(op);
  FavorExpander expander(rewriter, op);
  Value output;
  if (op.getKind() == FavorKind::Relu)
    output = expander.buildRelu();
  else if (op.getKind() == FavorKind::Trigonometric)
    output = expander.buildWaves();
  else if (isTextbook)
    output = expander.buildTextbookExponentials();
  else if (op.getCausal())
    output = expander.buildDecayedExponentials();
  else
    output = expander.buildTwoSoftmaxes();
  rewriter.replaceOp(op, castToResults(rewriter, op, output));
}

namespace {

struct ExpandFavorPass : public attn::impl::ExpandFavorBase<ExpandFavorPass> {
  using ExpandFavorBase::ExpandFavorBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (favor == "exact" || favor == "textbook")
      return success();
    return emitError(UnknownLoc::get(context))
           << "attn-expand-favor: favor: expected exact or textbook, got '"
           << favor << "'";
  }

  void runOnOperation() override {
    SmallVector<FavorOp> ops;
    getOperation().walk([&](FavorOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (FavorOp op : ops)
      expandFavor(rewriter, op, favor == "textbook");
  }
};

} // namespace
