// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls the OpenMP library for the number of threads. Runs once no function of
// the program has the name of one of that library.

#include "passes/Passes.h"

#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"

namespace mlir::attn {
#define GEN_PASS_DEF_CALLOPENMP
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// %n = attn.num_workers
///   ->
/// %threads = llvm.call @omp_get_max_threads() : () -> i32
/// %n = arith.index_cast %threads : i32 to index
static LogicalResult callOpenMp(NumWorkersOp op, ModuleOp module) {
  OpBuilder builder(op);
  FailureOr<LLVM::LLVMFuncOp> function = LLVM::lookupOrCreateFn(
      builder, module, "omp_get_max_threads", {}, builder.getI32Type());
  if (failed(function))
    return failure();
  Value threads =
      LLVM::CallOp::create(builder, op.getLoc(), *function, ValueRange())
          .getResult();
  op.replaceAllUsesWith(arith::IndexCastOp::create(builder, op.getLoc(),
                                                   builder.getIndexType(),
                                                   threads)
                            .getResult());
  op.erase();
  return success();
}

namespace {

struct CallOpenMpPass : public attn::impl::CallOpenMpBase<CallOpenMpPass> {
  void runOnOperation() override {
    SmallVector<NumWorkersOp> ops;
    getOperation().walk([&](NumWorkersOp op) { ops.push_back(op); });
    for (NumWorkersOp op : ops)
      if (failed(callOpenMp(op, getOperation())))
        return signalPassFailure();
  }
};

} // namespace
