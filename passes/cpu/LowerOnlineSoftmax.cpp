// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One key tile in lane form: scores, score function, mask, exponential and
// weighted sum, each a loop over the keys of the tile with a buffer of scores
// between them that stays in L1.

#include "passes/analysis/MaskAnalysis.h"
#include "passes/cpu/Cpu.h"
#include "passes/cpu/LaneRegion.h"
#include "passes/cpu/MicroKernels.h"
#include "passes/cpu/TileCopies.h"
#include "passes/cpu/VectorMath.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;
using arith::CmpFPredicate;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {

class OnlineSoftmaxLowering {
public:
  OnlineSoftmaxLowering(const KernelBuilder &kb, OnlineSoftmaxOp op)
      : kb(kb), op(op), f32(kb.b.getF32Type()), vectorType(kb.f32Lanes()),
        keyRows(kb.dim(op.getKey(), 0)), headDim(kb.dim(op.getKey(), 1)),
        valueDim(kb.dim(op.getValue(), 1)) {}

  void run();

private:
  Value lane(int64_t v) { return kb.index(v * kb.target.vectorWidth); }
  Value f(double x) { return kb.constant(vectorType, x); }
  /// e^(x - y) for x <= y. Subtracts before it scales to base 2, for which a
  /// finite x may be too large.
  Value emitExpOfDifference(Value x, Value y) {
    return emitExp2OfNonPositive(
        kb, kb.mulf(kb.subf(x, y), f(llvm::numbers::log2e)));
  }
  /// K in f32: itself, or a widened copy.
  Value widenKeys();
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
  LaneVectors emitWeights(const LaneVectors &max, bool markMasked);
  /// V in f32, with 0 for what is not finite where `hasMasked`, and whether
  /// anything was not.
  std::pair<Value, Value> prepareValues(Value hasMasked);
  Value copyValues(Value to, bool zeroNonFinite);
  void addNonFiniteValues();

  const KernelBuilder &kb;
  OnlineSoftmaxOp op;
  Type f32;
  VectorType vectorType;
  Value keyRows, headDim, valueDim;
  Value scores;
};

} // namespace

static Type getElement(Value memref) {
  return cast<MemRefType>(memref.getType()).getElementType();
}

Value OnlineSoftmaxLowering::widenKeys() {
  if (getElement(op.getKey()).isF32())
    return op.getKey();
  Value copy = kb.scratch({kb.b.getIndexAttr(op.getKeyTile()),
                           getAsOpFoldResult(kb.dim(op.getQuery(), 0))},
                          f32);
  kb.loop(kb.index(0), keyRows, 1, [&](Value row) {
    emitRowCopy(kb, op.getKey(), row, copy, row, headDim,
                [&](Value x) { return emitToF32(kb, x); });
  });
  return copy;
}

ScoreBounds OnlineSoftmaxLowering::mapScores(
    llvm::function_ref<Value(Value, int64_t, Value)> body) {
  return ScoreBounds::unflatten(kb.loop(
      kb.index(0), keyRows, 1, createEmptyBounds(kb).flatten(),
      [&](Value row, ValueRange carried) {
        ScoreBounds bounds = ScoreBounds::unflatten(carried);
        for (int64_t v = 0; v < kb.target.blockVectors; ++v) {
          Value score = body(row, v, kb.loadLanes(scores, {row, lane(v)}));
          kb.storeLanes(score, scores, {row, lane(v)});
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
    for (int64_t l = 0; l < kb.target.vectorWidth; ++l)
      numbers.push_back(
          element.isF32()
              ? Attribute(b.getF32FloatAttr(v * kb.target.vectorWidth + l))
              : b.getIntegerAttr(element, v * kb.target.vectorWidth + l));
    return arith::ConstantOp::create(
        b, kb.loc, DenseElementsAttr::get(kb.lanes(element), numbers));
  };
  auto add = [&](Value x, Value y) -> Value {
    return arith::AddIOp::create(b, kb.loc, x, y);
  };
  LaneValue batch{cast(op.getB())}, head{cast(op.getH())};
  Value first = cast(op.getI());
  Value start = cast(kb.add(op.getI(), v * kb.target.vectorWidth));
  if (!op.getFold()) {
    Value lanes = add(kb.broadcast(first), count(type));
    return {batch, head, {lanes, true, start}};
  }
  // Row r is head r / fold at position r mod fold. Rows are few, so the
  // quotient by a float reciprocal is exact when taken at r + 1/2.
  Value fold = kb.broadcast(cast(op.getFold()));
  Value reciprocal = arith::DivFOp::create(
      b, kb.loc, f(1.0), arith::SIToFPOp::create(b, kb.loc, vectorType, fold));
  Value middle = kb.addf(count(f32), f(0.5));
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
  for (int64_t v = 0; v < kb.target.blockVectors; ++v) {
    // The scores, which only a score region takes, and j are of each row.
    SmallVector<LaneValue> arguments = getPosition(v, indexBits);
    if (&region == &op.getScore())
      arguments.insert(arguments.begin(), LaneValue());
    arguments.push_back(LaneValue());
    lanes.emplace_back(kb, region, indexBits, arguments, oneHead);
  }
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
  Value fits = emitFitsInt32(kb.b, kb.loc, region.front(), ranges);
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
      return lanes[v].emitRow({cap(score), position});
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
      Value keep = lanes[v].emitRow({kb.add(op.getJ(), row)});
      return kb.select(keep, score, f(-kInfinity));
    });
  };
  return ScoreBounds::unflatten(kb.ifElse(
      op.getMasked(), [&] { return chooseWidth(region, mask).flatten(); },
      [&] { return bounds.flatten(); }));
}

