// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The feature clause of attn.linear as operations in front of it.

#include "passes/rewrite/Rewrite.h"

#include "passes/decompose/FeatureBuilder.h"
#include "passes/decompose/PackedRows.h"
#include "passes/rewrite/FeatureMaps.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::attn;

namespace {
/// Builds the features of one op.
class ClauseExpander {
public:
  ClauseExpander(OpBuilder &b, LinearOp op) : b(b), loc(op.getLoc()), op(op) {}

  std::pair<Value, Value> build();

private:
  /// `phi` of all rows of `input`.
  Value apply(Value input, FeatureAttrInterface phi, Value lengths);
  /// The same of the query, or the key, of packed sequences.
  Value applyPacked(Value input, FeatureAttrInterface phi, bool isKey);
  /// The angles of the rows of query and key in #attn.cosformer.
  std::pair<Value, Value> buildAngles(CosformerAttr phi, RowBuilder &rows);
  RankedTensorType getMappedType(Value input, FeatureAttrInterface phi);

  OpBuilder &b;
  Location loc;
  LinearOp op;
};
} // namespace

RankedTensorType ClauseExpander::getMappedType(Value input,
                                               FeatureAttrInterface phi) {
  auto type = cast<RankedTensorType>(input.getType());
  SmallVector<int64_t> sizes(type.getShape());
  if (!ShapedType::isDynamic(sizes[3]))
    sizes[3] = phi.getNumFeatures(sizes[3]);
  return type.clone(sizes);
}

Value ClauseExpander::apply(Value input, FeatureAttrInterface phi,
                            Value lengths) {
  if (isa<IdentityAttr>(phi))
    return input;
  // M is that of the call, for query and key alike.
  Value length;
  if (auto cosformer = dyn_cast<CosformerAttr>(phi);
      cosformer && !cosformer.getLength())
    length = b.createOrFold<arith::MaxSIOp>(
        loc, b.createOrFold<tensor::DimOp>(loc, op.getQuery(), 2),
        b.createOrFold<tensor::DimOp>(loc, op.getKey(), 2));
  auto map = FeatureMapOp::create(
      b, loc, getMappedType(input, phi), input, phi,
      /*projection=*/Value(), /*scale=*/FloatAttr(), /*offset=*/Value(), length,
      phi.mixesPositions() ? lengths : Value(), /*log=*/false);
  return map.getResult();
}

/// Positions begin anew with each packed sequence, and M is its length where
/// the map has none.
///
/// %angles:2 = scf.for %n { scf.for %r { insert %r pi / 2 M at %start_n + %r }
/// }
std::pair<Value, Value> ClauseExpander::buildAngles(CosformerAttr phi,
                                                    RowBuilder &rows) {
  SmallVector<Value> sizes, inits;
  for (Value tensor : {op.getQuery(), op.getKey()}) {
    sizes.push_back(b.createOrFold<tensor::DimOp>(loc, tensor, 2));
    inits.push_back(rows.filled(tensor::getMixedSize(b, loc, tensor, 2), 0.0));
  }
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto fillRows = [&](const SequenceRows &at, Value step, Value into) {
    Value count = getValueOrCreateConstantIndexOp(b, loc, at.count);
    auto loop = scf::ForOp::create(b, loc, zero, count, one, into);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value row = loop.getInductionVar();
    Value integer = arith::IndexCastOp::create(b, loc, b.getI64Type(), row);
    Value angle =
        rows.mul(arith::SIToFPOp::create(b, loc, rows.type, integer), step);
    Value place = arith::AddIOp::create(
        b, loc, getValueOrCreateConstantIndexOp(b, loc, at.first), row);
    Value next = tensor::InsertOp::create(
        b, loc, angle, loop.getRegionIterArgs().front(), place);
    scf::YieldOp::create(b, loc, next);
    return loop.getResult(0);
  };
  SmallVector<Value> angles = buildSequenceLoop(
      b, loc, {op.getQueryStarts(), op.getRowsOfKeys()}, sizes, inits,
      [&](ArrayRef<SequenceRows> at, ValueRange carried) {
        Value step;
        if (phi.getLength())
          step =
              rows.makeFloat(M_PI / 2 / static_cast<double>(*phi.getLength()));
        else
          step = buildAngleStep(
              rows,
              b.createOrFold<arith::MaxSIOp>(
                  loc, getValueOrCreateConstantIndexOp(b, loc, at[0].count),
                  getValueOrCreateConstantIndexOp(b, loc, at[1].count)));
        return SmallVector<Value>{fillRows(at[0], step, carried[0]),
                                  fillRows(at[1], step, carried[1])};
      });
  return {angles[0], angles[1]};
}

Value ClauseExpander::applyPacked(Value input, FeatureAttrInterface phi,
                                  bool isKey) {
  auto cosformer = dyn_cast<CosformerAttr>(phi);
  if (!cosformer)
    return apply(input, phi, Value());
  RankedTensorType type = getMappedType(input, phi);
  auto element = cast<FloatType>(type.getElementType());
  RowBuilder rows(b, loc, getComputeType(element));
  std::pair<Value, Value> angles = buildAngles(cosformer, rows);
  CosformerRows options{1.0, std::nullopt, Value(), Value(),
                        isKey ? angles.second : angles.first};
  Value features = buildCosformer(rows, input, options, element);
  if (features.getType() != type)
    features = tensor::CastOp::create(b, loc, type, features);
  return features;
}

std::pair<Value, Value> ClauseExpander::build() {
  FeatureAttrInterface phi = op.getQueryFeature(), psi = op.getKeyFeature();
  Value key = buildKeyOfKnownDim(b, op);
  if (op.getQueryStarts())
    return {applyPacked(op.getQuery(), phi, /*isKey=*/false),
            applyPacked(key, psi, /*isKey=*/true)};
  return {apply(op.getQuery(), phi, Value()), apply(key, psi, op.getLengths())};
}

/// %o = attn.linear %q, %k, %v feature(#attn.elu1) : ...
///   ->
/// %fq = attn.feature_map %q feature(#attn.elu1) : ...
/// %fk = attn.feature_map %k feature(#attn.elu1) : ...
/// %o = attn.linear %fq, %fk, %v : ...
void attn::expandFeatureClause(RewriterBase &rewriter, LinearOp op) {
  if (!op.getFeature())
    return;
  rewriter.setInsertionPoint(op);
  std::pair<Value, Value> mapped = ClauseExpander(rewriter, op).build();
  rewriter.modifyOpInPlace(op, [&] {
    op.getQueryMutable().assign(mapped.first);
    op.getKeyMutable().assign(mapped.second);
    op.removeFeatureAttr();
  });
}
