// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.feature_map with every map, in every type and on every target, against
// the oracle.

#include "test/e2e/LinearHarness.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace attn;
using namespace attn::test;
using oracle::Array;
using oracle::Feature;
using oracle::FeatureKind;

namespace {

/// A map with its clauses; f32 in the region stands for the type of sums.
struct MapCase {
  std::string name, kind;
  Feature feature{};
  bool projected = false, offset = false, lengths = false;
  bool oneLength = false; ///< with lengths, one for all batch entries
  bool wide = false;      // the result is of the type of sums
  std::string region = "";
};

/// D, and M of the projection.
struct MapSizes {
  int64_t b, h, s, d, m;
};

struct MapCell {
  DType dtype;
  MapCase map;
  Target target;
};
void PrintTo(const MapCell &cell, std::ostream *os) { *os << cell.map.name; }

int64_t countFeatures(const MapCase &map, const MapSizes &s) {
  Feature feature = map.feature;
  feature.w.assign(map.projected ? size_t(s.m * s.d) : 0, 0.0);
  return oracle::applyFeature(feature, Array(1, 1, 1, s.d)).d;
}

std::string withSums(std::string text, DType dtype) {
  std::string sums = name(logitType(dtype));
  for (size_t at; (at = text.find("$s")) != std::string::npos;)
    text.replace(at, 2, sums);
  return text;
}

std::string irOf(const MapCase &map, DType dtype, const MapSizes &s) {
  std::string element = name(dtype), sums = name(logitType(dtype));
  std::string in = "tensor<?x?x?x" + std::to_string(s.d) + "x" + element + ">";
  std::string out = "tensor<?x?x?x" + std::to_string(countFeatures(map, s)) +
                    "x" + (map.wide ? sums : element) + ">";
  std::string w =
      "tensor<" + std::to_string(s.m) + "x" + std::to_string(s.d) + "xf32>";
  std::string arguments = "%x: " + in, clauses;
  if (!map.kind.empty())
    clauses += " feature(" + map.kind + ")";
  if (map.projected) {
    arguments += ", %w: " + w;
    clauses += " projection(%w : " + w + ")";
  }
  if (map.feature.scale != 1.0)
    clauses += " scale(" + std::to_string(map.feature.scale) + ")";
  if (map.offset) {
    arguments += ", %p: index";
    clauses += " offset(%p : index)";
  }
  if (map.lengths) {
    std::string type = map.oneLength ? "index" : "tensor<?xi64>";
    arguments += ", %n: " + type;
    clauses += " lengths(%n : " + type + ")";
  }
  if (map.feature.log)
    clauses += " log";
  if (!map.region.empty())
    clauses += " map {\n" + withSums(map.region, dtype) + "  }";
  return "func.func @main(" + arguments + ") -> " + out +
         " {\n  %y = attn.feature_map %x" + clauses + " : " + in + " -> " +
         out + "\n  return %y : " + out + "\n}\n";
}

struct MapProblem {
  Array x;
  Feature feature;
  Arguments arguments;
};

MapProblem makeProblem(const MapCase &map, DType dtype, const MapSizes &s,
                       uint64_t seed) {
  MapProblem p;
  p.feature = map.feature;
  p.x = Array(s.b, s.h, s.s, s.d);
  p.x.data = randomValues(p.x.data.size(), seed);
  for (double &x : p.x.data)
    x = roundTo(dtype, 2.0 * x);
  if (map.projected) {
    p.feature.w = randomValues(size_t(s.m * s.d), seed + 1);
    for (double &w : p.feature.w)
      w = roundTo(DType::f32, 1.75 * w);
  }
  if (map.offset)
    p.feature.offset = 41;
  if (map.lengths)
    for (int64_t b = 0; b < s.b; ++b)
      p.feature.lengths.push_back(b == 0 || map.oneLength ? s.s - s.s / 3
                                  : b == 1                ? -1
                                                          : 999);
  // Rows that are not in use mean nothing.
  if (map.lengths)
    for (int64_t h = 0; h < s.h; ++h)
      for (int64_t t = p.feature.lengths[0]; t < s.s; ++t)
        p.x.at(0, h, t, 0) = std::nan("");

  p.arguments.add(dtype, {s.b, s.h, s.s, s.d}, p.x.data);
  if (map.projected)
    p.arguments.add(DType::f32, {s.m, s.d}, p.feature.w);
  if (map.offset)
    p.arguments.add(p.feature.offset);
  if (map.oneLength)
    p.arguments.add(p.feature.lengths.at(0));
  else if (map.lengths)
    p.arguments.add(DType::i64, {s.b},
                    std::vector<double>(p.feature.lengths.begin(),
                                        p.feature.lengths.end()));
  return p;
}

std::vector<MapCase> mapCases() {
  std::vector<MapCase> all;
  auto add = [&](
                 const std::string &name, const std::string &kind,
                 FeatureKind oracleKind,
                 void (*set)(MapCase &) = [](MapCase &) {}) {
    MapCase &map = all.emplace_back();
    map.name = name;
    map.kind = kind;
    map.feature.kind = oracleKind;
    set(map);
  };
  add("identity", "#attn.identity", FeatureKind::Identity,
      [](MapCase &m) { m.feature.scale = -0.375; });
  add("projection", "#attn.identity", FeatureKind::Identity, [](MapCase &m) {
    m.feature.scale = 0.625;
    m.projected = true;
  });
  add("elu1", "#attn.elu1", FeatureKind::Elu1);
  add("elu1_projected", "#attn.elu1", FeatureKind::Elu1, [](MapCase &m) {
    m.projected = true;
    m.wide = true;
  });
  add("relu", "#attn.relu", FeatureKind::Relu);
  add("relu_eps", "#attn.relu<eps = 0.0625>", FeatureKind::Relu,
      [](MapCase &m) { m.feature.eps = 0.0625; });
  add("relu2", "#attn.relu2", FeatureKind::Relu2);
  add("softmax_features", "#attn.softmax_features",
      FeatureKind::SoftmaxFeatures);
  add("softmax_positions", "#attn.softmax_positions",
      FeatureKind::SoftmaxPositions);
  add("softmax_positions_lengths", "#attn.softmax_positions",
      FeatureKind::SoftmaxPositions, [](MapCase &m) { m.lengths = true; });
  add("softmax_positions_length_of_all", "#attn.softmax_positions",
      FeatureKind::SoftmaxPositions,
      [](MapCase &m) { m.lengths = m.oneLength = true; });
  add("hedgehog", "#attn.hedgehog", FeatureKind::Hedgehog,
      [](MapCase &m) { m.projected = true; });
  add("cosformer", "#attn.cosformer<length = 300>", FeatureKind::Cosformer,
      [](MapCase &m) {
        m.feature.length = 300;
        m.offset = true;
      });
  add("taylor2", "#attn.taylor2", FeatureKind::Taylor2);
  add("positive", "#attn.positive", FeatureKind::Positive, [](MapCase &m) {
    m.projected = true;
    m.feature.scale = 0.375;
  });
  add("positive_log", "#attn.positive", FeatureKind::Positive, [](MapCase &m) {
    m.projected = m.feature.log = m.wide = true;
    m.feature.scale = 0.375;
  });
  add("hyperbolic", "#attn.hyperbolic", FeatureKind::Hyperbolic,
      [](MapCase &m) {
        m.projected = true;
        m.feature.scale = 0.375;
      });
  add("hyperbolic_log", "#attn.hyperbolic", FeatureKind::Hyperbolic,
      [](MapCase &m) { m.projected = m.feature.log = true; });
  add("trigonometric", "#attn.trigonometric", FeatureKind::Trigonometric,
      [](MapCase &m) {
        m.projected = true;
        m.feature.scale = 0.375;
      });
  add("region", "", FeatureKind::Identity, [](MapCase &m) {
    m.feature.map = [](double x) { return std::tanh(x) + x * x; };
    m.region = "  ^bb0(%e: $s):\n    %t = math.tanh %e : $s\n"
               "    %q = arith.mulf %e, %e : $s\n"
               "    %r = arith.addf %t, %q : $s\n    attn.yield %r : $s\n";
  });
  return all;
}

/// Empty if a run gives the features of `feature`.
std::string checkMap(const Target &target, const MapCase &map, DType dtype,
                     const MapSizes &s, const MapProblem &p,
                     const Feature &feature) {
  std::vector<Tensor> got =
      run(target, irOf(map, dtype, s), p.arguments.values);
  if (got.empty())
    return "no result";
  return oracle::checkOutput(toDoubles(got[0].view()),
                             oracle::applyFeature(feature, p.x).data,
                             toleranceOf(dtype));
}

class FeatureMaps : public testing::TestWithParam<MapCell> {};

TEST_P(FeatureMaps, MatchTheOracle) {
  const auto &[dtype, map, target] = GetParam();
  ATTN_SKIP_UNLESS_HERE(target);
  uint64_t seed = 0;
  for (const MapSizes &s : {MapSizes{2, 3, 5, 7, 11},
                            {1, 2, 67, 16, 24},
                            {3, 1, 1, 9, 5},
                            {1, 1, 130, 33, 18}}) {
    MapProblem p = makeProblem(map, dtype, s, seed += 100);
    EXPECT_EQ(checkMap(target, map, dtype, s, p, p.feature), "")
        << irOf(map, dtype, s);
  }
}

std::vector<MapCell> mapCells() {
  std::vector<MapCell> all;
  for (DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64})
    for (const MapCase &map : mapCases())
      for (const Target &target : linearTargets(dtype))
        all.push_back({dtype, map, target});
  return all;
}

