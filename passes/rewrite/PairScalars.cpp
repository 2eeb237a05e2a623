// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PairScalars.h.

#include "passes/rewrite/PairScalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace mlir::attn;

//===- bodies -------------------------------------------------------------===//

std::optional<PairBody> PairBody::get(linalg::LinalgOp op, unsigned number,
                                      ArrayRef<unsigned> loops, unsigned row,
                                      unsigned key) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap result = op.getIndexingMapMatchingResult(op->getResult(number));
  if (op.getNumParallelLoops() != op.getNumLoops() ||
      !op.hasPureTensorSemantics() || !result.isPermutation() ||
      !llvm::all_of(maps,
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return std::nullopt;
  PairBody body{op, SmallVector<unsigned>(op.getNumLoops()), row, key};
  for (auto [expr, loop] : llvm::zip(result.getResults(), loops))
    body.loops[cast<AffineDimExpr>(expr).getPosition()] = loop;
  return body;
}

bool PairBody::isArgument(Value value) const {
  linalg::LinalgOp whole = op;
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == whole.getBlock();
}

TensorRead PairBody::getRead(Value argument) const {
  linalg::LinalgOp whole = op;
  OpOperand *operand =
      whole.getMatchingOpOperand(cast<BlockArgument>(argument));
  TensorRead read{operand->get(), {}};
  for (AffineExpr expr : whole.getMatchingIndexingMap(operand).getResults())
    read.loops.push_back(loops[cast<AffineDimExpr>(expr).getPosition()]);
  return read;
}

bool PairBody::isOutside(Value value) const {
  linalg::LinalgOp whole = op;
  return !whole->getRegion(0).isAncestor(value.getParentRegion());
}

Value attn::stripFloatCasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

//===- positions ----------------------------------------------------------===//

namespace {

/// row i + key j + constant.
struct PositionSum {
  int64_t row = 0, key = 0, constant = 0;

  PositionSum add(const PositionSum &other, int64_t times) const {
    return {row + times * other.row, key + times * other.key,
            constant + times * other.constant};
  }
  PositionSum scale(int64_t times) const {
    return PositionSum().add(*this, times);
  }
  bool isConstant() const { return row == 0 && key == 0; }
  bool isPosition() const {
    return constant == 0 && row + key == 1 && row * key == 0;
  }
};

} // namespace

static std::optional<PositionSum> readPosition(Value value,
                                               const PairBody &body) {
  // Positions are small: a number that could overflow here is refused.
  constexpr int64_t kMost = int64_t(1) << 30;
  if (std::optional<int64_t> constant = getConstantIntValue(value)) {
    if (std::abs(*constant) > kMost)
      return std::nullopt;
    return PositionSum{0, 0, *constant};
  }
  Operation *op = value.getDefiningOp();
  if (!op || body.isOutside(value))
    return std::nullopt;
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    unsigned loop = body.loops[index.getDim()];
    if (loop != body.row && loop != body.key)
      return std::nullopt;
    return PositionSum{loop == body.row, loop == body.key, 0};
  }
  if (auto castOp = dyn_cast<arith::IndexCastOp>(op)) {
    Type type = castOp.getType();
    if (type.isIndex() || type.getIntOrFloatBitWidth() >= 32)
      return readPosition(castOp.getIn(), body);
    return std::nullopt;
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return std::nullopt;
  std::optional<PositionSum> lhs = readPosition(op->getOperand(0), body);
  std::optional<PositionSum> rhs = readPosition(op->getOperand(1), body);
  if (!lhs || !rhs)
    return std::nullopt;
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return lhs->add(*rhs, isa<arith::AddIOp>(op) ? 1 : -1);
  // Only a change of sign: a longer step could leave 32 bits.
  if (lhs->isConstant())
    std::swap(lhs, rhs);
  if (!rhs->isConstant() || std::abs(rhs->constant) != 1)
    return std::nullopt;
  return lhs->scale(rhs->constant);
}

/// The sum that is >= 0 where `op` holds.
static std::optional<PositionSum> readComparison(arith::CmpIOp op,
                                                 const PairBody &body) {
  std::optional<PositionSum> lhs = readPosition(op.getLhs(), body);
  std::optional<PositionSum> rhs = readPosition(op.getRhs(), body);
  if (!lhs || !rhs)
    return std::nullopt;
  const PositionSum one{0, 0, 1};
  // Positions are not negative; what is computed from them may be.
  bool areBarePositions = lhs->isPosition() && rhs->isPosition();
  switch (op.getPredicate()) {
  case arith::CmpIPredicate::uge:
    if (!areBarePositions)
      return std::nullopt;
    [[fallthrough]];
  case arith::CmpIPredicate::sge:
    return lhs->add(*rhs, -1);
  case arith::CmpIPredicate::ule:
    if (!areBarePositions)
      return std::nullopt;
    [[fallthrough]];
  case arith::CmpIPredicate::sle:
    return rhs->add(*lhs, -1);
  case arith::CmpIPredicate::ugt:
    if (!areBarePositions)
      return std::nullopt;
    [[fallthrough]];
  case arith::CmpIPredicate::sgt:
    return lhs->add(*rhs, -1).add(one, -1);
  case arith::CmpIPredicate::ult:
    if (!areBarePositions)
      return std::nullopt;
    [[fallthrough]];
  case arith::CmpIPredicate::slt:
    return rhs->add(*lhs, -1).add(one, -1);
  default:
    return std::nullopt;
  }
}

const char *attn::whyNotCausal(Value condition, const PairBody &body,
                               bool isNegated) {
  if (isa<BlockArgument>(condition) || body.isOutside(condition))
    return "the mask of the scores is a tensor or a value, not j <= i";
  if (auto both = condition.getDefiningOp<arith::AndIOp>();
      both && !isNegated) {
    const char *why = whyNotCausal(both.getLhs(), body, isNegated);
    const char *whyOther = whyNotCausal(both.getRhs(), body, isNegated);
    if (!why != !whyOther)
      return "the mask of the scores is j <= i and something else, as for a "
             "sliding window";
    return why;
  }
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return "the mask of the scores is not a comparison of positions";
  std::optional<PositionSum> sum = readComparison(compare, body);
  if (!sum)
    return "the mask of the scores is not a comparison of positions";
  if (isNegated)
    sum = sum->scale(-1).add({0, 0, 1}, -1);
  if (sum->row == 1 && sum->key == -1 && sum->constant == 0)
    return nullptr;
  return "the mask of the scores is one of positions, but not j <= i";
}

//===- decays -------------------------------------------------------------===//

namespace {

/// An exponent as a sum: rowSums c_i + keySums c_j, and
/// slope (row i + key j + constant).
struct Exponent {
  double rowSums = 0, keySums = 0, row = 0, key = 0, constant = 0;
  /// c, with the key's loop in place of the row's where it is read there.
  std::optional<TensorRead> sums;
  std::optional<TensorRead> slope;

  Exponent scale(double by) const {
    Exponent result = *this;
    for (double Exponent::*term :
         {&Exponent::rowSums, &Exponent::keySums, &Exponent::row,
          &Exponent::key, &Exponent::constant})
      result.*term *= by;
    return result;
  }
  bool hasPositions() const { return row != 0 || key != 0 || constant != 0; }
};

/// Reads the exponents of one body.
class ExponentReader {
public:
  ExponentReader(const PairBody &body, bool &isCausal)
      : body(body), isCausal(isCausal) {}

  /// All of an exponent, which may be -inf unless j <= i.
  std::optional<Exponent> readWhole(Value value);
  /// A part of one.
  std::optional<Exponent> read(Value value);

private:
  using Read = std::optional<Exponent> (ExponentReader::*)(Value);
  /// What `read` says of the operation that computed a tensor of all pairs.
  std::optional<Exponent> readPairs(const TensorRead &tensor, Read read);
  std::optional<Exponent> readArgument(const TensorRead &read);
  std::optional<Exponent> add(Value lhs, Value rhs, double times);
  std::optional<Exponent> multiply(Value lhs, Value rhs);

  const PairBody &body;
  bool &isCausal;
};

} // namespace

static std::optional<double> getConstant(Value value) {
  APFloat number(0.0);
  if (!matchPattern(value, m_ConstantFloat(&number)))
    return std::nullopt;
  return number.convertToDouble();
}

std::optional<Exponent> ExponentReader::readPairs(const TensorRead &tensor,
                                                  Read read) {
  auto op = tensor.tensor.getDefiningOp<linalg::LinalgOp>();
  if (!op)
    return std::nullopt;
  unsigned number = cast<OpResult>(tensor.tensor).getResultNumber();
  std::optional<PairBody> inner =
      PairBody::get(op, number, tensor.loops, body.row, body.key);
  if (!inner)
    return std::nullopt;
  ExponentReader reader(*inner, isCausal);
  return (reader.*read)(op.getBlock()->getTerminator()->getOperand(number));
}

std::optional<Exponent> ExponentReader::readArgument(const TensorRead &read) {
  bool hasRow = read.reads(body.row), hasKey = read.reads(body.key);
  if (hasRow && hasKey)
    return readPairs(read, &ExponentReader::read);
  if (!hasRow && !hasKey)
    return std::nullopt;
  Exponent exponent;
  (hasRow ? exponent.rowSums : exponent.keySums) = 1;
  exponent.sums = read;
  std::replace(exponent.sums->loops.begin(), exponent.sums->loops.end(),
               body.key, body.row);
  return exponent;
}

std::optional<Exponent> ExponentReader::add(Value lhs, Value rhs,
                                            double times) {
  std::optional<Exponent> x = read(lhs), y = read(rhs);
  if (!x || !y)
    return std::nullopt;
  *y = y->scale(times);
  auto merge = [](std::optional<TensorRead> &to,
                  const std::optional<TensorRead> &from) {
    if (!to)
      to = from;
    return !from || *to == *from;
  };
  // A slope must be one of all positions.
  if (x->hasPositions() && y->hasPositions() &&
      x->slope.has_value() != y->slope.has_value())
    return std::nullopt;
  if (!merge(x->sums, y->sums) || !merge(x->slope, y->slope))
    return std::nullopt;
  x->rowSums += y->rowSums;
  x->keySums += y->keySums;
  x->row += y->row;
  x->key += y->key;
  x->constant += y->constant;
  return x;
}

std::optional<Exponent> ExponentReader::multiply(Value lhs, Value rhs) {
  for (auto [number, other] : {std::pair(lhs, rhs), std::pair(rhs, lhs)}) {
    number = stripFloatCasts(number);
    std::optional<double> constant = getConstant(number);
    TensorRead slope{number, {}};
    bool isArgument = body.isArgument(number);
    if (isArgument)
      slope = body.getRead(number);
    if (!constant &&
        ((!isArgument && !body.isOutside(number)) || body.readsPair(slope)))
      continue;
    std::optional<Exponent> exponent = read(other);
    if (!exponent)
      return std::nullopt;
    if (constant)
      return exponent->scale(*constant);
    if (!exponent->hasPositions() || exponent->sums || exponent->slope)
      return std::nullopt;
    exponent->slope = slope;
    return exponent;
  }
  return std::nullopt;
}

/// j <= i ? exponent : -inf. Only here: a part could be negated.
std::optional<Exponent> ExponentReader::readWhole(Value value) {
  value = stripFloatCasts(value);
  if (body.isArgument(value)) {
    TensorRead tensor = body.getRead(value);
    if (tensor.reads(body.row) && tensor.reads(body.key))
      return readPairs(tensor, &ExponentReader::readWhole);
  }
  auto op = value.getDefiningOp<arith::SelectOp>();
  if (!op)
    return read(value);
  auto isNothing = [](Value value) {
    std::optional<double> constant = getConstant(value);
    return constant && *constant == -std::numeric_limits<double>::infinity();
  };
  bool isNegated = isNothing(op.getTrueValue());
  if ((!isNegated && !isNothing(op.getFalseValue())) ||
      whyNotCausal(op.getCondition(), body, isNegated))
    return std::nullopt;
  isCausal = true;
  return read(isNegated ? op.getFalseValue() : op.getTrueValue());
}

std::optional<Exponent> ExponentReader::read(Value value) {
  value = stripFloatCasts(value);
  if (std::optional<double> constant = getConstant(value)) {
    // Beside a slope it would count that often.
    if (*constant == 0)
      return Exponent();
    return std::nullopt;
  }
  if (body.isArgument(value))
    return readArgument(body.getRead(value));
  if (body.isOutside(value))
    return std::nullopt;
  Operation *op = value.getDefiningOp();
  if (isa<arith::AddFOp, arith::SubFOp>(op))
    return add(op->getOperand(0), op->getOperand(1),
               isa<arith::AddFOp>(op) ? 1 : -1);
  if (isa<arith::MulFOp>(op))
    return multiply(op->getOperand(0), op->getOperand(1));
  if (isa<arith::NegFOp>(op)) {
    std::optional<Exponent> exponent = read(op->getOperand(0));
    return exponent ? std::optional(exponent->scale(-1)) : std::nullopt;
  }
  if (!isa<arith::SIToFPOp>(op))
    return std::nullopt;
  std::optional<PositionSum> sum = readPosition(op->getOperand(0), body);
  if (!sum)
    return std::nullopt;
  Exponent exponent;
  exponent.row = double(sum->row);
  exponent.key = double(sum->key);
  exponent.constant = double(sum->constant);
  return exponent;
}

/// A base of a power that is known to be positive: a number, as its logarithm,
/// or a tensor of one per batch entry.
static bool readBase(Value base, const PairBody &body, PairDecay &decay) {
  base = stripFloatCasts(base);
  if (std::optional<double> constant = getConstant(base)) {
    decay.factor *= std::log(*constant);
    return *constant > 0;
  }
  if (!body.isArgument(base))
    return false;
  TensorRead read = body.getRead(base);
  DenseFPElementsAttr numbers;
  if (body.readsPair(read) ||
      !matchPattern(read.tensor, m_Constant(&numbers)) ||
      !llvm::all_of(numbers, [](const APFloat &number) {
        return number.isFinite() && number.convertToDouble() > 0;
      }))
    return false;
  decay.slope = read;
  decay.isLogOfSlope = true;
  return true;
}

std::optional<PairDecay> attn::readDecay(Operation *op, const PairBody &body,
                                         bool &isCausal) {
  PairDecay decay;
  std::optional<Exponent> exponent;
  if (isa<math::ExpOp>(op)) {
    exponent = ExponentReader(body, isCausal).readWhole(op->getOperand(0));
  } else if (isa<math::PowFOp>(op)) {
    exponent = ExponentReader(body, isCausal).read(op->getOperand(1));
  } else if (isa<math::FPowIOp>(op)) {
    if (std::optional<PositionSum> sum =
            readPosition(op->getOperand(1), body)) {
      exponent.emplace();
      exponent->row = double(sum->row);
      exponent->key = double(sum->key);
      exponent->constant = double(sum->constant);
    }
  }
  if (!exponent || exponent->constant != 0)
    return std::nullopt;
  bool isPower = !isa<math::ExpOp>(op);
  bool hasSums = exponent->rowSums != 0 || exponent->keySums != 0;
  if (isPower &&
      (exponent->slope || hasSums || !readBase(op->getOperand(0), body, decay)))
    return std::nullopt;
  if (hasSums) {
    decay.sums = exponent->sums;
    if (exponent->rowSums != 1 || exponent->keySums != -1 ||
        exponent->hasPositions())
      return std::nullopt;
    return decay;
  }
  if (exponent->row != -exponent->key)
    return std::nullopt;
  decay.factor *= exponent->row;
  if (!isPower)
    decay.slope = exponent->slope;
  return decay;
}
