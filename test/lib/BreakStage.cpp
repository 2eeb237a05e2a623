// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Breaks a stage of the compiler in functions that ask for it by their name,
// NAME_breaks_STAGE. Linked into a compiler of its own, on which the tools that
// look for a broken stage are tested.

#include "dialect/Attn.h"
#include "passes/Pipelines.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::attn;

/// Every key may be seen.
static void dropMasks(Operation *function) {
  function->walk([](SoftmaxFamilyInterface op) { op->removeAttr("mask"); });
}

/// Masks and score functions are off by one.
static void moveQueries(Operation *function) {
  function->walk([](OnlineSoftmaxOp op) {
    OpBuilder builder(op);
    Value one = arith::ConstantIndexOp::create(builder, op.getLoc(), 1);
    op.getIMutable().assign(
        arith::AddIOp::create(builder, op.getLoc(), op.getI(), one));
  });
}

/// A product is lost. Of vectors, which the reference device has none of.
static void dropProduct(Operation *function) {
  function->walk([](LLVM::FMAOp op) {
    if (!isa<VectorType>(op.getType()))
      return WalkResult::advance();
    op.replaceAllUsesWith(op.getC());
    op.erase();
    return WalkResult::interrupt();
  });
}

namespace {

struct BreakStagePass
    : public PassWrapper<BreakStagePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BreakStagePass)

  BreakStagePass(StringRef stage) : stage(stage) {}

  void runOnOperation() override {
    for (Operation &function : getOperation().getOps()) {
      auto name = SymbolTable::getSymbolName(&function);
      if (!name || !name.getValue().contains("_breaks_" + stage))
        continue;
      if (stage == "tile")
        moveQueries(&function);
      else if (stage == "llvm")
        dropProduct(&function);
      else
        dropMasks(&function);
    }
  }

  std::string stage;
};

/// Takes effect when the library is opened.
struct SetHook {
  SetHook() {
    setStageHook([](OpPassManager &pm, StringRef stage) {
      pm.addPass(std::make_unique<BreakStagePass>(stage));
    });
  }
};

const SetHook setHook;

} // namespace
