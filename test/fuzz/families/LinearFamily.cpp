// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.linear with every clause and result, in every form of its computation.

#include "test/fuzz/families/LinearFamily.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <sstream>

using namespace attn;
using namespace attn::fuzz;
using oracle::Array;
using oracle::Divisor;
using oracle::Feature;
using oracle::FeatureKind;
using test::Decay;
using test::LinearProblem;
using test::LinearSizes;
using test::LinearVariant;

namespace {
struct Map {
  const char *text;
  FeatureKind kind;
  bool isPositive; ///< no feature is 0 or negative
  int64_t length = 1;
  double eps = 0.0;
};
const Map maps[] = {
    {"#attn.identity", FeatureKind::Identity, false},
    {"#attn.elu1", FeatureKind::Elu1, true},
    {"#attn.relu", FeatureKind::Relu, false},
    {"#attn.relu<eps = 0.0078125>", FeatureKind::Relu, true, 1, 0x1p-7},
    {"#attn.relu2", FeatureKind::Relu2, false},
    {"#attn.softmax_features", FeatureKind::SoftmaxFeatures, true},
    {"#attn.softmax_positions", FeatureKind::SoftmaxPositions, true},
    // These have more features than entries.
    {"#attn.hedgehog", FeatureKind::Hedgehog, true},
    {"#attn.cosformer<length = 150>", FeatureKind::Cosformer, false, 150},
    {"#attn.cosformer", FeatureKind::Cosformer, false, 0},
    {"#attn.taylor2", FeatureKind::Taylor2, false},
};
} // namespace

static Feature featureOf(const Map &map) {
  Feature feature;
  feature.kind = map.kind;
  feature.length = map.length;
  feature.eps = map.eps;
  return feature;
}

static void drawFeatures(Random &random, LinearDraft &d) {
  LinearVariant &v = d.variant;
  size_t query = 0, key = 0;
  if (v.beta) { // the delta rule is stable for keys of length 1 at most
    query = key = random.oneIn(2) ? 0 : 5;
  } else if (random.oneIn(5)) {
    query = key = 7 + random.below(4);
  } else {
    // The last of these reads other positions.
    size_t count = v.causal || v.packed ? 6 : 7;
    query = random.below(count);
    key = random.oneIn(2) ? query : random.below(count);
  }
  v.queryFeature = featureOf(maps[query]);
  v.keyFeature = featureOf(maps[key]);
  d.isPositive = maps[query].isPositive && maps[key].isPositive;
  if (query == key && (query != 0 || random.oneIn(8)))
    v.features = maps[query].text;
  else if (query != key)
    v.features = std::string(maps[query].text) + ", " + maps[key].text;
}

static LinearDraft drawDraft(Random &random) {
  LinearDraft d;
  d.dtype = drawType(random);
  LinearVariant &v = d.variant;
  v.causal = !random.oneIn(4);
  v.packed = random.oneIn(5);
  v.keyStarts = v.packed && !v.causal && random.oneIn(2);
  if (v.causal && random.oneIn(6)) {
    v.block = pick<int64_t>(random, {1, 2, 3, 5, 16, 64});
  } else if (v.causal) {
    v.decay = pick(random, {Decay::None, Decay::Head, Decay::Token,
                            Decay::Token, Decay::Vector});
    v.beta = random.oneIn(4);
    v.transition = !v.beta && random.oneIn(5);
    v.bonus = random.oneIn(5);
  }
  drawFeatures(random, d);
  if (random.oneIn(2))
    v.divisor = random.oneIn(3) ? Divisor::Feature : Divisor::Token;
  v.state = random.oneIn(3);
  v.lengths = random.oneIn(3);
  v.oneLength = v.lengths && random.oneIn(3);
  v.finalState = !random.oneIn(3);
  if (random.oneIn(4))
    v.scale = pick(random, {0.125, -0.75, 0.5, 2.0});
  v.groupedValues = random.oneIn(5);
  v.wide = random.oneIn(6);
  if (v.causal && !v.packed && !v.beta && !v.transition && !v.block &&
      random.oneIn(8))
    v.segments = pick<int64_t>(random, {2, 3, 7});
  d.grows = random.oneIn(4);
  d.startsHuge = !v.state && !v.packed && random.oneIn(10) &&
                 (v.decay == Decay::Token || v.decay == Decay::Vector);
  d.form = pick<std::string>(
      random, {"auto", "auto", "auto", "chunk", "recurrent", "quadratic"});
  if (d.form == "chunk")
    d.chunk = pick<int64_t>(random, {0, 1, 2, 3, 7, 16, 33});
  return d;
}

//===- sizes --------------------------------------------------------------===//

static int64_t countFeatures(const LinearVariant &v, int64_t dk) {
  return oracle::applyFeature(v.queryFeature, Array(1, 1, 1, dk)).d;
}

/// Whether keys are in the rows of queries.
static bool hasOneLength(const LinearVariant &v) {
  return v.causal || (v.packed && !v.keyStarts);
}

