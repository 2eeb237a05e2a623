// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See MatrixProduct.h.

#include "passes/analysis/MatrixProduct.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

static bool isNarrow(Type type) { return type.isF16() || type.isBF16(); }

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
/// rounded to f16 or bf16 in between, because C is of it, is rounded once
/// instead.
static bool hasSupportedTypes(linalg::LinalgOp op) {
  auto element = [&](unsigned operand) {
    return getElementTypeOrSelf(op->getOperand(operand).getType());
  };
  Type sum = element(2);
  if (isNarrow(sum))
    return element(0) == sum && element(1) == sum;
  auto isFactor = [&](Type type) {
    return type == sum || type.isF32() || isNarrow(type);
  };
  // A cast to less than the type of the sum would be part of what is computed.
  bool truncates = !op.getBlock()->getOps<arith::TruncFOp>().empty();
  return (sum.isF32() || sum.isF64()) && isFactor(element(0)) &&
         isFactor(element(1)) && !truncates;
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
  if (op.getNumReductionLoops() == 0)
    return fail("nothing to do: no sum");
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
    return fail("expected a sum of f32 or f64, or f16 or bf16 throughout");
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
    product.row = row;
    product.column = column;
    product.depth = depth;
    product.left = *a;
    product.right = *b;
    llvm::erase(product.reductions, depth);
    // Each further step would round the sum again.
    if (!product.reductions.empty() &&
        isNarrow(getElementTypeOrSelf(op->getResult(0).getType())))
      return fail("expected f32 or f64 for a sum over two dimensions");
    return product;
  }
  return fail("expected matrices whose last dimensions are rows or columns of "
              "the result and a sum");
}
