// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Changes.h. The changes of attention know its clauses by their attributes,
// operand groups and regions only, so that a new clause needs nothing here.

#include "tools/attn-reduce/Changes.h"

#include "dialect/Attn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using ::attn::Change;

static constexpr StringLiteral kSegments = "operandSegmentSizes";

//===- of any operation ---------------------------------------------------===//

static bool leaveOut(Operation *op) {
  if (!op->use_empty())
    return false;
  op->erase();
  return true;
}

/// Operand `number` takes the place of the result.
static bool forward(Operation *op, unsigned number) {
  if (op->getNumResults() != 1 || number >= op->getNumOperands() ||
      op->getOperand(number).getType() != op->getResult(0).getType())
    return false;
  op->getResult(0).replaceAllUsesWith(op->getOperand(number));
  op->erase();
  return true;
}

/// A new argument of the function takes the place of the first result.
static bool becomeArgument(Operation *op) {
  auto function = dyn_cast<func::FuncOp>(op->getParentOp());
  if (!function || op->getNumResults() == 0 || op->getResult(0).use_empty() ||
      !isa<RankedTensorType>(op->getResult(0).getType()))
    return false;
  unsigned number = function.getNumArguments();
  if (failed(function.insertArgument(number, op->getResult(0).getType(),
                                     /*argAttrs=*/{}, op->getLoc())))
    return false;
  op->getResult(0).replaceAllUsesWith(function.getArgument(number));
  return true;
}

//===- of attention -------------------------------------------------------===//

/// Without operand group `group`.
static bool dropOperands(Operation *op, size_t group) {
  auto segments = op->getAttrOfType<DenseI32ArrayAttr>(kSegments);
  if (!segments || group >= size_t(segments.size()) || segments[group] == 0)
    return false;
  SmallVector<int32_t> sizes(segments.asArrayRef());
  int32_t begin = 0;
  for (int32_t size : ArrayRef(sizes).take_front(group))
    begin += size;
  op->eraseOperands(begin, sizes[group]);
  sizes[group] = 0;
  op->setAttr(kSegments, DenseI32ArrayAttr::get(op->getContext(), sizes));
  return true;
}

static bool dropAttribute(Operation *op, StringRef name) {
  return static_cast<bool>(op->removeAttr(name));
}

/// Without one element of a list.
static bool dropElement(Operation *op, StringRef name, size_t element) {
  auto list = op->getAttrOfType<ArrayAttr>(name);
  if (!list || list.size() < 2 || element >= list.size())
    return false;
  SmallVector<Attribute> elements(list.getValue());
  elements.erase(elements.begin() + element);
  op->setAttr(name, ArrayAttr::get(op->getContext(), elements));
  return true;
}

static bool dropRegion(Operation *op, unsigned number) {
  Region &region = op->getRegion(number);
  if (region.empty())
    return false;
  region.dropAllReferences();
  region.getBlocks().clear();
  return true;
}

/// Without the last result, if nobody uses it.
static bool dropLastResult(Operation *op) {
  unsigned count = op->getNumResults();
  if (count < 2 || !op->getResult(count - 1).use_empty())
    return false;
  OperationState state(op->getLoc(), op->getName(), op->getOperands(),
                       TypeRange(op->getResultTypes()).drop_back(),
                       op->getAttrs());
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  OpBuilder builder(op);
  Operation *smaller = builder.create(state);
  for (auto [from, to] : llvm::zip(op->getResults(), smaller->getResults()))
    from.replaceAllUsesWith(to);
  op->erase();
  return true;
}

static void findClauses(Operation *op, SmallVectorImpl<Change> &changes) {
  for (unsigned number = 0; number < op->getNumRegions(); ++number)
    changes.push_back([=](Operation *op) { return dropRegion(op, number); });
  if (auto segments = op->getAttrOfType<DenseI32ArrayAttr>(kSegments))
    for (size_t group = 0; group < size_t(segments.size()); ++group)
      changes.push_back([=](Operation *op) { return dropOperands(op, group); });
  for (NamedAttribute attribute : op->getAttrs()) {
    std::string name = attribute.getName().str();
    if (name == kSegments)
      continue;
    changes.push_back([=](Operation *op) { return dropAttribute(op, name); });
    // Backwards, so that the numbers of those to come stay.
    auto list = dyn_cast<ArrayAttr>(attribute.getValue());
    for (size_t element = list ? list.size() : 0; element-- > 0;)
      changes.push_back(
          [=](Operation *op) { return dropElement(op, name, element); });
  }
  changes.push_back(dropLastResult);
}

//===- of a function ------------------------------------------------------===//

static bool dropFunctionResult(Operation *op, unsigned number) {
  auto function = cast<func::FuncOp>(op);
  if (function.getNumResults() < 2 || number >= function.getNumResults())
    return false;
  function.getBody().back().getTerminator()->eraseOperand(number);
  return succeeded(function.eraseResult(number));
}

static bool dropArgument(Operation *op, unsigned number) {
  auto function = cast<func::FuncOp>(op);
  return number < function.getNumArguments() &&
         function.getArgument(number).use_empty() &&
         succeeded(function.eraseArgument(number));
}

/// Every dimension of `size` in the module is `smaller`.
static bool shrink(Operation *op, int64_t size, int64_t smaller) {
  AttrTypeReplacer replacer;
  bool changed = false;
  replacer.addReplacement([&](RankedTensorType type) -> std::optional<Type> {
    changed |= llvm::is_contained(type.getShape(), size);
    SmallVector<int64_t> shape(type.getShape());
    std::replace(shape.begin(), shape.end(), size, smaller);
    return RankedTensorType::get(shape, type.getElementType(),
                                 type.getEncoding());
  });
  replacer.recursivelyReplaceElementsIn(op->getParentOp(),
                                        /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  return changed;
}

static void findFunctionChanges(func::FuncOp function,
                                SmallVectorImpl<Change> &changes) {
  if (function.isExternal())
    return;
  for (unsigned number = function.getNumResults(); number-- > 0;)
    changes.push_back(
        [=](Operation *op) { return dropFunctionResult(op, number); });
  for (unsigned number = function.getNumArguments(); number-- > 0;)
    changes.push_back([=](Operation *op) { return dropArgument(op, number); });
  llvm::SmallSetVector<int64_t, 8> sizes;
  for (Type type : function.getArgumentTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      for (int64_t size : tensor.getShape())
        sizes.insert(size);
  for (int64_t size : sizes)
    for (int64_t smaller : {int64_t(1), size / 4, size / 2})
      if (smaller > 0 && smaller < size)
        changes.push_back(
            [=](Operation *op) { return shrink(op, size, smaller); });
}

namespace attn {

SmallVector<Change> findChanges(Operation *op) {
  SmallVector<Change> changes;
  if (op->hasTrait<OpTrait::IsTerminator>())
    return changes;
  changes.push_back(leaveOut);
  if (auto function = dyn_cast<func::FuncOp>(op)) {
    findFunctionChanges(function, changes);
    return changes;
  }
  for (unsigned number = 0; number < op->getNumOperands(); ++number)
    changes.push_back([=](Operation *op) { return forward(op, number); });
  changes.push_back(becomeArgument);
  if (isa<mlir::attn::AttnDialect>(op->getDialect()))
    findClauses(op, changes);
  return changes;
}

} // namespace attn
