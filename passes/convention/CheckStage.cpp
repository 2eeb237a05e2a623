// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The guard at the boundary of a stage: names the first operation that must not
// be left after it. What is not on the list of a stage is refused, so that a
// construct that no later stage knows can't reach one.

#include "passes/Passes.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::attn {
#define GEN_PASS_DEF_CHECKSTAGE
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

static bool isPlan(Operation *op) {
  auto function = dyn_cast<func::FuncOp>(op);
  return function && function->hasAttr("attn.rules");
}

static bool hasShapedTypes(Operation *op) {
  auto isShaped = [](Type type) { return isa<ShapedType>(type); };
  return llvm::any_of(op->getOperandTypes(), isShaped) ||
         llvm::any_of(op->getResultTypes(), isShaped);
}

/// True for constant indices that are inside of a tensor of static shape.
static bool isInBounds(tensor::ExtractOp op) {
  auto type = op.getTensor().getType();
  for (auto [dim, index] : llvm::enumerate(op.getIndices())) {
    std::optional<int64_t> value = getConstantIntValue(index);
    if (!value || *value < 0 || type.isDynamicDim(dim) ||
        *value >= type.getDimSize(dim))
      return false;
  }
  return true;
}

/// True if no size of the result is split from one that only a call knows.
static bool isStaticSplit(tensor::ExpandShapeOp op) {
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices()))
    if (group.size() > 1 && op.getSrcType().isDynamicDim(dim))
      return false;
  return true;
}

/// True if the type of the result promises no more than those of the operands.
static bool isPlainConcat(tensor::ConcatOp op) {
  return op.getResultType() == tensor::ConcatOp::inferResultType(
                                   op.getDim(), op.getInputs().getTypes());
}

/// True if `map` divides by nothing but positive constants.
static bool isTotal(AffineMap map) {
  bool total = true;
  map.walkExprs([&](AffineExpr expr) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary || expr.getKind() == AffineExprKind::Add ||
        expr.getKind() == AffineExprKind::Mul)
      return;
    auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    total &= divisor && divisor.getValue() > 0;
  });
  return total;
}

/// Whole attention, linalg on tensors, and scalars. Nothing here can read out
/// of bounds, call, or touch memory once the plan's rules hold.
static bool isSourceOp(Operation *op) {
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> index = dim.getConstantIndex();
    auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
    return index && type && *index >= 0 && *index < type.getRank();
  }
  if (op->getParentOfType<SoftmaxFamilyInterface>() ||
      op->getParentOfType<FeatureMapOp>())
    return true; // The verifier has the list of what a region may hold.
  if (isa<SoftmaxFamilyInterface, MergeOp, LinearOp, FeatureMapOp,
          RandomFeaturesOp, FavorOp, func::FuncOp, func::ReturnOp,
          tensor::EmptyOp, tensor::CastOp, tensor::CollapseShapeOp,
          linalg::YieldOp, linalg::IndexOp, arith::ConstantOp>(op))
    return true;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return isStaticSplit(expand);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return isPlainConcat(concat);
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return isTotal(apply.getAffineMap());
  if (auto min = dyn_cast<affine::AffineMinOp>(op))
    return isTotal(min.getAffineMap());
  if (auto max = dyn_cast<affine::AffineMaxOp>(op))
    return isTotal(max.getAffineMap());
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return isInBounds(extract);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return linalgOp.hasPureTensorSemantics();
  // Integer powers of integers have no lowering.
  return isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
             op->getDialect()) &&
         !hasShapedTypes(op) && !isa<math::IPowIOp>(op);
}

/// Whether `op` may be left after `stage`.
static bool isAllowedAfter(StringRef stage, Operation *op) {
  Dialect *dialect = op->getDialect();
  if (!dialect)
    return false;
  if (stage == "source")
    return isSourceOp(op);
  // Passes read and write elements where they know them to be, and loop over
  // packed sequences.
  if (stage == "rewrite")
    return isSourceOp(op) ||
           isa<RunningMaxOp, tensor::ExtractOp, tensor::InsertOp, scf::ForOp,
               scf::YieldOp>(op);
  if (stage == "tile")
    return !isa<SoftmaxFamilyInterface, MergeOp, LinearOp, FeatureMapOp,
                RandomFeaturesOp, FavorOp>(op);
  if (stage == "decompose")
    return !isa<AttnDialect>(dialect);
  return isa<LLVM::LLVMDialect, omp::OpenMPDialect>(dialect);
}

/// Refuses a loop that does not insert into each of its results once, in their
/// order: upstream replaces the results of a loop of one iteration by its
/// insertions, the first by the first.
static LogicalResult checkInsertions(scf::ForallOp op) {
  SmallVector<Value> destinations;
  for (Operation &insertion : op.getTerminator().getYieldingOps())
    for (OpOperand &destination :
         cast<ParallelCombiningOpInterface>(insertion).getUpdatedDestinations())
      destinations.push_back(destination.get());
  for (auto [number, result] : llvm::enumerate(op.getRegionIterArgs())) {
    int64_t count = llvm::count(destinations, result);
    if (count != 1)
      return op.emitOpError() << "result " << number
                              << ": expected one insertion, got " << count;
    if (destinations[number] != result)
      return op.emitOpError()
             << "result " << number << ": expected the insertion number "
             << number << ", got another one";
  }
  return success();
}

namespace {

struct CheckStagePass : public attn::impl::CheckStageBase<CheckStagePass> {
  using CheckStageBase::CheckStageBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (llvm::is_contained({"source", "rewrite", "tile", "decompose", "llvm"},
                           StringRef(stage)))
      return success();
    return emitError(UnknownLoc::get(context))
           << "attn-check-stage: stage: expected source, rewrite, tile, "
              "decompose or llvm, got '"
           << stage << "'";
  }

  bool hasPlan() {
    return llvm::any_of(getOperation()->getRegion(0).getOps(),
                        [](Operation &op) { return isPlan(&op); });
  }

  void runOnOperation() override {
    WalkResult walked =
        getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
          if (op == getOperation())
            return WalkResult::advance();
          if (isPlan(op))
            return WalkResult::skip();
          if (isAllowedAfter(stage, op)) {
            auto loop = dyn_cast<scf::ForallOp>(op);
            return WalkResult(loop ? checkInsertions(loop) : success());
          }
          InFlightDiagnostic error = op->emitOpError() << "not supported ";
          if (stage != "source")
            error << "after stage " << stage;
          else if (hasPlan())
            error << "in a source module; this one has been through stage "
                     "source, as it has plans";
          else
            error << "in a source module";
          return WalkResult::interrupt();
        });
    if (walked.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
