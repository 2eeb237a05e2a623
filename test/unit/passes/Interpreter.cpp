// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executes integer code of arith, scf.for and tensor ops, one scalar at a time.

#include "Interpreter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace attn::test {

static RuntimeValue getPoison() { return {0, true, nullptr}; }

static int64_t wrap(int64_t value, unsigned width) {
  unsigned unused = 64 - width;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << unused) >> unused;
}

static uint64_t toUnsigned(int64_t value, unsigned width) {
  return width == 64 ? value
                     : static_cast<uint64_t>(value) & ((1ull << width) - 1);
}

static int64_t getLeast(unsigned width) {
  return wrap(static_cast<int64_t>(1ull << (width - 1)), width);
}

unsigned Interpreter::getWidth(Type type) const {
  if (type.isIndex())
    return options.wideWidth;
  return std::min(type.getIntOrFloatBitWidth(),
                  type.isInteger(64) ? options.wideWidth : 64);
}

void Interpreter::fail(Operation *op, const char *what) {
  if (error.empty())
    error = op->getName().getStringRef().str() + ": " + what;
}

//===- scalars ------------------------------------------------------------===//

RuntimeValue Interpreter::executeDivision(Operation *op, int64_t a, int64_t b,
                                          unsigned width) {
  uint64_t ua = toUnsigned(a, width), ub = toUnsigned(b, width);
  bool isSigned = isa<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
                      arith::RemSIOp>(op);
  if (b == 0 || (isSigned && b == -1 && a == getLeast(width))) {
    if (options.strict)
      fail(op, "no quotient");
    return getPoison();
  }
  if (isa<arith::DivUIOp>(op))
    return RuntimeValue::of(wrap(ua / ub, width));
  if (isa<arith::CeilDivUIOp>(op))
    return RuntimeValue::of(wrap(ua / ub + (ua % ub != 0), width));
  if (isa<arith::RemUIOp>(op))
    return RuntimeValue::of(wrap(ua % ub, width));
  int64_t quotient = a / b, rest = a % b;
  if (isa<arith::RemSIOp>(op))
    return RuntimeValue::of(rest);
  bool below = rest != 0 && (rest < 0) != (b < 0);
  if (isa<arith::FloorDivSIOp>(op))
    return RuntimeValue::of(quotient - below);
  if (isa<arith::CeilDivSIOp>(op))
    return RuntimeValue::of(quotient + (rest != 0 && !below));
  return RuntimeValue::of(quotient);
}

static bool compare(arith::CmpIPredicate predicate, int64_t a, int64_t b,
                    uint64_t ua, uint64_t ub) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return a < b;
  case arith::CmpIPredicate::sle:
    return a <= b;
  case arith::CmpIPredicate::sgt:
    return a > b;
  case arith::CmpIPredicate::sge:
    return a >= b;
  case arith::CmpIPredicate::ult:
    return ua < ub;
  case arith::CmpIPredicate::ule:
    return ua <= ub;
  case arith::CmpIPredicate::ugt:
    return ua > ub;
  case arith::CmpIPredicate::uge:
    return ua >= ub;
  }
  llvm_unreachable("unknown predicate");
}

RuntimeValue Interpreter::executeBinary(Operation *op, int64_t a, int64_t b,
                                        unsigned width) {
  uint64_t ua = toUnsigned(a, width), ub = toUnsigned(b, width);
  auto result = [&](uint64_t value) {
    return RuntimeValue::of(wrap(static_cast<int64_t>(value), width));
  };
  if (isa<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
          arith::RemSIOp, arith::DivUIOp, arith::CeilDivUIOp, arith::RemUIOp>(
          op))
    return executeDivision(op, a, b, width);
  if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op) && ub >= width)
    return getPoison();
  if (isa<arith::AddIOp>(op))
    return result(ua + ub);
  if (isa<arith::SubIOp>(op))
    return result(ua - ub);
  if (isa<arith::MulIOp>(op))
    return result(ua * ub);
  if (isa<arith::AndIOp>(op))
    return result(ua & ub);
  if (isa<arith::OrIOp>(op))
    return result(ua | ub);
  if (isa<arith::XOrIOp>(op))
    return result(ua ^ ub);
  if (isa<arith::MinSIOp>(op))
    return result(std::min(a, b));
  if (isa<arith::MaxSIOp>(op))
    return result(std::max(a, b));
  if (isa<arith::MinUIOp>(op))
    return result(std::min(ua, ub));
  if (isa<arith::MaxUIOp>(op))
    return result(std::max(ua, ub));
  if (isa<arith::ShLIOp>(op))
    return result(ua << ub);
  if (isa<arith::ShRSIOp>(op))
    return result(a >> ub);
  if (isa<arith::ShRUIOp>(op))
    return result(ua >> ub);
  if (auto cmp = dyn_cast<arith::CmpIOp>(op))
    return RuntimeValue::of(wrap(compare(cmp.getPredicate(), a, b, ua, ub), 1));
  fail(op, "not known to the interpreter");
  return {};
}

