// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tile ops: verifiers and memory effects.

#include "dialect/AssemblyFormat.h"
#include "dialect/ShapeRules.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

#define GET_OP_CLASSES
#include "dialect/AttnTileOps.cpp.inc"

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

/// On memrefs, inputs are read and inits are written, and read too where
/// `readsInits`. On tensors there are no effects.
static void addEffects(Operation *op, MutableOperandRange inits,
                       bool readsInits, Effects &effects) {
  auto isInit = [&](OpOperand &operand) {
    return llvm::any_of(inits,
                        [&](OpOperand &init) { return &init == &operand; });
  };
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (!isInit(operand) || readsInits)
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (isInit(operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

/// Checks that `value` has the given rank.
static LogicalResult verifyRank(Operation *op, StringRef name, Value value,
                                int64_t rank) {
  int64_t got = cast<ShapedType>(value.getType()).getRank();
  if (got == rank)
    return success();
  return op->emitOpError() << name << ": expected rank " << rank << ", got "
                           << got;
}

/// Checks the state: acc (any x M), max and sum (M) for a static M, all of f32
/// or all of f64.
static LogicalResult verifyState(Operation *op, Value acc, Value max,
                                 Value sum) {
  if (failed(verifyRank(op, "acc", acc, 2)) ||
      failed(verifyRank(op, "max", max, 1)) ||
      failed(verifyRank(op, "sum", sum, 1)))
    return failure();
  int64_t rows = cast<ShapedType>(max.getType()).getDimSize(0);
  if (ShapedType::isDynamic(rows))
    return op->emitOpError() << "max: expected a static number of rows";
  for (auto [name, value, dim] : {std::tuple{"acc", acc, 1}, {"sum", sum, 0}})
    if (int64_t got = cast<ShapedType>(value.getType()).getDimSize(dim);
        got != rows)
      return op->emitOpError() << name << ": expected " << rows
                               << " rows (from max), got " << got;
  Type type = getElementTypeOrSelf(acc.getType());
  if (!type.isF32() && !type.isF64())
    return op->emitOpError() << "acc: expected f32 or f64, got " << type;
  for (auto [name, value] : {std::pair{"max", max}, {"sum", sum}})
    if (getElementTypeOrSelf(value.getType()) != type)
      return op->emitOpError()
             << name << ": expected " << type << " (from acc), got "
             << getElementTypeOrSelf(value.getType());
  return success();
}

/// Checks that `op` has a result per init on tensors and none on memrefs.
static LogicalResult verifyResults(Operation *op, MutableOperandRange inits) {
  SmallVector<Type> expected;
  for (OpOperand &init : inits)
    if (isa<TensorType>(init.get().getType()))
      expected.push_back(init.get().getType());
  if (TypeRange(op->getResultTypes()) != TypeRange(expected))
    return op->emitOpError() << "results: expected (" << expected << "), got ("
                             << op->getResultTypes() << ")";
  return success();
}

//===- online_softmax -----------------------------------------------------===//

LogicalResult OnlineSoftmaxOp::verify() {
  auto query = cast<ShapedType>(getQuery().getType());
  if (query.getRank() != 3 && query.getRank() != 2)
    return emitOpError() << "query: expected rank 3 (heads x rows x head dim) "
                            "or 2 (packed), got rank "
                         << query.getRank();
  if (failed(verifyRank(*this, "key", getKey(), 2)) ||
      failed(verifyRank(*this, "value", getValue(), 2)) ||
      failed(verifyState(*this, getAcc(), getMax(), getSum())))
    return failure();
  FloatType type = getComputeType();
  bool isScaled = hasPackedQuery() && query.getElementType() == type;
  if (isScaled == static_cast<bool>(getScale()))
    return emitOpError() << "scale: expected "
                         << (getScale() ? "none with a query packed in "
                                        : "one with a query not packed in ")
                         << type;
  int64_t columns = (isScaled ? 1 : 2) * getNumRows();
  if (hasPackedQuery() && query.getDimSize(1) != columns)
    return emitOpError() << "query: expected " << columns
                         << " packed columns (from max), got "
                         << query.getDimSize(1);
  if (std::optional<APFloat> softcap = getSoftcap();
      softcap && failed(verifySoftcap(*this, *softcap, type)))
    return failure();
  if (static_cast<int64_t>(getKeyTile()) < 1)
    return emitOpError() << "key_tile: expected at least 1, got "
                         << static_cast<int64_t>(getKeyTile());
  if (getKeep().empty() == static_cast<bool>(getMasked()))
    return emitOpError() << "masked: expected "
                         << (getMasked() ? "none without a keep region"
                                         : "one with a keep region");
  if (failed(verifyScalarRegions(*this, getScore(), getKeep(), type)))
    return failure();
  return verifyResults(*this, getInitsMutable());
}

void OnlineSoftmaxOp::getEffects(Effects &effects) {
  addEffects(*this, getInitsMutable(), /*readsInits=*/true, effects);
}

//===- pack_query ---------------------------------------------------------===//

LogicalResult PackQueryOp::verify() {
  if (failed(verifyRank(*this, "query", getQuery(), 3)) ||
      failed(verifyRank(*this, "packed", getPacked(), 2)))
    return failure();
  Type element = getElementTypeOrSelf(getPacked().getType());
  if (!element.isF32() && !element.isF64() && !element.isBF16())
    return emitOpError() << "packed: expected f32, f64 or bf16, got "
                         << element;
  if (element.isBF16() == static_cast<bool>(getScale()))
    return emitOpError() << "scale: expected "
                         << (getScale() ? "none for pairs of bf16"
                                        : "one for a query that is no pairs");
  return verifyResults(*this, getDpsInitsMutable());
}

void PackQueryOp::getEffects(Effects &effects) {
  addEffects(*this, getDpsInitsMutable(), /*readsInits=*/false, effects);
}

//===- online_merge -------------------------------------------------------===//

LogicalResult OnlineMergeOp::verify() {
  if (failed(verifyState(*this, getAcc(), getMax(), getSum())) ||
      failed(verifyState(*this, getOtherAcc(), getOtherMax(), getOtherSum())))
    return failure();
  Type type = getElementTypeOrSelf(getAcc().getType());
  Type otherType = getElementTypeOrSelf(getOtherAcc().getType());
  if (otherType != type)
    return emitOpError() << "otherAcc: expected " << type << " (from acc), got "
                         << otherType;
  int64_t rows = cast<ShapedType>(getMax().getType()).getDimSize(0);
  int64_t got = cast<ShapedType>(getOtherMax().getType()).getDimSize(0);
  if (got != rows)
    return emitOpError() << "otherMax: expected " << rows
                         << " rows (from max), got " << got;
  return verifyResults(*this, getDpsInitsMutable());
}

void OnlineMergeOp::getEffects(Effects &effects) {
  addEffects(*this, getDpsInitsMutable(), /*readsInits=*/true, effects);
}

//===- online_finish ------------------------------------------------------===//

LogicalResult OnlineFinishOp::verify() {
  if (failed(verifyState(*this, getAcc(), getMax(), getSum())) ||
      failed(verifyRank(*this, "output", getOutput(), 3)))
    return failure();
  if (getLse() && failed(verifyRank(*this, "lse", getLse(), 2)))
    return failure();
  Type type = getElementTypeOrSelf(getAcc().getType());
  if (getLse() && getElementTypeOrSelf(getLse().getType()) != type)
    return emitOpError() << "lse: expected " << type << " (from acc), got "
                         << getElementTypeOrSelf(getLse().getType());
  return verifyResults(*this, getDpsInitsMutable());
}

void OnlineFinishOp::getEffects(Effects &effects) {
  addEffects(*this, getDpsInitsMutable(), /*readsInits=*/false, effects);
}

//===- matmul_tile --------------------------------------------------------===//

/// Checks the element types of operands that have ranks.
static LogicalResult verifyElements(MatmulTileOp op) {
  auto element = [](Value x) { return getElementTypeOrSelf(x.getType()); };
  Type left = element(op.getLeft()), right = element(op.getRight());
  Type out = element(op.getOut());
  for (auto [name, type] :
       {std::pair{"left", left}, {"right", right}, {"out", out}})
    if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type))
      return op.emitOpError()
             << name << ": expected f16, bf16, f32 or f64, got " << type;
  bool isNarrow = isa<Float16Type, BFloat16Type>(out);
  Type sum = attn::getComputeType(out);
  for (auto [name, type] : {std::pair{"left", left}, {"right", right}}) {
    if (isNarrow && type != out)
      return op.emitOpError()
             << name << ": expected " << out << " (from out), got " << type;
    if (type.isF64() && !sum.isF64())
      return op.emitOpError() << name << ": expected at most " << sum
                              << " (from out), got " << type;
  }
  return success();
}

LogicalResult MatmulTileOp::verify() {
  for (auto [name, value] :
       {std::pair{"left", getLeft()}, {"right", getRight()}, {"out", getOut()}})
    if (failed(verifyRank(*this, name, value, 2)))
      return failure();
  if (failed(verifyElements(*this)))
    return failure();

  // Of each pair of dimensions that are one, the first says what is expected.
  auto size = [](Value x, int64_t dim) {
    return cast<ShapedType>(x.getType()).getDimSize(dim);
  };
  bool isLeft = getTransposeLeft(), isRight = getTransposeRight();
  int64_t rows = size(getLeft(), isLeft), depth = size(getLeft(), !isLeft);
  int64_t columns = size(getRight(), !isRight);
  for (auto [name, expected, from, got] :
       {std::tuple{"right: expected depth ", depth, "left",
                   size(getRight(), isRight)},
        {"out: expected rows ", rows, "left", size(getOut(), 0)},
        {"out: expected columns ", columns, "right", size(getOut(), 1)}})
    if (!ShapedType::isDynamic(expected) && !ShapedType::isDynamic(got) &&
        expected != got)
      return emitOpError() << name << expected << " (from " << from << "), got "
                           << got;
  int64_t maxRows = getRows(), maxColumns = getColumns(), panel = getPanel();
  if (maxRows < 1 || panel < 1 || maxColumns < 1 || maxColumns % panel != 0)
    return emitOpError() << "tile: expected rows and whole panels, got "
                         << maxRows << " x " << maxColumns << " and panel "
                         << panel;
  for (auto [name, limit, got] :
       {std::tuple{"rows", maxRows, size(getOut(), 0)},
        {"columns", maxColumns, size(getOut(), 1)}})
    if (!ShapedType::isDynamic(got) && got > limit)
      return emitOpError() << "out: expected at most " << limit << " " << name
                           << " (from tile), got " << got;
  int64_t rowMultiple = getRowMultiple(), columnMultiple = getColumnMultiple();
  if (rowMultiple < 1 || columnMultiple < 1)
    return emitOpError() << "multiple_of: expected two numbers from 1 on, got "
                         << rowMultiple << " and " << columnMultiple;
  for (auto [name, multiple, got] :
       {std::tuple{"rows", rowMultiple, size(getOut(), 0)},
        {"columns", columnMultiple, size(getOut(), 1)}})
    if (!ShapedType::isDynamic(got) && got % multiple != 0)
      return emitOpError() << "out: expected " << name
                           << " that are a multiple "
                           << "of " << multiple << " (from multiple_of), got "
                           << got;
  return verifyResults(*this, getDpsInitsMutable());
}

void MatmulTileOp::getEffects(Effects &effects) {
  addEffects(*this, getDpsInitsMutable(), /*readsInits=*/!getInit(), effects);
}

//===- linear_chunk, linear_read ------------------------------------------===//

/// Checks query (heads x n x m), state (any x N) and output (heads x n x d) of
/// an op of the linear family.
static LogicalResult verifyLinear(Operation *op, Value query, Value state,
                                  Value output, bool isNormalized) {
  if (failed(verifyRank(op, "state", state, 2)) ||
      (query && failed(verifyRank(op, "query", query, 3))) ||
      (output && failed(verifyRank(op, "output", output, 3))))
    return failure();
  if (static_cast<bool>(query) != static_cast<bool>(output))
    return op->emitOpError() << "output: expected one if and only if there is "
                                "a query";
  Type element = getElementTypeOrSelf(state.getType());
  if (!element.isF32() && !element.isF64())
    return op->emitOpError() << "state: expected f32 or f64, got " << element;
  int64_t columns = cast<ShapedType>(state.getType()).getDimSize(1);
  if (ShapedType::isDynamic(columns))
    return op->emitOpError() << "state: expected a static number of columns";
  int64_t most = columns - (isNormalized ? 1 : 0);
  if (!output)
    return success();
  int64_t got = cast<ShapedType>(output.getType()).getDimSize(2);
  if (!ShapedType::isDynamic(got) && got > most)
    return op->emitOpError() << "output: expected at most " << most
                             << " columns (from state), got " << got;
  return success();
}

LogicalResult LinearChunkOp::verify() {
  if (failed(verifyLinear(*this, getQuery(), getState(), getOutput(),
                          getNormalize().has_value())))
    return failure();
  for (auto [name, value, rank] :
       {std::tuple<StringRef, Value, int64_t>{"key", getKey(), 2},
        {"value", getValue(), 2},
        {"beta", getBeta(), 1},
        {"read", getRead(), 2},
        {"write", getWrite(), 2},
        {"bonus", getBonus(), 1}})
    if (value && failed(verifyRank(*this, name, value, rank)))
      return failure();
  if (static_cast<bool>(getRead()) != static_cast<bool>(getWrite()))
    return emitOpError() << "write: expected one if and only if there is read";
  if (getRead() && getBeta())
    return emitOpError() << "beta: expected none beside a transition";
  if (static_cast<bool>(getInitial()) != static_cast<bool>(getStreams()))
    return emitOpError() << "streams: expected one if and only if there is "
                            "an initial state";
  if (getInitial() && (!getRecurrent() ||
                       cast<ShapedType>(getKey().getType()).getDimSize(0) != 1))
    return emitOpError() << "initial: expected one token in recurrent form";
  if (getInitial() && getInitial().getType() != getState().getType() &&
      isa<TensorType>(getState().getType()))
    return emitOpError() << "initial: expected " << getState().getType()
                         << " (from state), got " << getInitial().getType();
  if (Value decay = getDecay()) {
    int64_t rank = cast<ShapedType>(decay.getType()).getRank();
    if (rank != 1 && rank != 2)
      return emitOpError() << "decay: expected rank 1 or 2, got " << rank;
    if (getElementTypeOrSelf(decay.getType()) != getComputeType())
      return emitOpError() << "decay: expected " << getComputeType()
                           << " (from state), got "
                           << getElementTypeOrSelf(decay.getType());
  }
  return verifyResults(*this, getDpsInitsMutable());
}

void LinearChunkOp::getEffects(Effects &effects) {
  addEffects(*this, getDpsInitsMutable(), /*readsInits=*/true, effects);
}

LogicalResult LinearReadOp::verify() {
  if (failed(verifyLinear(*this, getQuery(), getState(), getOutput(),
                          getNormalize().has_value())))
    return failure();
  return verifyResults(*this, getDpsInitsMutable());
}

void LinearReadOp::getEffects(Effects &effects) {
  addEffects(*this, getDpsInitsMutable(), /*readsInits=*/false, effects);
}

//===- running_max --------------------------------------------------------===//

LogicalResult RunningMaxOp::verify() {
  auto input = cast<ShapedType>(getInput().getType());
  if (failed(verifyRank(*this, "input", getInput(), 4)))
    return failure();
  Type element = input.getElementType();
  if (!element.isF32() && !element.isF64())
    return emitOpError() << "input: expected f32 or f64, got " << element;
  for (auto [name, value] : {std::pair{"max", getMax()}, {"step", getStep()}}) {
    auto type = cast<ShapedType>(value.getType());
    if (type.getElementType() != element)
      return emitOpError() << name << ": expected " << element
                           << " (from input), got " << type.getElementType();
    if (failed(verifyCompatibleShape(input.getShape(), type.getShape())))
      return emitOpError() << name << ": expected the sizes of input, got "
                           << type;
  }
  if (Value lengths = getLengths()) {
    Type type = getElementTypeOrSelf(lengths.getType());
    if (failed(verifyRank(*this, "lengths", lengths, 1)))
      return failure();
    if (!type.isInteger(32) && !type.isInteger(64))
      return emitOpError() << "lengths: expected i32 or i64, got " << type;
  }
  return verifyResults(*this, getDpsInitsMutable());
}

void RunningMaxOp::getEffects(Effects &effects) {
  addEffects(*this, getDpsInitsMutable(), /*readsInits=*/false, effects);
}
