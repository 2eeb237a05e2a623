// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short forms for the IR that CPU kernels are made of.

#include "passes/cpu/KernelBuilder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

Value KernelBuilder::fma(Value x, Value y, Value z) const {
  if (!target.has(CpuFeatures::fma))
    return addf(mulf(x, y), z);
  return math::FmaOp::create(b, loc, x, y, z);
}

Value KernelBuilder::scratch(ArrayRef<OpFoldResult> sizes, Type element) const {
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  dispatchIndexOpFoldResults(sizes, dynamic, shape);
  return memref::AllocOp::create(b, loc, MemRefType::get(shape, element),
                                 dynamic, b.getI64IntegerAttr(64));
}

Value KernelBuilder::castToRows(Value memref) const {
  constexpr int64_t kDynamic = ShapedType::kDynamic;
  auto type = MemRefType::get(
      {kDynamic, kDynamic}, cast<MemRefType>(memref.getType()).getElementType(),
      StridedLayoutAttr::get(b.getContext(), kDynamic, {kDynamic, 1}));
  return memref::CastOp::create(b, loc, type, memref);
}

Value KernelBuilder::callIntrinsic(StringRef name, Type result,
                                   ValueRange operands) const {
  return LLVM::CallIntrinsicOp::create(b, loc, result, b.getStringAttr(name),
                                       operands)
      .getResult(0);
}

void KernelBuilder::callIntrinsic(StringRef name) const {
  LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr(name), ValueRange());
}

SmallVector<Value> KernelBuilder::loop(Value lower, Value upper, int64_t step,
                                       ValueRange inits, LoopBody body) const {
  auto loop = scf::ForOp::create(
      b, loc, lower, upper, index(step), inits,
      [&](OpBuilder &, Location, Value iv, ValueRange carried) {
        scf::YieldOp::create(b, loc, body(iv, carried));
      });
  return loop.getResults();
}

void KernelBuilder::loop(Value lower, Value upper, int64_t step,
                         llvm::function_ref<void(Value)> body) const {
  loop(lower, upper, step, ValueRange(), [&](Value iv, ValueRange) {
    body(iv);
    return SmallVector<Value>();
  });
}

SmallVector<Value> KernelBuilder::ifElse(Value condition, Branch thenBranch,
                                         Branch elseBranch) const {
  if (std::optional<int64_t> known = getConstantIntValue(condition))
    return *known ? thenBranch() : elseBranch();
  // The branches build their results, whose types scf.if needs first: build
  // them in detached blocks.
  auto build = [&](Region &region, Branch branch) {
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&region);
    SmallVector<Value> results = branch();
    scf::YieldOp::create(b, loc, results);
    return SmallVector<Type>(ValueRange(results).getTypes());
  };
  Region thenRegion, elseRegion;
  SmallVector<Type> types = build(thenRegion, thenBranch);
  build(elseRegion, elseBranch);
  auto op = scf::IfOp::create(b, loc, types, condition,
                              /*addThenBlock=*/false, /*addElseBlock=*/false);
  op.getThenRegion().takeBody(thenRegion);
  op.getElseRegion().takeBody(elseRegion);
  return op->getResults();
}

void KernelBuilder::ifThen(Value condition,
                           llvm::function_ref<void()> body) const {
  if (std::optional<int64_t> known = getConstantIntValue(condition)) {
    if (*known)
      body();
    return;
  }
  auto op = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  body();
}
