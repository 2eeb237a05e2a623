// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CostModel.h. A product takes the longer of its multiplications and its
// bytes; the table has the rates of either.

#include "passes/analysis/CostModel.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;
using namespace mlir::attn;

//===- choices ------------------------------------------------------------===//

static constexpr StringLiteral kFormNames[] = {"quadratic", "chunk",
                                               "recurrent"};

StringRef attn::toString(LinearForm form) {
  return kFormNames[static_cast<size_t>(form)];
}

std::optional<LinearForm> attn::parseLinearForm(StringRef name) {
  const auto *found = llvm::find(kFormNames, name);
  if (found == std::end(kFormNames))
    return std::nullopt;
  return static_cast<LinearForm>(found - std::begin(kFormNames));
}

std::optional<Reassociation> attn::parseReassociation(StringRef name) {
  if (name == "auto")
    return Reassociation::automatic;
  if (name == "always")
    return Reassociation::always;
  if (name == "never")
    return Reassociation::never;
  return std::nullopt;
}

//===- rates --------------------------------------------------------------===//

namespace {

/// One core of a target, nominally: what its instructions can multiply at
/// 3.5 GHz, and what it reads of a memory and of a cache that holds a state.
/// Only quotients of costs matter.
struct Rates {
  StringRef target;
  double f32;    ///< flop/s of products of f32
  double bf16;   ///< flop/s of products of bf16
  double memory; ///< bytes/s
  double state;  ///< bytes/s of a state that is read and written per token
};

} // namespace

static constexpr Rates kRates[] = {
    {"cpu:generic", 56e9, 56e9, 20e9, 72e9},
    {"cpu:avx2", 112e9, 112e9, 20e9, 180e9},
    {"cpu:avx512", 224e9, 224e9, 20e9, 288e9},
    {"cpu:avx512bf16", 224e9, 448e9, 20e9, 288e9},
    {"cpu:amx", 224e9, 3584e9, 20e9, 288e9},
};

// The share of its rate that the code of a product reaches.
static constexpr double kProductShare = 0.8;
// A state of more bytes than this is in the second level of cache.
static constexpr double kNearState = 32 << 10, kFarStateShare = 0.8;
// What an exponential costs, in multiplications at the rate of vectors.
static constexpr double kFlopsPerExp = 20;

static const Rates &getRates(const TargetInfo &target) {
  const auto *found = llvm::find_if(
      kRates, [&](const Rates &rates) { return rates.target == target.name; });
  assert(found != std::end(kRates) && "every target has rates");
  return *found;
}

/// flop/s of vectors that compute in the type of sums.
static double getVectorRate(Type element, const TargetInfo &target) {
  double f32 = getRates(target).f32;
  return element.isF64() ? f32 / 2 : f32;
}

/// flop/s of products of this type.
static double getProductRate(Type element, const TargetInfo &target) {
  if (target.multipliesPairs(element))
    return getRates(target).bf16;
  return getVectorRate(element, target);
}

static double getBytes(Type element) {
  return element.getIntOrFloatBitWidth() / 8.0;
}

//===- products -----------------------------------------------------------===//

static Cost estimateProduct(double batch, double rows, double depth,
                            double columns, Type element,
                            const TargetInfo &target) {
  double flops = 2 * batch * rows * depth * columns;
  double bytes = batch * (rows * depth + depth * columns + rows * columns) *
                 getBytes(element);
  double rate = kProductShare * getProductRate(element, target);
  return {flops, std::max(flops / rate, bytes / getRates(target).memory)};
}

Cost attn::estimateChain(const ChainShape &s, const TargetInfo &target) {
  Cost cost =
      estimateProduct(s.batch, s.rows, s.features, s.keys, s.element, target);
  cost +=
      estimateProduct(s.batch, s.rows, s.keys, s.columns, s.element, target);
  // Each operation between them reads and writes all pairs.
  double pairs = s.batch * double(s.rows) * double(s.keys);
  double bytes = 2 * pairs * getBytes(s.element);
  cost += {double(s.passes) * pairs,
           double(s.passes) * bytes / getRates(target).memory};
  return cost;
}

Cost attn::estimateReassociated(const ChainShape &s, const TargetInfo &target) {
  Cost cost = estimateProduct(s.batch, s.features, s.keys, s.columns, s.element,
                              target);
  cost += estimateProduct(s.batch, s.rows, s.features, s.columns, s.element,
                          target);
  return cost;
}

//===- linear attention ---------------------------------------------------===//

int64_t attn::chooseLinearChunk(const LinearProblem &problem) {
  // Products within a chunk grow with it, and what passes through the cache
  // for each of them falls. Decays per feature multiply all keys of a chunk
  // once per token.
  constexpr int64_t kChunk = 32, kChunkOfFeatureDecay = 16;
  return problem.decay == LinearProblem::Decay::perFeature
             ? kChunkOfFeatureDecay
             : kChunk;
}

namespace {

/// The costs of one head.
class LinearEstimate {
public:
  LinearEstimate(const LinearProblem &shape, const TargetInfo &target)
      : shape(shape), target(target), n(shape.queries), p(shape.keys),
        m(shape.features), dv(shape.columns),
        bytes((n * (m + dv) + p * (m + dv)) * getBytes(shape.element)) {}

  /// In chunks of `span` tokens.
  Cost estimateChunks(double span) const;
  /// All keys first, then all queries.
  Cost estimateBidirectional() const;
  Cost estimateRecurrent() const;

private:
  /// flop of decays: an exponential per token, or token and feature, and a
  /// product for each key of its span.
  double countDecay(double span) const;
  /// Seconds for reading the state and writing it, `times` times.
  double getStateTime(double times) const;
  /// The longer of computing and reading.
  Cost getCost(double flops, double seconds) const {
    return {flops, std::max(seconds, bytes / getRates(target).memory)};
  }

