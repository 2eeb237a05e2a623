// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ElementwiseBody.h. What is the same for all lanes stays scalar, so that
// it moves out of the loop.

#include "passes/cpu/ElementwiseBody.h"

using namespace mlir;
using namespace mlir::attn;

FailureOr<ElementwiseBody> ElementwiseBody::match(RewriterBase &rewriter,
                                                  linalg::LinalgOp op) {
  auto fail = [&](const char *why) -> LogicalResult {
    return rewriter.notifyMatchFailure(op, why);
  };
  if (!op.hasPureBufferSemantics() || op.getNumLoops() == 0)
    return fail("expected loops over buffers");
  ElementwiseBody body(op);
  if (failed(body.matchOperands(rewriter)) ||
      failed(body.matchOperations(rewriter)) ||
      failed(body.matchCombiners(rewriter)))
    return failure();
  return body;
}

bool ElementwiseBody::isVarying(OpOperand &operand) const {
  return op.getMatchingIndexingMap(&operand).isFunctionOfDim(lastLoop);
}

LogicalResult ElementwiseBody::matchOperands(RewriterBase &rewriter) {
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!map.isProjectedPermutation())
      return rewriter.notifyMatchFailure(
          op, "expected each dimension to have a loop of its own");
    Type element = getElementTypeOrSelf(operand.get().getType());
    if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type, IndexType>(
            element) &&
        !(isa<IntegerType>(element) &&
          llvm::is_contained({8, 16, 32, 64}, element.getIntOrFloatBitWidth())))
      return rewriter.notifyMatchFailure(
          op, "expected floats of 16 to 64 bits or integers of 8 to 64");
    if (!isVarying(operand))
      continue;
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
    if (!type || !last || last.getPosition() != lastLoop ||
        !type.isLastDimUnitStride())
      return rewriter.notifyMatchFailure(
          op, "expected operands whose rows are along the last loop");
    varying.insert(op.getMatchingBlockArgument(&operand));
  }
  return success();
}

bool ElementwiseBody::isContiguous(memref::LoadOp load) const {
  if (load.getIndices().empty() || !load.getMemRefType().isLastDimUnitStride())
    return false;
  auto last = load.getIndices().back().getDefiningOp<linalg::IndexOp>();
  return last && last.getDim() == lastLoop &&
         llvm::none_of(load.getIndices().drop_back(),
                       [&](Value index) { return varying.contains(index); });
}

LogicalResult ElementwiseBody::matchOperations(RewriterBase &rewriter) {
  auto isVaryingValue = [&](Value value) { return varying.contains(value); };
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      if (index.getDim() == lastLoop)
        varying.insert(index);
      continue;
    }
    bool varies = llvm::any_of(inner.getOperands(), isVaryingValue);
    if (auto load = dyn_cast<memref::LoadOp>(inner)) {
      if (varies && !isContiguous(load))
        return rewriter.notifyMatchFailure(
            op, "expected reads along the last loop, got a gather");
    } else if (inner.getNumRegions() != 0 || inner.getNumResults() != 1 ||
               !isPure(&inner) ||
               (varies && !OpTrait::hasElementwiseMappableTraits(&inner))) {
      return rewriter.notifyMatchFailure(op, [&](Diagnostic &diagnostic) {
        diagnostic << "'" << inner.getName() << "' has no vector form";
      });
    }
    if (varies)
      varying.insert(inner.getResult(0));
  }
  return success();
}

LogicalResult ElementwiseBody::matchCombiners(RewriterBase &rewriter) {
  if (op.getIteratorTypesArray().back() != utils::IteratorType::reduction)
    return success();
  Block *block = op.getBlock();
  for (auto [number, result] :
       llvm::enumerate(block->getTerminator()->getOperands())) {
    BlockArgument sum = block->getArgument(op.getNumDpsInputs() + number);
    Operation *combiner = result.getDefiningOp();
    bool isKnown =
        isa_and_nonnull<arith::AddFOp, arith::MulFOp, arith::MaximumFOp,
                        arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(
            combiner) &&
        combiner->getBlock() == block && result.hasOneUse() &&
        sum.hasOneUse() && *sum.user_begin() == combiner;
    if (!isKnown)
      return rewriter.notifyMatchFailure(
          op, "expected a sum, product, maximum or minimum of rows");
    combiners.push_back(combiner);
  }
  return success();
}

