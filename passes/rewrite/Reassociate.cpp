// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes A (B V) in place of (A B) V where it costs less. The products are
// still linalg, and no elementwise operation is tiled yet.

#include "passes/rewrite/Rewrite.h"

#include "passes/Passes.h"
#include "passes/analysis/Explain.h"
#include "passes/decompose/PlainGeneric.h"
#include "passes/decompose/WidenRegion.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/Format.h"

namespace mlir::attn {
#define GEN_PASS_DEF_REASSOCIATE
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

//===- the products -------------------------------------------------------===//

static FloatType getFloatType(Value tensor) {
  return cast<FloatType>(getElementTypeOrSelf(tensor.getType()));
}

static AffineMap getMap(const TensorRead &read, ArrayRef<unsigned> loops,
                        MLIRContext *context) {
  SmallVector<AffineExpr> exprs;
  for (unsigned loop : read.loops)
    exprs.push_back(getAffineDimExpr(
        unsigned(llvm::find(loops, loop) - loops.begin()), context));
  return AffineMap::get(unsigned(loops.size()), 0, exprs, context);
}

/// The sum over the loops that `x` or `y` has and `out` has not.
static Value contract(OpBuilder &b, Location loc, const TensorRead &x,
                      const TensorRead &y, const TensorRead &out) {
  SmallVector<unsigned> loops;
  for (const TensorRead *read : {&out, &x, &y})
    for (unsigned loop : read->loops)
      if (!llvm::is_contained(loops, loop))
        loops.push_back(loop);
  SmallVector<Attribute> maps;
  for (const TensorRead *read : {&x, &y, &out})
    maps.push_back(AffineMapAttr::get(getMap(*read, loops, b.getContext())));
  return linalg::ContractOp::create(b, loc, TypeRange{out.tensor.getType()},
                                    ValueRange{x.tensor, y.tensor},
                                    ValueRange{out.tensor},
                                    b.getArrayAttr(maps))
      .getResult(0);
}

/// `tensor` times what weighs all pairs alike, in `type`.
static Value scale(OpBuilder &b, Location loc, Value tensor,
                   const ScoreWeights &weights, FloatType type) {
  FloatType sum = getFloatType(tensor);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, tensor);
  Value init = tensor::EmptyOp::create(b, loc, sizes, type);
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(sizes.size()));
  return buildPlainGeneric(
      b, loc, tensor, init, {dims, dims}, dims.size(),
      [&](ValueRange args) -> Value {
        Value result = args[0];
        if (weights.scale != 1)
          result = arith::MulFOp::create(
              b, loc, result,
              arith::ConstantOp::create(b, loc,
                                        b.getFloatAttr(sum, weights.scale)));
        for (const NumberFactor &factor : weights.numbers) {
          Value number = convertFloat(b, loc, factor.number, sum);
          result = factor.isDivisor
                       ? Value(arith::DivFOp::create(b, loc, result, number))
                       : arith::MulFOp::create(b, loc, result, number);
        }
        return convertFloat(b, loc, result, type);
      });
}

static FloatType getWider(FloatType x, FloatType y) {
  return x.getWidth() < y.getWidth() ? y : x;
}