LaneVectors OnlineSoftmaxLowering::emitWeights(const LaneVectors &max,
                                               bool markMasked) {
  SmallVector<Value> zeros(kb.target.blockVectors, f(0.0));
  return kb.loop(
      kb.index(0), keyRows, 1, zeros, [&](Value row, ValueRange carried) {
        SmallVector<Value> sums(carried);
        for (auto [v, shift] : llvm::enumerate(max)) {
          Value score = kb.loadLanes(scores, {row, lane(v)});
          Value weight = emitExpOfDifference(score, shift);
          // -0 tells a key of no weight from one whose weight underflowed.
          if (markMasked)
            weight =
                kb.select(kb.cmpf(CmpFPredicate::OEQ, score, f(-kInfinity)),
                          f(-0.0), weight);
          kb.storeLanes(weight, scores, {row, lane(v)});
          sums[v] = kb.addf(sums[v], weight);
        }
        return sums;
      });
}

LaneVectors OnlineSoftmaxLowering::applyExponential(const ScoreBounds &bounds,
                                                    Value hasMasked) {
  LaneVectors shift, rescale;
  for (auto [v, tileMax] : llvm::enumerate(bounds.max)) {
    Value oldMax = kb.loadLanes(op.getMax(), lane(v));
    Value newMax = kb.max(oldMax, tileMax);
    kb.storeLanes(newMax, op.getMax(), lane(v));
    // A row that has seen no key has maximum -inf, and -inf - -inf is NaN.
    Value isEmpty = kb.cmpf(CmpFPredicate::OEQ, newMax, f(-kInfinity));
    shift.push_back(kb.select(isEmpty, f(0.0), newMax));
    rescale.push_back(emitExpOfDifference(oldMax, shift.back()));
  }
  SmallVector<Value> sums = kb.ifElse(
      hasMasked, [&] { return emitWeights(shift, true); },
      [&] { return emitWeights(shift, false); });
  for (auto [v, sum] : llvm::enumerate(sums)) {
    Value oldSum = kb.loadLanes(op.getSum(), lane(v));
    kb.storeLanes(kb.fma(oldSum, rescale[v], sum), op.getSum(), lane(v));
  }
  return rescale;
}

/// True where a f32 scalar or lane vector is NaN or infinite.
static Value isNonFinite(const KernelBuilder &kb, Value x) {
  Value difference = kb.subf(x, x); // 0, or NaN
  return kb.cmpf(CmpFPredicate::UNO, difference, difference);
}

Value OnlineSoftmaxLowering::copyValues(Value to, bool zeroNonFinite) {
  OpBuilder &b = kb.b;
  VectorType flagType = kb.lanes(b.getI32Type());
  Value zero = kb.index(0);
  Value flags;
  if (zeroNonFinite) {
    flags = kb.scratch({b.getIndexAttr(kb.target.vectorWidth)}, b.getI32Type());
    kb.storeLanes(arith::ConstantOp::create(b, kb.loc, b.getZeroAttr(flagType)),
                  flags, zero);
  }
  auto convert = [&](Value x) {
    Value wide = emitToF32(kb, x);
    if (!zeroNonFinite)
      return wide;
    Value bad = isNonFinite(kb, wide);
    bool isVector = isa<VectorType>(wide.getType());
    Type type = isVector ? Type(flagType) : b.getI32Type();
    Value bits = arith::ExtUIOp::create(b, kb.loc, type, bad);
    Value old = isVector ? kb.loadLanes(flags, zero) : kb.load(flags, zero);
    Value either = arith::OrIOp::create(b, kb.loc, old, bits);
    if (isVector)
      kb.storeLanes(either, flags, zero);
    else
      memref::StoreOp::create(b, kb.loc, either, flags, zero);
    return kb.select(bad, kb.constant(wide.getType(), 0.0), wide);
  };
  kb.loop(zero, keyRows, 1, [&](Value row) {
    emitRowCopy(kb, op.getValue(), row, to, row, valueDim, convert);
  });
  if (!zeroNonFinite)
    return arith::ConstantIntOp::create(b, kb.loc, 0, 1);
  Value any = vector::ReductionOp::create(b, kb.loc, vector::CombiningKind::OR,
                                          kb.loadLanes(flags, zero));
  Value none = arith::ConstantIntOp::create(b, kb.loc, 0, 32);
  return arith::CmpIOp::create(b, kb.loc, arith::CmpIPredicate::ne, any, none);
}

