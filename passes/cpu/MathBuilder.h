// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short forms for the arithmetic that elementary functions are made of.

#ifndef ATTN_PASSES_CPU_MATHBUILDER_H
#define ATTN_PASSES_CPU_MATHBUILDER_H

#include "passes/cpu/KernelBuilder.h"
#include "passes/cpu/MathConstants.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::attn {

/// KernelBuilder plus what elementary functions need on one type.
struct MathBuilder {
  const KernelBuilder &kb;
  Type type;
  const MathConstants &constants;
  Type intType;

  MathBuilder(const KernelBuilder &kb, Type type)
      : kb(kb), type(type),
        constants(getMathConstants(getElementTypeOrSelf(type).isF64())),
        intType(withElement(kb.b.getIntegerType(constants.bits))) {}

  Type withElement(Type element) const {
    if (auto vector = dyn_cast<VectorType>(type))
      return vector.clone(element);
    return element;
  }
  Value f(double x) const { return kb.constant(type, x); }
  Value i(int64_t x) const {
    Attribute value = kb.b.getIntegerAttr(getElementTypeOrSelf(intType), x);
    if (auto vector = dyn_cast<VectorType>(intType))
      value = DenseElementsAttr::get(vector, value);
    return arith::ConstantOp::create(kb.b, kb.loc, cast<TypedAttr>(value));
  }
  template <typename OpTy> Value op(Value x, Value y) const {
    return OpTy::create(kb.b, kb.loc, x, y);
  }
  Value add(Value x, Value y) const { return kb.addf(x, y); }
  Value sub(Value x, Value y) const { return kb.subf(x, y); }
  Value mul(Value x, Value y) const { return kb.mulf(x, y); }
  Value div(Value x, Value y) const { return op<arith::DivFOp>(x, y); }
  Value sqrt(Value x) const { return math::SqrtOp::create(kb.b, kb.loc, x); }
  Value select(Value condition, Value x, Value y) const {
    return kb.select(condition, x, y);
  }
  Value toInt(Value x) const {
    return arith::BitcastOp::create(kb.b, kb.loc, intType, x);
  }
  Value toFloat(Value x) const {
    return arith::BitcastOp::create(kb.b, kb.loc, type, x);
  }
  /// c[0] x^n + ... + c[n].
  Value polynomial(Value x, ArrayRef<double> coefficients) const {
    Value result = f(coefficients.front());
    for (double c : coefficients.drop_front())
      result = kb.fma(result, x, f(c));
    return result;
  }
  Value compare(arith::CmpFPredicate predicate, Value x, double y) const {
    return kb.cmpf(predicate, x, f(y));
  }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) const {
    return kb.cmpf(predicate, x, y);
  }
  /// x where `predicate` does not hold between x and the limit, which NaN never
  /// does, else the limit.
  Value clamp(arith::CmpFPredicate predicate, Value x, double limit) const {
    return kb.select(compare(predicate, x, limit), f(limit), x);
  }
  /// The integer that is in the low bits of what a float and `round` added up
  /// to.
  Value roundedToInt(Value shifted) const {
    return op<arith::SubIOp>(toInt(shifted), i(constants.roundBits()));
  }
  /// The sign bit of x, as an integer.
  Value signOf(Value x) const {
    return op<arith::AndIOp>(toInt(x), i(INT64_MIN >> (64 - constants.bits)));
  }
  Value isTrue() const {
    Attribute value = kb.b.getBoolAttr(true);
    if (auto vector = dyn_cast<VectorType>(type))
      value = DenseElementsAttr::get(vector.clone(kb.b.getI1Type()), true);
    return arith::ConstantOp::create(kb.b, kb.loc, cast<TypedAttr>(value));
  }
  Value isNotZero(Value x) const {
    return arith::CmpIOp::create(kb.b, kb.loc, arith::CmpIPredicate::ne, x,
                                 i(0));
  }
  Value toFloatFromInt(Value x) const {
    return arith::SIToFPOp::create(kb.b, kb.loc, type, x);
  }
  Value abs(Value x) const {
    return toFloat(op<arith::XOrIOp>(toInt(x), signOf(x)));
  }
  /// x, at least 0, with a sign.
  Value withSign(Value x, Value sign) const {
    return toFloat(op<arith::OrIOp>(toInt(x), sign));
  }
  /// 2^n for the exponents n of normal numbers, 0 for the one below them. Only
  /// the low bits of n matter.
  Value power(Value n) const {
    Value exponent = op<arith::ShLIOp>(n, i(constants.fractionBits));
    return toFloat(op<arith::AddIOp>(exponent, i(constants.oneBits())));
  }
};

} // namespace mlir::attn

#endif // ATTN_PASSES_CPU_MATHBUILDER_H
