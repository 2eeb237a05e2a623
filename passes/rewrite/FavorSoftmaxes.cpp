// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FAVOR+ over all keys as two softmaxes.

#include "passes/rewrite/FavorExpander.h"

#include "passes/decompose/WidenRegion.h"

using namespace mlir;
using namespace mlir::attn;

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

GqaOp FavorExpander::attend(Value query, Value key, Value value,
                            const LogitTerms &terms, FloatAttr scale,
                            Value lengths) {
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
  // Rows are positions where a term goes by them.
  auto align = terms.ofRow
                   ? AlignmentAttr::get(b.getContext(), Alignment::TopLeft)
                   : AlignmentAttr();
  auto attention = GqaOp::create(
      b, loc, queryType.clone(shape), lseType, query, key, value, scale,
      /*scale_value=*/Value(), /*softcap=*/FloatAttr(),
      /*softcap_value=*/Value(), align, /*offset=*/Value(),
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
  Value batch = args[1], queryHead = args[2], row = args[3], column = args[4];
  Value head = b.createOrFold<arith::DivUIOp>(loc, queryHead, group);
  Value logit = args[0];
  auto add = [&](Value term, Value atHead, Value at) {
    if (term)
      logit = rows.add(logit, tensor::ExtractOp::create(
                                  b, loc, term, ValueRange{batch, atHead, at}));
  };
  add(terms.ofRow, queryHead, row);
  add(terms.ofKey, head, column);
  logit = addEps(logit);
  add(terms.after, head, column);
  YieldOp::create(b, loc, logit);
  return attention;
}

/// attn.favor %q, %k, %v, %w kind(positive)
///   ->
/// %o1, %lse = attn.gqa %w, %k, %v score { - |y_j|^2 / 2 }
/// %o = attn.gqa %q, %w, %o1 score { + lse_r }
///
/// The first softmax is the average of values by one feature, and the second
/// the average of those by features: sums, maxima and m^(-1/2) cancel. With eps
/// each logit but for the lse is the ln(exp(.) + eps) of a feature.
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
  Value ofKeys = keyNorms(-0.5), ofQueries;
  if (eps != 0.0) {
    Value max = maxOfKeys(project(op.getKey(), buildRows()), {0, 1});
    ofKeys = rows.update({max}, ofKeys, [&](ValueRange args) {
      return rows.sub(args[1], args[0]);
    });
    max = maxOfQuery(project(op.getQuery(), buildRows()));
    ofQueries = rows.update({max}, queryNorms(-0.5), [&](ValueRange args) {
      return rows.sub(args[1], args[0]);
    });
  }
  GqaOp byFeature = attend(w, key, value, {Value(), ofKeys, Value()}, factor,
                           op.getLengths());
  GqaOp byQuery =
      attend(query, w, byFeature.getOutput(),
             {ofQueries, Value(), byFeature.getLse()}, factor, Value());
  return castTo(byQuery.getOutput(), element);
}