RuntimeValue Interpreter::executeCast(Operation *op, int64_t value) {
  unsigned from = getWidth(op->getOperand(0).getType());
  unsigned to = getWidth(op->getResult(0).getType());
  if (isa<arith::ExtUIOp, arith::IndexCastUIOp>(op) && to > from)
    return RuntimeValue::of(static_cast<int64_t>(toUnsigned(value, from)));
  return RuntimeValue::of(wrap(value, to));
}

RuntimeValue Interpreter::execute(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto value = cast<IntegerAttr>(constant.getValue()).getValue();
    return RuntimeValue::of(
        wrap(value.getSExtValue(), getWidth(constant.getType())));
  }
  if (isa<tensor::TensorDialect>(op->getDialect()))
    return executeTensorOp(op);
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    RuntimeValue condition = get(select.getCondition());
    if (condition.poison)
      return getPoison();
    return get(condition.integer ? select.getTrueValue()
                                 : select.getFalseValue());
  }
  for (Value operand : op->getOperands())
    if (get(operand).poison)
      return getPoison();
  int64_t first = get(op->getOperand(0)).integer;
  unsigned width = getWidth(op->getOperand(0).getType());
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp,
          arith::IndexCastUIOp>(op))
    return executeCast(op, first);
  // The least number stays what it is.
  if (isa<math::AbsIOp>(op))
    return RuntimeValue::of(
        first < 0 ? wrap(static_cast<int64_t>(0 - static_cast<uint64_t>(first)),
                         width)
                  : first);
  if (op->getNumOperands() == 2)
    return executeBinary(op, first, get(op->getOperand(1)).integer, width);
  fail(op, "not known to the interpreter");
  return {};
}

bool Interpreter::executeMulExtended(Operation *op) {
  auto product = static_cast<__int128>(get(op->getOperand(0)).integer) *
                 get(op->getOperand(1)).integer;
  unsigned width = getWidth(op->getOperand(0).getType());
  set(op->getResult(0), RuntimeValue::of(wrap(product, width)));
  set(op->getResult(1), RuntimeValue::of(wrap(product >> width, width)));
  return true;
}

//===- tensors and loops --------------------------------------------------===//

std::optional<size_t> Interpreter::getOffset(Operation *op,
                                             const IntTensor &tensor,
                                             ValueRange indices) {
  size_t offset = 0;
  for (auto [index, size] : llvm::zip(indices, tensor.shape)) {
    RuntimeValue value = get(index);
    if (value.poison)
      return std::nullopt;
    if (options.strict && (value.integer < 0 || value.integer >= size)) {
      fail(op, "out of bounds");
      return std::nullopt;
    }
    offset = offset * size + std::clamp<int64_t>(value.integer, 0, size - 1);
  }
  return offset;
}

RuntimeValue Interpreter::executeTensorOp(Operation *op) {
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    return RuntimeValue::of(
        get(dim.getSource()).tensor->shape[get(dim.getIndex()).integer]);
  if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
    auto tensor = std::make_shared<IntTensor>();
    size_t count = 1;
    for (OpFoldResult size : empty.getMixedSizes()) {
      auto value = dyn_cast<Value>(size);
      tensor->shape.push_back(
          value ? get(value).integer
                : cast<IntegerAttr>(cast<Attribute>(size)).getInt());
      count *= tensor->shape.back();
    }
    tensor->data.resize(count);
    return {0, false, tensor};
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    RuntimeValue source = get(extract.getTensor());
    std::optional<size_t> offset =
        getOffset(op, *source.tensor, extract.getIndices());
    return offset ? RuntimeValue::of(source.tensor->data[*offset])
                  : getPoison();
  }
  if (auto insert = dyn_cast<tensor::InsertOp>(op)) {
    RuntimeValue dest = get(insert.getDest());
    auto copy = std::make_shared<IntTensor>(*dest.tensor);
    if (std::optional<size_t> offset =
            getOffset(op, *copy, insert.getIndices()))
      copy->data[*offset] = get(insert.getScalar()).integer;
    return {0, false, copy};
  }
  fail(op, "not known to the interpreter");
  return {};
}

bool Interpreter::executeLoop(Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  for (auto [argument, init] :
       llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs()))
    set(argument, get(init));
  int64_t step = get(loop.getStep()).integer;
  int64_t end = get(loop.getUpperBound()).integer;
  for (int64_t i = get(loop.getLowerBound()).integer; i < end; i += step) {
    set(loop.getInductionVar(), RuntimeValue::of(i));
    if (!run(*loop.getBody()))
      return false;
    SmallVector<RuntimeValue> next;
    for (Value value : loop.getBody()->getTerminator()->getOperands())
      next.push_back(get(value));
    for (auto [argument, value] : llvm::zip(loop.getRegionIterArgs(), next))
      set(argument, value);
  }
  for (auto [result, argument] :
       llvm::zip(loop.getResults(), loop.getRegionIterArgs()))
    set(result, get(argument));
  return true;
}

bool Interpreter::run(Block &block) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    if (isa<scf::ForOp>(op))
      executeLoop(&op);
    else if (isa<arith::MulSIExtendedOp>(op))
      executeMulExtended(&op);
    else
      set(op.getResult(0), execute(&op));
    if (!error.empty())
      return false;
  }
  return true;
}

} // namespace attn::test