/// Sizes of a call: those that the compiler knows, and others for those that it
/// does not (-1). All are drawn where `known` is null. In a packed program b is
/// the number of sequences.
static LinearSizes drawSizes(Random &random, const LinearDraft &d,
                             const LinearSizes *known) {
  const LinearVariant &v = d.variant;
  bool isTaylor = v.queryFeature.kind == FeatureKind::Taylor2;
  LinearSizes s;
  s.b = v.packed ? int64_t(random.below(5)) : drawSize(random, 3, true);
  s.hk = drawSize(random, 2);
  int64_t group = pick<int64_t>(random, {1, 1, 1, 2, 3});
  s.hv = v.groupedValues ? s.hk * std::max<int64_t>(group, 2) : s.hk;
  s.hq = v.groupedValues ? s.hk : s.hk * group;
  s.sq = drawSize(random, 70, true);
  s.skv = hasOneLength(v) ? s.sq : drawSize(random, 70, true);
  s.dk = drawSize(random, isTaylor ? 5 : 33);
  s.dv = drawSize(random, 33, true);
  if (known) {
    auto keep = [](int64_t from, int64_t &to) {
      if (from >= 0)
        to = from;
    };
    keep(known->b, s.b);
    if (known->hk >= 0)
      s.hq = known->hq, s.hk = known->hk, s.hv = known->hv;
    keep(known->sq, s.sq);
    keep(known->skv, s.skv);
    if (hasOneLength(v))
      s.sq = s.skv = known->sq >= 0 ? known->sq : s.sq;
    keep(known->dk, s.dk);
    keep(known->dv, s.dv);
  }
  // The definition is loops; long sequences have few entries.
  auto work = [&] {
    return s.b * s.hv * s.skv * countFeatures(v, s.dk) * (s.dv + 1);
  };
  auto shrink = [&](int64_t &size, int64_t to, int64_t fixed) {
    if (work() > 40000 && (!known || fixed < 0))
      size = std::min(size, to);
  };
  shrink(s.b, 1, known ? known->b : -1);
  shrink(s.dv, 5, known ? known->dv : -1);
  shrink(s.dk, 9, known ? known->dk : -1);
  return s;
}

//===- text ---------------------------------------------------------------===//

namespace {
/// Collects arguments of the function and the clauses that read them.
struct Clauses {
  std::string arguments;
  std::vector<std::string> clauses;

  void add(const std::string &clause,
           const std::vector<std::pair<std::string, std::string>> &operands) {
    std::string names, types;
    for (auto &[operand, type] : operands) {
      arguments += ", " + operand + ": " + type;
      names += (names.empty() ? "" : ", ") + operand;
      types += (types.empty() ? "" : ", ") + type;
    }
    clauses.push_back(clause + "(" + names + " : " + types + ")");
  }
};
} // namespace

static Clauses clausesOf(const LinearDraft &d, LinearSizes s, int64_t m,
                         int64_t columns) {
  const LinearVariant &v = d.variant;
  int64_t states = s.b;
  if (v.packed)
    s.b = 1;
  DType sums = test::logitType(d.dtype);
  DType queryType = v.wide ? sums : d.dtype;
  Clauses c;
  if (v.scale)
    c.clauses.push_back("scale(" + std::to_string(*v.scale) + ")");
  std::string perToken = typeText({s.b, s.hv, s.skv, m}, queryType);
  if (v.decay == Decay::Head)
    c.add("decay", {{"%g", typeText({s.hv}, sums)}});
  if (v.decay == Decay::Token)
    c.add("decay", {{"%g", typeText({s.b, s.hv, s.skv}, sums)}});
  if (v.decay == Decay::Vector)
    c.add("decay", {{"%g", typeText({s.b, s.hv, s.skv, m}, sums)}});
  if (v.beta)
    c.add("beta", {{"%beta", typeText({s.b, s.hv, s.skv}, queryType)}});
  if (v.transition)
    c.add("transition", {{"%a", perToken}, {"%b", perToken}});
  if (v.bonus)
    c.add("bonus", {{"%u", typeText({s.hv, m}, queryType)}});
  if (v.state)
    c.add("state", {{"%s0", typeText({states, s.hv, m, columns}, sums)}});
  if (v.lengths)
    c.add("lengths",
          {{"%n", v.oneLength ? "index" : typeText({states}, DType::i64)}});
  std::string starts = typeText({states < 0 ? -1 : states + 1}, DType::i64);
  if (v.packed)
    c.add("query_starts", {{"%qs", starts}});
  if (v.keyStarts)
    c.add("key_starts", {{"%ks", starts}});
  if (!v.features.empty())
    c.clauses.push_back("feature(" + v.features + ")");
  if (v.divisor != Divisor::None)
    c.clauses.push_back(v.divisor == Divisor::Token ? "normalize(token)"
                                                    : "normalize(feature)");
  if (v.block)
    c.clauses.push_back("block(" + std::to_string(*v.block) + ")");
  if (v.causal)
    c.clauses.push_back("causal");
  return c;
}

