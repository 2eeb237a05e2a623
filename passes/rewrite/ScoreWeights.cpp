// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ScoreWeights.h.

#include "passes/rewrite/ScoreWeights.h"

#include "passes/rewrite/PairScalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::attn;

static bool isProduct(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && linalgOp.getNumReductionLoops() > 0 &&
         linalg::isaContractionOpInterface(linalgOp);
}

static bool hasProductBehind(Value value, int depth) {
  // Long programs have long chains of other operations.
  if (depth == 0)
    return false;
  auto anyOf = [&](ValueRange values) {
    return llvm::any_of(values, [&](Value value) {
      return hasProductBehind(value, depth - 1);
    });
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto op = dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp());
    return op && hasProductBehind(op.getMatchingOpOperand(argument)->get(),
                                  depth - 1);
  }
  Operation *op = value.getDefiningOp();
  if (isProduct(op))
    return true;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return anyOf(linalgOp.getDpsInputs());
  if (isa<linalg::SoftmaxOp, tensor::CastOp>(op))
    return hasProductBehind(op->getOperand(0), depth - 1);
  bool isScalar =
      llvm::none_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>);
  return isScalar && isa<linalg::LinalgOp>(op->getParentOp()) &&
         anyOf(op->getOperands());
}

bool attn::hasProductBehind(Value value) {
  return ::hasProductBehind(value, 12);
}

namespace {

/// Goes from the scores that a product reads back to the product they come from
/// and collects what they are multiplied with.
class WeightReader {
public:
  WeightReader(RewriterBase &rewriter, Operation *op, unsigned row,
               unsigned key, ScoreWeights &weights)
      : rewriter(rewriter), op(op), row(row), key(key), weights(weights) {}

  LogicalResult readTensor(const TensorRead &read);

  linalg::LinalgOp product;
  SmallVector<unsigned> loops; ///< that the product's result is read at

private:
  LogicalResult fail(const Twine &why) {
    return rewriter.notifyMatchFailure(op, why);
  }
  LogicalResult readElementwise(linalg::LinalgOp from, const TensorRead &read);
  LogicalResult readFactor(Value value, const PairBody &body);
  LogicalResult readOperation(Operation *factor, const PairBody &body);
  LogicalResult readSelect(arith::SelectOp select, const PairBody &body);
  LogicalResult readMask(Value condition, const PairBody &body, bool isNegated);
  LogicalResult readDivisor(Value value, const PairBody &body);
  /// Takes a number that does not depend on the pair.
  LogicalResult readNumber(Value value, bool isDivisor);

  RewriterBase &rewriter;
  Operation *op;
  unsigned row, key;
  ScoreWeights &weights;
};

} // namespace

LogicalResult WeightReader::readTensor(const TensorRead &read) {
  if (auto castOp = read.tensor.getDefiningOp<tensor::CastOp>()) {
    if (hasProductBehind(castOp.getSource()) && !castOp->hasOneUse())
      return fail("the scores have other uses");
    return readTensor({castOp.getSource(), read.loops});
  }
  SplatElementsAttr splat;
  if (matchPattern(read.tensor, m_Constant(&splat)) &&
      isa<FloatType>(splat.getElementType())) {
    weights.scale *= splat.getSplatValue<APFloat>().convertToDouble();
    return success();
  }
  auto from = read.tensor.getDefiningOp<linalg::LinalgOp>();
  if (from && isProduct(from)) {
    if (product)
      return fail("the scores are multiplied with each other");
    if (!from->hasOneUse())
      return fail("the scores have other uses");
    product = from;
    loops = read.loops;
    return success();
  }
  if (auto fill = read.tensor.getDefiningOp<linalg::FillOp>())
    return readNumber(fill.value(), /*isDivisor=*/false);
  if (from)
    return readElementwise(from, read);
  if (read.tensor.getDefiningOp<linalg::SoftmaxOp>())
    return fail("a softmax of the scores is not linear");
  if (read.reads(row) && read.reads(key))
    return fail("the scores are multiplied with a tensor of all pairs, as an "
                "arbitrary mask or a dropout is");
  return fail("the scores are multiplied with a tensor of rows, keys or batch "
              "entries");
}

LogicalResult WeightReader::readElementwise(linalg::LinalgOp from,
                                            const TensorRead &read) {
  unsigned number = cast<OpResult>(read.tensor).getResultNumber();
  std::optional<PairBody> body =
      PairBody::get(from, number, read.loops, row, key);
  if (!body)
    return fail("'" + from->getName().getStringRef() +
                "' in front of the product is neither another one nor "
                "elementwise");
  bool hadProduct = bool(product);
  Value yielded = from.getBlock()->getTerminator()->getOperand(number);
  if (failed(readFactor(yielded, *body)))
    return failure();
  if (!hadProduct && product && !from->hasOneUse())
    return fail("the scores have other uses");
  ++weights.passes;
  return success();
}