Value ElementwiseBody::combine(const KernelBuilder &kb, Operation *combiner,
                               Value x, Value y) {
  OperationState state(kb.loc, combiner->getName(), {x, y}, x.getType(),
                       combiner->getAttrs());
  state.propertiesAttr = combiner->getPropertiesAsAttribute();
  return kb.b.create(state)->getResult(0);
}

Value ElementwiseBody::getNeutral(const KernelBuilder &kb, Operation *combiner,
                                  Type type) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (isa<arith::AddFOp>(combiner))
    return kb.constant(type, -0.0);
  if (isa<arith::MulFOp>(combiner))
    return kb.constant(type, 1.0);
  // No maximum of numbers, where a NaN is none.
  if (isa<arith::MaxNumFOp, arith::MinNumFOp>(combiner))
    return kb.constant(type, std::numeric_limits<double>::quiet_NaN());
  return kb.constant(type,
                     isa<arith::MaximumFOp>(combiner) ? -infinity : infinity);
}

SmallVector<Value> ElementwiseBody::emit(const KernelBuilder &kb,
                                         ArrayRef<Value> args,
                                         ArrayRef<Value> ivs,
                                         int64_t width) const {
  auto lanesOf = [&](Type element) {
    return VectorType::get({width}, element);
  };
  auto broadcast = [&](Value value) -> Value {
    if (width == 1 || isa<VectorType>(value.getType()))
      return value;
    return vector::BroadcastOp::create(kb.b, kb.loc, lanesOf(value.getType()),
                                       value);
  };
  IRMapping values;
  for (auto [argument, value] :
       llvm::zip_equal(op.getBlock()->getArguments(), args))
    if (value)
      values.map(argument, value);
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (llvm::is_contained(combiners, &inner))
      continue;
    bool isLanes = width > 1 && varying.contains(inner.getResult(0));
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      Value position = ivs[index.getDim()];
      if (isLanes) {
        SmallVector<int64_t> steps =
            llvm::to_vector(llvm::seq<int64_t>(0, width));
        position = arith::AddIOp::create(
            kb.b, kb.loc, broadcast(position),
            arith::ConstantOp::create(kb.b, kb.loc,
                                      kb.b.getIndexVectorAttr(steps)));
      }
      values.map(index.getResult(), position);
      continue;
    }
    if (!isLanes) {
      kb.b.clone(inner, values);
      continue;
    }
    if (auto load = dyn_cast<memref::LoadOp>(inner)) {
      SmallVector<Value> at;
      for (Value index : load.getIndices().drop_back())
        at.push_back(values.lookupOrDefault(index));
      at.push_back(ivs.back());
      values.map(load.getResult(), kb.loadVector(load.getMemRef(), at, width));
      continue;
    }
    SmallVector<Value> operands;
    for (OpOperand &operand : inner.getOpOperands()) {
      Value value = values.lookupOrDefault(operand.get());
      // One condition may select between vectors.
      bool staysScalar =
          isa<arith::SelectOp>(inner) && operand.getOperandNumber() == 0;
      operands.push_back(staysScalar ? value : broadcast(value));
    }
    OperationState state(kb.loc, inner.getName(), operands,
                         lanesOf(inner.getResult(0).getType()),
                         inner.getAttrs());
    state.propertiesAttr = inner.getPropertiesAsAttribute();
    values.map(inner.getResult(0), kb.b.create(state)->getResult(0));
  }
  SmallVector<Value> results;
  for (auto [number, result] :
       llvm::enumerate(op.getBlock()->getTerminator()->getOperands())) {
    Value element = result;
    if (isReduction()) {
      BlockArgument sum =
          op.getBlock()->getArgument(op.getNumDpsInputs() + number);
      Operation *combiner = combiners[number];
      element = combiner->getOperand(combiner->getOperand(0) == sum ? 1 : 0);
    }
    results.push_back(broadcast(values.lookupOrDefault(element)));
  }
  return results;
}
