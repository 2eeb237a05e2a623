// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random keep regions over every integer operation that is allowed in one.

#include "RandomRegion.h"

#include "dialect/Attn.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace attn::test {

Type RandomRegion::pickType() {
  switch (below(8)) {
  case 0:
    return builder.getI8Type();
  case 1:
    return builder.getI32Type();
  case 2:
    return builder.getI64Type();
  default:
    return builder.getIndexType();
  }
}

/// Small numbers, powers of two and their neighbours, and the limits of types.
Value RandomRegion::pickConstant(Type type) {
  int64_t value = static_cast<int64_t>(below(17)) - 6;
  if (below(4) == 0) {
    unsigned exponent = below(64);
    value = static_cast<int64_t>((1ull << exponent) + below(3) - 1);
  }
  if (below(6) == 0)
    value = static_cast<int64_t>(0 - static_cast<uint64_t>(value));
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  APInt number(width, static_cast<uint64_t>(value), /*isSigned=*/true,
               /*implicitTrunc=*/true);
  return arith::ConstantOp::create(builder, loc,
                                   IntegerAttr::get(type, number));
}

Value RandomRegion::pick(Type type) {
  SmallVector<Value> candidates;
  for (Value value : pool)
    if (value.getType() == type)
      candidates.push_back(value);
  if (candidates.empty() || below(5) == 0)
    return pickConstant(type);
  // The later ones more often, so that expressions get deep.
  unsigned index = std::max(below(candidates.size()), below(candidates.size()));
  return candidates[index];
}

template <typename... OpTys>
static Value createNth(unsigned n, OpBuilder &builder, Location loc, Value a,
                       Value b) {
  using Create = Value (*)(OpBuilder &, Location, Value, Value);
  static constexpr Create kCreate[] = {
      [](OpBuilder &builder, Location loc, Value a, Value b) -> Value {
        return OpTys::create(builder, loc, a, b);
      }...};
  return kCreate[n % sizeof...(OpTys)](builder, loc, a, b);
}

Value RandomRegion::buildBinary(Type type) {
  Value a = pick(type);
  // Amounts and divisors are mostly of the kind that a mask would use.
  Value b = below(2) ? pick(type) : pickConstant(type);
  return createNth<arith::AddIOp, arith::SubIOp, arith::SubIOp, arith::MulIOp,
                   arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
                   arith::RemSIOp, arith::DivUIOp, arith::CeilDivUIOp,
                   arith::RemUIOp, arith::MinSIOp, arith::MaxSIOp,
                   arith::MinUIOp, arith::MaxUIOp, arith::ShLIOp,
                   arith::ShRSIOp, arith::ShRUIOp, arith::AndIOp, arith::OrIOp,
                   arith::XOrIOp>(below(21), builder, loc, a, b);
}

Value RandomRegion::buildBool() {
  Type i1 = builder.getI1Type();
  if (below(3) != 0) {
    Type type = below(10) == 0 ? i1 : pickType();
    auto predicate = static_cast<arith::CmpIPredicate>(below(10));
    return arith::CmpIOp::create(builder, loc, predicate, pick(type),
                                 pick(type));
  }
  if (below(4) == 0)
    return arith::SelectOp::create(builder, loc, pick(i1), pick(i1), pick(i1));
  return createNth<arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::AndIOp,
                   arith::OrIOp, arith::XOrIOp, arith::AddIOp, arith::MulIOp>(
      below(8), builder, loc, pick(i1), pick(i1));
}

Value RandomRegion::buildCast(Type to) {
  Type from = below(4) == 0 ? builder.getI1Type() : pickType();
  if (from == to)
    return pick(to);
  Value value = pick(from);
  bool isSigned = below(2);
  if (from.isIndex() || to.isIndex()) {
    if (isSigned)
      return arith::IndexCastOp::create(builder, loc, to, value);
    return arith::IndexCastUIOp::create(builder, loc, to, value);
  }
  if (to.getIntOrFloatBitWidth() < from.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(builder, loc, to, value);
  if (isSigned)
    return arith::ExtSIOp::create(builder, loc, to, value);
  return arith::ExtUIOp::create(builder, loc, to, value);
}

Value RandomRegion::buildRead() {
  Value tensor = tensors[below(tensors.size())];
  SmallVector<Value> indices;
  for (int64_t i = 0, e = cast<ShapedType>(tensor.getType()).getRank(); i < e;
       ++i)
    indices.push_back(pick(builder.getIndexType()));
  return tensor::ExtractOp::create(builder, loc, tensor, indices);
}

Value RandomRegion::buildOp() {
  unsigned kind = below(20);
  if (kind < 7)
    return buildBool();
  if (kind < 9)
    return buildCast(below(8) == 0 ? builder.getI1Type() : pickType());
  if (kind == 9) {
    Type type = pickType();
    return arith::SelectOp::create(builder, loc, pick(builder.getI1Type()),
                                   pick(type), pick(type));
  }
  if (kind == 10) {
    Type type = builder.getI64Type();
    return math::AbsIOp::create(builder, loc, pick(type));
  }
  if (kind < 13 && !tensors.empty())
    return buildRead();
  return buildBinary(pickType());
}

void RandomRegion::build(Block &block, unsigned numOps) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&block);
  pool.assign(block.args_begin(), block.args_end());
  for (unsigned i = 0; i < numOps; ++i)
    pool.push_back(buildOp());
  Type index = builder.getIndexType();
  // Most regions end in a compare of something that has just been computed.
  Value keep =
      below(2)
          ? arith::CmpIOp::create(builder, loc,
                                  static_cast<arith::CmpIPredicate>(below(10)),
                                  pick(index), pick(index))
                .getResult()
          : buildBool();
  mlir::attn::YieldOp::create(builder, loc, keep);
}

} // namespace attn::test
