// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accuracy of the elementary functions that replace the math library in
// compiled code, against long double, in units in the last place: every float
// of one binade or two, samples of all others, and the special values.

#include "runtime/Engine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace attn;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Function {
  const char *name;
  long double (*exact)(long double);
};

float fromBits(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// |got - exact| in units of the last place of a float near `exact`.
double ulps(float got, long double exact) {
  int exponent;
  std::frexp(static_cast<double>(exact), &exponent);
  return std::abs(static_cast<double>(
      (got - exact) / std::ldexp(1.0L, std::max(exponent, -125) - 24)));
}

/// The function applied to `inputs` by compiled code.
std::vector<float> run(const std::string &name, const std::string &target,
                       std::vector<float> inputs) {
  std::string text = R"(
func.func @apply(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>,
                                        affine_map<(d) -> (d)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = math.)" + name +
                     R"( %a : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
})";
  EngineOptions options;
  options.target = target;
  Result<Program> program = Engine(options).compileText(text);
  if (!program) {
    ADD_FAILURE() << program.error().message;
    return {};
  }
  TensorView view;
  view.data = inputs.data();
  view.dtype = DType::f32;
  view.sizes = {static_cast<int64_t>(inputs.size())};
  view.strides = {1};
  Result<std::vector<Tensor>> out = program->call("apply", {view});
  if (!out) {
    ADD_FAILURE() << out.error().message;
    return {};
  }
  const float *data = (*out)[0].data<float>();
  return std::vector<float>(data, data + inputs.size());
}

/// Every float of [low, high), or every `step`th.
std::vector<float> range(float low, float high, uint32_t step = 1) {
  uint32_t first, last;
  std::memcpy(&first, &low, sizeof first);
  std::memcpy(&last, &high, sizeof last);
  std::vector<float> xs;
  for (uint32_t bits = std::min(first, last); bits < std::max(first, last);
       bits += step)
    xs.push_back(fromBits(bits));
  return xs;
}

class VectorMath : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    EngineOptions options;
    options.target = GetParam();
    if (Result<Engine> engine = Engine::create(options); !engine)
      GTEST_SKIP() << engine.error().message;
  }

  /// Checks that results are within `limit` ulp of `function`.
  void expectAccurate(Function function, std::vector<float> xs, double limit) {
    std::vector<float> ys = run(function.name, GetParam(), xs);
    double worst = 0;
    float worstAt = 0;
    for (size_t k = 0; k < ys.size(); ++k) {
      double error = ulps(ys[k], function.exact(xs[k]));
      if (!(error <= worst)) {
        worst = error;
        worstAt = xs[k];
      }
    }
    EXPECT_LE(worst, limit) << function.name << "(" << worstAt << ")";
  }

  /// Checks single values, NaN being equal to NaN.
  void expectValues(const char *name,
                    std::vector<std::pair<float, float>> pairs) {
    std::vector<float> xs;
    for (auto [x, y] : pairs)
      xs.push_back(x);
    std::vector<float> ys = run(name, GetParam(), xs);
    ASSERT_EQ(ys.size(), pairs.size());
    for (size_t k = 0; k < ys.size(); ++k) {
      float expected = pairs[k].second;
      EXPECT_TRUE(ys[k] == expected ||
                  (std::isnan(ys[k]) && std::isnan(expected)))
          << name << "(" << xs[k] << "): expected " << expected << ", got "
          << ys[k];
    }
  }
};

constexpr Function kExp{"exp", std::exp};
constexpr Function kExp2{"exp2", std::exp2};
constexpr Function kTanh{"tanh", std::tanh};
constexpr Function kLog{"log", std::log};

TEST_P(VectorMath, Exp) {
  expectAccurate(kExp, range(-1.0f, -2.0f), 2);
  expectAccurate(kExp, range(1e-30f, 88.7f, 1009), 2);
  expectAccurate(kExp, range(-1e-30f, -87.3f, 1009), 2);
  expectValues("exp", {{0, 1},
                       {-0.0f, 1},
                       {89, kInfinity},
                       {kInfinity, kInfinity},
                       {-kInfinity, 0},
                       {-200, 0},
                       {kNaN, kNaN}});
}

TEST_P(VectorMath, Exp2) {
  expectAccurate(kExp2, range(-1.0f, -2.0f), 2);
  expectAccurate(kExp2, range(1e-30f, 127.99f, 1009), 2);
  expectAccurate(kExp2, range(-1e-30f, -126.0f, 1009), 2);
  expectValues("exp2", {{0, 1},
                        {10, 1024},
                        {-126, 1.17549435e-38f},
                        {127, 1.70141183e38f},
                        {128, kInfinity},
                        {kInfinity, kInfinity},
                        {-kInfinity, 0},
                        {-1e30f, 0},
                        {kNaN, kNaN}});
}

TEST_P(VectorMath, Tanh) {
  expectAccurate(kTanh, range(0.25f, 1.0f), 2);
  expectAccurate(kTanh, range(1e-30f, 20.0f, 1009), 2);
  expectAccurate(kTanh, range(-1e-30f, -20.0f, 1009), 2);
  expectValues("tanh", {{0, 0},
                        {30, 1},
                        {-30, -1},
                        {kInfinity, 1},
                        {-kInfinity, -1},
                        {kNaN, kNaN}});
}

TEST_P(VectorMath, Log) {
  expectAccurate(kLog, range(0.5f, 2.0f), 2);
  expectAccurate(kLog, range(1.17549435e-38f, 3.4e38f, 1009), 2);
  expectAccurate(kLog, range(1e-45f, 1.17549435e-38f, 101), 2);
  expectValues("log", {{1, 0},
                       {0, -kInfinity},
                       {-0.0f, -kInfinity},
                       {-1, kNaN},
                       {kInfinity, kInfinity},
                       {-kInfinity, kNaN},
                       {kNaN, kNaN}});
}

// The measure itself must tell a wrong function from a right one.
TEST(VectorMathMeasure, SeesAnErrorOfThreeUlps) {
  EXPECT_LT(ulps(1.0f, 1.0L), 0.01);
  EXPECT_GT(ulps(1.0f + 3 * 1.1920929e-7f, 1.0L), 2.9);
  EXPECT_TRUE(std::isnan(ulps(kNaN, 1.0L)));
}

INSTANTIATE_TEST_SUITE_P(Targets, VectorMath,
                         testing::Values("cpu:generic", "cpu:avx2",
                                         "cpu:avx512", "cpu:avx512bf16"),
                         [](const testing::TestParamInfo<const char *> &info) {
                           return std::string(info.param).substr(4);
                         });

} // namespace