std::pair<Value, Value> OnlineSoftmaxLowering::prepareValues(Value hasMasked) {
  OpBuilder &b = kb.b;
  Value copy = kb.scratch({b.getIndexAttr(op.getKeyTile()),
                           getAsOpFoldResult(kb.dim(op.getAcc(), 0))},
                          f32);
  constexpr int64_t kDynamic = ShapedType::kDynamic;
  auto viewType = MemRefType::get(
      {kDynamic, kDynamic}, f32,
      StridedLayoutAttr::get(b.getContext(), kDynamic, {kDynamic, 1}));
  auto view = [&](Value memref) -> Value {
    return memref::CastOp::create(b, kb.loc, viewType, memref);
  };
  SmallVector<Value> results = kb.ifElse(
      hasMasked,
      [&] {
        Value found = copyValues(copy, /*zeroNonFinite=*/true);
        return SmallVector<Value>{view(copy), found};
      },
      [&] {
        Value found = arith::ConstantIntOp::create(b, kb.loc, 0, 1);
        if (getElement(op.getValue()).isF32())
          return SmallVector<Value>{view(op.getValue()), found};
        copyValues(copy, /*zeroNonFinite=*/false);
        return SmallVector<Value>{view(copy), found};
      });
  return {results[0], results[1]};
}

/// The weighted sum took non-finite values for 0: adds them for the queries
/// that see their key. Rare, so it goes by element.
void OnlineSoftmaxLowering::addNonFiniteValues() {
  OpBuilder &b = kb.b;
  Type bitsType = kb.lanes(b.getI32Type());
  Value noWeight = arith::ConstantOp::create(
      b, kb.loc,
      DenseElementsAttr::get(cast<ShapedType>(bitsType),
                             b.getI32IntegerAttr(INT32_MIN)));
  kb.loop(kb.index(0), keyRows, 1, [&](Value row) {
    kb.loop(kb.index(0), valueDim, 1, [&](Value column) {
      Value value = emitToF32(kb, kb.load(op.getValue(), {row, column}));
      kb.ifThen(isNonFinite(kb, value), [&] {
        for (int64_t v = 0; v < kb.target.blockVectors; ++v) {
          Value weight = kb.loadLanes(scores, {row, lane(v)});
          Value bits = arith::BitcastOp::create(b, kb.loc, bitsType, weight);
          Value sees = arith::CmpIOp::create(
              b, kb.loc, arith::CmpIPredicate::ne, bits, noWeight);
          Value acc = kb.loadLanes(op.getAcc(), {column, lane(v)});
          Value sum = kb.fma(kb.broadcast(value), weight, acc);
          kb.storeLanes(kb.select(sees, sum, acc), op.getAcc(),
                        {column, lane(v)});
        }
      });
    });
  });
}

void OnlineSoftmaxLowering::run() {
  scores = kb.scratch(
      {kb.b.getIndexAttr(op.getKeyTile()), kb.b.getIndexAttr(op.getNumRows())},
      f32);
  ScoreBounds bounds =
      emitScores(kb, op.getQuery(), widenKeys(), keyRows, headDim, scores);
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
  auto [values, hasNonFinite] = prepareValues(hasMasked);
  emitWeightedSum(kb, scores, values, keyRows, valueDim, rescale, op.getAcc());
  kb.ifThen(hasNonFinite, [&] { addNonFiniteValues(); });
}

LogicalResult attn::lowerOnlineSoftmax(RewriterBase &rewriter,
                                       OnlineSoftmaxOp op,
                                       const TargetInfo &target) {
  if (!isa<MemRefType>(op.getAcc().getType()))
    return rewriter.notifyMatchFailure(op, "not bufferized");
  if (!op.hasPackedQuery())
    return rewriter.notifyMatchFailure(op, "query is not packed");
  rewriter.setInsertionPoint(op);
  KernelBuilder kb{rewriter, op.getLoc(), target};
  OnlineSoftmaxLowering(kb, op).run();
  rewriter.eraseOp(op);
  return success();
}
