// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers bufferized tiles of matrix products to loops over register blocks. The
// tile of C is in f32 or f64 while it is summed.

#include "passes/Passes.h"
#include "passes/analysis/Explain.h"
#include "passes/cpu/Cpu.h"
#include "passes/cpu/FloatCasts.h"
#include "passes/cpu/MatmulOperands.h"
#include "passes/cpu/MicroKernels.h"
#include "passes/cpu/PairVectors.h"
#include "passes/cpu/TileCopies.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace mlir::attn {
#define GEN_PASS_DEF_LOWERMATMUL
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;
using arith::CmpIPredicate;

namespace {

/// Emits the loops of one tile.
class MatmulEmitter {
public:
  MatmulEmitter(const KernelBuilder &kb, MatmulTileOp op)
      : kb(kb), op(op), form(op, kb.target), left(kb, op, form),
        right(kb, op, form), rows(kb.dim(op.getOut(), 0)),
        columns(kb.dim(op.getOut(), 1)) {}

  void emit();

private:
  void loadSums();
  void storeSums();
  /// The block of all rows with the panel that begins at `column`.
  void emitRowBlocks(Value elements, Value panel, Value column);
  /// The register block of `numRows` rows from `row` on, of which some are
  /// beyond the last one unless the block is whole.
  void emitBlock(Value elements, Value panel, Value column, Value row,
                 int64_t numRows, bool isWhole);

  const KernelBuilder &kb;
  MatmulTileOp op;
  MatmulForm form;
  LeftBlock left;
  RightPanel right;
  Value rows, columns;
  Value sums; ///< the tile of C, with whole register blocks
};

} // namespace

void MatmulEmitter::loadSums() {
  Value zero = kb.index(0);
  if (!op.getInit()) {
    kb.loop(zero, rows, 1, [&](Value row) {
      emitRowCopy(kb, op.getOut(), row, sums, row, columns,
                  [&](Value x) { return emitWiden(kb, x); });
    });
    return;
  }
  Value init = kb.broadcast(op.getInit());
  kb.loop(zero, rows, 1, [&](Value row) {
    kb.loop(zero, columns, kb.width(),
            [&](Value column) { kb.storeLanes(init, sums, {row, column}); });
  });
}

void MatmulEmitter::storeSums() {
  kb.loop(kb.index(0), rows, 1, [&](Value row) {
    emitRowCopy(kb, sums, row, op.getOut(), row, columns, [&](Value x) {
      return emitRound(kb, x, getElementTypeOrSelf(op.getOut().getType()));
    });
  });
}

void MatmulEmitter::emitBlock(Value elements, Value panel, Value column,
                              Value row, int64_t numRows, bool isWhole) {
  // Rows beyond the last one repeat it; their sums are never read.
  SmallVector<Value> leftRows, init;
  Value lastRow = kb.sub(rows, kb.index(1));
  for (int64_t r = 0; r < numRows; ++r) {
    Value leftRow = kb.add(row, r);
    leftRows.push_back(isWhole ? leftRow : kb.min(leftRow, lastRow));
    for (int64_t v = 0; v < kb.vectors; ++v)
      init.push_back(
          kb.loadLanes(sums, {kb.add(row, r), kb.add(column, kb.lane(v))}));
  }
  SmallVector<Value> products = emitRegisterBlock(
      kb, elements, panel,
      [&](Value element, int64_t r) {
        return left.emitBroadcast(element, leftRows[r]);
      },
      [&](Value x, Value y, Value z) {
        return form.isPairs ? emitDot(kb, x, y, z) : kb.fma(x, y, z);
      },
      init);
  for (int64_t r = 0; r < numRows; ++r)
    for (int64_t v = 0; v < kb.vectors; ++v)
      kb.storeLanes(products[r * kb.vectors + v], sums,
                    {kb.add(row, r), kb.add(column, kb.lane(v))});
}

