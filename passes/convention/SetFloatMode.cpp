// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled code rounds to nearest, raises no exception, and takes subnormal
// numbers for 0, whatever mode its caller has set, and leaves that mode as it
// was. Runs once entries and threads are there. Intel's cores need more than a
// hundred cycles for each operation on a subnormal, which the weights of a
// softmax and products of decays often are.

#include "passes/Passes.h"
#include "passes/convention/Convention.h"

namespace mlir::attn {
#define GEN_PASS_DEF_SETFLOATMODE
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

// Bits of MXCSR (Intel 64 and IA-32 Architectures Software Developer's Manual,
// volume 1, section 10.2.3). Rounding to nearest is 0, and so are the flags.
static constexpr int32_t kSubnormalOperandsAreZero = 1 << 6;
static constexpr int32_t kMaskAllExceptions = 0x3f << 7;
static constexpr int32_t kSubnormalResultsAreZero = 1 << 15;
static constexpr int32_t kMode =
    kSubnormalOperandsAreZero | kMaskAllExceptions | kSubnormalResultsAreZero;

/// Sets the mode of the thread and returns where the one before it is kept,
/// flags included.
static Value emitEnter(OpBuilder &builder, Location loc) {
  Type i32 = builder.getI32Type();
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto constant = [&](int32_t x) -> Value {
    return LLVM::ConstantOp::create(builder, loc, i32,
                                    builder.getI32IntegerAttr(x));
  };
  Value one = constant(1), mode = constant(kMode);
  Value before = LLVM::AllocaOp::create(builder, loc, pointer, i32, one);
  Value wanted = LLVM::AllocaOp::create(builder, loc, pointer, i32, one);
  LLVM::CallIntrinsicOp::create(
      builder, loc, builder.getStringAttr("llvm.x86.sse.stmxcsr"), before);
  LLVM::StoreOp::create(builder, loc, mode, wanted);
  LLVM::CallIntrinsicOp::create(
      builder, loc, builder.getStringAttr("llvm.x86.sse.ldmxcsr"), wanted);
  return before;
}

static void emitLeave(OpBuilder &builder, Location loc, Value before) {
  LLVM::CallIntrinsicOp::create(
      builder, loc, builder.getStringAttr("llvm.x86.sse.ldmxcsr"), before);
}

/// func.func @f.call(%args) { call @f.kernel(...) }
///   ->
/// func.func @f.call(%args) {
///   stmxcsr %before ; ldmxcsr %wanted
///   call @f.kernel(...)
///   ldmxcsr %before
/// }
static void setModeOfEntry(func::FuncOp entry) {
  OpBuilder builder = OpBuilder::atBlockBegin(&entry.front());
  Value before = emitEnter(builder, entry.getLoc());
  entry.walk([&](func::ReturnOp end) {
    builder.setInsertionPoint(end);
    emitLeave(builder, end.getLoc(), before);
  });
  // LLVM takes arithmetic for free of side effects: across a call of another
  // function it can't move it out of the mode.
  auto module = entry->getParentOfType<ModuleOp>();
  entry.walk([&](func::CallOp call) {
    if (auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee()))
      callee->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
  });
}

/// omp.parallel { ... omp.terminator }
///   ->
/// omp.parallel { stmxcsr ; ldmxcsr ; ... ldmxcsr ; omp.terminator }
static void setModeOfThreads(omp::ParallelOp parallel) {
  OpBuilder builder = OpBuilder::atBlockBegin(&parallel.getRegion().front());
  Value before = emitEnter(builder, parallel.getLoc());
  for (Block &block : parallel.getRegion())
    if (auto end = dyn_cast<omp::TerminatorOp>(block.getTerminator())) {
      builder.setInsertionPoint(end);
      emitLeave(builder, end.getLoc(), before);
    }
}

namespace {

struct SetFloatModePass
    : public attn::impl::SetFloatModeBase<SetFloatModePass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (isKernel(function))
        setModeOfEntry(function);
    getOperation().walk(setModeOfThreads);
  }
};

} // namespace
