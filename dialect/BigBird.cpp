// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// #attn.bigbird: verification and the predicate it stands for.

#include "dialect/Attn.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::attn;
using arith::CmpIPredicate;

LogicalResult BigBirdAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t block, int64_t window, int64_t global,
                                  int64_t random, int64_t blocks,
                                  int64_t seed) {
  constexpr int64_t most = INT32_MAX;
  int64_t leastBlocks = random > 0 ? 1 : 0;
  for (auto [name, value, low, high] :
       {std::tuple<StringRef, int64_t, int64_t, int64_t>{"block", block, 1,
                                                         most},
        {"window", window, 0, most},
        {"global", global, 0, most},
        {"random", random, 0, 1024},
        {"blocks", blocks, leastBlocks, 65536},
        {"seed", seed, 0, UINT32_MAX}})
    if (value < low || value > high)
      return emitError() << "bigbird " << name << ": expected " << low << " to "
                         << high << ", got " << value;
  return success();
}

namespace {

/// Emits arithmetic on index values and on i32 bit patterns.
struct BlockMath {
  OpBuilder &b;
  Location loc;

  Value index(int64_t x) { return arith::ConstantIndexOp::create(b, loc, x); }
  Value bits(uint32_t x) {
    return arith::ConstantOp::create(
        b, loc, b.getI32IntegerAttr(static_cast<int32_t>(x)));
  }
  Value toBits(Value index) {
    return arith::IndexCastOp::create(b, loc, b.getI32Type(), index);
  }
  Value mul(Value x, uint32_t factor) {
    return arith::MulIOp::create(b, loc, x, bits(factor));
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value shift(Value x, uint32_t amount) {
    return arith::ShRUIOp::create(b, loc, x, bits(amount));
  }
  /// (x xor (x >> amount)) * factor
  Value mix(Value x, uint32_t amount, uint32_t factor) {
    Value folded = arith::XOrIOp::create(b, loc, x, shift(x, amount));
    return mul(folded, factor);
  }
  Value compare(CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  Value either(Value x, Value y) { return arith::OrIOp::create(b, loc, x, y); }
};

} // namespace

Value BigBirdAttr::buildKeep(OpBuilder &builder, Location loc,
                             MaskCoordinates at) const {
  BlockMath math{builder, loc};
  Value size = math.index(getBlock());
  Value bi = arith::FloorDivSIOp::create(builder, loc, at.i, size);
  Value bj = arith::FloorDivSIOp::create(builder, loc, at.j, size);

  Value distance = arith::SubIOp::create(builder, loc, bj, bi);
  Value keep = arith::AndIOp::create(
      builder, loc,
      math.compare(CmpIPredicate::sge, distance, math.index(-getWindow())),
      math.compare(CmpIPredicate::sle, distance, math.index(getWindow())));
  if (getGlobal() > 0)
    for (Value block : {bi, bj})
      keep = math.either(keep, math.compare(CmpIPredicate::slt, block,
                                            math.index(getGlobal())));
  if (getRandom() == 0)
    return keep;

  Value start = math.add(math.bits(static_cast<uint32_t>(getSeed())),
                         math.add(math.mul(math.toBits(at.h), 0x9E3779B1u),
                                  math.mul(math.toBits(bi), 0x85EBCA77u)));
  Value key = math.toBits(bj);
  for (int64_t t = 0; t < getRandom(); ++t) {
    Value x =
        math.add(start, math.bits(0xC2B2AE3Du * static_cast<uint32_t>(t)));
    x = math.mix(x, 16, 0x7FEB352Du);
    x = math.mix(x, 15, 0x846CA68Bu);
    Value drawn = math.shift(
        math.mul(math.shift(x, 16), static_cast<uint32_t>(getBlocks())), 16);
    keep = math.either(keep, math.compare(CmpIPredicate::eq, key, drawn));
  }
  return keep;
}
