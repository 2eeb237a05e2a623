// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records the target on the module. It runs first in every pipeline, so that
// all later passes, also those of a run resumed from a dump, agree on the
// machine.

#include "passes/Passes.h"
#include "passes/analysis/TargetInfo.h"

namespace mlir::attn {
#define GEN_PASS_DEF_SETTARGET
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

struct SetTargetPass : public attn::impl::SetTargetBase<SetTargetPass> {
  using SetTargetBase::SetTargetBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    // "host" is the default of the option: it does not overrule a record.
    if (module->hasAttr(kTargetAttrName) && target == "host") {
      if (!getTarget(module))
        signalPassFailure();
      return;
    }
    const TargetInfo *info = lookupTarget(resolveTarget(target));
    if (!info) {
      module.emitError() << "option 'target': expected host or one of "
                         << listTargets() << ", got '" << target << "'";
      return signalPassFailure();
    }
    module->setAttr(kTargetAttrName,
                    StringAttr::get(&getContext(), info->name));
  }
};

} // namespace
