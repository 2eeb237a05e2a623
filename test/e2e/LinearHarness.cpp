// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LinearHarness.h.

#include "test/e2e/LinearHarness.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>

using namespace attn;
using namespace attn::test;
using oracle::Array;
using oracle::Divisor;

std::ostream &attn::test::operator<<(std::ostream &os, const LinearSizes &s) {
  return os << "B " << s.b << " Hq " << s.hq << " Hk " << s.hk << " Hv " << s.hv
            << " Sq " << s.sq << " Skv " << s.skv << " Dk " << s.dk << " Dv "
            << s.dv;
}

std::vector<Target> attn::test::linearTargets(DType dtype) {
  std::vector<Target> targets = targetsFor(dtype);
  // What the earlier stages leave, run plainly, tells which of them is wrong.
  for (const char *stage : {"rewrite", "tile"})
    targets.push_back(
        {std::string("reference_") + stage, "reference", "cpu:generic",
         [stage](EngineOptions &options) { options.referenceStage = stage; }});
  return targets;
}

/// Features of a query or key.
static int64_t countFeatures(const LinearVariant &variant, int64_t dk) {
  return oracle::applyFeature(variant.queryFeature, Array(1, 1, 1, dk)).d;
}

static int64_t countColumns(const LinearVariant &variant, int64_t dv) {
  return variant.divisor == Divisor::None ? dv : dv + 1;
}

//===- the text -----------------------------------------------------------===//

static std::string typeOf(const std::vector<int64_t> &sizes, DType dtype) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += (size < 0 ? "?" : std::to_string(size)) + "x";
  return text + name(dtype) + ">";
}

namespace {
/// Collects the operands of clauses.
struct Clauses {
  std::string arguments, text;

  void add(const std::string &clause,
           const std::vector<std::pair<std::string, std::string>> &operands) {
    std::string names, types;
    for (auto &[operand, type] : operands) {
      arguments += ", " + operand + ": " + type;
      names += (names.empty() ? "" : ", ") + operand;
      types += (types.empty() ? "" : ", ") + type;
    }
    text += " " + clause + "(" + names + " : " + types + ")";
  }
};
} // namespace

std::string attn::test::linearIr(const LinearVariant &variant, DType dtype,
                                 const LinearSizes &sizes) {
  LinearSizes s = sizes;
  int64_t m = countFeatures(variant, s.dk), states = s.b;
  if (variant.packed)
    s.b = 1;
  if (!variant.staticSizes) {
    states = -1;
    s.b = s.sq = s.skv = s.dv = -1;
    if (!variant.groupedValues)
      s.hq = s.hk = s.hv = -1;
    if (m == s.dk)
      s.dk = m = -1;
  }
  int64_t columns = s.dv < 0 ? -1 : countColumns(variant, s.dv);
  DType sums = logitType(dtype);
  DType queryType = variant.wide ? sums : dtype;
  std::string q = typeOf({s.b, s.hq, s.sq, s.dk}, queryType);
  std::string k = typeOf({s.b, s.hk, s.skv, s.dk}, queryType);
  std::string v = typeOf({s.b, s.hv, s.skv, s.dv}, dtype);
  int64_t outHeads = variant.groupedValues ? s.hv : s.hq;
  std::string o = typeOf({s.b, outHeads, s.sq, s.dv}, dtype);
  std::string state = typeOf({states, s.hv, m, columns}, sums);

  Clauses c;
  if (variant.scale)
    c.text += " scale(" + std::to_string(*variant.scale) + ")";
  std::string perToken = typeOf({s.b, s.hv, s.skv, m}, queryType);
  if (variant.decay == Decay::Head)
    c.add("decay", {{"%g", typeOf({s.hv}, sums)}});
  if (variant.decay == Decay::Token)
    c.add("decay", {{"%g", typeOf({s.b, s.hv, s.skv}, sums)}});
  if (variant.decay == Decay::Vector)
    c.add("decay", {{"%g", typeOf({s.b, s.hv, s.skv, m}, sums)}});
  if (variant.beta)
    c.add("beta", {{"%beta", typeOf({s.b, s.hv, s.skv}, queryType)}});
  if (variant.transition)
    c.add("transition", {{"%a", perToken}, {"%b", perToken}});
  if (variant.bonus)
    c.add("bonus", {{"%u", typeOf({s.hv, m}, queryType)}});
  if (variant.state)
    c.add("state", {{"%s0", state}});
  if (variant.lengths)
    c.add("lengths",
          {{"%n", variant.oneLength ? "index" : typeOf({states}, DType::i64)}});
  std::string starts = typeOf({states < 0 ? -1 : states + 1}, DType::i64);
  if (variant.packed)
    c.add("query_starts", {{"%qs", starts}});
  if (variant.keyStarts)
    c.add("key_starts", {{"%ks", starts}});
  if (!variant.features.empty())
    c.text += " feature(" + variant.features + ")";
  if (variant.divisor != Divisor::None)
    c.text += std::string(" normalize(") +
              (variant.divisor == Divisor::Token ? "token)" : "feature)");
  if (variant.block)
    c.text += " block(" + std::to_string(*variant.block) + ")";
  if (variant.causal)
    c.text += " causal";
  if (variant.segments)
    c.text += " {attn.segments = " + std::to_string(variant.segments) + "}";

  std::string results = variant.finalState ? "(" + o + ", " + state + ")" : o;
  std::string names = variant.finalState ? "%o, %s1" : "%o";
  std::string types = variant.finalState ? o + ", " + state : o;
  return "func.func @main(%q: " + q + ", %k: " + k + ", %v: " + v +
         c.arguments + ") -> " + results + " {\n  " + names +
         " = attn.linear %q, %k, %v" + c.text + "\n      : (" + q + ", " + k +
         ", " + v + ") -> " + results + "\n  return " + names + " : " + types +
         "\n}\n";
}

