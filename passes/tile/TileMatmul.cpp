// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles plain matrix products, so that what a program computes around attention
// runs on the micro-kernels, too. Each element of a result is summed in the
// order of k whatever the tiles are: its bits depend on neither their sizes nor
// the number of threads.

#include "passes/Passes.h"
#include "passes/analysis/Explain.h"
#include "passes/analysis/MatrixProduct.h"
#include "passes/tile/IndexMath.h"
#include "passes/tile/MatmulTileShape.h"
#include "passes/tile/Tile.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <numeric>

namespace mlir::attn {
#define GEN_PASS_DEF_TILEMATMUL
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// Emits the loops of one product.
class MatmulTiler {
public:
  MatmulTiler(RewriterBase &rewriter, linalg::LinalgOp op,
              MatrixProduct product, const TargetInfo &target)
      : b(rewriter), op(op), product(std::move(product)), loc(op->getLoc()),
        math{rewriter, loc},
        type(cast<RankedTensorType>(op->getResult(0).getType())),
        shape(chooseMatmulTileShape(
            type.getDimSize(type.getRank() - 2), type.getShape().back(),
            target.lanes(getComputeType(type.getElementType())), target)) {}

  void run();

private:
  OpFoldResult index(int64_t x) { return b.getIndexAttr(x); }
  /// The matrix of `tensor` at `batch`, or a part of it.
  Value slice(Value tensor, ArrayRef<OpFoldResult> batch,
              ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes);
  /// The matrix of `factor` at the loops `at`, with the rows of A or columns of
  /// B from `own` on.
  Value sliceFactor(const MatrixFactor &factor, ArrayRef<Value> at, Value own,
                    OpFoldResult size, bool isLeft);
  Value getLoopSize(unsigned loop);
  /// The tile after the products, which are a loop for each of the reductions
  /// from number `reduction` on.
  Value createProducts(SmallVectorImpl<Value> &at, ArrayRef<Value> own,
                       ArrayRef<OpFoldResult> sizes, Value tile, Value init,
                       unsigned reduction = 0);
  /// The scalar, in the type of sums, that all of C is before, or null; `out`
  /// is what it was filled into.
  Value getInit(Value &out);
  void emitRemark();

  RewriterBase &b;
  linalg::LinalgOp op;
  MatrixProduct product;
  Location loc;
  IndexMath math;
  RankedTensorType type;
  MatmulTileShape shape;
};

} // namespace

Value MatmulTiler::slice(Value tensor, ArrayRef<OpFoldResult> batch,
                         ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> sizes) {
  auto from = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> allOffsets(batch);
  SmallVector<OpFoldResult> allSizes(batch.size(), index(1));
  llvm::append_range(allOffsets, offsets);
  llvm::append_range(allSizes, sizes);
  SmallVector<int64_t> matrix;
  for (OpFoldResult size : sizes)
    matrix.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  SmallVector<OpFoldResult> strides(from.getRank(), index(1));
  return tensor::ExtractSliceOp::create(
      b, loc, RankedTensorType::get(matrix, from.getElementType()), tensor,
      allOffsets, allSizes, strides);
}

Value MatmulTiler::sliceFactor(const MatrixFactor &factor, ArrayRef<Value> at,
                               Value own, OpFoldResult size, bool isLeft) {
  SmallVector<OpFoldResult> leading;
  for (unsigned loop : factor.leading)
    leading.push_back(at[loop]);
  bool isOwnFirst = isLeft != factor.isTransposed;
  OpFoldResult depth = tensor::getMixedSize(
      b, loc, factor.tensor, int64_t(factor.leading.size()) + isOwnFirst);
  if (isOwnFirst)
    return slice(factor.tensor, leading, {own, index(0)}, {size, depth});
  return slice(factor.tensor, leading, {index(0), own}, {depth, size});
}

/// A reduction that is not the inner one is in front in one of the operands.
Value MatmulTiler::getLoopSize(unsigned loop) {
  for (const MatrixFactor *factor : {&product.left, &product.right})
    if (auto *found = llvm::find(factor->leading, loop);
        found != factor->leading.end())
      return math.get(tensor::getMixedSize(b, loc, factor->tensor,
                                           found - factor->leading.begin()));
  llvm_unreachable("every loop has an operand's dimension");
}

Value MatmulTiler::createProducts(SmallVectorImpl<Value> &at,
                                  ArrayRef<Value> own,
                                  ArrayRef<OpFoldResult> sizes, Value tile,
                                  Value init, unsigned reduction) {
  if (reduction < product.reductions.size()) {
    // What the tile is filled with is in it before the first product.
    if (init)
      tile = linalg::FillOp::create(b, loc, init, tile).getResult(0);
    unsigned number = product.reductions[reduction];
    Value size = getLoopSize(number);
    auto loop = scf::ForOp::create(b, loc, math.constant(0), size,
                                   math.constant(1), tile);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    at[number] = loop.getInductionVar();
    Value sum = createProducts(at, own, sizes, loop.getRegionIterArgs().front(),
                               /*init=*/Value(), reduction + 1);
    scf::YieldOp::create(b, loc, sum);
    return loop.getResult(0);
  }
  Value left = sliceFactor(product.left, at, own[0], sizes[0], /*isLeft=*/true);
  Value right =
      sliceFactor(product.right, at, own[1], sizes[1], /*isLeft=*/false);
  // Tiles are whole blocks and panels, but for the last ones.
  auto getMultiple = [](int64_t size, int64_t step) {
    return ShapedType::isDynamic(size) ? 1 : std::gcd(size, step);
  };
  auto multiply = MatmulTileOp::create(
      b, loc, tile.getType(), left, right, tile, init, shape.rows,
      shape.mostColumns, shape.panel,
      getMultiple(type.getDimSize(type.getRank() - 2), shape.blockRows),
      getMultiple(type.getShape().back(), shape.panel),
      product.left.isTransposed, product.right.isTransposed);
  return multiply->getResult(0);
}

