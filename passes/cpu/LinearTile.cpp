// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LinearTile.h; and the lowering of attn.linear_read, which needs no more.

#include "passes/cpu/LinearTile.h"

#include "passes/cpu/Cpu.h"
#include "passes/cpu/FloatCasts.h"
#include "passes/cpu/MicroKernels.h"
#include "passes/cpu/TileCopies.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

static Value ceilTo(const KernelBuilder &kb, Value x, int64_t multiple) {
  Value blocks =
      kb.fold<arith::DivUIOp>(kb.add(x, multiple - 1), kb.index(multiple));
  return kb.mul(blocks, kb.index(multiple));
}

LinearTile::LinearTile(const KernelBuilder &kb, Value state, Value output,
                       std::optional<APFloat> scale,
                       std::optional<Normalizer> normalizer, Value features)
    : kb(kb), state(state), output(output),
      scale(scale ? scale->convertToDouble() : 1.0), normalizer(normalizer),
      features(features),
      paddedFeatures(ceilTo(kb, features, kb.target.rowMultiple())),
      columns(cast<MemRefType>(state.getType()).getDimSize(1)) {
  int64_t vectors = std::min(columns / kb.width(), kb.target.maxVectors());
  blockRows = kb.target.blockRows[std::max<int64_t>(vectors, 2) - 1];
}

//===- register blocks ----------------------------------------------------===//

void LinearTile::forEachPanel(llvm::function_ref<void(const Panel &)> body) {
  // As few panels as hold all vectors, of one size or two.
  int64_t vectors = columns / kb.width();
  int64_t panels = llvm::divideCeil(vectors, kb.target.maxVectors());
  int64_t most = llvm::divideCeil(vectors, panels);
  int64_t numWide = vectors - panels * (most - 1);
  auto run = [&](int64_t first, int64_t count, int64_t width) {
    KernelBuilder panel{kb.b, kb.loc, kb.target, kb.wide, width};
    int64_t step = width * kb.width();
    if (count == 1)
      return body({panel, kb.index(first * kb.width())});
    kb.loop(kb.index(first * kb.width()),
            kb.index(first * kb.width() + count * step), step,
            [&](Value column) { body({panel, column}); });
  };
  run(0, numWide, most);
  if (numWide < panels)
    run(numWide * most, panels - numWide, most - 1);
}

Value LinearTile::getPanel(const Panel &panel, Value buffer) {
  OpBuilder &b = kb.b;
  OpFoldResult one = b.getIndexAttr(1);
  return memref::SubViewOp::create(
      b, kb.loc, buffer,
      ArrayRef<OpFoldResult>{b.getIndexAttr(0),
                             getAsOpFoldResult(panel.column)},
      ArrayRef<OpFoldResult>{getAsOpFoldResult(kb.dim(buffer, 0)),
                             b.getIndexAttr(panel.width())},
      ArrayRef<OpFoldResult>{one, one});
}

SmallVector<Value>
LinearTile::multiply(const Panel &panel, Value count, Value right,
                     llvm::function_ref<Value(Value k, int64_t r)> left,
                     ValueRange init) {
  return emitRegisterBlock(
      panel.kb, count, getPanel(panel, right),
      [&](Value k, int64_t r) { return kb.broadcast(left(k, r)); },
      [&](Value x, Value y, Value z) { return kb.fma(x, y, z); }, init);
}

SmallVector<Value> LinearTile::zeros(const Panel &panel) {
  return SmallVector<Value>(blockRows * panel.kb.vectors,
                            kb.constant(kb.wideLanes(), 0.0));
}

void LinearTile::storeBlock(const Panel &panel, ArrayRef<Value> block,
                            Value buffer, Value row) {
  for (auto [number, vector] : llvm::enumerate(block)) {
    int64_t r = number / panel.kb.vectors, v = number % panel.kb.vectors;
    kb.storeLanes(vector, buffer,
                  {kb.add(row, r), kb.add(panel.column, kb.lane(v))});
  }
}

//===- rows ---------------------------------------------------------------===//

Value LinearTile::createFeatureRows(OpFoldResult count) {
  return kb.scratch({count, getAsOpFoldResult(paddedFeatures)}, kb.wide);
}

void LinearTile::copyFeatures(Value from, ValueRange fromRow, Value to,
                              ValueRange toRow,
                              llvm::function_ref<Value(Value)> map,
                              Value prefetchDistance) {
  emitRowCopy(
      kb, from, fromRow, to, toRow, features,
      [&](Value x) {
        Value wide = emitWiden(kb, x);
        return map ? map(wide) : wide;
      },
      prefetchDistance);
  Value zero = kb.constant(kb.wide, 0.0);
  kb.loop(features, paddedFeatures, 1, [&](Value column) {
    SmallVector<Value> place(toRow);
    place.push_back(column);
    memref::StoreOp::create(kb.b, kb.loc, zero, to, place);
  });
}

void LinearTile::copyQueries(Value query, Value head, Value row, Value count,
                             Value queries) {
  auto map = [&](Value x) {
    return scale == 1.0 ? x : kb.mulf(x, kb.constant(x.getType(), scale));
  };
  kb.loop(kb.index(0), count, 1, [&](Value r) {
    copyFeatures(query, {head, kb.add(row, r)}, queries, r, map,
                 kb.dim(query, 1));
  });
}

