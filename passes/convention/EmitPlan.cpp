// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds NAME.plan to every public function NAME: the sizes of its results, or
// the first rule between sizes that a call breaks. Runs on the source, where
// operations still know their rules; the runtime calls the plan before it
// allocates anything, so the kernel itself checks nothing.

#include "passes/convention/PlanRules.h"

#include "passes/Passes.h"

namespace mlir::attn {
#define GEN_PASS_DEF_EMITPLAN
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Refuses what has no plan: several blocks, scalar results, and attention in
/// a loop or branch, whose rules would have no single answer.
static LogicalResult checkForm(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError()
           << "expected one block, got " << function.getBlocks().size();
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    if (!isa<RankedTensorType>(type))
      return function.emitOpError()
             << "result " << index << ": expected a ranked tensor, got "
             << type;
  WalkResult walked = function.walk([&](SoftmaxFamilyInterface op) {
    if (op->getParentOp() == function)
      return WalkResult::advance();
    op->emitOpError() << "expected it directly in a function, got it in '"
                      << op->getParentOp()->getName() << "'";
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

/// The sizes of all results in order.
static LogicalResult addResultSizes(func::FuncOp copy, PlanRules &rules,
                                    SmallVectorImpl<Value> &sizes) {
  Operation *terminator = copy.getBody().front().getTerminator();
  for (auto [index, result] : llvm::enumerate(terminator->getOperands())) {
    auto type = cast<RankedTensorType>(result.getType());
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      FailureOr<Value> size = rules.getResolver().getDim(result, dim);
      if (failed(size))
        return failure();
      sizes.push_back(*size);
      if (type.isDynamicDim(dim))
        rules.addNotNegative(*size, "'func.func' op result " +
                                        std::to_string(index) +
                                        ": expected size of dimension " +
                                        std::to_string(dim) + " of at least");
    }
  }
  return success();
}

/// Writes the sizes, or what the first broken rule expected and got, and
/// returns the number of that rule, 0 for none. It is negative where the rule
/// is about a number, which is written as the bits of an f64.
static void finishPlan(OpBuilder &builder, Location loc, Value out,
                       const PlanRules &rules, ArrayRef<Value> sizes) {
  Type i64 = builder.getI64Type();
  Value zero = arith::ConstantIntOp::create(builder, loc, 0, 64);
  auto toI64 = [&](Value size) {
    return arith::IndexCastOp::create(builder, loc, i64, size).getResult();
  };
  Value status = zero;
  SmallVector<Value> words(std::max<size_t>(sizes.size(), 2), zero);
  for (auto [word, size] : llvm::zip(words, sizes))
    word = toI64(size);
  for (size_t k = rules.getRules().size(); k > 0; --k) {
    const PlanRule &rule = rules.getRules()[k - 1];
    auto select = [&](Value ifBroken, Value otherwise) {
      return arith::SelectOp::create(builder, loc, rule.broken, ifBroken,
                                     otherwise)
          .getResult();
    };
    bool isNumber = !rule.expected;
    int64_t result = isNumber ? -static_cast<int64_t>(k) : k;
    status =
        select(arith::ConstantIntOp::create(builder, loc, result, 64), status);
    words[0] = select(isNumber ? zero : toI64(rule.expected), words[0]);
    Value got =
        isNumber
            ? arith::BitcastOp::create(builder, loc, i64, rule.got).getResult()
            : toI64(rule.got);
    words[1] = select(got, words[1]);
  }
  for (auto [index, word] : llvm::enumerate(words)) {
    Value address = LLVM::GEPOp::create(
        builder, loc, out.getType(), i64, out,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
    LLVM::StoreOp::create(builder, loc, word, address);
  }
  func::ReturnOp::create(builder, loc, status);
}

/// Builds the plan of `function` behind it.
static LogicalResult emitPlan(func::FuncOp function) {
  if (failed(checkForm(function)))
    return failure();
  Location loc = function.getLoc();
  OpBuilder builder(function);
  builder.setInsertionPointAfter(function);
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto plan = func::FuncOp::create(
      builder, loc, (function.getSymName() + ".plan").str(),
      builder.getFunctionType({pointer, pointer}, builder.getI64Type()));
  Block *block = plan.addEntryBlock();
  builder.setInsertionPointToStart(block);

  // Shapes are reified in a copy, so that the function stays as it is.
  OwningOpRef<func::FuncOp> copy = function.clone();
  SizeResolver resolver(*copy, builder, block->getArgument(0));
  PlanRules rules(resolver, builder);
  // Reifying adds operations to the copy; those have no rules.
  SmallVector<Operation *> sourceOps = llvm::map_to_vector(
      copy->getBody().front(), [](Operation &op) { return &op; });
  for (Operation *op : sourceOps)
    if (failed(rules.addRules(op)))
      return failure();
  SmallVector<Value> sizes;
  if (failed(addResultSizes(*copy, rules, sizes)))
    return failure();
  finishPlan(builder, loc, block->getArgument(1), rules, sizes);

  SmallVector<StringRef> texts =
      llvm::map_to_vector(rules.getRules(), [](const PlanRule &rule) {
        return StringRef(rule.text);
      });
  plan->setAttr("attn.rules", builder.getStrArrayAttr(texts));
  return success();
}

namespace {

struct EmitPlanPass : public attn::impl::EmitPlanBase<EmitPlanPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (function.isPrivate())
        continue;
      std::string name = (function.getSymName() + ".plan").str();
      if (Operation *taken = symbols.lookup(name)) {
        if (taken->hasAttr("attn.rules"))
          taken->emitOpError() << "expected a source, got a module that has "
                                  "been through stage source, with the plan "
                               << name;
        else
          taken->emitOpError()
              << "name: expected none that a plan needs, got " << name;
        return signalPassFailure();
      }
      if (failed(emitPlan(function)))
        return signalPassFailure();
    }
  }
};

} // namespace
