// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SideFunction.h.

#include "passes/tile/SideFunction.h"

#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::attn;

FailureOr<SmallVector<SoftmaxFamilyInterface>>
attn::findAttention(func::FuncOp function) {
  SmallVector<SoftmaxFamilyInterface> ops;
  function.walk([&](SoftmaxFamilyInterface op) { ops.push_back(op); });
  for (SoftmaxFamilyInterface op : ops)
    if (op->getParentOp() != function)
      return op->emitOpError()
             << "expected it directly in a function, got it in '"
             << op->getParentOp()->getName() << "'";
  return ops;
}

FailureOr<func::FuncOp> attn::createSideFunction(func::FuncOp function,
                                                 const Twine &suffix) {
  std::string name = (function.getSymName() + "." + suffix).str();
  if (Operation *taken = SymbolTable::lookupSymbolIn(
          function->getParentOp(),
          StringAttr::get(function.getContext(), name)))
    return taken->emitOpError()
           << "name: expected none that '" << function.getSymName()
           << "' needs beside it, got " << name;
  func::FuncOp copy = function.clone();
  copy.setSymName(name);
  OpBuilder builder(function.getContext());
  builder.setInsertionPointAfter(function);
  builder.insert(copy);
  return copy;
}

LogicalResult attn::returnInstead(func::FuncOp function, Value result) {
  Operation *terminator = function.getBody().front().getTerminator();
  OpBuilder builder(terminator);
  func::ReturnOp::create(builder, function.getLoc(), result);
  terminator->erase();
  function.setFunctionType(builder.getFunctionType(
      function.getBody().getArgumentTypes(), result.getType()));
  function.removeResAttrsAttr();

  RewritePatternSet patterns(function.getContext());
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  memref::populateResolveShapedTypeResultDimsPatterns(patterns);
  tensor::EmptyOp::getCanonicalizationPatterns(patterns, function.getContext());
  return applyPatternsGreedily(function, std::move(patterns));
}