void LinearTile::copyNormalizer(Value sums) {
  Value last = kb.index(columns - 1);
  kb.loop(kb.index(0), paddedFeatures, 1, [&](Value feature) {
    memref::StoreOp::create(kb.b, kb.loc, kb.load(state, {feature, last}), sums,
                            feature);
  });
}

Value LinearTile::divide(Value x, Value sum) {
  Value zero = kb.constant(sum.getType(), 0.0);
  Value isZero = kb.cmpf(arith::CmpFPredicate::OEQ, sum, zero);
  Value divisor = kb.select(isZero, kb.constant(sum.getType(), 1.0), sum);
  return kb.select(isZero, zero,
                   arith::DivFOp::create(kb.b, kb.loc, x, divisor));
}

void LinearTile::writeOutput(Value outputs, Value head, Value row,
                             Value count) {
  Type element = getElementTypeOrSelf(output.getType());
  kb.loop(kb.index(0), count, 1, [&](Value r) {
    Value sum;
    if (normalizer == Normalizer::Token)
      sum = kb.load(outputs, {r, kb.index(columns - 1)});
    emitRowCopy(kb, outputs, r, output, {head, kb.add(row, r)},
                kb.dim(output, 2), [&](Value x) {
                  if (sum)
                    x = divide(x, isa<VectorType>(x.getType())
                                      ? kb.broadcast(sum)
                                      : sum);
                  return emitRound(kb, x, element);
                });
  });
}

//===- attn.linear_read ---------------------------------------------------===//

namespace {

class LinearRead : public LinearTile {
public:
  LinearRead(const KernelBuilder &kb, LinearReadOp op)
      : LinearTile(kb, op.getState(), op.getOutput(), op.getScale(),
                   op.getNormalize(), kb.dim(op.getQuery(), 2)),
        query(op.getQuery()) {}

  void run();

private:
  Value query;
};

} // namespace

void LinearRead::run() {
  Value count = kb.dim(query, 1);
  Value queries = createFeatureRows(kb.b.getIndexAttr(blockRows));
  Value outputs = kb.scratch(
      {kb.b.getIndexAttr(blockRows), kb.b.getIndexAttr(columns)}, kb.wide);
  Value sums;
  if (normalizer == Normalizer::Feature) {
    sums = kb.scratch({getAsOpFoldResult(paddedFeatures)}, kb.wide);
    copyNormalizer(sums);
  }
  kb.loop(kb.index(0), kb.dim(query, 0), 1, [&](Value head) {
    kb.loop(kb.index(0), count, blockRows, [&](Value row) {
      Value rows = kb.min(kb.index(blockRows), kb.sub(count, row));
      copyQueries(query, head, row, rows, queries);
      if (sums)
        forEachFeatureVector([&](Value column) {
          Value sum = kb.loadLanes(sums, column);
          for (int64_t r = 0; r < blockRows; ++r) {
            Value q = kb.loadLanes(queries, {kb.index(r), column});
            kb.storeLanes(divide(q, sum), queries, {kb.index(r), column});
          }
        });
      forEachPanel([&](const Panel &panel) {
        SmallVector<Value> sums = multiply(
            panel, features, state,
            [&](Value d, int64_t r) {
              return kb.load(queries, {kb.index(r), d});
            },
            zeros(panel));
        storeBlock(panel, sums, outputs, kb.index(0));
      });
      writeOutput(outputs, head, row, rows);
    });
  });
}

/// Checks that the state of `op` has whole vectors of `target` for columns.
static LogicalResult verifyColumns(Operation *op, Value state,
                                   const TargetInfo &target) {
  auto type = dyn_cast<MemRefType>(state.getType());
  if (!type)
    return op->emitOpError()
           << "state: expected a buffer, got " << state.getType();
  int64_t width = target.lanes(type.getElementType());
  if (type.getDimSize(1) < width || type.getDimSize(1) % width != 0)
    return op->emitOpError()
           << "state: expected a multiple of " << width << " columns for "
           << target.name << ", got " << type.getDimSize(1);
  return success();
}

LogicalResult attn::lowerLinearRead(RewriterBase &rewriter, LinearReadOp op,
                                    const TargetInfo &target) {
  if (failed(verifyColumns(op, op.getState(), target)))
    return failure();
  rewriter.setInsertionPoint(op);
  KernelBuilder kb{rewriter, op.getLoc(), target, op.getComputeType()};
  LinearRead(kb, op).run();
  rewriter.eraseOp(op);
  return success();
}

LogicalResult attn::lowerLinearChunk(RewriterBase &rewriter, LinearChunkOp op,
                                     const TargetInfo &target) {
  if (failed(verifyColumns(op, op.getState(), target)))
    return failure();
  rewriter.setInsertionPoint(op);
  KernelBuilder kb{rewriter, op.getLoc(), target, op.getComputeType()};
  if (op.getRecurrent())
    emitLinearRecurrence(kb, op, kb.index(0));
  else
    emitLinearChunk(kb, op);
  rewriter.eraseOp(op);
  return success();
}
