// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces calls by what they call and drops functions that nobody outside can
// call. First of all passes: sizes and rules are those of whole functions.

#include "passes/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::attn {
#define GEN_PASS_DEF_INLINECALLS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;

/// Calls of calls can double with each level; this many operations are far more
/// than any program needs.
static constexpr int64_t maxClonedOps = 20000;

namespace {

/// Inlines depth first, so that what is cloned has no calls any more.
class CallInliner {
public:
  explicit CallInliner(ModuleOp module) : symbols(module) {}

  LogicalResult inlineCalls(func::FuncOp function);

private:
  LogicalResult inlineCall(func::CallOp call);

  SymbolTable symbols;
  llvm::SetVector<Operation *> open;
  DenseSet<Operation *> done;
  int64_t clonedOps = 0;
};

} // namespace

LogicalResult CallInliner::inlineCalls(func::FuncOp function) {
  if (done.contains(function))
    return success();
  open.insert(function);
  SmallVector<func::CallOp> calls;
  function.walk([&](func::CallOp call) { calls.push_back(call); });
  for (func::CallOp call : calls)
    if (failed(inlineCall(call)))
      return failure();
  open.remove(function);
  done.insert(function);
  return success();
}

LogicalResult CallInliner::inlineCall(func::CallOp call) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
  if (!callee || !callee.getBody().hasOneBlock())
    return call.emitOpError()
           << "callee: expected a function of one block, got "
           << call.getCalleeAttr();
  if (open.contains(callee))
    return call.emitOpError() << "callee: expected no recursion, got "
                              << call.getCalleeAttr() << " from within itself";
  if (failed(inlineCalls(callee)))
    return failure();
  callee.walk([&](Operation *) { ++clonedOps; });
  if (clonedOps > maxClonedOps)
    return call.emitOpError()
           << "expected at most " << maxClonedOps << " operations to inline";
  Block &body = callee.getBody().front();
  IRMapping mapping;
  mapping.map(body.getArguments(), call.getOperands());
  OpBuilder builder(call);
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  for (auto [result, returned] :
       llvm::zip(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(returned));
  call.erase();
  return success();
}

namespace {

struct InlineCallsPass : public attn::impl::InlineCallsBase<InlineCallsPass> {
  void runOnOperation() override {
    CallInliner inliner(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic() && failed(inliner.inlineCalls(function)))
        return signalPassFailure();
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (!function.isPublic())
        function.erase();
  }
};

} // namespace
