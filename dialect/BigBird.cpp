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
                                  int64_t last, int64_t random, int64_t blocks,
                                  int64_t seed) {
  // Each draw is code of its own in the predicate.
  constexpr int64_t most = INT32_MAX, kMostDraws = 64;
  int64_t leastBlocks = random > 0 ? 1 : 0;
  for (auto [name, value, low, high] :
       {std::tuple<StringRef, int64_t, int64_t, int64_t>{"block", block, 1,
                                                         most},
        {"window", window, 0, most},
        {"global", global, 0, most},
        {"last", last, 0, most},
        {"random", random, 0, kMostDraws},
        {"blocks", blocks, leastBlocks, 65536},
        {"seed", seed, 0, UINT32_MAX}})
    if (value < low || value > high)
      return emitError() << "bigbird " << name << ": expected " << low << " to "
                         << high << ", got " << value;
  return success();
}

bool BigBirdAttr::readsRandomBlocks() const {
  return getRandom() == 0 && getBlocks() == 0;
}

bool BigBirdAttr::needsRandomBlocks() const {
  return getLast() > 0 && getBlocks() == 0;
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
  Value both(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
  /// The size of a dimension, at least 1.
  Value size(Value tensor, int64_t dim) {
    return b.createOrFold<tensor::DimOp>(loc, tensor, dim);
  }
  /// `x` clamped to the indices of a dimension.
  Value clamp(Value x, Value tensor, int64_t dim) {
    if (cast<RankedTensorType>(tensor.getType()).getDimSize(dim) == 1)
      return index(0);
    Value last = arith::SubIOp::create(b, loc, size(tensor, dim), index(1));
    Value below = arith::MinSIOp::create(b, loc, x, last);
    return arith::MaxSIOp::create(b, loc, below, index(0));
  }
  /// bj = T[h, bi, t] for any t, where 0 <= bi < N and bj >= 0. Null if T has
  /// no t.
  Value isInTable(Value table, Value h, Value bi, Value bj) {
    Value head = clamp(h, table, 0), row = clamp(bi, table, 1), any;
    int64_t count = cast<RankedTensorType>(table.getType()).getDimSize(2);
    for (int64_t t = 0; t < count; ++t) {
      Value entry = tensor::ExtractOp::create(b, loc, table,
                                              ValueRange{head, row, index(t)});
      entry = arith::IndexCastOp::create(b, loc, b.getIndexType(), entry);
      Value isEntry = compare(CmpIPredicate::eq, bj, entry);
      any = any ? either(any, isEntry) : isEntry;
    }
    if (!any)
      return any;
    Value isRow = both(compare(CmpIPredicate::sge, bi, index(0)),
                       compare(CmpIPredicate::slt, bi, size(table, 1)));
    return both(both(isRow, compare(CmpIPredicate::sge, bj, index(0))), any);
  }
};

} // namespace

Value BigBirdAttr::buildKeep(OpBuilder &builder, Location loc,
                             MaskCoordinates at) const {
  BlockMath math{builder, loc};
  Value size = math.index(getBlock());
  Value bi = arith::FloorDivSIOp::create(builder, loc, at.i, size);
  Value bj = arith::FloorDivSIOp::create(builder, loc, at.j, size);

  Value distance = arith::SubIOp::create(builder, loc, bj, bi);
  Value keep = math.both(
      math.compare(CmpIPredicate::sge, distance, math.index(-getWindow())),
      math.compare(CmpIPredicate::sle, distance, math.index(getWindow())));
  // With `global = 0` too: blocks of negative positions are below it.
  for (Value block : {bi, bj})
    keep = math.either(
        keep, math.compare(CmpIPredicate::slt, block, math.index(getGlobal())));
  Value table = readsRandomBlocks() ? at.randomBlocks : Value();
  if (getLast() > 0) {
    Value blocks = table ? math.size(table, 1) : math.index(getBlocks());
    Value first =
        builder.createOrFold<arith::SubIOp>(loc, blocks, math.index(getLast()));
    for (Value block : {bi, bj})
      keep = math.either(keep, math.compare(CmpIPredicate::sge, block, first));
  }
  if (table)
    if (Value isInTable = math.isInTable(table, at.h, bi, bj))
      keep = math.either(keep, isInTable);
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