LogicalResult WeightReader::readNumber(Value value, bool isDivisor) {
  APFloat constant(0.0);
  if (matchPattern(value, m_ConstantFloat(&constant))) {
    double number = constant.convertToDouble();
    weights.scale *= isDivisor ? 1 / number : number;
  } else {
    weights.numbers.push_back({value, isDivisor});
  }
  return success();
}

LogicalResult WeightReader::readFactor(Value value, const PairBody &body) {
  value = stripFloatCasts(value);
  if (body.isArgument(value)) {
    TensorRead read = body.getRead(value);
    if (!isa<RankedTensorType>(read.tensor.getType()))
      return readNumber(read.tensor, /*isDivisor=*/false);
    return readTensor(read);
  }
  if (body.isOutside(value))
    return readNumber(value, /*isDivisor=*/false);
  return readOperation(value.getDefiningOp(), body);
}

LogicalResult WeightReader::readOperation(Operation *factor,
                                          const PairBody &body) {
  if (isa<arith::MulFOp>(factor)) {
    if (failed(readFactor(factor->getOperand(0), body)))
      return failure();
    return readFactor(factor->getOperand(1), body);
  }
  if (isa<arith::DivFOp>(factor)) {
    if (failed(readFactor(factor->getOperand(0), body)))
      return failure();
    return readDivisor(factor->getOperand(1), body);
  }
  if (isa<arith::NegFOp>(factor)) {
    weights.scale = -weights.scale;
    return readFactor(factor->getOperand(0), body);
  }
  if (isa<arith::ConstantOp>(factor))
    return readNumber(factor->getResult(0), /*isDivisor=*/false);
  if (auto select = dyn_cast<arith::SelectOp>(factor))
    return readSelect(select, body);
  // A condition as 0 or 1.
  if (isa<arith::UIToFPOp, arith::SIToFPOp>(factor)) {
    Value bits = factor->getOperand(0);
    auto wide = bits.getDefiningOp<arith::ExtUIOp>();
    if (wide)
      bits = wide.getIn();
    if (bits.getType().isInteger(1) && (wide || isa<arith::UIToFPOp>(factor)))
      return readMask(bits, body, /*isNegated=*/false);
  }
  bool isOfScores = hasProductBehind(factor->getResult(0));
  if (!isOfScores && isa<math::ExpOp, math::PowFOp, math::FPowIOp>(factor)) {
    std::optional<PairDecay> decay = readDecay(factor, body, weights.isCausal);
    if (decay && weights.decay)
      return fail("the scores decay twice");
    weights.decay = decay;
    if (decay)
      return success();
  }
  if (!isOfScores)
    return fail("the scores are multiplied with '" +
                factor->getName().getStringRef() +
                "', neither a causal mask nor a decay");
  if (isa<arith::AddFOp, arith::SubFOp>(factor))
    return fail("something is added to the scores, as a bias is");
  return fail("'" + factor->getName().getStringRef() +
              "' of the scores is not linear, as in a softmax");
}

/// c ? factor : 0
LogicalResult WeightReader::readSelect(arith::SelectOp select,
                                       const PairBody &body) {
  bool isNegated = matchPattern(select.getTrueValue(), m_AnyZeroFloat());
  if (!isNegated && !matchPattern(select.getFalseValue(), m_AnyZeroFloat()))
    return fail("masked scores become something else than 0");
  if (failed(readMask(select.getCondition(), body, isNegated)))
    return failure();
  return readFactor(isNegated ? select.getFalseValue() : select.getTrueValue(),
                    body);
}

LogicalResult WeightReader::readMask(Value condition, const PairBody &body,
                                     bool isNegated) {
  if (const char *why = whyNotCausal(condition, body, isNegated))
    return fail(why);
  weights.isCausal = true;
  return success();
}

LogicalResult WeightReader::readDivisor(Value value, const PairBody &body) {
  value = stripFloatCasts(value);
  if (body.isArgument(value))
    value = body.getRead(value).tensor;
  bool isNumber = isa<FloatType>(value.getType()) &&
                  (body.isOutside(value) || matchPattern(value, m_Constant()));
  if (!isNumber)
    return fail("the scores are divided by a tensor, as by the sums of their "
                "rows");
  return readNumber(value, /*isDivisor=*/true);
}

FailureOr<linalg::LinalgOp> attn::readScoreWeights(
    RewriterBase &rewriter, Operation *op, const TensorRead &read, unsigned row,
    unsigned key, ScoreWeights &weights, SmallVectorImpl<unsigned> &loops) {
  WeightReader reader(rewriter, op, row, key, weights);
  if (failed(reader.readTensor(read)))
    return failure();
  if (!reader.product)
    return rewriter.notifyMatchFailure(op, "no product in front");
  if (weights.decay && !weights.isCausal)
    return rewriter.notifyMatchFailure(op, "a decay without a causal mask");
  loops = std::move(reader.loops);
  return reader.product;
}