void MatmulEmitter::emitRowBlocks(Value elements, Value panel, Value column) {
  int64_t most = kb.blockRows();
  auto blocks = [&](Value begin, Value end, int64_t numRows, bool areWhole) {
    kb.loop(begin, end, numRows, [&](Value row) {
      emitBlock(elements, panel, column, row, numRows, areWhole);
    });
    return SmallVector<Value>{};
  };
  // Addresses of whole blocks are a base and a stride, which leaves registers
  // to the sums.
  Value size = kb.index(most);
  Value end = kb.mul(kb.fold<arith::DivUIOp>(rows, size), size);
  std::optional<int64_t> known = getConstantIntValue(rows);
  if (!known || *known >= most)
    blocks(kb.index(0), end, most, /*areWhole=*/true);
  if (op.getRowMultiple() % most == 0 || (known && *known % most == 0))
    return;
  // The last rows are a block of about as many, or two.
  auto last = [&](int64_t numRows) {
    return blocks(end, rows, numRows, /*areWhole=*/false);
  };
  int64_t half = std::max<int64_t>(1, most / 2);
  int64_t few = std::max<int64_t>(1, most / 4);
  if (known)
    return (void)last(*known % most <= few    ? few
                      : *known % most <= half ? half
                                              : most);
  kb.ifElse(
      kb.cmp(CmpIPredicate::sle, kb.sub(rows, end), kb.index(few)),
      [&] { return last(few); }, [&] { return last(half); });
}

/// attn.matmul_tile ins(%a, %b) outs(%c) panel(48)
///   ->
/// %sums = %c, widened
/// scf.for %k = 0 to %depth step 256 {
///   %ak = rows of %a, packed if it is transposed or to be widened
///   scf.for %j = 0 to %n step 48 {
///     %panel = %b[%k.., %j..], packed
///     scf.for %i = 0 to %m step 8 {
///       %acc:24 = scf.for %s = 0 to 256 iter_args(...) {
///         math.fma (broadcast %ak[%i + r, %s]), %panel[%s, ..], ...
///       }
///       store %acc, %sums
///     }
///   }
/// }
/// %c = %sums
void MatmulEmitter::emit() {
  remark::analysis(kb.loc,
                   remark::RemarkOpts::name("kernel").category("attn-cpu"))
      << ("'attn.matmul_tile' " + Twine(form.isPairs ? "dot" : "fma") +
          " products, panels of " + Twine(form.panel) + " columns" +
          (right.canBeDirect() ? ", packed unless there are few rows"
                               : ", packed"))
             .str();
  // Rows at a distance of a power of two would share their places in a cache.
  int64_t width = op.getColumns() + kb.width();
  sums = kb.scratch({kb.b.getIndexAttr(form.rows), kb.b.getIndexAttr(width)},
                    kb.wide);
  loadSums();
  Value zero = kb.index(0);
  Value depth = kb.dim(op.getLeft(), op.getTransposeLeft() ? 0 : 1);
  // Few rows are bound by reading B. It is used where it lies if it can be, and
  // some rows of it at a time, from one end of the tile to the other: they are
  // streams that stay in the cache until all rows of A have met them. Rows that
  // become columns are streams anyway.
  Value isFew =
      kb.cmp(CmpIPredicate::sle, rows, kb.index(kb.target.fewRows(kb.vectors)));
  Value isDirect = right.canBeDirect()
                       ? isFew
                       : arith::ConstantIntOp::create(kb.b, kb.loc, 0, 1);
  Value step = kb.index(form.depth);
  if (!op.getTransposeRight())
    step = kb.b.createOrFold<arith::SelectOp>(
        kb.loc, isFew, kb.index(std::min(form.depth, form.shallowDepth)), step);
  bool isWhole = op.getColumnMultiple() % form.panel == 0 ||
                 getConstantIntValue(columns).value_or(1) % form.panel == 0;
  auto loop = scf::ForOp::create(kb.b, kb.loc, zero, depth, step);
  OpBuilder::InsertionGuard guard(kb.b);
  kb.b.setInsertionPointToStart(loop.getBody());
  Value k = loop.getInductionVar();
  Value count = kb.min(step, kb.sub(depth, k));
  left.emitPrepare(k, count);
  Value elements = form.countElements(kb, count);
  kb.loop(zero, columns, form.panel, [&](Value column) {
    Value width = kb.index(form.panel);
    if (!isWhole)
      width = kb.min(width, kb.sub(columns, column));
    Value panel = right.emitPanel({k, count, step, column, width}, isDirect);
    emitRowBlocks(elements, panel, column);
  });
  kb.b.setInsertionPointAfter(loop);
  storeSums();
}

