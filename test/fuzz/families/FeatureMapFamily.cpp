// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.feature_map with every map.

#include "test/e2e/LinearHarness.h"
#include "test/fuzz/families/ProductsFamily.h"

#include <algorithm>
#include <cmath>
#include <memory>

using namespace attn;
using namespace attn::fuzz;
using oracle::Array;
using oracle::Feature;
using oracle::FeatureKind;

namespace {
struct Map {
  const char *text; // "" for a region
  FeatureKind kind;
  bool needsProjection = false, mayLog = false;
};
const Map maps[] = {
    {"#attn.identity", FeatureKind::Identity},
    {"#attn.elu1", FeatureKind::Elu1},
    {"#attn.relu<eps = 0.0078125>", FeatureKind::Relu},
    {"#attn.relu2", FeatureKind::Relu2},
    {"#attn.softmax_features", FeatureKind::SoftmaxFeatures},
    {"#attn.softmax_positions", FeatureKind::SoftmaxPositions},
    {"#attn.hedgehog", FeatureKind::Hedgehog},
    {"#attn.cosformer<length = 150>", FeatureKind::Cosformer},
    {"#attn.taylor2", FeatureKind::Taylor2},
    {"#attn.positive", FeatureKind::Positive, true, true},
    {"#attn.hyperbolic", FeatureKind::Hyperbolic, true, true},
    {"#attn.trigonometric", FeatureKind::Trigonometric, true},
    {"", FeatureKind::Identity},
};

struct MapDraft {
  Map map;
  DType dtype, projectionType, resultType;
  bool isProjected, hasOffset, hasLengths;
  Feature feature;
  int64_t b, h, s, d, m; // known, or -1
};
} // namespace

static MapDraft drawMap(Random &random) {
  MapDraft d;
  d.map = maps[random.below(std::size(maps))];
  d.dtype = drawType(random);
  d.projectionType = random.oneIn(3) ? d.dtype : DType::f32;
  d.resultType = random.oneIn(3) ? test::logitType(d.dtype) : d.dtype;
  d.isProjected = d.map.needsProjection || random.oneIn(3);
  d.hasOffset = random.oneIn(4);
  d.hasLengths = d.map.kind == FeatureKind::SoftmaxPositions && random.oneIn(2);
  d.feature.kind = d.map.kind;
  d.feature.length = 150;
  d.feature.eps = d.map.kind == FeatureKind::Relu ? 0x1p-7 : 0.0;
  d.feature.log = d.map.mayLog && random.oneIn(2);
  d.feature.scale = pick(random, {1.0, 0.25, -0.5, 0.125});
  if (!*d.map.text)
    d.feature.map = [](double x) { return std::tanh(x) + 0.5; };
  bool isTaylor = d.map.kind == FeatureKind::Taylor2;
  d.b = drawSize(random, 3, true);
  d.h = drawSize(random, 3, true);
  d.s = drawSize(random, 70, true);
  d.d = drawSize(random, isTaylor ? 9 : 65);
  d.m = drawSize(random, isTaylor ? 9 : 65);
  int64_t head = d.d, rows = d.m;
  hideSizes(random, {&d.b, &d.h, &d.s, &d.d, &d.m});
  // A map that changes the number of features wants to know it.
  if (oracle::applyFeature(d.feature, Array(1, 1, 1, 2)).d != 2)
    d.d = head, d.m = rows;
  return d;
}

static int64_t featuresOf(const MapDraft &d) {
  int64_t entries = d.isProjected ? d.m : d.d;
  if (entries < 0)
    return -1;
  return oracle::applyFeature(d.feature, Array(1, 1, 1, entries)).d;
}

static std::string textOf(Random &random, const MapDraft &d) {
  std::string in = typeText({d.b, d.h, d.s, d.d}, d.dtype);
  std::string out = typeText({d.b, d.h, d.s, featuresOf(d)}, d.resultType);
  std::string w = typeText({d.m, d.d}, d.projectionType);
  std::string n = typeText({d.b}, DType::i64);
  std::string t = name(test::logitType(d.dtype));
  std::string arguments = "%x: " + in;
  std::vector<std::string> clauses;
  if (*d.map.text)
    clauses.push_back(std::string("feature(") + d.map.text + ")");
  if (d.isProjected) {
    arguments += ", %w: " + w;
    clauses.push_back("projection(%w : " + w + ")");
  }
  if (d.feature.scale != 1.0)
    clauses.push_back("scale(" + std::to_string(d.feature.scale) + ")");
  if (d.hasOffset) {
    arguments += ", %p: index";
    clauses.push_back("offset(%p : index)");
  }
  if (d.hasLengths) {
    arguments += ", %n: " + n;
    clauses.push_back("lengths(%n : " + n + ")");
  }
  if (d.feature.log)
    clauses.push_back("log");
  if (!*d.map.text)
    clauses.push_back("map {\n  ^bb0(%e: " + t +
                      "):\n    %y = math.tanh %e : " + t +
                      "\n    %half = arith.constant 0.5 : " + t +
                      "\n    %z = arith.addf %y, %half : " + t +
                      "\n    attn.yield %z : " + t + "\n  }");
  orderClauses(random, clauses);
  std::string list;
  for (const std::string &clause : clauses)
    list += " " + clause;
  return "func.func @main(" + arguments + ") -> " + out +
         " {\n  %y = attn.feature_map %x" + list + " : " + in + " -> " + out +
         "\n  return %y : " + out + "\n}\n";
}

RandomProgram attn::fuzz::makeFeatureMap(Random &random) {
  MapDraft d = drawMap(random);
  RandomProgram program;
  program.dtype = d.dtype;
  program.text = textOf(random, d);
  program.options = "no options";
  for (int n = 0; n < 5; ++n) {
    auto x = std::make_shared<Array>(
        drawArray(random, d.dtype,
                  Array(sizeOr(d.b, drawSize(random, 3)),
                        sizeOr(d.h, drawSize(random, 3)),
                        sizeOr(d.s, drawSize(random, 70)),
                        sizeOr(d.d, drawSize(random, 65))),
                  1.0));
    Feature feature = d.feature;
    int64_t rows = sizeOr(d.m, drawSize(random, 65));
    if (d.isProjected)
      feature.w =
          drawValues(random, d.projectionType, size_t(rows * x->d), -1.0, 1.0);
    if (d.hasOffset)
      feature.offset = int64_t(random.below(60));
    if (d.hasLengths) {
      feature.lengths = drawLengths(random, x->b, x->s);
      test::spoilUnused(*x, feature.lengths);
    }
    RandomCall call;
    call.sizes =
        sizesText({x->b, x->h, x->s, x->d}) + ", M " + std::to_string(rows);
    addArray(call.arguments, d.dtype, *x);
    if (d.isProjected)
      call.arguments.add(d.projectionType, {rows, x->d}, feature.w);
    if (d.hasOffset)
      call.arguments.add(feature.offset);
    if (d.hasLengths)
      call.arguments.add(DType::i64, {x->b},
                         {feature.lengths.begin(), feature.lengths.end()});
    Wanted w = wantedOf("features", d.resultType, d.dtype,
                        oracle::applyFeature(feature, *x));
    w.wobble = [=, seed = random.next(), values = w.values] {
      return wobbleOf(seed, values, [&](Random &random) {
        Array moved = *x;
        Feature other = feature;
        disturb(random, moved.data, roundingOf(d.dtype));
        disturb(random, other.w, roundingOf(d.dtype));
        return oracle::applyFeature(other, moved).data;
      });
    };
    call.wanted.push_back(std::move(w));
    program.calls.push_back(std::move(call));
  }
  return program;
}
