// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Rounding.h. Looks at the source as it was written: numbers are rounded to
// the types of its operations on every device, but for what the reference
// device computes in f64.

#include "runtime/compile/Rounding.h"

#include "dialect/Attn.h"
#include "runtime/compile/Source.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace attn {

/// More say no more.
static constexpr size_t maxJumps = 8;

/// True if results are among the operands, or are exact whatever those are.
static bool isExact(Operation *op) {
  return isa<arith::ConstantOp, arith::ExtFOp, arith::NegFOp, arith::SelectOp,
             arith::BitcastOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::MaxNumFOp, arith::MinNumFOp, math::AbsFOp,
             math::CopySignOp>(op);
}

static bool isScalarOp(Operation *op) {
  return isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
      op->getDialect());
}

/// What an operation does to a small difference of its operands, or null.
static const char *describeJump(Operation *op) {
  if (isa<arith::FPToSIOp, arith::FPToUIOp, math::FloorOp, math::CeilOp,
          math::RoundOp, math::RoundEvenOp, math::TruncOp>(op))
    return "rounds to an integer";
  if (isa<arith::RemFOp>(op))
    return "takes a remainder";
  if (isa<arith::CmpFOp>(op))
    return "compares computed numbers";
  return nullptr;
}

/// True if all that a comparison decides is which of its operands is taken, as
/// in a maximum.
static bool isContinuous(Operation *op) {
  auto compare = dyn_cast<arith::CmpFOp>(op);
  return compare && llvm::all_of(compare->getUsers(), [&](Operation *user) {
           auto select = dyn_cast<arith::SelectOp>(user);
           if (!select || select.getCondition() != compare.getResult())
             return false;
           mlir::Value yes = select.getTrueValue(), no = select.getFalseValue();
           mlir::Value left = compare.getLhs(), right = compare.getRhs();
           return (yes == left && no == right) || (yes == right && no == left);
         });
}

namespace {

class RoundingFinder {
public:
  Rounding find(mlir::Value result);

private:
  void visit(Operation *op);
  void visitScalar(Operation *op);
  void note(Type type);
  void noteJump(Operation *op, const char *what);
  /// True if devices may differ in `value`.
  bool differs(mlir::Value value);
  bool computeDiffers(mlir::Value value);
  bool argumentDiffers(BlockArgument argument);
  bool anyDiffers(ValueRange values) {
    return llvm::any_of(values, [&](mlir::Value v) { return differs(v); });
  }

  Rounding rounding;
  llvm::SetVector<mlir::Value> slice;
  DenseMap<mlir::Value, bool> known;
};

} // namespace

void RoundingFinder::note(Type type) {
  std::optional<Parameter> element =
      describeType(RankedTensorType::get({}, getElementTypeOrSelf(type)));
  // The enumeration goes from f64 to bf16.
  if (element && isFloat(element->dtype))
    rounding.narrowest = std::max(rounding.narrowest, element->dtype);
}

void RoundingFinder::noteJump(Operation *op, const char *what) {
  auto at = op->getLoc()->findInstanceOf<FileLineColLoc>();
  std::string text = at ? std::to_string(at.getLine()) + ":" +
                              std::to_string(at.getColumn()) + ": "
                        : std::string();
  text += "'" + op->getName().getStringRef().str() + "' " + what;
  if (rounding.jumps.size() < maxJumps &&
      !llvm::is_contained(rounding.jumps, text))
    rounding.jumps.push_back(text);
}

void RoundingFinder::visitScalar(Operation *op) {
  for (Type type : op->getResultTypes())
    if (!isExact(op))
      note(type);
  const char *jump = describeJump(op);
  if (jump && !isContinuous(op) && anyDiffers(op->getOperands()))
    noteJump(op, jump);
}

void RoundingFinder::visit(Operation *op) {
  op->walk([&](Operation *inner) {
    for (mlir::Value operand : inner->getOperands())
      if (!op->isProperAncestor(operand.getParentBlock()->getParentOp()) &&
          operand.getParentBlock()->getParentOp() != op)
        slice.insert(operand);
    if (isScalarOp(inner))
      visitScalar(inner);
  });
  if (isa<mlir::attn::AttnDialect>(op->getDialect()) &&
      !isa<mlir::attn::RandomFeaturesOp>(op))
    for (Type type : op->getResultTypes())
      note(type);
  // Its weights are of the type of the query, whatever the logarithm is.
  if (auto softmax = dyn_cast<mlir::attn::SoftmaxFamilyInterface>(op))
    note(softmax.getQuery().getType());
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    if (callee && !callee.isExternal())
      for (mlir::Value value :
           callee.getBody().back().getTerminator()->getOperands())
        slice.insert(value);
  }
}

bool RoundingFinder::argumentDiffers(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto function = dyn_cast<func::FuncOp>(parent))
    return !function.isPublic();
  unsigned number = argument.getArgNumber();
  auto op = dyn_cast<linalg::LinalgOp>(parent);
  // Of the regions of attention only the first argument is a float.
  if (!op)
    return true;
  if (number >= op->getNumOperands())
    return true;
  bool isSum = number >= op.getNumDpsInputs() && op.getNumReductionLoops() > 0;
  return isSum || differs(op->getOperand(number));
}

bool RoundingFinder::computeDiffers(mlir::Value value) {
  if (!isa<FloatType>(getElementTypeOrSelf(value.getType())))
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argumentDiffers(argument);
  Operation *op = value.getDefiningOp();
  if (isa<mlir::attn::RandomFeaturesOp, tensor::EmptyOp, arith::ConstantOp,
          arith::SIToFPOp, arith::UIToFPOp>(op))
    return false;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return differs(linalgOp.getBlock()->getTerminator()->getOperand(
        cast<OpResult>(value).getResultNumber()));
  if (isa<tensor::TensorDialect>(op->getDialect()) || isExact(op))
    return anyDiffers(op->getOperands());
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
           arith::TruncFOp, math::SqrtOp>(op))
    return true;
  // IEEE 754 has one result in the type that is written, which is not the one
  // in f64.
  Operation *parent = op->getParentOp();
  auto attention = dyn_cast<mlir::attn::SoftmaxFamilyInterface>(parent);
  auto linalgOp = dyn_cast<linalg::LinalgOp>(parent);
  bool isWidened =
      (attention && op->getParentRegion() == &attention.getScore()) ||
      isa<mlir::attn::FeatureMapOp>(parent) ||
      (linalgOp && linalgOp.getNumReductionLoops() > 0);
  return isWidened || anyDiffers(op->getOperands());
}

bool RoundingFinder::differs(mlir::Value value) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  bool result = computeDiffers(value);
  known[value] = result;
  return result;
}

Rounding RoundingFinder::find(mlir::Value result) {
  slice.insert(result);
  DenseSet<Operation *> visited;
  for (size_t next = 0; next < slice.size(); ++next)
    if (Operation *op = slice[next].getDefiningOp();
        op && visited.insert(op).second)
      visit(op);
  return std::move(rounding);
}

Rounding findRounding(mlir::Value result) {
  return RoundingFinder().find(result);
}

} // namespace attn
