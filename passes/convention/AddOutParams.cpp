// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns tensor results of public functions into trailing buffers into which the
// caller wants them written. Runs on tensors just before bufferization, which
// then computes results where they belong instead of copying them there.

#include "passes/convention/Convention.h"

#include "passes/Passes.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ADDOUTPARAMS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

static bool isElementType(Type type) {
  return type.isBF16() || type.isF16() || type.isF32() || type.isF64() ||
         type.isSignlessInteger(8) || type.isSignlessInteger(16) ||
         type.isSignlessInteger(32) || type.isSignlessInteger(64);
}

/// Checks that the type of an argument or result is one that a caller can pass.
static LogicalResult checkType(func::FuncOp function, StringRef kind,
                               unsigned index, Type type, bool mayBeScalar) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    if (isElementType(tensor.getElementType()) && !tensor.getEncoding())
      return success();
  } else if (mayBeScalar && (type.isIndex() || type.isSignlessInteger(64) ||
                             type.isSignlessInteger(32) || type.isF32())) {
    return success();
  }
  return function.emitOpError()
         << kind << " " << index << ": expected a ranked tensor of f16, bf16, "
         << "f32, f64, i8, i16, i32 or i64"
         << (mayBeScalar ? ", or index, i64, i32 or f32" : "") << ", got "
         << type;
}

LogicalResult attn::addOutParams(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError()
           << "expected one block, got " << function.getBlocks().size();
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    if (failed(checkType(function, "argument", index, type, true)))
      return failure();
    // What a caller passes is read, never used as scratch.
    if (isa<TensorType>(type))
      function.setArgAttr(
          index, bufferization::BufferizationDialect::kWritableAttrName,
          BoolAttr::get(function.getContext(), false));
  }
  Operation *terminator = function.getBody().front().getTerminator();
  SmallVector<Value> results(terminator->getOperands());
  SmallVector<Type> inputs(function.getArgumentTypes());
  SmallVector<DictionaryAttr> attributes;
  function.getAllArgAttrs(attributes);
  attributes.resize(inputs.size(), DictionaryAttr::get(function.getContext()));
  OpBuilder builder(terminator);
  for (auto [index, result] : llvm::enumerate(results)) {
    if (failed(checkType(function, "result", index, result.getType(), false)))
      return failure();
    MemRefType buffer =
        getBoundaryType(cast<RankedTensorType>(result.getType()));
    Location loc = function.getLoc();
    Value out = function.getBody().addArgument(buffer, loc);
    inputs.push_back(buffer);
    attributes.push_back(DictionaryAttr::get(function.getContext()));
    bufferization::MaterializeInDestinationOp::create(
        builder, loc, /*result=*/Type(), result, out, /*restrict=*/true,
        /*writable=*/true);
  }
  func::ReturnOp::create(builder, terminator->getLoc());
  terminator->erase();
  function.setFunctionType(builder.getFunctionType(inputs, {}));
  function.setAllArgAttrs(attributes);
  function.removeResAttrsAttr();
  return success();
}

MemRefType attn::getBoundaryType(RankedTensorType type) {
  if (type.getRank() == 0)
    return MemRefType::get({}, type.getElementType());
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  strides.back() = 1;
  auto layout =
      StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides);
  return MemRefType::get(type.getShape(), type.getElementType(), layout);
}

namespace {

struct AddOutParamsPass
    : public attn::impl::AddOutParamsBase<AddOutParamsPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (isKernel(function) && failed(addOutParams(function)))
        return signalPassFailure();
  }
};

} // namespace
