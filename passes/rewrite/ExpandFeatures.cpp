// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Feature maps become products of matrices, row sums and elementwise code. The
// feature clause of attn.linear becomes operations in front of it, so that what
// tiles attn.linear knows no features.

#include "passes/rewrite/Rewrite.h"

#include "passes/Passes.h"
#include "passes/decompose/WidenRegion.h"
#include "passes/rewrite/FeatureMaps.h"

#include "llvm/ADT/TypeSwitch.h"

namespace mlir::attn {
#define GEN_PASS_DEF_EXPANDFEATURES
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// Builds one attn.feature_map. Code of a kind takes the entries of W x, or of
/// x without a projection, and scales them.
class FeatureExpander {
public:
  FeatureExpander(OpBuilder &builder, FeatureMapOp op)
      : op(op), rows(builder, op.getLoc(),
                     getComputeType(op.getInput().getType().getElementType())),
        result(cast<FloatType>(op.getResult().getType().getElementType())) {}

  Value build();

private:
  using Body = function_ref<Value(Value)>;
  Value number(double x) { return rows.makeFloat(x); }
  Value scaled(Value entry) {
    return scale == 1.0 ? entry : rows.mul(entry, number(scale));
  }
  Value negated(Value x) {
    return arith::NegFOp::create(rows.builder, rows.loc, x);
  }
  Value relu(Value x) { return rows.apply<arith::MaximumFOp>(x, number(0.0)); }
  /// `body` of each scaled entry.
  Value mapEntries(Body body) {
    return rows.map({entries}, entries, result,
                    [&](ValueRange args) { return body(scaled(args[0])); });
  }
  /// |x|^2 / 2 of the scaled input plus half the logarithm of `count`.
  Value buildLogFactors(int64_t featuresPerRow, double sign);

  Value build(Elu1Attr);
  Value build(ReluAttr);
  Value build(SoftmaxFeaturesAttr);
  Value build(SoftmaxPositionsAttr);
  Value build(HedgehogAttr);
  Value buildExponentials(bool isHyperbolic);
  Value build(TrigonometricAttr);

  FeatureMapOp op;
  RowBuilder rows;
  FloatType result;
  Value entries;
  double scale = 1.0;
};

} // namespace

Value FeatureExpander::build(Elu1Attr) {
  return mapEntries([&](Value x) {
    Value isPositive = arith::CmpFOp::create(
        rows.builder, rows.loc, arith::CmpFPredicate::OGT, x, number(0.0));
    return rows.select(isPositive, rows.add(x, number(1.0)), rows.exp(x));
  });
}

Value FeatureExpander::build(ReluAttr phi) {
  double eps = phi.getEps() ? phi.getEps().getValueAsDouble() : 0.0;
  return mapEntries([&](Value x) {
    return eps == 0.0 ? relu(x) : rows.add(relu(x), number(eps));
  });
}

/// exp(x - max) / sum, in each row.
Value FeatureExpander::build(SoftmaxFeaturesAttr) {
  Value max = rows.reduce<arith::MaximumFOp>(
      {entries}, {0, 1, 2}, -kInfinity,
      [&](ValueRange args) { return scaled(args[0]); });
  Value weights =
      rows.map({entries, max}, entries, rows.type, [&](ValueRange args) {
        return rows.exp(rows.sub(scaled(args[0]), args[1]));
      });
  Value sum = rows.reduce<arith::AddFOp>(
      {weights}, {0, 1, 2}, 0.0, [](ValueRange args) { return args[0]; });
  return rows.map({weights, sum}, weights, result, [&](ValueRange args) {
    return rows.apply<arith::DivFOp>(args[0], args[1]);
  });
}

