// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FAVOR+ as attention that other passes know: two softmaxes, or linear
// attention whose decay keeps every exponential in range. Nothing reads a later
// token than the definition does, so that a causal form stays causal bit by
// bit.

#include "passes/rewrite/Rewrite.h"

#include "passes/Passes.h"
#include "passes/decompose/WidenRegion.h"
#include "passes/rewrite/RowBuilder.h"

namespace mlir::attn {
#define GEN_PASS_DEF_EXPANDFAVOR
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// Builds one attn.favor, with x = sqrt(scale) q and y = sqrt(scale) k.
class FavorExpander {
public:
  FavorExpander(OpBuilder &builder, FavorOp op);

  Value buildTwoSoftmaxes();
  Value buildDecayedExponentials();
  Value buildWaves();
  Value buildRelu();
  /// The stabiliser of the reference code, which is not that of the definition.
  Value buildTextbookExponentials();

private:
  bool isHyperbolic() { return op.getKind() == FavorKind::Hyperbolic; }
  Value number(double x) { return rows.makeFloat(x); }
  Value negated(Value x) {
    return arith::NegFOp::create(rows.builder, rows.loc, x);
  }
  /// exp(x - max), 0 without any x but -inf.
  Value shiftedExp(Value x, Value max) {
    return rows.select(rows.isEqual(max, -kInfinity), number(0.0),
                       rows.exp(rows.sub(x, max)));
  }
  /// W, or W and -W one below the other.
  Value buildRows();
  /// w.x, or w.y, for each row w of W: B x H x S x M.
  Value project(Value vectors, Value projection);
  /// factor |y|^2.
  Value keyNorms(double factor);
  /// B x Hkv x M x D: rows of W for each head, in the type that both softmaxes
  /// compute their products from.
  Value broadcastRows(Value projection, FloatType element, bool isScaled);
  Value castTo(Value tensor, FloatType element);
  /// Softmax attention with `addend`[b, h, j] on each logit.
  GqaOp attend(Value query, Value key, Value value, Value addend,
               FloatAttr scale, Value lengths);
  /// Running maximum over positions in use and what it grows by, negated.
  std::pair<Value, Value> runningMax(Value logs);
  /// w.x_t + c_t, c being of the key head that a query head reads.
  Value addMaxima(Value logs, Value maxima);
  /// `reduce` of keys in use only.
  Value maxOfKeys(Value values, ArrayRef<int64_t> kept);
  /// The quotient, of attn.linear.
  Value divide(Value query, Value key, Value decay);

  FavorOp op;
  RowBuilder rows;
  std::optional<double> staticRoot; ///< sqrt(scale), where D is known
  Value scale, root;
};

} // namespace

