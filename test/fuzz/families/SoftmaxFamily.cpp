// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.softmax and attn.gqa with clauses in any order, and packed sequences.
// See SoftmaxFamily.h.

#include "test/fuzz/families/SoftmaxFamily.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <sstream>

using namespace attn;
using namespace attn::fuzz;
using oracle::Array;
using test::Problem;
using test::Sizes;

namespace {
/// A program; its calls differ in sizes and operands.
struct Draft {
  std::string op;
  DType dtype = DType::f32;
  Sizes known{};
  bool isPacked = false, hasLse = false;
  DType startsType = DType::i64;
  SoftmaxClauses clauses;
};

/// First rows of packed sequences, and the end.
struct Starts {
  std::vector<int64_t> queries, keys;
};
} // namespace

/// In a packed program b is the number of sequences.
static Sizes drawSizes(Random &random, const Draft &d, const Sizes *known) {
  Sizes s;
  s.b = d.isPacked ? int64_t(random.below(5)) : drawSize(random, 3, true);
  s.hkv = drawSize(random, 3);
  s.hq = s.hkv * (d.op == "gqa" ? pick<int64_t>(random, {1, 2, 3, 4, 7}) : 1);
  s.sq = drawSize(random, random.oneIn(6) ? 130 : 40, true);
  s.skv = drawSize(random, 130, true);
  s.dk = drawSize(random, 65);
  s.dv = drawSize(random, 65, true);
  if (known) {
    int64_t Sizes::*members[] = {&Sizes::b, &Sizes::sq, &Sizes::skv, &Sizes::dk,
                                 &Sizes::dv};
    for (auto member : members)
      if (known->*member >= 0)
        s.*member = known->*member;
    // Numbers of heads belong together.
    if (known->hkv >= 0)
      s.hq = known->hq >= 0 ? known->hq : known->hkv * (s.hq / s.hkv),
      s.hkv = known->hkv;
    else if (known->hq >= 0)
      s.hq = s.hkv = known->hq;
  }
  // The definition is loops: rather few rows.
  if (s.b * s.hq * s.sq * s.skv * (s.dk + s.dv) > 600000 &&
      (!known || known->sq < 0))
    s.sq = std::min<int64_t>(s.sq, 9);
  if (s.b * s.hq * s.sq * s.skv * (s.dk + s.dv) > 600000 &&
      (!known || known->dk < 0))
    s.dk = 5;
  return s;
}

static std::string textOf(Random &random, const Draft &d) {
  const Sizes &s = d.known;
  int64_t batch = d.isPacked ? (random.oneIn(2) ? 1 : -1) : s.b;
  std::string q = typeText({batch, s.hq, s.sq, s.dk}, d.dtype);
  std::string k =
      typeText(loosen(random, {batch, s.hkv, s.skv, s.dk}, {0, 2, 3}), d.dtype);
  std::string v =
      typeText(loosen(random, {batch, s.hkv, s.skv, s.dv}, {0, 2}), d.dtype);
  std::string o = typeText({batch, s.hq, s.sq, s.dv}, d.dtype);
  std::string lse = typeText({batch, s.hq, s.sq}, test::logitType(d.dtype));
  std::string arguments = d.clauses.arguments;
  std::vector<std::string> clauses;
  for (const std::string &clause : d.clauses.clauses) {
    if (!clause.empty()) {
      clauses.push_back(clause);
      continue;
    }
    std::string type = typeText({s.b < 0 ? -1 : s.b + 1}, d.startsType);
    arguments += ", %qs: " + type + ", %ks: " + type;
    clauses.push_back("query_starts(%qs : " + type + ")");
    clauses.push_back("key_starts(%ks : " + type + ")");
  }
  orderClauses(random, clauses);
  std::string list;
  for (const std::string &clause : clauses)
    list += " " + clause;
  std::string types = d.hasLse ? o + ", " + lse : o;
  std::string results = d.hasLse ? "(" + types + ")" : o;
  std::string names = d.hasLse ? "%o, %lse" : "%o";
  return "func.func @main(%q: " + q + ", %k: " + k + ", %v: " + v + arguments +
         ") -> " + results + " {\n  " + names + " = attn." + d.op +
         " %q, %k, %v" + list + "\n      : (" + q + ", " + k + ", " + v +
         ") -> " + results + "\n  return " + names + " : " + types + "\n}\n";
}

//===- what is wanted -----------------------------------------------------===//

static std::vector<int64_t> ascending(std::vector<int64_t> starts,
                                      int64_t rows) {
  int64_t last = 0;
  for (int64_t &start : starts)
    last = start = std::max(last, std::min(start, rows));
  return starts;
}

static Array rowsOf(const Array &all, int64_t first, int64_t end) {
  Array part(1, all.h, end - first, all.d);
  for (int64_t h = 0; h < all.h; ++h)
    for (int64_t r = first; r < end; ++r)
      for (int64_t c = 0; c < all.d; ++c)
        part.at(0, h, r - first, c) = all.at(0, h, r, c);
  return part;
}

/// What the clauses say of sequence n, whose batch entry is the only one.
static oracle::Attention ofSequence(const oracle::Attention &all, int64_t n) {
  oracle::Attention one = all;
  for (std::vector<int64_t> *list : {&one.offset, &one.prefix, &one.lengths})
    if (list->size() > 1)
      *list = {(*list)[size_t(n)]};
  if (all.score)
    one.score = [=](double s, int64_t, int64_t h, int64_t i, int64_t j) {
      return all.score(s, n, h, i, j);
    };
  if (all.keep)
    one.keep = [=](int64_t, int64_t h, int64_t i, int64_t j) {
      return all.keep(n, h, i, j);
    };
  return one;
}

