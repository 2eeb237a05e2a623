// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives every compiled function an entry of one type, NAME.call(void **args).
// Runs on buffers, before the lowering to LLVM, which then turns descriptors
// into the arguments of the function.

#include "passes/convention/Convention.h"

#include "passes/Passes.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"

namespace mlir::attn {
#define GEN_PASS_DEF_EMITENTRYPOINTS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Loads argument `index` of a call: a descriptor for a buffer, else its value.
static Value loadArgument(OpBuilder &builder, Location loc,
                          const LLVMTypeConverter &converter, Value args,
                          unsigned index, Type type) {
  Type pointer = args.getType();
  Value slot =
      LLVM::GEPOp::create(builder, loc, pointer, pointer, args,
                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
  Value address = LLVM::LoadOp::create(builder, loc, pointer, slot);
  Type loadedType = converter.convertType(type);
  Value loaded = LLVM::LoadOp::create(builder, loc, loadedType, address);
  if (loadedType == type)
    return loaded;
  return UnrealizedConversionCastOp::create(builder, loc, type, loaded)
      .getResult(0);
}

static void emitEntryPoint(func::FuncOp function,
                           const LLVMTypeConverter &converter) {
  Location loc = function.getLoc();
  OpBuilder builder(function->getContext());
  builder.setInsertionPointAfter(function);
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  std::string name = function.getSymName().str();
  auto entry = func::FuncOp::create(builder, loc, name + ".call",
                                    builder.getFunctionType({pointer}, {}));
  // Under a name that no C function has: a user's @malloc is not malloc.
  function.setSymName(name + ".kernel");
  function.setPrivate();
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  Block *block = entry.addEntryBlock();
  builder.setInsertionPointToStart(block);
  SmallVector<Value> arguments;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    arguments.push_back(loadArgument(builder, loc, converter,
                                     block->getArgument(0), index, type));
  func::CallOp::create(builder, loc, function, arguments);
  func::ReturnOp::create(builder, loc);
}

namespace {

struct EmitEntryPointsPass
    : public attn::impl::EmitEntryPointsBase<EmitEntryPointsPass> {
  void runOnOperation() override {
    LLVMTypeConverter converter(&getContext());
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (!isKernel(function))
        continue;
      for (Type type : function.getArgumentTypes())
        if (!converter.convertType(type)) {
          function.emitOpError()
              << "expected buffers and scalars as arguments, "
                 "got "
              << type;
          return signalPassFailure();
        }
      if (function.getNumResults() != 0) {
        function.emitOpError()
            << "expected no results, got " << function.getNumResults();
        return signalPassFailure();
      }
      emitEntryPoint(function, converter);
    }
  }
};

} // namespace
