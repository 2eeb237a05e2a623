// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The groups of passes that every device shares.

#include "passes/convention/Convention.h"

#include "passes/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::attn;

bool attn::isKernel(func::FuncOp function) {
  return function.isPublic() && !function.isDeclaration() &&
         !function->hasAttr("attn.rules");
}

void attn::addSource(OpPassManager &pm) {
  // Each function is whole.
  pm.addPass(createInlineCalls());
  // Only operations that every device compiles.
  CheckStageOptions source;
  source.stage = "source";
  pm.addPass(createCheckStage(source));
  // Every operation has a result for every operand, on every device the same.
  pm.addPass(createGuardArith());
  // Tensors of i1 are tensors of bytes.
  pm.addPass(createWidenBooleans());
  // Each function has its plan; nothing after this needs to check a size.
  pm.addPass(createEmitPlan());
  // Numbers that no plan can look at are NaN where they break a rule.
  pm.addNestedPass<func::FuncOp>(createGuardNumbers());
}

void attn::addBufferization(OpPassManager &pm) {
  // The parts of a concatenation are computed where they end up.
  pm.addPass(createExpandConcats());
  pm.addPass(createAddOutParams());
  pm.addPass(createBufferize());
  // Equal views are one value, so that copies onto themselves are seen to be.
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());
}

void attn::addDeallocation(OpPassManager &pm) {
  pm.addPass(bufferization::createOwnershipBasedBufferDeallocationPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(bufferization::createBufferDeallocationSimplificationPass());
  pm.addPass(bufferization::createLowerDeallocationsPass());
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());
}

void attn::addLowerToLLVM(OpPassManager &pm, bool callsMathLibrary) {
  // No call into a runtime library for strided copies.
  pm.addPass(createExpandCopies());
  // NAME.call unpacks an array of pointers for the function itself.
  pm.addPass(createEmitEntryPoints());
  // From here on no function of the program has a name of that library.
  if (callsMathLibrary)
    pm.addPass(createCallMathLibrary());
  pm.addPass(createCallOpenMp());
  // Subnormal numbers count as 0, on the calling thread and the others.
  pm.addPass(createSetFloatMode());
  // Views are arithmetic on offsets and strides.
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  // No f16 or bf16 conversion is a library call.
  pm.addPass(createExpandHalfCasts());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  pm.addPass(createSCFToControlFlowPass());
  // Only the LLVM dialect is left.
  pm.addPass(createConvertToLLVMPass());
  // No element of bf16 is rounded by a library on its way.
  pm.addPass(createGatherBits());
  pm.addPass(createReconcileUnrealizedCastsPass());
}