FavorExpander::FavorExpander(OpBuilder &builder, FavorOp op)
    : op(op), rows(builder, op.getLoc(),
                   getComputeType(op.getQuery().getType().getElementType())) {
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

Value FavorExpander::broadcastRows(Value projection, FloatType element,
                                   bool isScaled) {
  SmallVector<OpFoldResult> sizes = rows.sizes(op.getKey());
  sizes[2] = tensor::getMixedSize(rows.builder, rows.loc, projection, 0);
  return buildPlainGeneric(
      rows.builder, rows.loc, {projection}, rows.empty(sizes, element),
      {{2, 3}, {0, 1, 2, 3}}, 4, [&](ValueRange args) {
        Value entry = args[0];
        if (entry.getType() == element && !isScaled)
          return entry;
        entry = widenFloat(rows.builder, rows.loc, entry, rows.type);
        if (isScaled)
          entry = rows.mul(entry, root);
        return roundOnce(rows.builder, rows.loc, entry, element);
      });
}

Value FavorExpander::castTo(Value tensor, FloatType element) {
  if (cast<RankedTensorType>(tensor.getType()).getElementType() == element)
    return tensor;
  return rows.map({tensor}, tensor, element,
                  [](ValueRange args) { return args[0]; });
}

GqaOp FavorExpander::attend(Value query, Value key, Value value, Value addend,
                            FloatAttr scale, Value lengths) {
  OpBuilder &b = rows.builder;
  Location loc = rows.loc;
  auto queryType = cast<RankedTensorType>(query.getType());
  SmallVector<int64_t> shape(queryType.getShape());
  auto lseType =
      RankedTensorType::get(ArrayRef(shape).take_front(3), rows.type);
  shape[3] = cast<RankedTensorType>(value.getType()).getDimSize(3);
  // Query heads of a group read the addend of their key head.
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value group = b.createOrFold<arith::DivUIOp>(
      loc, b.createOrFold<tensor::DimOp>(loc, query, 1),
      b.createOrFold<arith::MaxUIOp>(
          loc, b.createOrFold<tensor::DimOp>(loc, key, 1), one));
  group = b.createOrFold<arith::MaxUIOp>(loc, group, one);
  auto attention = GqaOp::create(
      b, loc, queryType.clone(shape), lseType, query, key, value, scale,
      /*scale_value=*/Value(), /*softcap=*/FloatAttr(),
      /*softcap_value=*/Value(), /*align=*/AlignmentAttr(), /*offset=*/Value(),
      /*mask=*/ArrayAttr(), /*prefix=*/Value(), /*random_blocks=*/Value(),
      /*alibi=*/Value(),
      /*bias=*/Value(), /*select=*/Value(), lengths, /*key_offset=*/Value(),
      /*sinks=*/Value(), /*query_starts=*/Value(), /*key_starts=*/Value());
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Type> types(5, b.getIndexType());
  types.front() = rows.type;
  Block *block = b.createBlock(&attention.getScore(), {}, types,
                               SmallVector<Location>(5, loc));
  ValueRange args = block->getArguments();
  Value head = b.createOrFold<arith::DivUIOp>(loc, args[2], group);
  Value term = tensor::ExtractOp::create(b, loc, addend,
                                         ValueRange{args[1], head, args[4]});
  YieldOp::create(b, loc, rows.add(args[0], term));
  return attention;
}

/// attn.favor %q, %k, %v, %w kind(positive)
///   ->
/// %o1, %lse = attn.gqa %w, %k, %v score { - |y_j|^2 / 2 }
/// %o = attn.gqa %q, %w, %o1 score { + lse_r }
///
/// The first softmax is the average of values by one feature, and the second
/// the average of those by features: sums, maxima and m^(-1/2) cancel.
Value FavorExpander::buildTwoSoftmaxes() {
  auto element = cast<FloatType>(op.getQuery().getType().getElementType());
  auto entry = cast<FloatType>(op.getProjection().getType().getElementType());
  // Rounded to the type of the query W would be another W.
  FloatType common = staticRoot && entry == element ? element : rows.type;
  Value w = broadcastRows(buildRows(), common, /*isScaled=*/!staticRoot);
  FloatAttr factor =
      rows.builder.getF64FloatAttr(staticRoot ? *staticRoot : 1.0);
  Value query = castTo(op.getQuery(), common);
  Value key = castTo(op.getKey(), common);
  Value value = castTo(op.getValue(), common);
  GqaOp byFeature =
      attend(w, key, value, keyNorms(-0.5), factor, op.getLengths());
  GqaOp byQuery = attend(query, w, byFeature.getOutput(), byFeature.getLse(),
                         factor, /*lengths=*/Value());
  return castTo(byQuery.getOutput(), element);
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
  Value norms = keyNorms(-0.5);
  Value logs =
      rows.update({norms}, project(op.getKey(), w),
                  [&](ValueRange args) { return rows.add(args[1], args[0]); });
  auto [maxima, steps] = runningMax(logs);
  Value key = rows.update({maxima}, logs, [&](ValueRange args) {
    return shiftedExp(args[1], args[0]);
  });
  Value sums = addMaxima(project(op.getQuery(), w), maxima);
  Value best = rows.reduce<arith::MaximumFOp>(
      {sums}, {0, 1, 2}, -kInfinity, [](ValueRange args) { return args[0]; });
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
/// of the query cancels.
Value FavorExpander::buildWaves() {
  OpBuilder &b = rows.builder;
  auto wave = [&](Value angle, bool isSine) -> Value {
    return isSine ? Value(math::SinOp::create(b, rows.loc, angle))
                  : Value(math::CosOp::create(b, rows.loc, angle));
  };
  Value norms = keyNorms(0.5), decay, max;
  if (op.getCausal()) {
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
        rows.map({queryAngles}, queryAngles, rows.type,
                 [&](ValueRange args) { return wave(args[0], isSine); }));
    key.push_back(rows.map({keyAngles, weights}, keyAngles, rows.type,
                           [&](ValueRange args) {
                             return rows.mul(wave(args[0], isSine), args[1]);
                           }));
  }
  return divide(rows.concat(query), rows.concat(key), decay);
}

/// max(W x, 0) + eps, for both.
Value FavorExpander::buildRelu() {
  double eps = op.getEps() ? op.getEps()->convertToDouble() : 0.0;
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

/// exp(W x - |x|^2 / 2 - max) + 1e-6, with the maximum of W x over the features
/// of a query, and over the features and positions of all keys.
Value FavorExpander::buildTextbookExponentials() {
  constexpr double eps = 1e-6;
  Value w = buildRows();
  auto features = [&](Value vectors, bool isKey) {
    Value logs = project(vectors, w);
    Value max = isKey ? maxOfKeys(logs, {0, 1})
                      : rows.reduce<arith::MaximumFOp>(
                            {logs}, {0, 1, 2}, -kInfinity,
                            [](ValueRange args) { return args[0]; });
    Value norms = rows.squareNorms(vectors, rows.mul(scale, number(-0.5)));
    return rows.update({norms, max}, logs, [&](ValueRange args) {
      Value log = rows.add(rows.sub(args[2], args[1]), args[0]);
      return rows.add(rows.exp(log), number(eps));
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