static oracle::Result attend(const Problem &p, const Starts *starts) {
  if (!starts)
    return oracle::attend(p.attention, p.q, p.k, p.v);
  oracle::Result all{Array(1, p.q.h, p.q.s, p.v.d),
                     Array(1, p.q.h, p.q.s, 1, -INFINITY)};
  std::vector<int64_t> q = ascending(starts->queries, p.q.s);
  std::vector<int64_t> k = ascending(starts->keys, p.k.s);
  for (size_t n = 0; n + 1 < q.size(); ++n) {
    oracle::Result one = oracle::attend(
        ofSequence(p.attention, int64_t(n)), rowsOf(p.q, q[n], q[n + 1]),
        rowsOf(p.k, k[n], k[n + 1]), rowsOf(p.v, k[n], k[n + 1]));
    for (int64_t h = 0; h < p.q.h; ++h)
      for (int64_t r = q[n]; r < q[n + 1]; ++r) {
        all.lse.at(0, h, r, 0) = one.lse.at(0, h, r - q[n], 0);
        for (int64_t c = 0; c < p.v.d; ++c)
          all.o.at(0, h, r, c) = one.o.at(0, h, r - q[n], c);
      }
  }
  return all;
}

/// Logits are those of f32 or f64; weights may be rounded to the type of V.
static Problem disturbed(Random &random, const Problem &p) {
  Problem moved = p;
  double logits = roundingOf(test::logitType(p.dtype));
  disturb(random, moved.q.data, logits);
  disturb(random, moved.k.data, logits);
  disturb(random, moved.v.data, roundingOf(p.dtype));
  return moved;
}

static RandomCall makeCall(Random &random, const Draft &d) {
  Sizes s = drawSizes(random, d, &d.known);
  auto problem = std::make_shared<Problem>();
  Problem &p = *problem;
  p.sizes = s;
  p.dtype = d.dtype;
  int64_t batch = d.isPacked ? 1 : s.b;
  p.q = Array(batch, s.hq, s.sq, s.dk);
  p.k = Array(batch, s.hkv, s.skv, s.dk);
  p.v = Array(batch, s.hkv, s.skv, s.dv);
  double most = pick(random, {0.5, 2.0, 2.0});
  for (Array *array : {&p.q, &p.k, &p.v})
    array->data = drawValues(random, d.dtype, array->data.size(), -most, most);
  // Starts stand in front of the score region and its captured tensors, but
  // arguments are in order of the text: they come last.
  for (const auto &bind : d.clauses.binds)
    bind(p, random);
  auto starts = std::make_shared<Starts>();
  if (d.isPacked) {
    starts->queries = drawStarts(random, s.b, s.sq);
    starts->keys = drawStarts(random, s.b, s.skv);
    for (const auto *list : {&starts->queries, &starts->keys})
      p.captured.add(d.startsType, {s.b + 1}, {list->begin(), list->end()});
  }
  const Starts *packed = d.isPacked ? starts.get() : nullptr;
  oracle::Result want = attend(p, packed);

  RandomCall call;
  std::ostringstream os;
  os << s << (d.isPacked ? ", B being the number of sequences" : "");
  call.sizes = os.str();
  for (const Array *a : {&p.q, &p.k, &p.v})
    call.arguments.add(d.dtype, {a->b, a->h, a->s, a->d}, a->data);
  for (auto &tensor : p.captured.owned)
    call.arguments.owned.push_back(tensor);
  for (auto &value : p.captured.values)
    call.arguments.values.push_back(value);
  uint64_t seed = random.next();
  for (bool isLse : {false, true}) {
    if (isLse && !d.hasLse)
      continue;
    const Array &a = isLse ? want.lse : want.o;
    Wanted w;
    w.name = isLse ? "LSE" : "O";
    w.dtype = isLse ? test::logitType(d.dtype) : d.dtype;
    w.precision = d.dtype;
    w.isLse = isLse;
    w.sizes = {a.b, a.h, a.s};
    if (!isLse)
      w.sizes.push_back(a.d);
    w.values = a.data;
    w.wobble = [problem, starts, packed, isLse, seed, values = a.data] {
      return wobbleOf(seed, values, [&](Random &random) {
        oracle::Result moved = attend(disturbed(random, *problem), packed);
        return isLse ? moved.lse.data : moved.o.data;
      });
    };
    call.wanted.push_back(std::move(w));
  }
  return call;
}

RandomProgram attn::fuzz::makeSoftmax(uint64_t seed) {
  Random random(seed);
  Draft d;
  d.op = random.oneIn(3) ? "softmax" : "gqa";
  d.dtype = drawType(random);
  d.isPacked = random.oneIn(6);
  d.hasLse = random.oneIn(2);
  d.startsType = random.oneIn(2) ? DType::i64 : DType::i32;
  d.known = drawSizes(random, d, nullptr);
  hideSizes(random, {&d.known.b, &d.known.hq, &d.known.hkv, &d.known.sq,
                     &d.known.skv, &d.known.dk, &d.known.dv});
  // One op has one number of heads.
  if (d.op == "softmax" && d.known.hq != d.known.hkv)
    d.known.hq = d.known.hkv = -1;
  d.clauses = drawClauses(random, d.dtype, d.known, d.isPacked);
  bool isExact = random.oneIn(4);

  RandomProgram program;
  program.dtype = d.dtype;
  program.text = textOf(random, d);
  program.options = isExact ? "exact" : "no options";
  program.configure = [isExact](EngineOptions &options) {
    options.exact = isExact;
  };
  for (int n = 0; n < 5; ++n)
    program.calls.push_back(makeCall(random, d));
  return program;
}
