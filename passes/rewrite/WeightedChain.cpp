// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of matrices with a causal mask or a decay between them as one
// attn.linear: the order of products alone can't be changed there.

#include "passes/rewrite/Rewrite.h"

#include "passes/decompose/PlainGeneric.h"
#include "passes/decompose/WidenRegion.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

namespace {

/// Emits the attn.linear of one chain.
class LinearMaker {
public:
  LinearMaker(RewriterBase &b, const ProductChain &chain)
      : b(b), chain(chain), loc(chain.outer->getLoc()),
        valueType(getFloatType(chain.o)),
        sumType(valueType.isF64() ? b.getF64Type() : b.getF32Type()) {}

  /// Why there is no attn.linear, or null.
  const char *whyNot();
  void run();

private:
  static FloatType getFloatType(const TensorRead &read) {
    return cast<FloatType>(getElementTypeOrSelf(read.tensor.getType()));
  }
  /// Chooses the dimension of attn.linear that each loop of the batch is.
  void placeBatch();
  /// Dimensions of attn.linear that are one of a tensor of less than four.
  SmallVector<ReassociationIndices> getGroups() const;
  SmallVector<unsigned> getLoops(unsigned first, unsigned second) const;
  /// `read` with its dimensions at `loops`, in `type`, times `numbers`.
  Value arrange(const TensorRead &read, ArrayRef<unsigned> loops,
                FloatType type, ArrayRef<NumberFactor> numbers = {});
  Value expand(Value tensor);
  Value makeScalarDecay(const PairDecay &decay, Value query);
  Value makeTokenDecay(const TensorRead &sums, Value query);

  RewriterBase &b;
  const ProductChain &chain;
  Location loc;
  FloatType valueType, sumType;
  std::optional<unsigned> batchLoop, headLoop;
};

} // namespace

void LinearMaker::placeBatch() {
  if (chain.batch.size() == 2)
    batchLoop = chain.batch.front();
  if (chain.batch.empty())
    return;
  headLoop = chain.batch.back();
  // A dimension of 1 must not be split off a size that only a call knows.
  if (chain.batch.size() == 1 &&
      ShapedType::isDynamic(chain.getSize(*headLoop)))
    std::swap(batchLoop, headLoop);
}

const char *LinearMaker::whyNot() {
  if (chain.batch.size() > 2)
    return "there are more batches than attn.linear has";
  placeBatch();
  for (const TensorRead *read : {&chain.a, &chain.b, &chain.v})
    if (read->loops.size() != chain.batch.size() + 2)
      return "an operand is shared by entries of a batch";
  int64_t rows = chain.getSize(chain.row), keys = chain.getSize(chain.key);
  if (ShapedType::isDynamic(rows) || rows != keys)
    return "there are not known to be as many keys as rows, as causal wants";
  if (!isZeroTensor(chain.o.tensor))
    return "the result is added to something";
  if (getFloatType(chain.v).getWidth() > valueType.getWidth() ||
      getFloatType(chain.a).getWidth() > sumType.getWidth() ||
      getFloatType(chain.b).getWidth() > sumType.getWidth())
    return "the result is of a lesser type than the operands";
  if (!std::isfinite(chain.weights.scale))
    return "the scores are multiplied with a number that is not finite";
  const std::optional<PairDecay> &decay = chain.weights.decay;
  if (!decay || !decay->slope || decay->slope->loops.empty())
    return nullptr;
  if (decay->slope->loops != SmallVector<unsigned>{headLoop.value_or(~0u)})
    return "the decay is constant, but not per head";
  return nullptr;
}

SmallVector<ReassociationIndices> LinearMaker::getGroups() const {
  if (!headLoop && !batchLoop)
    return {{0, 1, 2}, {3}};
  if (!batchLoop)
    return {{0, 1}, {2}, {3}};
  return {{0}, {1, 2}, {3}};
}

SmallVector<unsigned> LinearMaker::getLoops(unsigned first,
                                            unsigned second) const {
  SmallVector<unsigned> loops(chain.batch);
  loops.append({first, second});
  return loops;
}

Value LinearMaker::arrange(const TensorRead &read, ArrayRef<unsigned> loops,
                           FloatType type, ArrayRef<NumberFactor> numbers) {
  if (read.loops == loops && getFloatType(read) == type && numbers.empty())
    return read.tensor;
  SmallVector<int64_t> from, to;
  SmallVector<OpFoldResult> sizes(loops.size());
  for (auto [dim, loop] : llvm::enumerate(read.loops)) {
    from.push_back(llvm::find(loops, loop) - loops.begin());
    sizes[from.back()] = tensor::getMixedSize(b, loc, read.tensor, dim);
  }
  llvm::append_range(to, llvm::seq<int64_t>(loops.size()));
  Value init = tensor::EmptyOp::create(b, loc, sizes, type);
  return buildPlainGeneric(
      b, loc, read.tensor, init, {from, to}, to.size(),
      [&](ValueRange args) -> Value {
        Value result = widenFloat(b, loc, args[0], sumType);
        for (const NumberFactor &factor : numbers) {
          Value number = convertFloat(b, loc, factor.number, sumType);
          result = factor.isDivisor
                       ? Value(arith::DivFOp::create(b, loc, result, number))
                       : arith::MulFOp::create(b, loc, result, number);
        }
        return convertFloat(b, loc, result, type);
      });
}

