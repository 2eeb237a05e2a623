// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bf16 is half of an f32 and cast by integer arithmetic. f16 is cast by
// operations that attn-expand-half-casts takes care of where the target has
// none.

#include "passes/cpu/FloatCasts.h"

using namespace mlir;
using namespace mlir::attn;

/// A constant of the shape and element type of `type`.
static Value makeInteger(const KernelBuilder &kb, Type type, int64_t x) {
  Attribute value = kb.b.getIntegerAttr(getElementTypeOrSelf(type), x);
  if (auto vector = dyn_cast<VectorType>(type))
    value = DenseElementsAttr::get(vector, value);
  return arith::ConstantOp::create(kb.b, kb.loc, cast<TypedAttr>(value));
}

/// `type` with other elements.
static Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

Value attn::emitToF32(const KernelBuilder &kb, Value x) {
  Type element = getElementTypeOrSelf(x.getType());
  if (element.isF32())
    return x;
  Type f32 = withElement(x.getType(), kb.b.getF32Type());
  if (!element.isBF16())
    return arith::ExtFOp::create(kb.b, kb.loc, f32, x);
  Type i16 = withElement(x.getType(), kb.b.getI16Type());
  Type i32 = withElement(x.getType(), kb.b.getI32Type());
  Value bits = arith::BitcastOp::create(kb.b, kb.loc, i16, x);
  Value wide = arith::ExtUIOp::create(kb.b, kb.loc, i32, bits);
  Value shifted =
      arith::ShLIOp::create(kb.b, kb.loc, wide, makeInteger(kb, i32, 16));
  return arith::BitcastOp::create(kb.b, kb.loc, f32, shifted);
}

Value attn::emitWiden(const KernelBuilder &kb, Value x) {
  if (getElementTypeOrSelf(x.getType()) == kb.wide)
    return x;
  Value single = emitToF32(kb, x);
  if (kb.wide.isF32())
    return single;
  return arith::ExtFOp::create(kb.b, kb.loc, withElement(x.getType(), kb.wide),
                               single);
}

/// f32 rounded to bf16.
static Value emitToBF16(const KernelBuilder &kb, Value x) {
  Type i32 = withElement(x.getType(), kb.b.getI32Type());
  Type i16 = withElement(x.getType(), kb.b.getI16Type());
  auto integer = [&](int64_t value) { return makeInteger(kb, i32, value); };
  Value bits = arith::BitcastOp::create(kb.b, kb.loc, i32, x);
  Value upper = arith::ShRUIOp::create(kb.b, kb.loc, bits, integer(16));
  Value odd = arith::AndIOp::create(kb.b, kb.loc, upper, integer(1));
  Value rounding = arith::AddIOp::create(kb.b, kb.loc, odd, integer(0x7fff));
  Value sum = arith::AddIOp::create(kb.b, kb.loc, bits, rounding);
  Value rounded = arith::ShRUIOp::create(kb.b, kb.loc, sum, integer(16));
  // Rounding may carry a NaN into infinity: keep its upper bits, made quiet.
  Value quiet = arith::OrIOp::create(kb.b, kb.loc, upper, integer(0x40));
  Value isNaN = kb.cmpf(arith::CmpFPredicate::UNO, x, x);
  Value result = kb.select(isNaN, quiet, rounded);
  Value narrow = arith::TruncIOp::create(kb.b, kb.loc, i16, result);
  return arith::BitcastOp::create(
      kb.b, kb.loc, withElement(x.getType(), kb.b.getBF16Type()), narrow);
}

Value attn::emitRound(const KernelBuilder &kb, Value x, Type element) {
  Type from = getElementTypeOrSelf(x.getType());
  if (from == element)
    return x;
  assert(from.isF32() && "expected no second rounding");
  if (element.isBF16())
    return emitToBF16(kb, x);
  return arith::TruncFOp::create(kb.b, kb.loc,
                                 withElement(x.getType(), element), x);
}