/// The product of B and V, and its numbers, which are fewest there.
static TensorRead makeFirst(RewriterBase &b, const ProductChain &chain) {
  Location loc = chain.inner->getLoc();
  const ScoreWeights &weights = chain.weights;
  bool isScaled = weights.scale != 1 || !weights.numbers.empty();
  // Sums over keys overflow f16 where those over features don't.
  FloatType type = chain.scoreType.isF16() ? b.getF32Type() : chain.scoreType;
  FloatType bType = getFloatType(chain.b.tensor);
  FloatType vType = getFloatType(chain.v.tensor);
  bool canSum = type.getWidth() >= 32 || (bType == type && vType == type);
  FloatType sum = isScaled || !canSum ? getWider(type, b.getF32Type()) : type;
  sum = getWider(sum, getWider(bType, vType));
  if (!isScaled && sum.getWidth() >= 32)
    type = getWider(type, b.getF32Type());

  TensorRead first;
  SmallVector<OpFoldResult> sizes;
  auto addLoop = [&](unsigned loop) {
    for (const TensorRead *read : {&chain.b, &chain.v})
      if (auto *found = llvm::find(read->loops, loop);
          found != read->loops.end()) {
        first.loops.push_back(loop);
        sizes.push_back(tensor::getMixedSize(b, loc, read->tensor,
                                             found - read->loops.begin()));
        return;
      }
  };
  for (unsigned loop : chain.batch)
    addLoop(loop);
  addLoop(chain.isScoreLeft ? chain.feature : chain.column);
  addLoop(chain.isScoreLeft ? chain.column : chain.feature);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(sum));
  Value empty = tensor::EmptyOp::create(b, loc, sizes, sum);
  first.tensor = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  first.tensor = contract(b, loc, chain.b, chain.v, first);
  if (isScaled || sum != type)
    first.tensor = scale(b, loc, first.tensor, weights, type);
  return first;
}

/// %p = linalg.matmul ins(%a, %b) outs(%zeros) : n x d, d x n
/// %o = linalg.matmul ins(%p, %v) outs(%out) : n x n, n x dv
///   ->
/// %t = linalg.contract ins(%b, %v) outs(%zeros) : d x n, n x dv
/// %o = linalg.contract ins(%a, %t) outs(%out) : n x d, d x dv
void attn::reassociate(RewriterBase &b, const ProductChain &chain) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(chain.outer);
  Location loc = chain.outer->getLoc();
  TensorRead first = makeFirst(b, chain);
  FloatType type = getFloatType(chain.o.tensor);
  FloatType sum =
      getWider(getFloatType(chain.a.tensor), getFloatType(first.tensor));
  bool canSum =
      sum.getWidth() <= type.getWidth() &&
      (type.getWidth() >= 32 || (getFloatType(chain.a.tensor) == type &&
                                 getFloatType(first.tensor) == type));
  TensorRead out = chain.o;
  if (canSum) {
    b.replaceOp(chain.outer, contract(b, loc, chain.a, first, out));
    return;
  }
  // Sums in more than the type of the result, which is rounded once.
  sum = getWider(sum, b.getF32Type());
  ScoreWeights one;
  out.tensor = scale(b, loc, out.tensor, one, sum);
  Value wide = contract(b, loc, chain.a, first, out);
  b.replaceOp(chain.outer, scale(b, loc, wide, one, type));
}

//===- the choice ---------------------------------------------------------===//

namespace {

/// What is known about one chain.
struct Decision {
  Cost apart, reassociated;
  std::optional<int64_t> crossover; ///< rows, from which on it pays
};

} // namespace

/// What takes the place of a chain of this shape costs.
static Cost estimateReplacement(const ProductChain &chain,
                                const ChainShape &shape,
                                const TargetInfo &target) {
  if (chain.weights.isNumber())
    return estimateReassociated(shape, target);
  LinearProblem linear;
  linear.heads = shape.batch;
  linear.queries = shape.rows;
  linear.keys = shape.keys;
  linear.features = shape.features;
  linear.columns = shape.columns;
  linear.element = shape.element;
  if (chain.weights.decay)
    linear.decay = LinearProblem::Decay::scalar;
  LinearCosts costs = estimateLinear(linear, target);
  return *costs.get(costs.choose());
}

static Decision decide(const ProductChain &chain, const TargetInfo &target) {
  ChainShape shape = chain.getShape();
  Decision decision{estimateChain(shape, target),
                    estimateReplacement(chain, shape, target), std::nullopt};
  bool isSquare = shape.rows == shape.keys;
  decision.crossover = findCrossover([&](int64_t rows) {
    ChainShape other = shape;
    other.rows = rows;
    if (isSquare)
      other.keys = rows;
    return estimateReplacement(chain, other, target).seconds <
           estimateChain(other, target).seconds;
  });
  return decision;
}