//===- problems -----------------------------------------------------------===//

namespace {
/// Random arrays, each from a seed of its own.
struct Randomness {
  uint64_t seed;

  Array draw(const Array &shape, double from, double to) {
    Array array = shape;
    array.data = randomValues(array.data.size(), ++seed * 1000003);
    for (double &x : array.data)
      x = from + (to - from) * (x + 1.0) / 2.0;
    return array;
  }
};
} // namespace

static void roundAll(Array &array, DType dtype) {
  for (double &x : array.data)
    x = roundTo(dtype, x);
}

/// Each vector of length 1.
static void normalizeRows(Array &array) {
  for (size_t row = 0; row < array.data.size(); row += size_t(array.d)) {
    double square = 0.0;
    for (int64_t d = 0; d < array.d; ++d)
      square += array.data[row + size_t(d)] * array.data[row + size_t(d)];
    for (int64_t d = 0; d < array.d; ++d)
      array.data[row + size_t(d)] /= std::sqrt(square);
  }
}

/// From hardly any decay to one that leaves nothing.
static Array drawDecay(Randomness &random, const Array &shape) {
  Array size = random.draw(shape, 0, 1), kind = random.draw(shape, 0, 1);
  for (size_t n = 0; n < size.data.size(); ++n) {
    double scale = kind.data[n] < 0.05 ? 30 : kind.data[n] < 0.4 ? 1e-4 : 1;
    size.data[n] = scale == 30 ? -30.0 : -scale * size.data[n];
  }
  return size;
}

/// First rows of `count` sequences in `rows` rows, and their end: some rows
/// before the first and behind the last, one sequence without rows, and one
/// start that is less than the one before it.
static std::vector<int64_t> drawStarts(int64_t count, int64_t rows,
                                       int64_t shift) {
  std::vector<int64_t> starts{rows > 8 ? 2 : 0};
  for (int64_t n = 1; n <= count; ++n)
    starts.push_back(n == 2 && count > 2
                         ? starts.back() - (rows > 8 ? 1 : 0)
                         : rows * n / (count + 1) + shift % (n + 1));
  if (count == 1)
    starts.back() = rows + 5;
  return starts;
}