/// The same with the entries and their negatives in one row.
Value FeatureExpander::build(HedgehogAttr) {
  Value max = rows.reduce<arith::MaximumFOp>(
      {entries}, {0, 1, 2}, 0.0, [&](ValueRange args) -> Value {
        return math::AbsFOp::create(rows.builder, rows.loc, scaled(args[0]));
      });
  auto weights = [&](bool isNegative) {
    return rows.map({entries, max}, entries, rows.type, [&](ValueRange args) {
      Value x = scaled(args[0]);
      return rows.exp(rows.sub(isNegative ? negated(x) : x, args[1]));
    });
  };
  Value halves[] = {weights(false), weights(true)};
  Value sum =
      rows.reduce<arith::AddFOp>(halves, {0, 1, 2}, 0.0, [&](ValueRange args) {
        return rows.add(args[0], args[1]);
      });
  SmallVector<Value> parts;
  for (Value half : halves)
    parts.push_back(rows.map({half, sum}, half, result, [&](ValueRange args) {
      return rows.apply<arith::DivFOp>(args[0], args[1]);
    }));
  return rows.concat(parts);
}

/// exp(x - max) / sum over the positions in use, 0 beyond them.
Value FeatureExpander::build(SoftmaxPositionsAttr) {
  SmallVector<Value> inputs{entries};
  if (op.getLengths())
    inputs.push_back(rows.lengthsPerBatch(op.getLengths(), entries));
  auto inUse = [&](ValueRange args, Value yes, double no) {
    if (!op.getLengths())
      return yes;
    return rows.select(rows.isInUse(args[1]), yes, number(no));
  };
  Value max = rows.reduce<arith::MaximumFOp>(
      inputs, {0, 1, 3}, -kInfinity, [&](ValueRange args) {
        return inUse(args, scaled(args[0]), -kInfinity);
      });
  // Statistics of a feature go by (b, h, d), which no prefix of loops is.
  auto perFeature = [&](ValueRange tensors, Value statistic, FloatType element,
                        RowBuilder::Body body) {
    SmallVector<Value> operands(tensors);
    SmallVector<SmallVector<int64_t>> maps;
    for (Value tensor : operands) {
      int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
      maps.push_back(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
    }
    operands.push_back(statistic);
    maps.push_back({0, 1, 3});
    maps.push_back({0, 1, 2, 3});
    SmallVector<ArrayRef<int64_t>> mapRefs(maps.begin(), maps.end());
    return buildPlainGeneric(rows.builder, rows.loc, operands,
                             rows.empty(rows.sizes(entries), element), mapRefs,
                             4, body);
  };
  Value weights =
      perFeature(inputs, max, rows.type, [&](ValueRange args) -> Value {
        Value x =
            scaled(widenFloat(rows.builder, rows.loc, args[0], rows.type));
        Value weight = rows.exp(rows.sub(x, args.drop_back().back()));
        return inUse(args, weight, 0.0);
      });
  Value sum = rows.reduce<arith::AddFOp>(
      {weights}, {0, 1, 3}, 0.0, [](ValueRange args) { return args[0]; });
  inputs[0] = weights;
  return perFeature(inputs, sum, result, [&](ValueRange args) -> Value {
    Value share = rows.apply<arith::DivFOp>(args[0], args.drop_back().back());
    return roundOnce(rows.builder, rows.loc, inUse(args, share, 0.0), result);
  });
}

Value FeatureExpander::buildLogFactors(int64_t featuresPerRow, double sign) {
  Value count = rows.mul(rows.countAsFloat(entries, 3),
                         number(static_cast<double>(featuresPerRow)));
  Value constant = rows.mul(number(-0.5),
                            math::LogOp::create(rows.builder, rows.loc, count));
  Value norms =
      rows.squareNorms(op.getInput(), number(sign * scale * scale / 2));
  return rows.update(
      {}, norms, [&](ValueRange args) { return rows.add(args[0], constant); });
}

/// exp(w.x - |x|^2 / 2 - ln(m) / 2), or with both signs of w and 2 m.
Value FeatureExpander::buildExponentials(bool isHyperbolic) {
  Value factors = buildLogFactors(isHyperbolic ? 2 : 1, -1.0);
  SmallVector<Value> parts;
  for (bool isNegative : {false, true}) {
    if (isNegative && !isHyperbolic)
      break;
    parts.push_back(
        rows.map({entries, factors}, entries, result, [&](ValueRange args) {
          Value x = scaled(args[0]);
          Value log = rows.add(isNegative ? negated(x) : x, args[1]);
          return op.getLog() ? log : rows.exp(log);
        }));
  }
  return isHyperbolic ? rows.concat(parts) : parts.front();
}

Value FeatureExpander::build(TrigonometricAttr) {
  Value logs = buildLogFactors(1, 1.0);
  Value factors =
      rows.update({}, logs, [&](ValueRange args) { return rows.exp(args[0]); });
  SmallVector<Value> parts;
  for (bool isSine : {false, true})
    parts.push_back(
        rows.map({entries, factors}, entries, result, [&](ValueRange args) {
          Value x = scaled(args[0]);
          Value wave =
              isSine ? Value(math::SinOp::create(rows.builder, rows.loc, x))
                     : Value(math::CosOp::create(rows.builder, rows.loc, x));
          return rows.mul(args[1], wave);
        }));
  return rows.concat(parts);
}

Value FeatureExpander::build() {
  entries = op.getInput();
  if (op.getProjection())
    entries = rows.project(entries, op.getProjection());
  if (std::optional<APFloat> number = op.getScale())
    scale = number->convertToDouble();
  if (!op.getFeature())
    return mapEntries(
        [&](Value x) { return inlineRegion(op.getMap(), rows.builder, x); });
  return llvm::TypeSwitch<Attribute, Value>(*op.getFeature())
      .Case<Elu1Attr, ReluAttr, SoftmaxFeaturesAttr, SoftmaxPositionsAttr,
            HedgehogAttr, TrigonometricAttr>(
          [&](auto phi) { return build(phi); })
      .Case([&](CosformerAttr phi) {
        CosformerRows options{scale, phi.getLength(), op.getLength(),
                              op.getOffset(), Value()};
        return buildCosformer(rows, entries, options, result);
      })
      .Case([&](Taylor2Attr) {
        return buildTaylor2(rows, entries, scale, result);
      })
      .Case([&](Relu2Attr) {
        return mapEntries([&](Value x) { return rows.mul(relu(x), relu(x)); });
      })
      .Case([&](PositiveAttr) { return buildExponentials(false); })
      .Case([&](HyperbolicAttr) { return buildExponentials(true); })
      .Case([&](IdentityAttr) { return mapEntries([](Value x) { return x; }); })
      .Default(Value());
}

/// %f = attn.feature_map %x feature(#attn.positive) projection(%w) : ...
///   ->
/// %u = linalg.generic ins(%x, %w) ... { mulf, addf }
/// %n = linalg.generic ins(%x) ... { mulf, addf }
/// %f = linalg.generic ins(%u, %n) ... { subf, exp }
LogicalResult attn::expandFeatureMap(RewriterBase &rewriter, FeatureMapOp op) {
  rewriter.setInsertionPoint(op);
  Value result = FeatureExpander(rewriter, op).build();
  if (!result)
    return op.emitOpError()
           << "feature: expected one that has code, got " << *op.getFeature();
  rewriter.replaceOp(op, castToResults(rewriter, op, result));
  return success();
}

namespace {

struct ExpandFeaturesPass
    : public attn::impl::ExpandFeaturesBase<ExpandFeaturesPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk(
        [&](LinearOp op) { expandFeatureClause(rewriter, op); });
    SmallVector<FeatureMapOp> ops;
    getOperation().walk([&](FeatureMapOp op) { ops.push_back(op); });
    for (FeatureMapOp op : ops)
      if (failed(expandFeatureMap(rewriter, op)))
        return signalPassFailure();
  }
};

} // namespace
