// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accuracy of the elementary functions that replace the math library in
// compiled code, against long double, in units in the last place: every f32 of
// one binade or two, samples of all others and of f64, and the special values.

#include "runtime/Engine.h"
#include "test/unit/passes/FloatMode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

using namespace attn;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Function {
  const char *name;
  long double (*exact)(long double);
};

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

template <class T> BitsOf<T> toBits(T x) {
  BitsOf<T> bits;
  std::memcpy(&bits, &x, sizeof x);
  return bits;
}

template <class T> T fromBits(BitsOf<T> bits) {
  T x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// |got - exact| in units of the last place of a number of type T near `exact`.
template <class T> double ulps(T got, long double exact) {
  using Limits = std::numeric_limits<T>;
  int exponent;
  std::frexp(static_cast<double>(exact), &exponent);
  int last = std::max(exponent, Limits::min_exponent) - Limits::digits;
  return std::abs(static_cast<double>((got - exact) / std::ldexp(1.0L, last)));
}

/// The function applied to `inputs` by compiled code.
template <class T>
std::vector<T> run(const std::string &name, const std::string &target,
                   std::vector<T> inputs) {
  std::string text = R"(
!t = TYPE
func.func @apply(%x: tensor<?x!t>) -> tensor<?x!t> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x!t>
  %e = tensor.empty(%n) : tensor<?x!t>
  %y = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>,
                                        affine_map<(d) -> (d)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<?x!t>) outs(%e : tensor<?x!t>) {
  ^bb0(%a: !t, %b: !t):
    %r = math.)" + name +
                     R"( %a : !t
    linalg.yield %r : !t
  } -> tensor<?x!t>
  return %y : tensor<?x!t>
})";
  text.replace(text.find("TYPE"), 4, sizeof(T) == 4 ? "f32" : "f64");
  EngineOptions options;
  options.target = target;
  Result<Program> program = Engine(options).compileText(text);
  if (!program) {
    ADD_FAILURE() << program.error().message;
    return {};
  }
  TensorView view;
  view.data = inputs.data();
  view.dtype = sizeof(T) == 4 ? DType::f32 : DType::f64;
  view.sizes = {static_cast<int64_t>(inputs.size())};
  view.strides = {1};
  Result<std::vector<Tensor>> out = program->call("apply", {view});
  if (!out) {
    ADD_FAILURE() << out.error().message;
    return {};
  }
  const T *data = (*out)[0].data<T>();
  return std::vector<T>(data, data + inputs.size());
}