static std::string describe(const ProductChain &chain,
                            const Decision &decision) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto printCost = [&](const Cost &cost) {
    stream << formatFlops(cost.flops) << " in "
           << llvm::format("%.3g ms", 1e3 * cost.seconds);
  };
  printCost(decision.reassociated);
  stream << " against ";
  printCost(decision.apart);
  stream << ", nominally, for " << chain.getShape().rows << " rows"
         << (chain.hasUnknownLength() ? ", which are not known; " : "; ");
  if (decision.crossover)
    stream << "it pays from " << *decision.crossover << " rows on";
  else
    stream << "it never pays";
  return text;
}

static auto remarkOpts(StringRef name = "reassociate") {
  return remark::RemarkOpts::name(name).category("attn-rewrite");
}

/// Rewrites the chain that reads the scores on this side of `op`, if there is
/// one and the costs say so.
static LogicalResult visitSide(ExplainingRewriter &rewriter,
                               linalg::LinalgOp op, bool isScoreLeft,
                               Reassociation mode, const TargetInfo &target) {
  FailureOr<ProductChain> chain = matchProductChain(rewriter, op, isScoreLeft);
  if (failed(chain))
    return failure();
  Decision decision = decide(*chain, target);
  std::string name = ("'" + op->getName().getStringRef() + "' ").str();
  std::string costs = describe(*chain, decision);
  bool pays = decision.reassociated.seconds < decision.apart.seconds;
  // A (B C) -> (A B) C would undo what was done on purpose.
  if (mode == Reassociation::always)
    pays = isScoreLeft || !chain->weights.isNumber();
  if (!pays)
    return rewriter.notifyMatchFailure(op, "it does not pay: " + costs);
  Location loc = op->getLoc();
  if (chain->weights.isNumber())
    reassociate(rewriter, *chain);
  else if (failed(makeLinear(rewriter, *chain)))
    return failure();
  remark::passed(loc, remarkOpts())
      << (name +
          (chain->weights.isNumber() ? "reassociated: "
                                     : "is linear attention: ") +
          costs);
  return success();
}

namespace {

struct ReassociatePass : public attn::impl::ReassociateBase<ReassociatePass> {
  using ReassociateBase::ReassociateBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (parseReassociation(mode))
      return success();
    return emitError(UnknownLoc::get(context))
           << "attn-reassociate: mode: expected auto, always or never, got '"
           << mode << "'";
  }

  void runOnOperation() override {
    Reassociation how = *parseReassociation(mode);
    const TargetInfo *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    if (how == Reassociation::never)
      return;
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (linalg::isaContractionOpInterface(op) && op.hasPureTensorSemantics())
        ops.push_back(op);
    });
    ExplainingRewriter rewriter(*this, &getContext());
    // Each once, in order: a product that was made here is not visited.
    for (linalg::LinalgOp op : ops)
      visit(rewriter, op, how, *target);
    eraseUnused(rewriter);
  }

  void visit(ExplainingRewriter &rewriter, linalg::LinalgOp op,
             Reassociation how, const TargetInfo &target) {
    rewriter.visit(op);
    Location loc = op->getLoc();
    std::string name = op->getName().getStringRef().str();
    bool isFloat =
        isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
    for (bool isScoreLeft : {true, false}) {
      bool isChain = hasProductBehind(op->getOperand(isScoreLeft ? 0 : 1));
      if (!isFloat)
        (void)rewriter.notifyMatchFailure(
            op, "expected matrices of floating-point numbers");
      else if (succeeded(visitSide(rewriter, op, isScoreLeft, how, target)))
        return;
      if (isChain)
        remark::missed(loc, remarkOpts())
            << ("'" + name + "' not reassociated: " + rewriter.getReason())
                   .str();
    }
  }

  /// The products that are no longer read, and what is between them.
  void eraseUnused(RewriterBase &rewriter) {
    SmallVector<Operation *> all;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      all.push_back(op);
      return isa<linalg::LinalgOp>(op) ? WalkResult::skip()
                                       : WalkResult::advance();
    });
    for (Operation *op : llvm::reverse(all))
      if (isOpTriviallyDead(op))
        rewriter.eraseOp(op);
  }
};

} // namespace
