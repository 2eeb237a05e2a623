// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One key tile in lane form: scores, score function, mask, exponential and
// weighted sum, each a loop over the keys of the tile with a buffer of scores
// between them that stays in L1.

#include "passes/analysis/MaskAnalysis.h"
#include "passes/cpu/Cpu.h"
#include "passes/cpu/FloatCasts.h"
#include "passes/cpu/LaneRegion.h"
#include "passes/cpu/MatrixReads.h"
#include "passes/cpu/MicroKernels.h"
#include "passes/cpu/VectorMath.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;
using arith::CmpFPredicate;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The kernel for the form that the query has.
static std::unique_ptr<MicroKernel> createKernel(const KernelBuilder &kb,
                                                 OnlineSoftmaxOp op) {
  if (!op.hasPackedQuery())
    return createRowKernel(kb, op);
  if (getElementTypeOrSelf(op.getQuery().getType()) == kb.wide)
    return createFmaKernel(kb, op);
  return kb.target.has(CpuFeatures::amx) ? createAmxKernel(kb, op)
                                         : createDotKernel(kb, op);
}

namespace {

class OnlineSoftmaxLowering {
public:
  OnlineSoftmaxLowering(const KernelBuilder &kb, OnlineSoftmaxOp op, bool exact)
      : kb(kb), op(op), vectorType(kb.wideLanes()),
        kernel(createKernel(kb, op)),
        accuracy(exact ? ExpAccuracy::full : kernel->getAccuracy()),
        keyRows(kb.dim(op.getKey(), 0)) {}

  void run();

private:
  Value f(double x) { return kb.constant(vectorType, x); }
  /// Rewrites every score by `body` and returns the new bounds.
  ScoreBounds
  mapScores(llvm::function_ref<Value(Value row, int64_t v, Value score)> body);
  /// The arguments b, h, i of a region for lane vector `v`.
  SmallVector<LaneValue> getPosition(int64_t v, int64_t indexBits);
  /// A score or keep region for each lane vector.
  std::vector<LaneRegion> createLanes(Region &region, int64_t indexBits);
  /// Emits `body` for the index width that the region needs: both, with a
  /// choice at run time, where the width is not known.
  ScoreBounds chooseWidth(Region &region,
                          llvm::function_ref<ScoreBounds(int64_t bits)> body);
  ScoreBounds applyScore(ScoreBounds bounds);
  ScoreBounds applyKeep(ScoreBounds bounds);
  /// Updates max and sum, turns scores into weights and returns the factors of
  /// the old accumulator.
  LaneVectors applyExponential(const ScoreBounds &bounds, Value hasMasked);
  LaneVectors emitWeights(const LaneVectors &shift, bool markMasked);
  void addNonFiniteValues();

  const KernelBuilder &kb;
  OnlineSoftmaxOp op;
  VectorType vectorType;
  std::unique_ptr<MicroKernel> kernel;
  ExpAccuracy accuracy;
  Value keyRows;
  Value scores;
};

} // namespace

ScoreBounds OnlineSoftmaxLowering::mapScores(
    llvm::function_ref<Value(Value, int64_t, Value)> body) {
  return ScoreBounds::unflatten(kb.loop(
      kb.index(0), keyRows, 1, createEmptyBounds(kb).flatten(),
      [&](Value row, ValueRange carried) {
        ScoreBounds bounds = ScoreBounds::unflatten(carried);
        for (int64_t v = 0; v < kb.vectors; ++v) {
          Value score = body(row, v, kb.loadLanes(scores, {row, kb.lane(v)}));
          kb.storeLanes(score, scores, {row, kb.lane(v)});
          widen(kb, bounds, v, score);
        }
        return bounds.flatten();
      }));
}