/// Every f32 of [low, high), or every `step`th; of f64 samples as dense as
/// every 64th f32 or as every `step`th.
template <class T> std::vector<T> range(T low, T high, uint64_t step = 1) {
  // Not a power of two: the low bits differ from sample to sample.
  if (sizeof(T) == 8)
    step = (std::max<uint64_t>(step, 64) << 29) + 123456789;
  BitsOf<T> first = toBits(low), last = toBits(high);
  std::vector<T> xs;
  for (uint64_t bits = std::min(first, last); bits < std::max(first, last);
       bits += step)
    xs.push_back(fromBits<T>(bits));
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
  template <class T>
  void expectAccurate(Function function, std::vector<T> xs, double limit) {
    std::vector<T> ys = run(function.name, GetParam(), xs);
    EXPECT_EQ(ys.size(), xs.size());
    double worst = 0;
    T worstAt = 0;
    for (size_t k = 0; k < ys.size(); ++k) {
      long double exact =
          function.exact(flushed(std::numeric_limits<T>::min_exponent, xs[k]));
      // An infinity is the value at a pole.
      double error =
          std::isinf(exact) && ys[k] == exact ? 0 : ulps(ys[k], exact);
      if (!(error <= worst)) {
        worst = error;
        worstAt = xs[k];
      }
    }
    EXPECT_LE(worst, limit) << function.name << "(" << worstAt << ") of "
                            << xs.size() << ", " << sizeof(T) << " bytes";
  }

  /// Checks single values, NaN being equal to NaN.
  template <class T>
  void expectValues(const char *name, std::vector<std::pair<T, T>> pairs) {
    std::vector<T> xs;
    for (auto [x, y] : pairs)
      xs.push_back(x);
    std::vector<T> ys = run(name, GetParam(), xs);
    ASSERT_EQ(ys.size(), pairs.size());
    for (size_t k = 0; k < ys.size(); ++k) {
      T expected = pairs[k].second;
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
constexpr Function kSin{"sin", std::sin};
constexpr Function kCos{"cos", std::cos};

constexpr float kInfinityF32 = std::numeric_limits<float>::infinity();
constexpr float kNaNF32 = std::numeric_limits<float>::quiet_NaN();

TEST_P(VectorMath, Exp) {
  expectAccurate(kExp, range(-1.0f, -2.0f), 2);
  expectAccurate(kExp, range(1e-30f, 88.7f, 1009), 2);
  expectAccurate(kExp, range(-1e-30f, -87.3f, 1009), 2);
  expectValues<float>("exp", {{0, 1},
                              {-0.0f, 1},
                              {89, kInfinityF32},
                              {kInfinityF32, kInfinityF32},
                              {-kInfinityF32, 0},
                              {-200, 0},
                              {kNaNF32, kNaNF32}});
}

TEST_P(VectorMath, Exp2) {
  expectAccurate(kExp2, range(-1.0f, -2.0f), 2);
  expectAccurate(kExp2, range(1e-30f, 127.99f, 1009), 2);
  expectAccurate(kExp2, range(-1e-30f, -126.0f, 1009), 2);
  expectValues<float>("exp2", {{0, 1},
                               {10, 1024},
                               {-126, 1.17549435e-38f},
                               {127, 1.70141183e38f},
                               {128, kInfinityF32},
                               {kInfinityF32, kInfinityF32},
                               {-kInfinityF32, 0},
                               {-1e30f, 0},
                               {kNaNF32, kNaNF32}});
}

TEST_P(VectorMath, Tanh) {
  expectAccurate(kTanh, range(0.25f, 1.0f), 2);
  expectAccurate(kTanh, range(1e-30f, 20.0f, 1009), 2);
  expectAccurate(kTanh, range(-1e-30f, -20.0f, 1009), 2);
  expectValues<float>("tanh", {{0, 0},
                               {30, 1},
                               {-30, -1},
                               {kInfinityF32, 1},
                               {-kInfinityF32, -1},
                               {kNaNF32, kNaNF32}});
}

TEST_P(VectorMath, Log) {
  expectAccurate(kLog, range(0.5f, 2.0f), 2);
  expectAccurate(kLog, range(1.17549435e-38f, 3.4e38f, 1009), 2);
  expectAccurate(kLog, range(1e-45f, 1.17549435e-38f, 101), 2);
  expectValues<float>("log", {{1, 0},
                              {0, -kInfinityF32},
                              {-0.0f, -kInfinityF32},
                              {-1, kNaNF32},
                              {kInfinityF32, kInfinityF32},
                              {-kInfinityF32, kNaNF32},
                              {kNaNF32, kNaNF32}});
}

TEST_P(VectorMath, SinAndCos) {
  for (const Function &wave : {kSin, kCos}) {
    expectAccurate(wave, range(1.0f, 2.0f), 2);
    expectAccurate(wave, range(1e-30f, 0x1p20f, 1009), 2);
    expectAccurate(wave, range(-1e-30f, -0x1p20f, 1009), 2);
    // Beyond, where it is the math library.
    expectAccurate(wave, range(0x1p20f, 3e38f, 100003), 2);
  }
  expectValues<float>("sin", {{0, 0},
                              {kInfinityF32, kNaNF32},
                              {-kInfinityF32, kNaNF32},
                              {kNaNF32, kNaNF32}});
  expectValues<float>(
      "cos", {{0, 1}, {-0.0f, 1}, {kInfinityF32, kNaNF32}, {kNaNF32, kNaNF32}});
}

TEST_P(VectorMath, SinAndCosOfF64) {
  for (const Function &wave : {kSin, kCos}) {
    expectAccurate(wave, range(1.0, 2.0), 2);
    expectAccurate(wave, range(1e-30, 0x1p20, 1009), 2);
    expectAccurate(wave, range(-1e-30, -0x1p20, 1009), 2);
    expectAccurate(wave, range(0x1p20, 1e15, 100003), 2);
  }
  // Next to multiples of pi/2, where little of x is left.
  std::vector<double> zeros;
  for (int n = 1; n < 600000; n += 7)
    zeros.push_back(n * 1.5707963267948966);
  expectAccurate(kSin, zeros, 2);
  expectAccurate(kCos, zeros, 2);
}

TEST_P(VectorMath, ExpOfF64) {
  expectAccurate(kExp, range(-1.0, -2.0), 2);
  expectAccurate(kExp, range(1e-30, 709.7, 1009), 2);
  expectAccurate(kExp, range(-1e-30, -708.3, 1009), 2);
  expectValues<double>("exp", {{0, 1},
                               {-0.0, 1},
                               {710, kInfinity},
                               {kInfinity, kInfinity},
                               {-kInfinity, 0},
                               {-746, 0},
                               {kNaN, kNaN}});
}

TEST_P(VectorMath, Exp2OfF64) {
  expectAccurate(kExp2, range(-1.0, -2.0), 2);
  expectAccurate(kExp2, range(1e-30, 1023.99, 1009), 2);
  expectAccurate(kExp2, range(-1e-30, -1022.0, 1009), 2);
  expectValues<double>("exp2", {{0, 1},
                                {10, 1024},
                                {-1022, 0x1p-1022},
                                {-1022.5, 0},
                                {-1074, 0},
                                {1023, 0x1p1023},
                                {1024, kInfinity},
                                {kInfinity, kInfinity},
                                {-kInfinity, 0},
                                {-1e300, 0},
                                {kNaN, kNaN}});
}

TEST_P(VectorMath, TanhOfF64) {
  expectAccurate(kTanh, range(0.25, 1.0), 2);
  expectAccurate(kTanh, range(1e-30, 40.0, 1009), 2);
  expectAccurate(kTanh, range(-1e-30, -40.0, 1009), 2);
  expectValues<double>("tanh", {{0, 0},
                                {30, 1},
                                {-30, -1},
                                {kInfinity, 1},
                                {-kInfinity, -1},
                                {kNaN, kNaN}});
}

TEST_P(VectorMath, LogOfF64) {
  expectAccurate(kLog, range(0.5, 2.0), 2);
  expectAccurate(kLog, range(0x1p-1022, 1.7e308, 100003), 2);
  expectAccurate(kLog, range(0x1p-1074, 0x1p-1022, 101), 2);
  expectValues<double>("log", {{1, 0},
                               {0, -kInfinity},
                               {-0.0, -kInfinity},
                               {-1, kNaN},
                               {kInfinity, kInfinity},
                               {-kInfinity, kNaN},
                               {kNaN, kNaN}});
}

// The measure itself must tell a wrong function from a right one.
TEST(VectorMathMeasure, SeesAnErrorOfThreeUlps) {
  EXPECT_LT(ulps(1.0f, 1.0L), 0.01);
  EXPECT_LT(ulps(1.0, 1.0L), 0.01);
  EXPECT_GT(ulps(1.0 + 3 * 0x1p-52, 1.0L), 2.9);
  EXPECT_GT(ulps(1.0f + 3 * 1.1920929e-7f, 1.0L), 2.9);
  EXPECT_TRUE(std::isnan(ulps(kNaNF32, 1.0L)));
}

INSTANTIATE_TEST_SUITE_P(Targets, VectorMath,
                         testing::Values("cpu:generic", "cpu:avx2",
                                         "cpu:avx512", "cpu:avx512bf16"),
                         [](const testing::TestParamInfo<const char *> &info) {
                           return std::string(info.param).substr(4);
                         });

} // namespace
