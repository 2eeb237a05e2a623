// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See MatrixProduct.h.

#include "passes/tile/MatrixProduct.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

/// `value` without changes of its precision.
static Value stripCasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// The operands of the OpTy that defines `value`, without casts.
template <typename OpTy>
static std::optional<std::array<Value, 2>> matchBinary(Value value) {
  auto op = stripCasts(value).getDefiningOp<OpTy>();
  if (!op)
    return std::nullopt;
  return std::array<Value, 2>{stripCasts(op.getLhs()), stripCasts(op.getRhs())};
}

/// Whether the body of `op` yields c + a * b.
static bool isMultiplyAdd(linalg::LinalgOp op) {
  Block &body = *op.getBlock();
  auto isArgument = [&](Value value, unsigned number) {
    return value == body.getArgument(number);
  };
  auto sum = matchBinary<arith::AddFOp>(body.getTerminator()->getOperand(0));
  if (!sum)
    return false;
  auto [augend, addend] = *sum;
  if (isArgument(addend, 2))
    std::swap(augend, addend);
  auto product = matchBinary<arith::MulFOp>(addend);
  if (!isArgument(augend, 2) || !product)
    return false;
  auto [x, y] = *product;
  return (isArgument(x, 0) && isArgument(y, 1)) ||
         (isArgument(x, 1) && isArgument(y, 0));
}

/// Whether the lane form computes what the body does on these types. What is
/// rounded to bf16 in between, because C is of bf16, is rounded once instead.
static bool hasSupportedTypes(linalg::LinalgOp op) {
  auto is = [&](unsigned operand, auto predicate) {
    return predicate(getElementTypeOrSelf(op->getOperand(operand).getType()));
  };
  auto isF32 = [](Type type) { return type.isF32(); };
  auto isBF16 = [](Type type) { return type.isBF16(); };
  if (is(2, isBF16))
    return is(0, isBF16) && is(1, isBF16);
  auto isEither = [&](Type type) { return type.isF32() || type.isBF16(); };
  // A cast to less than f32 would be part of what is computed.
  bool truncates = !op.getBlock()->getOps<arith::TruncFOp>().empty();
  return is(2, isF32) && is(0, isEither) && is(1, isEither) && !truncates;
}

/// Operand `number` of `op`, if its last dimensions are the loops `first` and
/// `second` in either order. It is transposed if they stand the other way.
static std::optional<MatrixFactor> matchFactor(linalg::LinalgOp op,
                                               unsigned number, unsigned first,
                                               unsigned second) {
  AffineMap map = op.getIndexingMapsArray()[number];
  SmallVector<unsigned> loops;
  for (AffineExpr expr : map.getResults())
    loops.push_back(cast<AffineDimExpr>(expr).getPosition());
  if (loops.size() < 2)
    return std::nullopt;
  unsigned last = loops.pop_back_val(), secondLast = loops.pop_back_val();
  bool isTransposed = secondLast == second;
  if (isTransposed)
    std::swap(last, secondLast);
  if (secondLast != first || last != second)
    return std::nullopt;
  return MatrixFactor{op->getOperand(number), loops, isTransposed};
}

FailureOr<MatrixProduct> attn::matchMatrixProduct(RewriterBase &rewriter,
                                                  linalg::LinalgOp op) {
  auto fail = [&](const char *why) {
    return rewriter.notifyMatchFailure(op, why);
  };
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      !op.hasPureTensorSemantics())
    return fail("expected two tensors in and one out");
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!llvm::all_of(maps,
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return fail("expected each dimension to have a loop of its own");
  MatrixProduct product;
  for (AffineExpr expr : maps[2].getResults())
    product.batch.push_back(cast<AffineDimExpr>(expr).getPosition());
  op.getReductionDims(product.reductions);
  if (product.batch.size() < 2 || product.reductions.empty())
    return fail("expected a result with rows and columns");
  if (!isMultiplyAdd(op))
    return fail("expected a sum of products");
  if (!hasSupportedTypes(op))
    return fail("expected f32, or bf16 into either");
  unsigned column = product.batch.pop_back_val();
  unsigned row = product.batch.pop_back_val();
  // The operand that has the columns of the result is the right one.
  unsigned right = maps[1].isFunctionOfDim(column) ? 1 : 0;
  for (unsigned depth : product.reductions) {
    std::optional<MatrixFactor> a = matchFactor(op, 1 - right, row, depth);
    std::optional<MatrixFactor> b = matchFactor(op, right, depth, column);
    if (!a || !b || llvm::is_contained(a->leading, column) ||
        llvm::is_contained(b->leading, row))
      continue;
    product.left = *a;
    product.right = *b;
    llvm::erase(product.reductions, depth);
    // Each further step would round the sum again.
    if (!product.reductions.empty() &&
        getElementTypeOrSelf(op->getResult(0).getType()).isBF16())
      return fail("expected f32 for a sum over two dimensions");
    return product;
  }
  return fail("expected matrices whose last dimensions are rows or columns of "
              "the result and a sum");
}