SmallVector<LaneValue> OnlineSoftmaxLowering::getPosition(int64_t v,
                                                          int64_t indexBits) {
  OpBuilder &b = kb.b;
  Type type = b.getIntegerType(indexBits);
  auto cast = [&](Value index) -> Value {
    return arith::IndexCastOp::create(b, kb.loc, type, index);
  };
  auto count = [&](Type element) -> Value {
    SmallVector<Attribute> numbers;
    for (int64_t l = 0; l < kb.width(); ++l)
      numbers.push_back(
          isa<FloatType>(element)
              ? Attribute(b.getFloatAttr(element, v * kb.width() + l))
              : b.getIntegerAttr(element, v * kb.width() + l));
    return arith::ConstantOp::create(
        b, kb.loc, DenseElementsAttr::get(kb.lanes(element), numbers));
  };
  auto add = [&](Value x, Value y) -> Value {
    return arith::AddIOp::create(b, kb.loc, x, y);
  };
  LaneValue batch{cast(op.getB())}, head{cast(op.getH())};
  Value first = cast(op.getI());
  Value start = cast(kb.add(op.getI(), v * kb.width()));
  if (!op.getFold()) {
    Value lanes = add(kb.broadcast(first), count(type));
    return {batch, head, {lanes, true, start}};
  }
  // Row r is head r / fold at position r mod fold. Rows are few, so the
  // quotient by a float reciprocal is exact when taken at r + 1/2.
  Value fold = kb.broadcast(cast(op.getFold()));
  Value reciprocal = arith::DivFOp::create(
      b, kb.loc, f(1.0), arith::SIToFPOp::create(b, kb.loc, vectorType, fold));
  Value middle = kb.addf(count(kb.wide), f(0.5));
  Value quotient = arith::FPToSIOp::create(b, kb.loc, kb.lanes(type),
                                           kb.mulf(middle, reciprocal));
  Value remainder = arith::SubIOp::create(
      b, kb.loc, count(type), arith::MulIOp::create(b, kb.loc, quotient, fold));
  return {batch,
          {add(kb.broadcast(head.value), quotient), true, head.value,
           /*step=*/0},
          {add(kb.broadcast(first), remainder), true, start}};
}

std::vector<LaneRegion> OnlineSoftmaxLowering::createLanes(Region &region,
                                                           int64_t indexBits) {
  Value oneHead = op.getFold()
                      ? kb.cmp(arith::CmpIPredicate::sge, op.getFold(),
                               kb.index(op.getNumRows()))
                      : arith::ConstantIntOp::create(kb.b, kb.loc, 1, 1);
  std::vector<LaneRegion> lanes;
  for (int64_t v = 0; v < kb.vectors; ++v) {
    // The scores, which only a score region takes, and j are of each row.
    SmallVector<LaneValue> arguments = getPosition(v, indexBits);
    if (&region == &op.getScore())
      arguments.insert(arguments.begin(), LaneValue());
    arguments.push_back(LaneValue());
    lanes.emplace_back(kb, region, indexBits, arguments, oneHead);
  }
  bufferMatrixReads(kb, lanes,
                    {op.getJ(), keyRows, static_cast<int64_t>(op.getKeyTile())},
                    oneHead, &region == &op.getScore() ? f(0.0) : Value());
  return lanes;
}

ScoreBounds OnlineSoftmaxLowering::chooseWidth(
    Region &region, llvm::function_ref<ScoreBounds(int64_t)> body) {
  // Padding rows may lie beyond the tile's own; what they hold is not used.
  Value lastRow = kb.index(op.getNumRows() - 1);
  TileRanges ranges{op.getB(),
                    op.getH(),
                    kb.add(op.getH(), lastRow),
                    op.getI(),
                    kb.add(op.getI(), lastRow),
                    op.getJ(),
                    kb.add(op.getJ(), kb.sub(keyRows, kb.index(1)))};
  Operation *misfit = nullptr;
  Value fits = emitFitsInt32(kb.b, kb.loc, region.front(), ranges, &misfit);
  std::string name = &region == &op.getScore() ? "score" : "keep";
  remark::RemarkOpts opts =
      remark::RemarkOpts::name("region-width").category("attn-cpu");
  if (matchPattern(fits, m_Zero()))
    remark::missed(kb.loc, opts)
        << ("'attn.online_softmax' " + name + " region in lanes of 64 bits: " +
            (misfit ? "'" + misfit->getName().getStringRef().str() + "'"
                    : std::string("a position")) +
            " does not fit 32 bits");
  else
    remark::analysis(kb.loc, opts)
        << ("'attn.online_softmax' " + name +
            " region in lanes of 32 bits, of 64 bits in tiles whose positions "
            "or values don't fit");
  return ScoreBounds::unflatten(kb.ifElse(
      fits, [&] { return body(32).flatten(); },
      [&] { return body(64).flatten(); }));
}

