// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes every change that leaves a program valid and interesting, until there
// is none. Upstream's `--reduction-tree` leaves operations out only, and loses
// its way in the regions of linalg operations.

#include "tools/attn-reduce/Reduction.h"

#include "tools/attn-reduce/Changes.h"
#include "tools/attn-reduce/Script.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"

#include "llvm/Support/Process.h"

#include <optional>

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
  /// Says on the line of a terminal how far it is.
  void showProgress();
  /// Makes `change` of operation `number` if that is worthwhile.
  bool attempt(int64_t number, const ::attn::Change &change);
  /// Tries every change of every operation once.
  bool tryAll();

  std::optional<::attn::Script> tester;
  int64_t numTried = 0, numKept = 0;
};

} // namespace

void AttnReductionPass::showProgress() {
  if (!llvm::sys::Process::StandardErrIsDisplayed())
    return;
  int64_t numOps = 0;
  getOperation().getBodyRegion().walk([&](Operation *) { ++numOps; });
  // Back to the start of the line, and what was there is erased.
  llvm::errs() << "\r\033[Kattn-reduce: " << numTried << " programs tried, "
               << numKept << " changes kept, " << numOps << " operations left";
}

bool AttnReductionPass::attempt(int64_t number, const ::attn::Change &change) {
  ModuleOp module = getOperation();
  // A change has no way back, so that it is made on a copy.
  OwningOpRef<ModuleOp> copy = module.clone();
  if (!change(::getOperation(*copy, number)))
    return false;
  ScopedDiagnosticHandler quiet(&getContext(),
                                [](Diagnostic &) { return success(); });
  if (failed(verify(*copy)))
    return false;
  ++numTried;
  bool isKept = tester->isInteresting(*copy);
  if (isKept) {
    ++numKept;
    module.getBodyRegion().takeBody(copy->getBodyRegion());
  }
  showProgress();
  return isKept;
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
  tester.emplace(script, std::vector<std::string>(scriptArguments.begin(),
                                                  scriptArguments.end()));
  std::string why = tester->whyNot(getOperation());
  if (!why.empty()) {
    getOperation().emitError() << "option 'test': " << why;
    return signalPassFailure();
  }
  while (tryAll())
    ;
  if (llvm::sys::Process::StandardErrIsDisplayed())
    llvm::errs() << "\r\033[K";
}

void ::attn::registerReduction() { PassRegistration<AttnReductionPass>(); }
