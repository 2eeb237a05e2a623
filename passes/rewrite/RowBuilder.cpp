// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RowBuilder.h.

#include "passes/rewrite/RowBuilder.h"

#include "passes/decompose/WidenRegion.h"

using namespace mlir;
using namespace mlir::attn;

/// The dimensions 0 to `count` - 1.
static SmallVector<int64_t> leading(int64_t count) {
  return llvm::to_vector(llvm::seq<int64_t>(0, count));
}

static int64_t rankOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getRank();
}

/// linalg.generic over the loops of the first operand. Integers, as lengths
/// are, are not widened.
static Value buildRows(RowBuilder &rows, ValueRange inputs, Value init,
                       int64_t numLoops, ArrayRef<int64_t> kept,
                       RowBuilder::Body body) {
  SmallVector<SmallVector<int64_t>> maps;
  for (Value input : inputs)
    maps.push_back(leading(rankOf(input)));
  maps.emplace_back(kept);
  SmallVector<ArrayRef<int64_t>> mapRefs(maps.begin(), maps.end());
  auto element =
      cast<FloatType>(cast<RankedTensorType>(init.getType()).getElementType());
  return buildPlainGeneric(
      rows.builder, rows.loc, inputs, init, mapRefs, numLoops,
      [&](ValueRange args) -> Value {
        SmallVector<Value> wide;
        for (Value arg : args)
          wide.push_back(
              isa<FloatType>(arg.getType())
                  ? widenFloat(rows.builder, rows.loc, arg, rows.type)
                  : arg);
        return roundOnce(rows.builder, rows.loc, body(wide), element);
      });
}

Value RowBuilder::countAsFloat(Value tensor, int64_t dim) {
  int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(size))
    return makeFloat(static_cast<double>(size));
  Value count = tensor::DimOp::create(builder, loc, tensor, dim);
  Value integer =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), count);
  return arith::SIToFPOp::create(builder, loc, type, integer);
}

Value RowBuilder::filled(ArrayRef<OpFoldResult> sizes, double value) {
  return linalg::FillOp::create(builder, loc, makeFloat(value),
                                empty(sizes, type))
      .getResult(0);
}

Value RowBuilder::map(ValueRange inputs, Value like, FloatType element,
                      Body body) {
  int64_t rank = rankOf(like);
  return buildRows(*this, inputs, empty(sizes(like), element), rank,
                   leading(rank),
                   [&](ValueRange args) { return body(args.drop_back()); });
}

Value RowBuilder::update(ValueRange inputs, Value tensor, Body body) {
  int64_t rank = rankOf(tensor);
  return buildRows(*this, inputs, tensor, rank, leading(rank), body);
}

Value RowBuilder::reduce(ValueRange inputs, ArrayRef<int64_t> kept, double init,
                         Body body) {
  SmallVector<OpFoldResult> all = sizes(inputs.front());
  SmallVector<OpFoldResult> keptSizes;
  for (int64_t dim : kept)
    keptSizes.push_back(all[dim]);
  return buildRows(*this, inputs, filled(keptSizes, init), all.size(), kept,
                   body);
}

Value RowBuilder::project(Value input, Value projection) {
  SmallVector<OpFoldResult> shape = sizes(input);
  shape[3] = tensor::getMixedSize(builder, loc, projection, 0);
  return buildPlainGeneric(
      builder, loc, {input, projection}, filled(shape, 0.0),
      {{0, 1, 2, 4}, {3, 4}, {0, 1, 2, 3}}, 5, [&](ValueRange args) {
        return add(args[2], mul(widenFloat(builder, loc, args[0], type),
                                widenFloat(builder, loc, args[1], type)));
      });
}

Value RowBuilder::squareNorms(Value input, Value factor) {
  return reduce<arith::AddFOp>({input}, {0, 1, 2}, 0.0, [&](ValueRange args) {
    return mul(factor, mul(args[0], args[0]));
  });
}

Value RowBuilder::concat(ArrayRef<Value> parts) {
  return tensor::ConcatOp::create(builder, loc, rankOf(parts.front()) - 1,
                                  parts);
}

Value RowBuilder::lengthsPerBatch(Value lengths, Value like) {
  if (!lengths || !lengths.getType().isIndex())
    return lengths;
  Type i64 = builder.getI64Type();
  Value number = arith::IndexCastOp::create(builder, loc, i64, lengths);
  Value init = empty(tensor::getMixedSize(builder, loc, like, 0), i64);
  return linalg::FillOp::create(builder, loc, number, init).getResult(0);
}

Value RowBuilder::isInUse(Value length) {
  Value position = linalg::IndexOp::create(builder, loc, 2);
  Value end =
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), length);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                               position, end);
}