ScoreBounds OnlineSoftmaxLowering::applyScore(ScoreBounds bounds) {
  std::optional<APFloat> softcap = op.getSoftcap();
  auto cap = [&](Value score) -> Value {
    if (!softcap)
      return score;
    double c = softcap->convertToDouble();
    return kb.mulf(f(c), emitTanh(kb, kb.mulf(score, f(1.0 / c))));
  };
  Region &region = op.getScore();
  if (region.empty()) {
    if (!softcap)
      return bounds;
    return mapScores([&](Value, int64_t, Value score) { return cap(score); });
  }
  return chooseWidth(region, [&](int64_t bits) {
    std::vector<LaneRegion> lanes = createLanes(region, bits);
    return mapScores([&](Value row, int64_t v, Value score) {
      Value position = kb.add(op.getJ(), row);
      return lanes[v].emitRow({cap(score), position}, row);
    });
  });
}

ScoreBounds OnlineSoftmaxLowering::applyKeep(ScoreBounds bounds) {
  Region &region = op.getKeep();
  if (region.empty())
    return bounds;
  auto mask = [&](int64_t bits) {
    std::vector<LaneRegion> lanes = createLanes(region, bits);
    return mapScores([&](Value row, int64_t v, Value score) {
      Value keep = lanes[v].emitRow({kb.add(op.getJ(), row)}, row);
      return kb.select(keep, score, f(-kInfinity));
    });
  };
  return ScoreBounds::unflatten(kb.ifElse(
      op.getMasked(), [&] { return chooseWidth(region, mask).flatten(); },
      [&] { return bounds.flatten(); }));
}

LaneVectors OnlineSoftmaxLowering::emitWeights(const LaneVectors &shift,
                                               bool markMasked) {
  return kernel->emitWeights(scores, [&](Value row, int64_t v) {
    Value score = kb.loadLanes(scores, {row, kb.lane(v)});
    Value weight = emitExpOfDifference(kb, score, shift[v], accuracy);
    // -0 tells a key of no weight from one whose weight underflowed.
    if (markMasked)
      weight = kb.select(kb.cmpf(CmpFPredicate::OEQ, score, f(-kInfinity)),
                         f(-0.0), weight);
    return weight;
  });
}

LaneVectors OnlineSoftmaxLowering::applyExponential(const ScoreBounds &bounds,
                                                    Value hasMasked) {
  LaneVectors shift, rescale;
  for (auto [v, tileMax] : llvm::enumerate(bounds.max)) {
    Value oldMax = kb.loadLanes(op.getMax(), kb.lane(v));
    Value newMax = kb.max(oldMax, tileMax);
    kb.storeLanes(newMax, op.getMax(), kb.lane(v));
    shift.push_back(emitShift(kb, newMax));
    rescale.push_back(emitExpOfDifference(kb, oldMax, shift.back()));
  }
  SmallVector<Value> sums = kb.ifElse(
      hasMasked, [&] { return emitWeights(shift, true); },
      [&] { return emitWeights(shift, false); });
  for (auto [v, sum] : llvm::enumerate(sums)) {
    Value oldSum = kb.loadLanes(op.getSum(), kb.lane(v));
    kb.storeLanes(kb.fma(oldSum, rescale[v], sum), op.getSum(), kb.lane(v));
  }
  return rescale;
}

