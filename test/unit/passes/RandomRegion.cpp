// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random keep regions over every integer operation that is allowed in one, and
// over those on floats whose results IEEE 754 defines to the last bit.

#include "RandomRegion.h"

#include "dialect/Attn.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

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
  if (auto floatType = dyn_cast<FloatType>(type))
    return pickFloatConstant(floatType);
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

//===- floats -------------------------------------------------------------===//

Type RandomRegion::pickFloatType() {
  switch (below(6)) {
  case 0:
    return builder.getF16Type();
  case 1:
    return builder.getBF16Type();
  case 2:
  case 3:
    return builder.getF64Type();
  default:
    return builder.getF32Type();
  }
}

/// Small multiples of 1/4, powers of two, and what is special.
Value RandomRegion::pickFloatConstant(FloatType type) {
  double value = (static_cast<double>(below(65)) - 24) / 4;
  if (below(4) == 0)
    value = std::ldexp(1.0, static_cast<int>(below(80)) - 16);
  if (below(12) == 0)
    value = below(2) ? std::numeric_limits<double>::infinity()
                     : std::numeric_limits<double>::quiet_NaN();
  if (below(4) == 0)
    value = -value;
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(type, value));
}

Value RandomRegion::buildFromInteger(Type to) {
  Type from = below(4) == 0 ? builder.getI1Type() : pickType();
  Value value = pick(from);
  // Casts to floats take no index.
  if (from.isIndex())
    value =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
  if (below(2))
    return arith::SIToFPOp::create(builder, loc, to, value);
  return arith::UIToFPOp::create(builder, loc, to, value);
}

Value RandomRegion::buildToInteger(Type from) {
  const Type kTypes[] = {builder.getI1Type(), builder.getI8Type(),
                         builder.getI32Type(), builder.getI64Type()};
  Type to = kTypes[below(4)];
  Value value = pick(from);
  if (below(2))
    return arith::FPToSIOp::create(builder, loc, to, value);
  return arith::FPToUIOp::create(builder, loc, to, value);
}

/// Between types of other widths only: there is no cast from f16 to bf16.
Value RandomRegion::buildFloatCast(Type to) {
  Type from = pickFloatType();
  unsigned toWidth = to.getIntOrFloatBitWidth();
  unsigned fromWidth = from.getIntOrFloatBitWidth();
  if (fromWidth == toWidth)
    return pick(to);
  if (toWidth < fromWidth)
    return arith::TruncFOp::create(builder, loc, to, pick(from));
  return arith::ExtFOp::create(builder, loc, to, pick(from));
}

Value RandomRegion::buildFloatUnary(Type type) {
  Value x = pick(type);
  using Create = Value (*)(OpBuilder &, Location, Value);
  static constexpr Create kCreate[] = {
      [](OpBuilder &b, Location l, Value x) -> Value {
        return arith::NegFOp::create(b, l, x);
      },
      [](OpBuilder &b, Location l, Value x) -> Value {
        return math::AbsFOp::create(b, l, x);
      },
      [](OpBuilder &b, Location l, Value x) -> Value {
        return math::SqrtOp::create(b, l, x);
      },
      [](OpBuilder &b, Location l, Value x) -> Value {
        return math::FloorOp::create(b, l, x);
      },
      [](OpBuilder &b, Location l, Value x) -> Value {
        return math::CeilOp::create(b, l, x);
      },
      [](OpBuilder &b, Location l, Value x) -> Value {
        return math::TruncOp::create(b, l, x);
      },
      [](OpBuilder &b, Location l, Value x) -> Value {
        return math::RoundOp::create(b, l, x);
      },
      [](OpBuilder &b, Location l, Value x) -> Value {
        return math::RoundEvenOp::create(b, l, x);
      }};
  return kCreate[below(std::size(kCreate))](builder, loc, x);
}

Value RandomRegion::buildFloatBool(Type type) {
  Value x = pick(type);
  switch (below(8)) {
  case 0:
    return math::IsNaNOp::create(builder, loc, x);
  case 1:
    return math::IsFiniteOp::create(builder, loc, x);
  case 2:
    return math::IsInfOp::create(builder, loc, x);
  default:
    // The first and the last predicate are constants.
    return arith::CmpFOp::create(
        builder, loc, static_cast<arith::CmpFPredicate>(1 + below(14)), x,
        pick(type));
  }
}

Value RandomRegion::buildFloat() {
  Type type = pickFloatType();
  switch (below(9)) {
  case 0:
  case 1:
    return buildFromInteger(type);
  case 2:
    return buildToInteger(type);
  case 3:
    return buildFloatCast(type);
  case 4:
    return buildFloatUnary(type);
  case 5:
    return buildFloatBool(type);
  case 6:
    return arith::SelectOp::create(builder, loc, pick(builder.getI1Type()),
                                   pick(type), pick(type));
  default:
    // Which zero or which NaN a maximum of numbers gives is not defined.
    return createNth<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
                     arith::MaximumFOp, arith::MinimumFOp, math::CopySignOp>(
        below(7), builder, loc, pick(type), pick(type));
  }
}

Value RandomRegion::buildOp() {
  if (withFloats && below(5) < 3)
    return buildFloat();
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
  Value keep;
  if (withFloats && below(3) != 0)
    keep = buildFloatBool(pickFloatType());
  else
    keep = below(2)
               ? arith::CmpIOp::create(
                     builder, loc, static_cast<arith::CmpIPredicate>(below(10)),
                     pick(index), pick(index))
                     .getResult()
               : buildBool();
  mlir::attn::YieldOp::create(builder, loc, keep);
}

} // namespace attn::test