  const LinearProblem &shape;
  const TargetInfo &target;
  double n, p, m, dv, bytes;
};

} // namespace

double LinearEstimate::countDecay(double span) const {
  double perToken = kFlopsPerExp + span;
  switch (shape.decay) {
  case LinearProblem::Decay::none:
    return 0;
  case LinearProblem::Decay::scalar:
    return n * perToken;
  case LinearProblem::Decay::perFeature:
    return n * m * perToken;
  }
  llvm_unreachable("every decay is listed");
}

double LinearEstimate::getStateTime(double times) const {
  double stateBytes = m * dv * (shape.element.isF64() ? 8 : 4);
  double rate = getRates(target).state;
  if (stateBytes > kNearState)
    rate *= kFarStateShare;
  return 2 * times * stateBytes / rate;
}

Cost LinearEstimate::estimateChunks(double span) const {
  span = std::min(span, n);
  // Pairs are half of the square of a chunk, and each token has a product with
  // the state and one for it. A transition is solved for by two products more
  // of the size of the first, and reads the state once more.
  double pairs = span * (m + dv) * (shape.hasTransition ? 3 : 1);
  double states = 2 * m * dv * (shape.hasTransition ? 3 : 2);
  // The products of a chunk are those of f32 for all operands.
  double flops = n * (pairs + states);
  double rate = getVectorRate(shape.element, target);
  double seconds = flops / (kProductShare * rate);
  double decay = countDecay(span);
  return getCost(flops + decay,
                 seconds + decay / rate + getStateTime(std::ceil(n / span)));
}

Cost LinearEstimate::estimateBidirectional() const {
  double flops = 2 * (n + p) * m * dv;
  double rate = kProductShare * getVectorRate(shape.element, target);
  return getCost(flops, flops / rate);
}

Cost LinearEstimate::estimateRecurrent() const {
  // A product with a row of the state and an update, each of which reads the
  // state; one more pair for a transition.
  double steps = shape.hasTransition ? 2 : 1;
  double flops = 4 * steps * n * m * dv + countDecay(/*span=*/1);
  return getCost(flops, std::max(flops / getVectorRate(shape.element, target),
                                 getStateTime(steps * n)));
}

LinearCosts attn::estimateLinear(const LinearProblem &shape,
                                 const TargetInfo &target) {
  LinearCosts costs;
  // Without tokens all cost nothing, and there is nothing to compare.
  LinearProblem some = shape;
  some.queries = std::max<int64_t>(shape.queries, 1);
  LinearEstimate estimate(some, target);
  if (!shape.isCausal) {
    costs.chunk = estimate.estimateBidirectional();
  } else {
    costs.chunk = estimate.estimateChunks(double(chooseLinearChunk(shape)));
    // Positions of a block are a chunk, whatever that costs.
    if (!shape.hasBlocks) {
      costs.quadratic = estimate.estimateChunks(double(some.queries));
      costs.recurrent = estimate.estimateRecurrent();
    }
  }
  for (auto *cost : {&costs.quadratic, &costs.chunk, &costs.recurrent})
    if (*cost)
      *cost =
          Cost{(*cost)->flops * shape.heads, (*cost)->seconds * shape.heads};
  return costs;
}

const std::optional<Cost> &LinearCosts::get(LinearForm form) const {
  return form == LinearForm::quadratic ? quadratic
         : form == LinearForm::chunk   ? chunk
                                       : recurrent;
}

LinearForm LinearCosts::choose() const {
  LinearForm best = LinearForm::chunk;
  for (LinearForm form : {LinearForm::quadratic, LinearForm::recurrent})
    if (get(form) && get(form)->seconds < get(best)->seconds)
      best = form;
  return best;
}

LinearProblem attn::getLinearProblem(LinearOp op) {
  auto getSize = [](Value value, int64_t dim, int64_t unknown) {
    int64_t size = cast<RankedTensorType>(value.getType()).getDimSize(dim);
    return ShapedType::isDynamic(size) ? unknown : size;
  };
  LinearProblem shape;
  Value heads = op.hasGroupedValues() ? op.getValue() : op.getQuery();
  shape.heads = double(getSize(heads, 0, 1)) * double(getSize(heads, 1, 1));
  shape.queries = getSize(op.getQuery(), 2, kUnknownLength);
  shape.keys = getSize(op.getKey(), 2, kUnknownLength);
  shape.features = op.getNumFeatures();
  if (ShapedType::isDynamic(shape.features))
    shape.features = kUnknownWidth;
  shape.columns = getSize(op.getValue(), 3, kUnknownWidth);
  shape.element = getElementTypeOrSelf(op.getValue().getType());
  shape.isCausal = op.getCausal();
  shape.hasTransition = op.getBeta() || op.getRead();
  shape.hasBlocks = op.getBlock().has_value();
  if (op.getDecay())
    shape.decay = cast<RankedTensorType>(op.getDecay().getType()).getRank() == 4
                      ? LinearProblem::Decay::perFeature
                      : LinearProblem::Decay::scalar;
  return shape;
}

//===- messages -----------------------------------------------------------===//

std::optional<int64_t> attn::findCrossover(function_ref<bool(int64_t)> pays) {
  int64_t low = 0, high = int64_t(1) << 24;
  if (!pays(high))
    return std::nullopt;
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    (pays(middle) ? high : low) = middle;
  }
  return high;
}

std::string attn::formatFlops(double flops) {
  static constexpr StringLiteral kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t prefix = 0;
  while (flops >= 999.5 && prefix + 1 < std::size(kPrefixes)) {
    flops /= 1000;
    ++prefix;
  }
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format("%.3g ", flops) << kPrefixes[prefix] << "FLOP";
  return text;
}