std::string checkAgainstWrong(const std::string &name,
                              void (*spoil)(Feature &)) {
  for (const MapCase &map : mapCases())
    if (map.name == name) {
      MapSizes s{2, 3, 37, 7, 11};
      MapProblem p = makeProblem(map, DType::f32, s, 1);
      Target target = linearTargets(DType::f32).back();
      EXPECT_EQ(checkMap(target, map, DType::f32, s, p, p.feature), "");
      Feature wrong = p.feature;
      spoil(wrong);
      return checkMap(target, map, DType::f32, s, p, wrong);
    }
  ADD_FAILURE() << "no map " << name;
  return {};
}
} // namespace

INSTANTIATE_TEST_SUITE_P(All, FeatureMaps, testing::ValuesIn(mapCells()),
                         [](const testing::TestParamInfo<MapCell> &info) {
                           return std::string(name(info.param.dtype)) + "_" +
                                  info.param.map.name + "_" +
                                  info.param.target.name;
                         });

TEST(FeatureMapsMustFail, OnOtherNumbers) {
  EXPECT_NE(checkAgainstWrong("relu_eps", [](Feature &f) { f.eps = 0; }), "");
  EXPECT_NE(checkAgainstWrong("cosformer", [](Feature &f) { ++f.offset; }), "");
  EXPECT_NE(checkAgainstWrong("cosformer", [](Feature &f) { ++f.length; }), "");
  EXPECT_NE(checkAgainstWrong("positive", [](Feature &f) { f.scale = 1; }), "");
  EXPECT_NE(checkAgainstWrong("softmax_positions_lengths",
                              [](Feature &f) { --f.lengths[0]; }),
            "");
  EXPECT_NE(checkAgainstWrong(
                "softmax_features",
                [](Feature &f) { f.kind = FeatureKind::SoftmaxPositions; }),
            "");
}
