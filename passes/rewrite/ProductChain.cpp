// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ProductChain.h.

#include "passes/rewrite/ProductChain.h"

#include "passes/analysis/MatrixProduct.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

bool attn::isZeroTensor(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.value(), m_AnyZeroFloat());
  return matchPattern(value, m_AnyZeroFloat());
}

/// What `map` reads of `tensor`, its loops being `loops`.
static TensorRead getRead(Value tensor, AffineMap map,
                          ArrayRef<unsigned> loops) {
  TensorRead read{tensor, {}};
  for (AffineExpr expr : map.getResults())
    read.loops.push_back(loops[cast<AffineDimExpr>(expr).getPosition()]);
  return read;
}

int64_t ProductChain::getSize(unsigned loop) const {
  int64_t size = ShapedType::kDynamic;
  for (const TensorRead *read : {&a, &b, &v, &o})
    for (auto [dim, other] : llvm::enumerate(read->loops))
      if (other == loop && ShapedType::isDynamic(size))
        size = cast<RankedTensorType>(read->tensor.getType()).getDimSize(dim);
  return size;
}

bool ProductChain::hasUnknownLength() const {
  return ShapedType::isDynamic(getSize(row)) ||
         ShapedType::isDynamic(getSize(key));
}

ChainShape ProductChain::getShape() const {
  auto getKnown = [&](unsigned loop, int64_t unknown) {
    int64_t size = getSize(loop);
    return ShapedType::isDynamic(size) ? unknown : size;
  };
  ChainShape shape;
  for (unsigned loop : batch)
    shape.batch *= double(getKnown(loop, 1));
  shape.rows = getKnown(row, kUnknownLength);
  shape.keys = getKnown(key, kUnknownLength);
  shape.features = getKnown(feature, kUnknownWidth);
  shape.columns = getKnown(column, kUnknownWidth);
  shape.passes = weights.passes;
  shape.element = getElementTypeOrSelf(v.tensor.getType());
  return shape;
}

/// Numbers the loops of the product that makes the scores, read at
/// `resultLoops`: its own sum is over the features.
static FailureOr<SmallVector<unsigned>>
numberInnerLoops(RewriterBase &rewriter, const MatrixProduct &product,
                 const ProductChain &chain, ArrayRef<unsigned> resultLoops) {
  auto fail = [&](const char *why) {
    return rewriter.notifyMatchFailure(chain.outer, why);
  };
  linalg::LinalgOp inner = chain.inner;
  SmallVector<unsigned> loops(inner.getNumLoops(), chain.feature);
  AffineMap map = inner.getIndexingMapsArray().back();
  for (auto [expr, loop] : llvm::zip(map.getResults(), resultLoops))
    loops[cast<AffineDimExpr>(expr).getPosition()] = loop;
  unsigned row = loops[product.row], column = loops[product.column];
  if (!(row == chain.row && column == chain.key) &&
      !(row == chain.key && column == chain.row))
    return fail("the products are of different matrices of a batch");
  SmallVector<unsigned> batch(chain.batch);
  for (unsigned loop : product.batch)
    if (!llvm::is_contained(batch, loops[loop]))
      return fail("the products have different batches");
  if (product.batch.size() != batch.size())
    return fail("the products have different batches");
  return loops;
}

/// Sets what is multiplied in the inner product.
static LogicalResult matchInner(RewriterBase &rewriter, ProductChain &chain,
                                ArrayRef<unsigned> resultLoops) {
  FailureOr<MatrixProduct> product = matchMatrixProduct(rewriter, chain.inner);
  if (failed(product))
    return failure();
  if (!product->reductions.empty())
    return rewriter.notifyMatchFailure(
        chain.outer, "the scores are sums over two dimensions");
  if (!isZeroTensor(chain.inner.getDpsInits().front()))
    return rewriter.notifyMatchFailure(
        chain.outer, "the scores are added to something, as to a bias");
  FailureOr<SmallVector<unsigned>> loops =
      numberInnerLoops(rewriter, *product, chain, resultLoops);
  if (failed(loops))
    return failure();
  SmallVector<AffineMap> maps = chain.inner.getIndexingMapsArray();
  for (unsigned number : {0, 1}) {
    TensorRead read =
        getRead(chain.inner->getOperand(number), maps[number], *loops);
    (read.reads(chain.row) ? chain.a : chain.b) = read;
  }
  return success();
}

FailureOr<ProductChain> attn::matchProductChain(RewriterBase &rewriter,
                                                linalg::LinalgOp outer,
                                                bool isScoreLeft) {
  FailureOr<MatrixProduct> product = matchMatrixProduct(rewriter, outer);
  if (failed(product))
    return failure();
  if (!product->reductions.empty())
    return rewriter.notifyMatchFailure(outer, "a sum over two dimensions");
  ProductChain chain;
  chain.outer = outer;
  chain.isScoreLeft = isScoreLeft;
  chain.row = isScoreLeft ? product->row : product->column;
  chain.column = isScoreLeft ? product->column : product->row;
  chain.key = product->depth;
  chain.feature = outer.getNumLoops();
  llvm::append_range(chain.batch, product->batch);
  SmallVector<unsigned> same =
      llvm::to_vector(llvm::seq<unsigned>(outer.getNumLoops()));
  SmallVector<AffineMap> maps = outer.getIndexingMapsArray();
  bool isLeftFirst = maps[0].isFunctionOfDim(product->row);
  unsigned scores = isScoreLeft == isLeftFirst ? 0 : 1;
  TensorRead read = getRead(outer->getOperand(scores), maps[scores], same);
  chain.v = getRead(outer->getOperand(1 - scores), maps[1 - scores], same);
  chain.o = getRead(outer.getDpsInits().front(), maps[2], same);
  chain.scoreType =
      cast<FloatType>(getElementTypeOrSelf(read.tensor.getType()));
  SmallVector<unsigned> resultLoops;
  FailureOr<linalg::LinalgOp> inner = readScoreWeights(
      rewriter, outer, read, chain.row, chain.key, chain.weights, resultLoops);
  if (failed(inner))
    return failure();
  chain.inner = *inner;
  if (failed(matchInner(rewriter, chain, resultLoops)))
    return failure();
  return chain;
}
