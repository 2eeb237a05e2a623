// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses how each attn.linear is computed, by cost. The tile stage reads the
// attribute that this leaves.

#include "passes/rewrite/Rewrite.h"

#include "passes/Passes.h"
#include "passes/analysis/CostModel.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/Format.h"

namespace mlir::attn {
#define GEN_PASS_DEF_CHOOSEFORM
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// "quadratic 268 MFLOP, chunk 25.2 MFLOP".
static std::string listCosts(const LinearCosts &costs) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (LinearForm form :
       {LinearForm::quadratic, LinearForm::chunk, LinearForm::recurrent})
    if (const std::optional<Cost> &cost = costs.get(form))
      stream << (text.empty() ? "" : ", ") << toString(form) << ' '
             << formatFlops(cost->flops) << " in "
             << llvm::format("%.3g ms", 1e3 * cost->seconds);
  return text;
}

static void remarkOnForm(LinearOp op, LinearForm form,
                         const LinearCosts &costs) {
  remark::analysis(
      op.getLoc(),
      remark::RemarkOpts::name("linear-form").category("attn-rewrite"))
      << ("'attn.linear' " + toString(form) +
          " form; nominal costs: " + listCosts(costs))
             .str();
}

LinearForm attn::chooseForm(LinearOp op, std::optional<LinearForm> wanted,
                            const TargetInfo &target) {
  LinearProblem shape = getLinearProblem(op);
  LinearCosts costs = estimateLinear(shape, target);
  LinearForm form = costs.choose();
  // Whatever the table says, a chunk of one token is recurrence with a detour.
  if (shape.queries == 1 && costs.recurrent)
    form = LinearForm::recurrent;
  if (wanted && costs.get(*wanted))
    form = *wanted;
  else if (wanted)
    remark::missed(
        op.getLoc(),
        remark::RemarkOpts::name("linear-form").category("attn-rewrite"))
        << ("'attn.linear' has no " + toString(*wanted) + " form " +
            (shape.hasBlocks ? "beside block" : "without causal"))
               .str();
  remarkOnForm(op, form, costs);
  return form;
}

namespace {

struct ChooseFormPass : public attn::impl::ChooseFormBase<ChooseFormPass> {
  using ChooseFormBase::ChooseFormBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (form == "auto" || parseLinearForm(form))
      return success();
    return emitError(UnknownLoc::get(context))
           << "attn-choose-form: form: expected auto, quadratic, chunk or "
              "recurrent, got '"
           << form << "'";
  }

  void runOnOperation() override {
    const TargetInfo *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    getOperation().walk([&](LinearOp op) {
      // What somebody wrote counts more than costs.
      if (form == "auto" && op->hasAttr(kFormAttrName))
        return;
      LinearForm chosen = chooseForm(op, parseLinearForm(form), *target);
      op->setAttr(kFormAttrName,
                  StringAttr::get(&getContext(), toString(chosen)));
    });
  }
};

} // namespace