/// The operand of attn.linear that `tensor`, of the batch and two dimensions
/// more, is.
Value LinearMaker::expand(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getRank() == 4)
    return tensor;
  SmallVector<ReassociationIndices> groups = getGroups();
  SmallVector<OpFoldResult> sizes(4, b.getIndexAttr(1));
  SmallVector<int64_t> shape(4, 1);
  for (auto [dim, group] : llvm::enumerate(groups)) {
    sizes[group.back()] = tensor::getMixedSize(b, loc, tensor, dim);
    shape[group.back()] = type.getDimSize(dim);
  }
  return tensor::ExpandShapeOp::create(
      b, loc, RankedTensorType::get(shape, type.getElementType()), tensor,
      groups, sizes);
}

/// exp(factor slope (i - j)) is a decay of factor slope per token.
Value LinearMaker::makeScalarDecay(const PairDecay &decay, Value query) {
  int64_t heads = cast<RankedTensorType>(query.getType()).getDimSize(1);
  if (!decay.slope && !ShapedType::isDynamic(heads))
    return arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(RankedTensorType::get({heads}, sumType),
                               b.getFloatAttr(sumType, decay.factor)));
  Value init = tensor::EmptyOp::create(
      b, loc, {tensor::getMixedSize(b, loc, query, 1)}, sumType);
  Value factor =
      arith::ConstantOp::create(b, loc, b.getFloatAttr(sumType, decay.factor));
  if (!decay.slope)
    return linalg::FillOp::create(b, loc, factor, init).getResult(0);
  // A tensor without dimensions is read everywhere, as is a scalar.
  SmallVector<int64_t> from(decay.slope->loops.size(), 0), to{0};
  return buildPlainGeneric(
      b, loc, decay.slope->tensor, init, {from, to}, 1,
      [&](ValueRange args) -> Value {
        Value slope = convertFloat(b, loc, args[0], sumType);
        if (decay.isLogOfSlope)
          slope = math::LogOp::create(b, loc, slope);
        return arith::MulFOp::create(b, loc, slope, factor);
      });
}

/// exp(c_i - c_j) is a decay of c_t - c_{t-1} at token t. That of the first
/// token has no effect.
Value LinearMaker::makeTokenDecay(const TensorRead &sums, Value query) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, query);
  sizes.pop_back();
  Value init = tensor::EmptyOp::create(b, loc, sizes, sumType);
  return buildPlainGeneric(
      b, loc, {}, init, {{0, 1, 2}}, 3, [&](ValueRange) -> Value {
        Value token = linalg::IndexOp::create(b, loc, 2);
        Value zero = arith::ConstantIndexOp::create(b, loc, 0);
        Value one = arith::ConstantIndexOp::create(b, loc, 1);
        Value before = arith::MaxSIOp::create(
            b, loc, arith::SubIOp::create(b, loc, token, one), zero);
        auto read = [&](Value position) -> Value {
          SmallVector<Value> at;
          for (unsigned loop : sums.loops)
            at.push_back(
                loop == chain.row
                    ? position
                    : linalg::IndexOp::create(b, loc, loop == headLoop ? 1 : 0)
                          .getResult());
          return widenFloat(b, loc,
                            tensor::ExtractOp::create(b, loc, sums.tensor, at),
                            sumType);
        };
        Value step = arith::SubFOp::create(b, loc, read(token), read(before));
        return convertFloat(b, loc, step, sumType);
      });
}

void LinearMaker::run() {
  const ScoreWeights &weights = chain.weights;
  FloatType queryType = getFloatType(chain.a);
  bool areOfOneType = queryType == getFloatType(chain.b) &&
                      (queryType == valueType || queryType == sumType);
  // Numbers that only a call knows don't round the query.
  if (!areOfOneType || !weights.numbers.empty())
    queryType = sumType;
  Value query = expand(arrange(chain.a, getLoops(chain.row, chain.feature),
                               queryType, weights.numbers));
  Value key =
      expand(arrange(chain.b, getLoops(chain.key, chain.feature), queryType));
  Value value =
      expand(arrange(chain.v, getLoops(chain.key, chain.column), valueType));
  Value decay;
  if (weights.decay)
    decay = weights.decay->sums ? makeTokenDecay(*weights.decay->sums, query)
                                : makeScalarDecay(*weights.decay, query);
  auto linear = LinearOp::create(
      b, loc, TypeRange{value.getType()}, query, key, value,
      b.getF64FloatAttr(weights.scale), decay, /*beta=*/Value(),
      /*read=*/Value(), /*write=*/Value(), /*bonus=*/Value(),
      /*state=*/Value(), /*lengths=*/Value(), /*query_starts=*/Value(),
      /*key_starts=*/Value(), /*feature=*/ArrayAttr(),
      /*normalize=*/NormalizerAttr(), /*block=*/IntegerAttr(),
      /*causal=*/b.getUnitAttr());
  Value output = linear.getOutput();
  if (chain.batch.size() < 2)
    output = tensor::CollapseShapeOp::create(b, loc, output, getGroups());
  output = arrange({output, getLoops(chain.row, chain.column)}, chain.o.loops,
                   valueType);
  Type type = chain.outer->getResult(0).getType();
  if (output.getType() != type)
    output = tensor::CastOp::create(b, loc, type, output);
  b.replaceOp(chain.outer, output);
}

/// %p = linalg.matmul_transpose_b ins(%a, %b) outs(%zeros)
/// %w = linalg.generic ins(%p) { select(j <= i, p, 0) }
/// %o = linalg.matmul ins(%w, %v) outs(%zeros)
///   ->
/// %o = attn.linear %a, %b, %v scale(1.0) causal
LogicalResult attn::makeLinear(RewriterBase &rewriter,
                               const ProductChain &chain) {
  LinearMaker maker(rewriter, chain);
  if (const char *why = maker.whyNot())
    return rewriter.notifyMatchFailure(chain.outer, why);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(chain.outer);
  maker.run();
  return success();
}
