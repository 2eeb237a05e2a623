// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes every change that leaves a program valid and interesting, until there
// is none. Upstream's `--reduction-tree` leaves operations out only, and loses
// its way in the regions of linalg operations.

#include "tools/attn-reduce/Reduction.h"

#include "tools/attn-reduce/Changes.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Reducer/Tester.h"

using namespace mlir;

/// Operation `number` of `module` in the order of the text, or null.
static Operation *getOperation(ModuleOp module, int64_t number) {
  Operation *found = nullptr;
  module.getBodyRegion().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (number-- > 0)
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

namespace {

struct AttnReductionPass
    : public PassWrapper<AttnReductionPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AttnReductionPass)

  AttnReductionPass() = default;
  AttnReductionPass(const AttnReductionPass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "attn-reduction"; }
  StringRef getDescription() const override {
    return "make the program smaller as long as it is interesting";
  }
  void runOnOperation() override;

  Option<std::string> script{
      *this, "test",
      llvm::cl::desc("program that exits with 1 for an interesting file, and "
                     "with 0 for any other")};
  ListOption<std::string> scriptArguments{
      *this, "test-arg", llvm::cl::desc("arguments of the program")};

private:
  bool isInteresting(ModuleOp module);
  /// Makes `change` of operation `number` if that is worthwhile.
  bool attempt(int64_t number, const ::attn::Change &change);
  /// Tries every change of every operation once.
  bool tryAll();

  Tester tester;
};

} // namespace

bool AttnReductionPass::isInteresting(ModuleOp module) {
  return tester.isInteresting(module).first == Tester::Interestingness::True;
}

bool AttnReductionPass::attempt(int64_t number, const ::attn::Change &change) {
  ModuleOp module = getOperation();
  // A change has no way back, so that it is made on a copy.
  OwningOpRef<ModuleOp> copy = module.clone();
  if (!change(::getOperation(*copy, number)))
    return false;
  ScopedDiagnosticHandler quiet(&getContext(),
                                [](Diagnostic &) { return success(); });
  if (failed(verify(*copy)) || !isInteresting(*copy))
    return false;
  module.getBodyRegion().takeBody(copy->getBodyRegion());
  return true;
}

bool AttnReductionPass::tryAll() {
  bool changed = false;
  for (int64_t number = 0;; ++number) {
    Operation *op = ::getOperation(getOperation(), number);
    if (!op)
      return changed;
    SmallVector<::attn::Change> changes = ::attn::findChanges(op);
    OperationName name = op->getName();
    for (const ::attn::Change &change : changes) {
      if (!attempt(number, change))
        continue;
      changed = true;
      // The operation may be gone, and another one be in its place.
      op = ::getOperation(getOperation(), number);
      if (!op || op->getName() != name)
        break;
    }
  }
}

void AttnReductionPass::runOnOperation() {
  tester.setTestScript(script);
  tester.setTestScriptArgs(
      ArrayRef<std::string>(&*scriptArguments.begin(), scriptArguments.size()));
  if (!llvm::sys::fs::can_execute(script) || !isInteresting(getOperation())) {
    getOperation().emitError()
        << "option 'test': expected an executable file that exits with 1 for "
           "the program, got '"
        << script << "'";
    return signalPassFailure();
  }
  while (tryAll())
    ;
}

void ::attn::registerReduction() { PassRegistration<AttnReductionPass>(); }