void attn::test::spoilUnused(Array &array, const std::vector<int64_t> &lengths,
                             const std::vector<int64_t> &starts) {
  if (array.data.empty())
    return;
  // Rows in use of each batch entry; with starts there is one of these.
  std::vector<std::vector<bool>> used(size_t(array.b),
                                      std::vector<bool>(size_t(array.s)));
  auto rowsOf = [&](size_t n, int64_t most) {
    return lengths.empty() ? most : std::clamp<int64_t>(lengths[n], 0, most);
  };
  if (starts.empty())
    for (size_t b = 0; b < used.size(); ++b)
      std::fill_n(used[b].begin(), rowsOf(b, array.s), true);
  int64_t first = 0;
  for (size_t n = 0; n + 1 < starts.size(); ++n) {
    first = std::clamp(starts[n], first, array.s);
    int64_t end = std::clamp(starts[n + 1], first, array.s);
    std::fill_n(used.at(0).begin() + first, rowsOf(n, end - first), true);
  }
  for (int64_t b = 0; b < array.b; ++b)
    for (int64_t h = 0; h < array.h; ++h)
      for (int64_t t = 0; t < array.s; ++t)
        for (int64_t d = 0; d < array.d && !used[size_t(b)][size_t(t)]; ++d)
          array.at(b, h, t, d) = std::nan("");
}

/// Decay, beta, transition and bonus.
static void drawScan(const LinearVariant &variant, LinearProblem &p,
                     Randomness &random) {
  LinearSizes s = p.sizes;
  if (variant.packed)
    s.b = 1;
  int64_t m = countFeatures(variant, s.dk);
  oracle::Linear &l = p.linear;
  if (variant.decay == Decay::Head)
    l.headDecay = drawDecay(random, Array(1, s.hv, 1, 1)).data;
  if (variant.decay == Decay::Token)
    l.decay = drawDecay(random, Array(s.b, s.hv, s.skv, 1));
  if (variant.decay == Decay::Vector)
    l.decay = drawDecay(random, Array(s.b, s.hv, s.skv, m));
  if (variant.beta)
    l.beta = random.draw(Array(s.b, s.hv, s.skv, 1), 0.05, 0.95);
  if (variant.transition) {
    l.read = random.draw(Array(s.b, s.hv, s.skv, m), -1, 1);
    normalizeRows(l.read);
    l.write = l.read;
    Array factor = random.draw(Array(s.b, s.hv, s.skv, 1), 0.05, 0.95);
    for (size_t n = 0; n < l.write.data.size(); ++n)
      l.write.data[n] *= -factor.data[n / size_t(m)];
  }
  if (variant.bonus)
    l.bonus = random.draw(Array(1, s.hv, 1, m), -2, 2);
}

LinearProblem attn::test::makeLinearProblem(const LinearVariant &variant,
                                            DType dtype, const LinearSizes &s,
                                            uint64_t seed) {
  LinearProblem p;
  p.sizes = s;
  p.dtype = dtype;
  Randomness random{seed * 100};
  int64_t batch = variant.packed ? 1 : s.b;
  p.q = random.draw(Array(batch, s.hq, s.sq, s.dk), -2, 2);
  p.k = random.draw(Array(batch, s.hk, s.skv, s.dk), -2, 2);
  p.v = random.draw(Array(batch, s.hv, s.skv, s.dv), -2, 2);
  if (variant.beta || variant.transition)
    normalizeRows(p.k);
  oracle::Linear &l = p.linear;
  l.scale = variant.scale.value_or(1.0);
  l.queryFeature = variant.queryFeature;
  l.keyFeature = variant.keyFeature;
  l.divisor = variant.divisor;
  l.block = variant.block;
  l.causal = variant.causal;
  drawScan(variant, p, random);
  if (variant.state) {
    int64_t m = countFeatures(variant, s.dk);
    l.state =
        random.draw(Array(s.b, s.hv, m, countColumns(variant, s.dv)), -1, 1);
    // A sum of positive features.
    if (variant.divisor != Divisor::None)
      for (size_t row = 0; row < l.state.data.size(); row += size_t(s.dv + 1))
        l.state.data[row + size_t(s.dv)] =
            0.125 + std::fabs(l.state.data[row + size_t(s.dv)]);
  }
  if (variant.packed)
    l.queryStarts = drawStarts(s.b, s.sq, 0);
  if (variant.keyStarts)
    l.keyStarts = drawStarts(s.b, s.skv, 1);
  // Positive features may be in divisors; a bonus between them would not be.
  if (variant.bonus && variant.divisor != Divisor::None)
    for (double &u : l.bonus.data)
      u = 0.125 + std::fabs(u);
  // Some keys, more than there are, and fewer than none.
  if (variant.lengths)
    for (int64_t b = 0; b < s.b; ++b)
      l.lengths.push_back(b == 0 || variant.oneLength ? s.skv - s.skv / 3
                          : b == 1                    ? s.skv + 3
                                                      : -2);

  DType sums = logitType(dtype);
  DType queryType = variant.wide ? sums : dtype;
  roundAll(p.v, dtype);
  for (Array *array : {&p.q, &p.k, &l.read, &l.write, &l.beta, &l.bonus})
    roundAll(*array, queryType);
  for (Array *array : {&l.decay, &l.state})
    roundAll(*array, sums);
  for (double &g : l.headDecay)
    g = roundTo(sums, g);
  spoilUnused(p.q, {}, l.queryStarts);
  for (Array *array : {&p.k, &p.v, &l.read, &l.write, &l.beta, &l.decay})
    spoilUnused(*array, l.lengths,
                variant.keyStarts ? l.keyStarts : l.queryStarts);
  return p;
}