static std::string textOf(Random &random, const LinearDraft &d,
                          const LinearSizes &s) {
  const LinearVariant &v = d.variant;
  int64_t m = s.dk < 0 ? -1 : countFeatures(v, s.dk);
  int64_t columns = s.dv < 0 ? -1 : s.dv + (v.divisor != Divisor::None);
  DType sums = test::logitType(d.dtype);
  DType queryType = v.wide ? sums : d.dtype;
  int64_t batch = !v.packed ? s.b : random.oneIn(2) ? 1 : -1;
  std::string q = typeText({batch, s.hq, s.sq, s.dk}, queryType);
  std::string k = typeText(
      loosen(random, {batch, s.hk, s.skv, s.dk}, {0, 2, 3}), queryType);
  std::string value =
      typeText(loosen(random, {batch, s.hv, s.skv, s.dv}, {0, 2}), d.dtype);
  int64_t outHeads = v.groupedValues ? s.hv : s.hq;
  // A result may say less than the operands do.
  std::string o = typeText(
      loosen(random, {batch, outHeads, s.sq, s.dv}, {0, 1, 2, 3}), d.dtype);
  std::string state =
      typeText(loosen(random, {s.b, s.hv, m, columns}, {0, 1, 2, 3}), sums);

  Clauses c = clausesOf(d, s, m, columns);
  orderClauses(random, c.clauses);
  std::string clauses;
  for (const std::string &clause : c.clauses)
    clauses += " " + clause;
  if (v.segments)
    clauses += " {attn.segments = " + std::to_string(v.segments) + "}";
  std::string types = v.finalState ? o + ", " + state : o;
  std::string results = v.finalState ? "(" + types + ")" : o;
  std::string names = v.finalState ? "%o, %s1" : "%o";
  return "func.func @main(%q: " + q + ", %k: " + k + ", %v: " + value +
         c.arguments + ") -> " + results + " {\n  " + names +
         " = attn.linear %q, %k, %v" + clauses + "\n      : (" + q + ", " + k +
         ", " + value + ") -> " + results + "\n  return " + names + " : " +
         types + "\n}\n";
}

//===- operands and results -----------------------------------------------===//

static RandomCall makeCall(Random &random, const LinearDraft &d,
                           const LinearSizes &s) {
  auto problem =
      std::make_shared<LinearProblem>(drawLinearProblem(random, d, s));
  oracle::LinearResult want = test::expectedOf(*problem);
  RandomCall call;
  std::ostringstream os;
  os << s;
  call.sizes = os.str() +
               (d.variant.packed ? ", B being the number of sequences" : "") +
               (d.startsHuge ? ", a first decay above 88" : "");
  call.arguments = test::argumentsOf(d.variant, *problem);
  uint64_t seed = random.next();
  auto add = [&](const std::string &name, DType dtype, bool isState) {
    const Array &a = isState ? want.state : want.o;
    Wanted w;
    w.name = name;
    w.dtype = dtype;
    w.precision = d.dtype;
    w.sizes = {a.b, a.h, a.s, a.d};
    if (isState) // also of no sequence
      w.sizes = {s.b, s.hv, countFeatures(d.variant, s.dk),
                 s.dv + (d.variant.divisor != Divisor::None)};
    w.values = a.data;
    // Sums of both signs come near to 0, also as divisors.
    w.isUnsteady = d.variant.divisor != Divisor::None && !d.isPositive;
    w.wobble = [problem, isState, seed, values = a.data] {
      return wobbleOf(seed, values, [&](Random &random) {
        return isState
                   ? test::expectedOf(disturbed(random, *problem)).state.data
                   : movedOutput(random, *problem);
      });
    };
    call.wanted.push_back(std::move(w));
  };
  add("O", d.dtype, false);
  if (d.variant.finalState)
    add("final state", test::logitType(d.dtype), true);
  return call;
}

RandomProgram attn::fuzz::makeLinear(uint64_t seed) {
  Random random(seed);
  LinearDraft d = drawDraft(random);
  LinearSizes known = drawSizes(random, d, nullptr);
  int64_t heads = known.hk, oldDk = known.dk, oldSq = known.sq;
  hideSizes(random,
            {&known.b, &heads, &known.sq, &known.skv, &known.dk, &known.dv});
  // Heads that are grouped show it by their types, and a map that changes the
  // head dim wants to know it.
  if (heads < 0 && !d.variant.groupedValues)
    known.hq = known.hk = known.hv = -1;
  if (countFeatures(d.variant, 2) != 2)
    known.dk = oldDk;
  if (hasOneLength(d.variant))
    known.sq = known.skv = known.skv < 0 ? -1 : oldSq;

  RandomProgram program;
  program.dtype = d.dtype;
  program.text = textOf(random, d, known);
  program.options = "form " + d.form + ", chunk " + std::to_string(d.chunk);
  program.configure = [form = d.form, chunk = d.chunk](EngineOptions &options) {
    options.linearForm = form;
    options.linearChunk = chunk;
  };
  for (int n = 0; n < 5; ++n)
    program.calls.push_back(makeCall(random, d, drawSizes(random, d, &known)));
  return program;
}
