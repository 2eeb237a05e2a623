// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PairVectors.h.

#include "passes/cpu/PairVectors.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::attn;

Value attn::countPairs(const KernelBuilder &kb, Value count) {
  return kb.fold<arith::ShRUIOp>(kb.add(count, 1), kb.index(1));
}

VectorType attn::pairLanes(const KernelBuilder &kb) {
  return VectorType::get({2 * kb.width()}, kb.b.getBF16Type());
}

static Value bitcast(const KernelBuilder &kb, Type type, Value x) {
  return vector::BitCastOp::create(kb.b, kb.loc, cast<VectorType>(type), x);
}

Value attn::emitDot(const KernelBuilder &kb, Value x, Value y, Value acc) {
  return kb.callIntrinsic("llvm.x86.avx512bf16.dpbf16ps.512", kb.f32Lanes(),
                          {acc, x, y});
}

Value attn::broadcastPair(const KernelBuilder &kb, Value memref,
                          ValueRange indices) {
  Value pair = kb.loadVector(memref, indices, 2);
  Type i32 = kb.b.getI32Type();
  Value word = vector::ExtractOp::create(
      kb.b, kb.loc, bitcast(kb, VectorType::get({1}, i32), pair), 0);
  return bitcast(kb, pairLanes(kb), kb.broadcast(word));
}

Value attn::emitPair(const KernelBuilder &kb, Value even, Value odd) {
  int64_t width = kb.width();
  Value halves = kb.callIntrinsic("llvm.x86.avx512bf16.cvtne2ps2bf16.512",
                                  pairLanes(kb), {odd, even});
  SmallVector<int64_t> interleaved;
  for (int64_t lane = 0; lane < width; ++lane)
    interleaved.append({lane, width + lane});
  return vector::ShuffleOp::create(kb.b, kb.loc, halves, halves, interleaved);
}

/// A lane vector of the integer `x`.
static Value splat(const KernelBuilder &kb, int32_t x) {
  return arith::ConstantOp::create(
      kb.b, kb.loc,
      DenseElementsAttr::get(kb.lanes(kb.b.getI32Type()),
                             kb.b.getI32IntegerAttr(x)));
}

Value attn::extractFromPairs(const KernelBuilder &kb, Value pairs,
                             Value isOdd) {
  Value words = bitcast(kb, kb.lanes(kb.b.getI32Type()), pairs);
  Value even = arith::ShLIOp::create(kb.b, kb.loc, words, splat(kb, 16));
  Value odd = arith::AndIOp::create(kb.b, kb.loc, words,
                                    splat(kb, int32_t(0xffff0000u)));
  return bitcast(kb, kb.f32Lanes(), kb.select(isOdd, odd, even));
}

/// A mask of the first `count` of `width` elements.
static Value createMask(const KernelBuilder &kb, Value count, int64_t width) {
  SmallVector<int32_t> numbers(width);
  std::iota(numbers.begin(), numbers.end(), 0);
  auto type = VectorType::get({width}, kb.b.getI32Type());
  Value number = arith::ConstantOp::create(
      kb.b, kb.loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
  Value limit = vector::BroadcastOp::create(
      kb.b, kb.loc, type,
      arith::IndexCastOp::create(kb.b, kb.loc, kb.b.getI32Type(), count));
  return kb.cmp(arith::CmpIPredicate::ult, number, limit);
}

SmallVector<Value> attn::reducePartsOfRow(
    const KernelBuilder &kb, Value count, int64_t width, ValueRange init,
    llvm::function_ref<SmallVector<Value>(Value, Value, ValueRange)> body) {
  Value parts = kb.fold<arith::DivUIOp>(count, kb.index(width));
  Value whole = kb.mul(parts, kb.index(width));
  SmallVector<Value> sums =
      kb.loop(kb.index(0), whole, width, init, [&](Value column, ValueRange c) {
        return body(column, /*mask=*/Value(), c);
      });
  Value rest = kb.sub(count, whole);
  return kb.ifElse(
      kb.cmp(arith::CmpIPredicate::ne, rest, kb.index(0)),
      [&] { return body(whole, createMask(kb, rest, width), sums); },
      [&] { return sums; });
}

void attn::forEachPartOfRow(
    const KernelBuilder &kb, Value count, int64_t width,
    llvm::function_ref<void(Value column, Value mask)> body) {
  reducePartsOfRow(kb, count, width, ValueRange(),
                   [&](Value column, Value mask, ValueRange) {
                     body(column, mask);
                     return SmallVector<Value>();
                   });
}

Value attn::loadPart(const KernelBuilder &kb, Value memref, ValueRange indices,
                     int64_t width, Value mask) {
  if (!mask)
    return kb.loadVector(memref, indices, width);
  auto type = VectorType::get(
      {width}, cast<MemRefType>(memref.getType()).getElementType());
  Value zero = arith::ConstantOp::create(kb.b, kb.loc, kb.b.getZeroAttr(type));
  return vector::MaskedLoadOp::create(kb.b, kb.loc, type, memref, indices, mask,
                                      zero);
}
