// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the element that a reduction loop adds to in a register. Runs on the
// loops of the reference device, where LLVM can't tell a buffer's element from
// the operands and would store and load it in every step.

#include "passes/Passes.h"

#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::attn {
#define GEN_PASS_DEF_PROMOTEREDUCTIONS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;

/// The buffer that `memref` is a view of.
static Value getBase(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

namespace {
/// A load and a store of one element that no other operation of a loop touches.
struct Reduction {
  memref::LoadOp load;
  memref::StoreOp store;
};
} // namespace

/// The reduction of `loop`, if all of its body is one.
static std::optional<Reduction> findReduction(scf::ForOp loop) {
  Reduction reduction;
  SmallVector<memref::LoadOp> loads;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      loads.push_back(load);
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      if (reduction.store)
        return std::nullopt;
      reduction.store = store;
    } else if (!isMemoryEffectFree(&op)) {
      return std::nullopt;
    }
  }
  // An allocation of this function, which no argument or other allocation can
  // be a view of.
  if (!reduction.store || loop.getNumRegionIterArgs() != 0 ||
      !reduction.store.getMemRef().getDefiningOp<memref::AllocOp>())
    return std::nullopt;
  auto isOutside = [&](Value value) {
    return loop.isDefinedOutsideOfLoop(value);
  };
  if (!isOutside(reduction.store.getMemRef()) ||
      !llvm::all_of(reduction.store.getIndices(), isOutside))
    return std::nullopt;
  for (memref::LoadOp load : loads) {
    if (getBase(load.getMemRef()) != reduction.store.getMemRef())
      continue;
    if (reduction.load || load.getMemRef() != reduction.store.getMemRef() ||
        load.getIndices() != reduction.store.getIndices() ||
        !load->isBeforeInBlock(reduction.store))
      return std::nullopt;
    reduction.load = load;
  }
  if (!reduction.load)
    return std::nullopt;
  return reduction;
}

/// for %d { %a = load %m[%i]; %b = f(%a); store %b, %m[%i] }
///   ->  %0 = load %m[%i]; %r = for %d iter_args(%a = %0) { yield f(%a) };
///       store %r, %m[%i]
static void promote(scf::ForOp loop, Reduction reduction,
                    RewriterBase &rewriter) {
  rewriter.setInsertionPoint(loop);
  Value init = rewriter.clone(*reduction.load)->getResult(0);
  Value next = reduction.store.getValueToStore();
  Value memref = reduction.store.getMemRef();
  SmallVector<Value> indices(reduction.store.getIndices());
  Location loc = reduction.store.getLoc();
  auto promoted = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, init, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument>) {
        return SmallVector<Value>{next};
      }));
  rewriter.replaceOp(reduction.load, promoted.getRegionIterArg(0));
  rewriter.eraseOp(reduction.store);
  rewriter.setInsertionPointAfter(promoted);
  memref::StoreOp::create(rewriter, loc, promoted.getResult(0), memref,
                          indices);
}

namespace {

struct PromoteReductionsPass
    : public attn::impl::PromoteReductionsBase<PromoteReductionsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (std::optional<Reduction> reduction = findReduction(loop))
        promote(loop, *reduction, rewriter);
  }
};

} // namespace