Value MatmulTiler::getInit(Value &out) {
  auto filled = out.getDefiningOp<linalg::FillOp>();
  Value value = filled ? filled.value() : Value();
  // A fill that rounds stays what it is.
  if (!filled || value.getType() != type.getElementType())
    return {};
  out = filled.output();
  Type sum = getComputeType(type.getElementType());
  return value.getType() == sum ? value
                                : arith::ExtFOp::create(b, loc, sum, value);
}

void MatmulTiler::emitRemark() {
  remark::analysis(loc,
                   remark::RemarkOpts::name("tile-sizes").category("attn-tile"))
      << ("'" + op->getName().getStringRef() + "' tile " + Twine(shape.rows) +
          " by " + Twine(shape.mostColumns) + ", panel " + Twine(shape.panel))
             .str();
}

/// %c = linalg.matmul ins(%a, %b) outs(%c0)
///   ->
/// %c = scf.forall (%i, %j) = (0, 0) to (%m, %n) step (%rows, %columns)
///     shared_outs(%out = %c0) {
///   %ai = tensor.extract_slice %a[%i, 0] ...
///   %bj = tensor.extract_slice %b[0, %j] ...
///   %cij = tensor.extract_slice %out[%i, %j] ...
///   %tile = attn.matmul_tile ins(%ai, %bj) outs(%cij) tile(256, 192) panel(48)
///   scf.forall.in_parallel {
///     tensor.parallel_insert_slice %tile into %out[%i, %j] ...
///   }
/// }
void MatmulTiler::run() {
  Value out = op.getDpsInits().front();
  Value init = getInit(out);
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> ends = tensor::getMixedSizes(b, loc, out);
  SmallVector<OpFoldResult> begins(rank, index(0)), steps(rank, index(1));
  OpFoldResult depth = tensor::getMixedSize(
      b, loc, product.left.tensor,
      int64_t(product.left.leading.size()) + !product.left.isTransposed);
  for (unsigned reduction : product.reductions)
    depth = getAsOpFoldResult(math.mul(depth, getLoopSize(reduction)));
  auto [rows, columns] = emitMatmulSteps(b, loc, shape, {ends, depth});
  steps[rank - 2] = rows;
  steps[rank - 1] = columns;

  auto loop = scf::ForallOp::create(b, loc, begins, ends, steps, out,
                                    /*mapping=*/std::nullopt);
  b.setInsertionPoint(loop.getTerminator());
  SmallVector<Value> ivs = loop.getInductionVars();
  SmallVector<OpFoldResult> offsets, sizes;
  for (int64_t d = rank - 2; d < rank; ++d) {
    offsets.push_back(ivs[d]);
    // A static size that one step covers, or that the steps divide, stays so.
    std::optional<int64_t> end = getConstantIntValue(ends[d]);
    std::optional<int64_t> step = getConstantIntValue(steps[d]);
    if (end && step && *end <= *step)
      sizes.push_back(ends[d]);
    else if (end && step && *end % *step == 0)
      sizes.push_back(steps[d]);
    else
      sizes.push_back(
          getAsOpFoldResult(math.min(steps[d], math.sub(ends[d], ivs[d]))));
  }
  ValueRange batch = ValueRange(ivs).drop_back(2);
  Value tile = slice(loop.getRegionIterArgs().front(), getAsOpFoldResult(batch),
                     offsets, sizes);
  SmallVector<Value> at(op.getNumLoops());
  for (auto [number, iv] : llvm::zip(product.batch, batch))
    at[number] = iv;
  Value result =
      createProducts(at, ArrayRef(ivs).take_back(2), sizes, tile, init);
  auto slice = tile.getDefiningOp<tensor::ExtractSliceOp>();
  b.setInsertionPointToStart(loop.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(
      b, loc, result, slice.getSource(), slice.getMixedOffsets(),
      slice.getMixedSizes(), slice.getMixedStrides());
  emitRemark();
  b.replaceOp(op, loop->getResults());
}

LogicalResult attn::tileMatmul(RewriterBase &rewriter, linalg::LinalgOp op,
                               const TargetInfo &target) {
  FailureOr<MatrixProduct> product = matchMatrixProduct(rewriter, op);
  if (failed(product))
    return failure();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  MatmulTiler(rewriter, op, *product, target).run();
  return success();
}

namespace {

struct TileMatmulPass : public attn::impl::TileMatmulBase<TileMatmulPass> {
  void runOnOperation() override {
    const TargetInfo *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    ExplainingRewriter rewriter(*this, &getContext());
    for (linalg::LinalgOp op : ops) {
      rewriter.visit(op);
      // What sums over something may have been meant as one: say why it stays.
      if (succeeded(tileMatmul(rewriter, op, *target)) ||
          op.getNumReductionLoops() == 0)
        continue;
      remark::missed(
          op->getLoc(),
          remark::RemarkOpts::name("matmul-tiles").category("attn-tile"))
          << ("'" + op->getName().getStringRef() +
              "' is no tiled product of matrices: " + rewriter.getReason())
                 .str();
    }
  }
};

} // namespace
