// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.favor of every kind.

#include "test/e2e/LinearHarness.h"
#include "test/fuzz/families/ProductsFamily.h"

#include <algorithm>
#include <cmath>
#include <memory>

using namespace attn;
using namespace attn::fuzz;
using oracle::Array;
using oracle::FavorKind;

namespace {
struct FavorOperands {
  Array q, k, v;
  oracle::Favor favor;
};
struct FavorDraft {
  DType dtype, projectionType;
  oracle::Favor favor;
  bool hasLengths, isOneLength;
  int64_t b, hq, hkv, sq, skv, d, dv, m; // known, or -1
};
} // namespace

static FavorDraft drawFavor(Random &random) {
  FavorDraft d;
  d.dtype = drawType(random);
  d.projectionType = random.oneIn(3) ? d.dtype : DType::f32;
  d.favor.kind = pick(random, {FavorKind::Positive, FavorKind::Positive,
                               FavorKind::Hyperbolic, FavorKind::Trigonometric,
                               FavorKind::Relu});
  if (random.oneIn(3))
    d.favor.scale = pick(random, {0.25, 1.0, 0.0625});
  if (random.oneIn(2))
    d.favor.eps = 0x1p-7;
  d.favor.causal = random.oneIn(2);
  d.hasLengths = random.oneIn(3);
  d.isOneLength = random.oneIn(3);
  d.b = drawSize(random, 3, true);
  d.hkv = drawSize(random, 2);
  d.hq = d.hkv * pick<int64_t>(random, {1, 1, 2, 3});
  d.sq = drawSize(random, 70, true);
  d.skv = d.favor.causal ? d.sq : drawSize(random, 70, true);
  d.d = drawSize(random, 33);
  d.dv = drawSize(random, 33, true);
  d.m = drawSize(random, 33);
  int64_t heads = 0, length = 0;
  hideSizes(random, {&d.b, &heads, &length, &d.d, &d.dv, &d.m});
  if (heads < 0)
    d.hq = d.hkv = -1;
  if (length < 0)
    d.sq = d.skv = -1;
  return d;
}

static std::string textOf(Random &random, const FavorDraft &d) {
  static const char *kinds[] = {"positive", "hyperbolic", "trigonometric",
                                "relu"};
  std::string q = typeText({d.b, d.hq, d.sq, d.d}, d.dtype);
  std::string k = typeText({d.b, d.hkv, d.skv, d.d}, d.dtype);
  std::string v = typeText({d.b, d.hkv, d.skv, d.dv}, d.dtype);
  std::string o = typeText({d.b, d.hq, d.sq, d.dv}, d.dtype);
  std::string w = typeText({d.m, d.d}, d.projectionType);
  std::string arguments =
      "%q: " + q + ", %k: " + k + ", %v: " + v + ", %w: " + w;
  std::vector<std::string> clauses = {std::string("kind(") +
                                      kinds[int(d.favor.kind)] + ")"};
  if (d.favor.scale)
    clauses.push_back("scale(" + std::to_string(*d.favor.scale) + ")");
  if (d.favor.eps != 0.0)
    clauses.push_back("eps(0.0078125)");
  if (d.hasLengths) {
    std::string n = d.isOneLength ? "index" : typeText({d.b}, DType::i64);
    arguments += ", %n: " + n;
    clauses.push_back("lengths(%n : " + n + ")");
  }
  if (d.favor.causal)
    clauses.push_back("causal");
  orderClauses(random, clauses);
  std::string list;
  for (const std::string &clause : clauses)
    list += " " + clause;
  return "func.func @main(" + arguments + ") -> " + o +
         " {\n  %o = attn.favor %q, %k, %v, %w" + list + "\n      : (" + q +
         ", " + k + ", " + v + ", " + w + ") -> " + o + "\n  return %o : " + o +
         "\n}\n";
}

RandomProgram attn::fuzz::makeFavor(Random &random) {
  FavorDraft d = drawFavor(random);
  RandomProgram program;
  program.dtype = d.dtype;
  program.text = textOf(random, d);
  program.options = "no options";
  for (int n = 0; n < 5; ++n) {
    auto x = std::make_shared<FavorOperands>();
    x->favor = d.favor;
    int64_t b = sizeOr(d.b, drawSize(random, 3));
    int64_t hkv = sizeOr(d.hkv, drawSize(random, 2));
    int64_t hq = sizeOr(d.hq, hkv * int64_t(1 + random.below(3)));
    int64_t sq = sizeOr(d.sq, drawSize(random, 70, true));
    int64_t skv =
        d.favor.causal ? sq : sizeOr(d.skv, drawSize(random, 70, true));
    int64_t head = sizeOr(d.d, drawSize(random, 33));
    int64_t dv = sizeOr(d.dv, drawSize(random, 33, true));
    int64_t m = sizeOr(d.m, drawSize(random, 33));
    x->q = drawArray(random, d.dtype, Array(b, hq, sq, head), 1.5);
    x->k = drawArray(random, d.dtype, Array(b, hkv, skv, head), 1.5);
    x->v = drawArray(random, d.dtype, Array(b, hkv, skv, dv), 2.0);
    x->favor.w =
        drawValues(random, d.projectionType, size_t(m * head), -1.75, 1.75);
    if (d.hasLengths) {
      x->favor.lengths = drawLengths(random, b, skv, d.isOneLength);
      test::spoilUnused(x->k, x->favor.lengths);
      test::spoilUnused(x->v, x->favor.lengths);
    }
    RandomCall call;
    call.sizes = "B, Hq, Hkv, Sq, Skv, D, Dv, M: " +
                 sizesText({b, hq, hkv, sq, skv, head, dv, m});
    for (const Array *a : {&x->q, &x->k, &x->v})
      addArray(call.arguments, d.dtype, *a);
    call.arguments.add(d.projectionType, {m, head}, x->favor.w);
    if (d.hasLengths && d.isOneLength)
      call.arguments.add(b > 0 ? x->favor.lengths[0] : skv);
    else if (d.hasLengths)
      call.arguments.add(DType::i64, {b},
                         {x->favor.lengths.begin(), x->favor.lengths.end()});
    Wanted w = wantedOf("O", d.dtype, d.dtype,
                        oracle::attendFavor(x->favor, x->q, x->k, x->v));
    // Features of both signs, or that are 0, make divisors near 0.
    w.isUnsteady = d.favor.kind == FavorKind::Trigonometric ||
                   (d.favor.kind == FavorKind::Relu && d.favor.eps == 0.0);
    w.wobble = [x, dtype = d.dtype, seed = random.next(), values = w.values] {
      return wobbleOf(seed, values, [&](Random &random) {
        FavorOperands moved = *x;
        for (std::vector<double> *list :
             {&moved.q.data, &moved.k.data, &moved.v.data, &moved.favor.w})
          disturb(random, *list, roundingOf(dtype));
        return oracle::attendFavor(moved.favor, moved.q, moved.k, moved.v).data;
      });
    };
    call.wanted.push_back(std::move(w));
    program.calls.push_back(std::move(call));
  }
  return program;
}