/// Says of `matrix` with one column that its rows have unit stride: the type of
/// a view may have the stride of any dimension that is left out of it, which is
/// another one where all have size 1.
static Value withUnitRows(RewriterBase &rewriter, Value matrix) {
  auto type = dyn_cast<MemRefType>(matrix.getType());
  if (!type || type.isLastDimUnitStride() || type.getRank() != 2 ||
      type.getDimSize(1) != 1)
    return matrix;
  Location loc = matrix.getLoc();
  auto parts = memref::ExtractStridedMetadataOp::create(rewriter, loc, matrix);
  auto layout = StridedLayoutAttr::get(
      rewriter.getContext(), ShapedType::kDynamic, {ShapedType::kDynamic, 1});
  auto unitType = MemRefType::get(type.getShape(), type.getElementType(),
                                  layout, type.getMemorySpace());
  OpFoldResult rows = rewriter.getIndexAttr(type.getDimSize(0));
  if (type.isDynamicDim(0))
    rows = parts.getSizes()[0];
  OpFoldResult one = rewriter.getIndexAttr(1);
  return memref::ReinterpretCastOp::create(
      rewriter, loc, unitType, parts.getBaseBuffer(), parts.getOffset(),
      {rows, one}, {OpFoldResult(parts.getStrides()[0]), one});
}

LogicalResult attn::lowerMatmul(RewriterBase &rewriter, MatmulTileOp op,
                                const TargetInfo &target) {
  rewriter.setInsertionPoint(op);
  for (OpOperand &operand : op->getOpOperands())
    operand.set(withUnitRows(rewriter, operand.get()));
  for (Value operand : {op.getLeft(), op.getRight(), op.getOut()}) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    if (!type || !type.isLastDimUnitStride())
      return op.emitOpError() << "expected buffers with rows of unit stride, "
                                 "got "
                              << operand.getType();
  }
  FloatType wide = getComputeType(getElementTypeOrSelf(op.getOut().getType()));
  int64_t width = target.lanes(wide), panel = op.getPanel();
  if (panel % width != 0 || panel > width * target.maxVectors())
    return op.emitOpError() << "panel: expected a multiple of " << width
                            << " columns up to " << width * target.maxVectors()
                            << " for " << target.name << ", got " << panel;
  rewriter.setInsertionPoint(op);
  KernelBuilder kb =
      KernelBuilder::forTile(rewriter, op.getLoc(), target, wide, panel);
  MatmulEmitter(kb, op).emit();
  rewriter.eraseOp(op);
  return success();
}

namespace {

struct LowerMatmulPass : public attn::impl::LowerMatmulBase<LowerMatmulPass> {
  void runOnOperation() override {
    const TargetInfo *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    SmallVector<MatmulTileOp> ops;
    getOperation().walk([&](MatmulTileOp op) { ops.push_back(op); });
    ExplainingRewriter rewriter(*this, &getContext());
    for (MatmulTileOp op : ops) {
      rewriter.visit(op);
      if (failed(lowerMatmul(rewriter, op, *target)))
        return signalPassFailure();
    }
  }
};

} // namespace