//===- runs ---------------------------------------------------------------===//

Arguments attn::test::argumentsOf(const LinearVariant &variant,
                                  const LinearProblem &p) {
  DType sums = logitType(p.dtype);
  DType queryType = variant.wide ? sums : p.dtype;
  const oracle::Linear &l = p.linear;
  Arguments arguments;
  auto add = [&](const Array &a, DType dtype) {
    arguments.add(dtype, {a.b, a.h, a.s, a.d}, a.data);
  };
  add(p.q, queryType);
  add(p.k, queryType);
  add(p.v, p.dtype);
  if (variant.decay == Decay::Head)
    arguments.add(sums, {p.sizes.hv}, l.headDecay);
  if (variant.decay == Decay::Token)
    arguments.add(sums, {l.decay.b, l.decay.h, l.decay.s}, l.decay.data);
  if (variant.decay == Decay::Vector)
    add(l.decay, sums);
  if (variant.beta)
    arguments.add(queryType, {l.beta.b, l.beta.h, l.beta.s}, l.beta.data);
  if (variant.transition) {
    add(l.read, queryType);
    add(l.write, queryType);
  }
  if (variant.bonus)
    arguments.add(queryType, {l.bonus.h, l.bonus.d}, l.bonus.data);
  if (variant.state)
    add(l.state, sums);
  auto addNumbers = [&](const std::vector<int64_t> &numbers) {
    arguments.add(DType::i64, {int64_t(numbers.size())},
                  std::vector<double>(numbers.begin(), numbers.end()));
  };
  if (variant.oneLength)
    arguments.add(l.lengths.empty() ? p.sizes.skv : l.lengths[0]);
  else if (variant.lengths)
    addNumbers(l.lengths);
  if (variant.packed)
    addNumbers(l.queryStarts);
  if (variant.keyStarts)
    addNumbers(l.keyStarts);
  return arguments;
}

std::vector<Tensor> attn::test::run(const Target &target,
                                    const LinearVariant &variant,
                                    const LinearProblem &p, int threads) {
  Arguments arguments = argumentsOf(variant, p);
  return run(target, linearIr(variant, p.dtype, p.sizes), arguments.values,
             threads);
}

oracle::LinearResult attn::test::expectedOf(const LinearProblem &p) {
  return oracle::attendLinear(p.linear, p.q, p.k, p.v);
}

std::string attn::test::checkLinear(const LinearVariant &variant,
                                    const oracle::LinearResult &want,
                                    DType dtype,
                                    const std::vector<Tensor> &got) {
  size_t count = variant.finalState ? 2 : 1;
  if (got.size() != count)
    return "expected " + std::to_string(count) + " results, got " +
           std::to_string(got.size());
  oracle::Tolerance tolerance = toleranceOf(dtype);
  // A token's error goes through the transitions of all later ones.
  if (dtype == DType::f32 && (variant.beta || variant.transition)) {
    tolerance.relativeRms *= 10;
    tolerance.maxAbs *= 10;
  }
  const Array *arrays[] = {&want.o, &want.state};
  const char *names[] = {"O", "final state"};
  for (size_t n = 0; n < count; ++n) {
    const Array &a = *arrays[n];
    if (got[n].view().sizes != std::vector<int64_t>{a.b, a.h, a.s, a.d})
      return std::string(names[n]) + " has the wrong shape";
    std::string error =
        oracle::checkOutput(toDoubles(got[n].view()), a.data, tolerance);
    if (!error.empty())
      return std::string(names[n]) + ": " + error;
  }
  return {};
}