/// The weighted sum took non-finite values for 0: adds them for the queries
/// that see their key. Rare, so it goes by element.
void OnlineSoftmaxLowering::addNonFiniteValues() {
  OpBuilder &b = kb.b;
  unsigned bits = kb.wide.getIntOrFloatBitWidth();
  VectorType bitsType = kb.lanes(b.getIntegerType(bits));
  Value noWeight = arith::ConstantOp::create(
      b, kb.loc, DenseElementsAttr::get(bitsType, APInt::getSignMask(bits)));
  kb.loop(kb.index(0), keyRows, 1, [&](Value row) {
    kb.loop(kb.index(0), kb.dim(op.getValue(), 1), 1, [&](Value column) {
      Value value = emitWiden(kb, kb.load(op.getValue(), {row, column}));
      kb.ifThen(isNonFinite(kb, value), [&] {
        for (int64_t v = 0; v < kb.vectors; ++v) {
          Value weight = kernel->loadWeight(row, v);
          Value bits = arith::BitcastOp::create(b, kb.loc, bitsType, weight);
          Value sees = arith::CmpIOp::create(
              b, kb.loc, arith::CmpIPredicate::ne, bits, noWeight);
          Value acc = kb.loadLanes(op.getAcc(), {column, kb.lane(v)});
          Value sum = kb.fma(kb.broadcast(value), weight, acc);
          kb.storeLanes(kb.select(sees, sum, acc), op.getAcc(),
                        {column, kb.lane(v)});
        }
      });
    });
  });
}

void OnlineSoftmaxLowering::run() {
  remark::analysis(kb.loc,
                   remark::RemarkOpts::name("kernel").category("attn-cpu"))
      << ("'attn.online_softmax' " + kernel->getName() + " kernel, " +
          Twine(kb.vectors) + " vectors of " + Twine(kb.width()) +
          (kb.wide.isF64() ? " f64" : " f32"))
             .str();
  scores = kb.scratch({kb.b.getIndexAttr(kernel->getScoreRows()),
                       kb.b.getIndexAttr(op.getNumRows())},
                      kb.wide);
  ScoreBounds bounds = kernel->emitScores(scores);
  bounds = applyScore(bounds);
  bounds = applyKeep(bounds);

  // A key has no weight if its logit is -inf, from whatever source.
  Value least = bounds.min.front();
  for (Value min : ArrayRef(bounds.min).drop_front())
    least = kb.minf(least, min);
  Value hasMasked = vector::ReductionOp::create(
      kb.b, kb.loc, vector::CombiningKind::OR,
      kb.cmpf(CmpFPredicate::OEQ, least, f(-kInfinity)));

  LaneVectors rescale = applyExponential(bounds, hasMasked);
  Value hasNonFinite = kernel->emitValues(hasMasked);
  kernel->emitWeightedSum(rescale);
  kb.ifThen(hasNonFinite, [&] { addNonFiniteValues(); });
}

LogicalResult attn::lowerOnlineSoftmax(RewriterBase &rewriter,
                                       OnlineSoftmaxOp op,
                                       const TargetInfo &target, bool exact) {
  if (!isa<MemRefType>(op.getAcc().getType()))
    return rewriter.notifyMatchFailure(op, "not bufferized");
  if (!op.hasPackedQuery() && !hasRowKernel(op, target))
    return rewriter.notifyMatchFailure(op, "query is not packed");
  FloatType wide = op.getComputeType();
  if (failed(verifyTileRows(op, op.getNumRows(), wide, target)))
    return failure();
  rewriter.setInsertionPoint(op);
  KernelBuilder kb = KernelBuilder::forTile(rewriter, op.getLoc(), target, wide,
                                            op.getNumRows());
  OnlineSoftmaxLowering(kb, op, exact).run();
  rewriter.eraseOp(op);
  return success();
}
