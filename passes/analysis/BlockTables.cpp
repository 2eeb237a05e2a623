// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Minimum and maximum of integer tensors by blocks of positions.

#include "passes/analysis/BlockTables.h"

#include "dialect/Attn.h"
#include "passes/analysis/RangeEvaluator.h"
#include "passes/analysis/ScalarClone.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::attn;
using arith::CmpIPredicate;

/// Positions per entry. Small, so that a tile's range is hardly wider than the
/// tile; a lookup reads a few entries more.
static constexpr int64_t kGranule = 8;

namespace {
/// What a value of a keep region depends on.
enum Dependence : unsigned { None = 0, OnHead = 1, OnPosition = 2 };
} // namespace

BlockTables::BlockTables(Block &keep) {
  llvm::DenseMap<Value, unsigned> dependence;
  auto arguments = keep.getArguments().take_back(4);
  dependence[arguments[1]] = OnHead;
  dependence[arguments[2]] = dependence[arguments[3]] = OnPosition;
  for (Operation &op : keep.without_terminator()) {
    unsigned &result = dependence[op.getResult(0)];
    result = None;
    for (Value operand : op.getOperands())
      result |= dependence.lookup(operand);
    auto extract = dyn_cast<tensor::ExtractOp>(op);
    if (!extract || result == None || !extract.getType().isIntOrIndex() ||
        extract.getType().isInteger(1))
      continue;
    // Positions vary in every tile, heads only where a tile holds several.
    unsigned which = result & OnPosition ? OnPosition : OnHead;
    std::optional<unsigned> varying;
    unsigned count = 0;
    for (auto [dim, index] : llvm::enumerate(extract.getIndices()))
      if (dependence.lookup(index) & which) {
        varying = dim;
        ++count;
      }
    if (count == 1)
      tables.insert({{extract.getTensor(), *varying}, {}});
  }
}

namespace {

/// Builds the loops that fill one table.
struct TableBuilder {
  OpBuilder &builder;
  Location loc;
  Value tensor;
  unsigned dim;
  int64_t granule;

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  Value getNumBlocks() {
    Value size = getSize(builder, loc, tensor, dim);
    return builder.createOrFold<arith::CeilDivUIOp>(loc, size, index(granule));
  }

  Value getEmpty() {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(builder, loc, tensor);
    sizes[dim] = getAsOpFoldResult(getNumBlocks());
    return tensor::EmptyOp::create(builder, loc, sizes, builder.getI64Type());
  }

  /// Minimum and maximum of the block at `indices`.
  std::pair<Value, Value> buildBlock(SmallVector<Value> indices) {
    IntervalEmitter emitter(builder, loc);
    Value size = getSize(builder, loc, tensor, dim);
    Value begin =
        arith::MulIOp::create(builder, loc, indices[dim], index(granule));
    Value end = arith::MinSIOp::create(
        builder, loc,
        arith::AddIOp::create(builder, loc, begin, index(granule)), size);
    Interval none{emitter.full(64).hi, emitter.full(64).lo};
    auto loop = scf::ForOp::create(builder, loc, begin, end, index(1),
                                   ValueRange{none.lo, none.hi});
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    indices[dim] = loop.getInductionVar();
    IntervalEmitter inner(builder, loc);
    Value value =
        inner.toInt64(tensor::ExtractOp::create(builder, loc, tensor, indices));
    Value min = inner.emit<arith::MinSIOp>(loop.getRegionIterArg(0), value);
    Value max = inner.emit<arith::MaxSIOp>(loop.getRegionIterArg(1), value);
    scf::YieldOp::create(builder, loc, ValueRange{min, max});
    return {loop.getResult(0), loop.getResult(1)};
  }

  /// The loop over dimension `level` and those inside it.
  SmallVector<Value> buildLoops(unsigned level, SmallVector<Value> indices,
                                SmallVector<Value> state) {
    if (level == cast<RankedTensorType>(tensor.getType()).getRank()) {
      auto [min, max] = buildBlock(indices);
      return {tensor::InsertOp::create(builder, loc, min, state[0], indices),
              tensor::InsertOp::create(builder, loc, max, state[1], indices)};
    }
    Value count =
        level == dim ? getNumBlocks() : getSize(builder, loc, tensor, level);
    auto loop =
        scf::ForOp::create(builder, loc, index(0), count, index(1), state);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    indices.push_back(loop.getInductionVar());
    SmallVector<Value> inner = buildLoops(
        level + 1, indices, SmallVector<Value>(loop.getRegionIterArgs()));
    scf::YieldOp::create(builder, loc, inner);
    return SmallVector<Value>(loop.getResults());
  }
};

} // namespace

void BlockTables::emit(OpBuilder &builder, Location loc, int64_t blockSize) {
  maxSpan = blockSize;
  granule = std::min(kGranule, blockSize);
  for (auto &[key, table] : tables) {
    TableBuilder tableBuilder{builder, loc, key.first, key.second, granule};
    Value min = tableBuilder.getEmpty(), max = tableBuilder.getEmpty();
    SmallVector<Value> filled = tableBuilder.buildLoops(0, {}, {min, max});
    table = {filled[0], filled[1]};
  }
}

bool BlockTables::has(Value tensor, unsigned dim) const {
  auto it = tables.find({tensor, dim});
  return it != tables.end() && it->second.min;
}

Interval BlockTables::lookup(OpBuilder &builder, Location loc, Value tensor,
                             unsigned dim, ArrayRef<Value> indices,
                             Interval range) const {
  const Table &table = tables.find({tensor, dim})->second;
  auto element = cast<RankedTensorType>(tensor.getType()).getElementType();
  IntervalEmitter emitter(builder, loc);
  Interval all = emitter.full(getIntegerWidth(element));
  Value lo = clampIndex(builder, loc, range.lo, tensor, dim);
  Value hi = clampIndex(builder, loc, range.hi, tensor, dim);
  // An empty tensor has no block to look at.
  Value size = emitter.toInt64(getSize(builder, loc, tensor, dim));
  Value span = emitter.emit<arith::SubIOp>(hi, lo);
  Value ok = emitter.emit<arith::AndIOp>(
      emitter.compareValues(CmpIPredicate::slt, span,
                            emitter.constant(maxSpan)),
      emitter.compareValues(CmpIPredicate::sgt, size, emitter.constant(0)));

  auto toBlock = [&](Value position) -> Value {
    Value block =
        emitter.emit<arith::DivUIOp>(position, emitter.constant(granule));
    return emitter.emit<arith::IndexCastOp>(builder.getIndexType(), block);
  };
  Value begin = toBlock(lo);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value last = emitter.emit<arith::AddIOp>(toBlock(hi), one);
  Value end = emitter.emit<arith::SelectOp>(ok, last, begin);
  Interval none{emitter.full(64).hi, emitter.full(64).lo};
  auto loop = scf::ForOp::create(builder, loc, begin, end, one,
                                 ValueRange{none.lo, none.hi});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> entry(indices);
    entry[dim] = loop.getInductionVar();
    Value min = tensor::ExtractOp::create(builder, loc, table.min, entry);
    Value max = tensor::ExtractOp::create(builder, loc, table.max, entry);
    min = arith::MinSIOp::create(builder, loc, loop.getRegionIterArg(0), min);
    max = arith::MaxSIOp::create(builder, loc, loop.getRegionIterArg(1), max);
    scf::YieldOp::create(builder, loc, ValueRange{min, max});
  }
  return {emitter.emit<arith::SelectOp>(ok, loop.getResult(0), all.lo),
          emitter.emit<arith::SelectOp>(ok, loop.getResult(1), all.hi)};
}
