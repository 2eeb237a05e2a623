// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of the math dialect beside those of VectorMathTest, as compiled
// code on every target against long double: over all bit patterns, in the range
// where each is used, and at the values that are special to any of them.

#include "runtime/Engine.h"
#include "test/unit/passes/FloatFormat.h"
#include "test/unit/passes/FloatMode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

using namespace attn;

namespace {

/// What a function makes of a subnormal operand: the value that it has at 0, or
/// either that or the operand, where near 0 it is its operand or only copies.
enum class Subnormal { isZero, mayStay };

struct Unary {
  const char *name;
  long double (*exact)(long double);
  double scale; ///< |x| below it is drawn more often
  Subnormal subnormal = Subnormal::isZero;
};

long double rsqrt(long double x) { return 1.0L / std::sqrt(x); }

constexpr Subnormal kMayStay = Subnormal::mayStay;

const Unary kUnary[] = {
    {"acos", std::acos, 1},
    {"acosh", std::acosh, 10},
    {"asin", std::asin, 1},
    {"asinh", std::asinh, 5, kMayStay},
    {"atan", std::atan, 5, kMayStay},
    {"atanh", std::atanh, 1},
    {"cbrt", std::cbrt, 10},
    {"ceil", std::ceil, 10},
    {"cosh", std::cosh, 90},
    {"erf", std::erf, 6},
    {"erfc", std::erfc, 27},
    {"expm1", std::expm1, 90, kMayStay},
    {"floor", std::floor, 10},
    {"log10", std::log10, 10},
    {"log1p", std::log1p, 5, kMayStay},
    {"log2", std::log2, 10},
    {"round", std::round, 10},
    {"roundeven", std::nearbyint, 10},
    {"rsqrt", rsqrt, 10},
    {"sinh", std::sinh, 90},
    {"sqrt", std::sqrt, 10},
    {"tan", std::tan, 100, kMayStay},
    {"trunc", std::trunc, 10},
    {"absf", std::fabs, 10, kMayStay},
    {"exp", std::exp, 90},
    {"exp2", std::exp2, 120},
    {"log", std::log, 10},
    {"tanh", std::tanh, 5},
    {"sin", std::sin, 100, kMayStay},
    {"cos", std::cos, 100},
};

/// |got - exact| in units of the last place that the format has near `exact`;
/// 0 for what is equal, infinite for a zero, an infinity or a NaN that should
/// be something else.
double ulps(const Format &format, double got, long double exact) {
  constexpr double wrong = std::numeric_limits<double>::infinity();
  if (std::isnan(got) || std::isnan(exact))
    return std::isnan(got) && std::isnan(exact) ? 0 : wrong;
  if (got == 0 && exact == 0)
    return std::signbit(got) == std::signbit(exact) ? 0 : wrong;
  long double limit = std::ldexp(1.0L, format.maxExponent);
  if (std::isinf(exact) && !std::isinf(got))
    return wrong;
  // An infinity, and what overflows to one, is a step above the largest number.
  auto bound = [&](long double x) { return std::clamp(x, -limit, limit); };
  long double value = bound(got);
  exact = bound(exact);
  int exponent;
  std::frexp(exact, &exponent);
  exponent = std::min(exponent, format.maxExponent);
  int last = std::max(exponent, format.minExponent) - format.digits;
  return double(std::fabs(value - exact) / std::ldexp(1.0L, last));
}

/// Like ulps(), where a subnormal result may be 0.
double ulpsOrFlushed(const Format &format, double got, long double exact,
                     double limit) {
  // f16 has no numbers that the mode takes for 0: 2^-24 is normal in f32.
  if (format.dtype != DType::f16 &&
      isFlushed(format.digits, format.minExponent, got, exact, limit))
    return 0;
  return ulps(format, got, exact);
}

std::vector<double> specialValues() {
  std::vector<double> values;
  for (double x : {0.0,
                   0.17,
                   0.25,
                   0.4375,
                   0.5,
                   0.6875,
                   0.84,
                   1.0,
                   1.5,
                   2.0,
                   2.5,
                   3.0,
                   8.0,
                   9.2,
                   10.0,
                   27.0,
                   28.0,
                   88.9,
                   100.0,
                   710.0,
                   745.2,
                   1000.0,
                   0x1p23,
                   0x1p28,
                   0x1p52,
                   0x1p60,
                   0x1p-1022,
                   0x1p-1074,
                   0x1p-126,
                   0x1p-149,
                   0x1p-14,
                   0x1p-24,
                   0x1.fffffep127,
                   0x1.fffffffffffffp1023,
                   std::numeric_limits<double>::infinity(),
                   std::numeric_limits<double>::quiet_NaN()}) {
    values.push_back(x);
    values.push_back(-x);
  }
  return values;
}

/// Arguments of one column: all of a format of 16 bits, else special values,
/// patterns over the whole range and numbers below `scale` or near 1.
std::vector<double> argumentsOf(const Format &format, double scale,
                                uint64_t seed) {
  std::vector<double> xs;
  if (format.digits < 24) {
    for (uint64_t bits = 0; bits < 65536; ++bits)
      xs.push_back(fromBits(format, bits));
    return xs;
  }
  for (double x : specialValues())
    xs.push_back(double(round(format, x)));
  std::mt19937_64 random(seed);
  auto unit = [&] { return std::ldexp(double(random() >> 11), -53); };
  for (int k = 0; k < 20000; ++k) {
    xs.push_back(fromBits(format, random()));
    double sign = random() & 1 ? 1 : -1;
    xs.push_back(double(round(format, sign * scale * unit())));
    xs.push_back(
        double(round(format, sign * (1 + std::exp2(-50 * unit()) * sign))));
  }
  return xs;
}

Result<Tensor> makeTensor(const Format &format, const std::vector<double> &xs) {
  Result<Tensor> tensor =
      Tensor::empty(format.dtype, {static_cast<int64_t>(xs.size())});
  if (!tensor)
    return tensor;
  for (size_t k = 0; k < xs.size(); ++k)
    if (format.dtype == DType::f64)
      tensor->data<double>()[k] = xs[k];
    else if (format.dtype == DType::f32)
      tensor->data<float>()[k] = float(xs[k]);
    else
      // All patterns, in order.
      tensor->data<uint16_t>()[k] = uint16_t(k);
  return tensor;
}

double at(const Format &format, const Tensor &tensor, size_t k) {
  if (format.dtype == DType::f64)
    return tensor.data<double>()[k];
  if (format.dtype == DType::f32)
    return tensor.data<float>()[k];
  return fromBits(format, tensor.data<uint16_t>()[k]);
}

/// @NAME applies `body`, from %x and %y to %r, to two columns.
std::string functionText(const std::string &name, const std::string &body) {
  return "func.func @" + name + R"((%a: !v, %b: !v) -> !v {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : !v
  %e = tensor.empty(%n) : !v
  %o = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>,
      affine_map<(d) -> (d)>, affine_map<(d) -> (d)>],
      iterator_types = ["parallel"]} ins(%a, %b : !v, !v) outs(%e : !v) {
  ^bb0(%x: !t, %y: !t, %z: !t):
    )" + body +
         R"(
    linalg.yield %r : !t
  } -> !v
  return %o : !v
}
)";
}

class MathFunctions : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    EngineOptions options;
    options.target = GetParam();
    if (Result<Engine> engine = Engine::create(options); !engine)
      GTEST_SKIP() << engine.error().message;
  }

  Result<Program> compile(const Format &format, const std::string &functions) {
    EngineOptions options;
    options.target = GetParam();
    std::string type = format.name;
    return Engine(options).compileText("!t = " + type + "\n!v = tensor<?x" +
                                       type + ">\n" + functions);
  }

  using Exact = std::function<long double(double, double)>;
  void check(const Program &program, const Format &format,
             const std::string &name, const std::vector<double> &xs,
             const std::vector<double> &ys, const Exact &exact, double limit,
             Subnormal subnormal = Subnormal::isZero) {
    Result<Tensor> a = makeTensor(format, xs), b = makeTensor(format, ys);
    ASSERT_TRUE(a.ok() && b.ok());
    Result<std::vector<Tensor>> out =
        program.call(name, {a->view(), b->view()});
    ASSERT_TRUE(out.ok()) << out.error().message;
    auto operand = [&](double x) {
      return double(flushed(format.minExponent, x));
    };
    double worst = -1;
    size_t worstAt = 0;
    for (size_t k = 0; k < xs.size(); ++k) {
      double got = at(format, (*out)[0], k);
      double error = ulpsOrFlushed(
          format, got, exact(operand(xs[k]), operand(ys[k])), limit);
      if (subnormal == Subnormal::mayStay)
        error = std::min(error, ulps(format, got, exact(xs[k], ys[k])));
      if (error > worst) {
        worst = error;
        worstAt = k;
      }
    }
    EXPECT_LE(worst, limit)
        << name << "(" << xs[worstAt] << ", " << ys[worstAt] << ") of "
        << format.name << " is " << at(format, (*out)[0], worstAt)
        << ", expected " << exact(operand(xs[worstAt]), operand(ys[worstAt]));
  }

  void checkUnary(const Format &format, double limit) {
    std::string text;
    for (const Unary &f : kUnary)
      text +=
          functionText(f.name, std::string("%r = math.") + f.name + " %x : !t");
    Result<Program> program = compile(format, text);
    ASSERT_TRUE(program.ok()) << program.error().message;
    for (const Unary &f : kUnary) {
      // Exponentials reach further.
      double scale = format.digits == 53 && f.scale > 80 ? 720 : f.scale;
      std::vector<double> xs = argumentsOf(format, scale, 7);
      check(
          *program, format, f.name, xs, xs,
          [&](double x, double) { return f.exact(x); }, limit, f.subnormal);
    }
  }

  void checkBinary(const Format &format, double limit) {
    Result<Program> program = compile(
        format, functionText("powf", "%r = math.powf %x, %y : !t") +
                    functionText("atan2", "%r = math.atan2 %x, %y : !t") +
                    functionText("copysign", "%r = math.copysign %x, %y : !t"));
    ASSERT_TRUE(program.ok()) << program.error().message;
    std::vector<double> xs = argumentsOf(format, 20, 7),
                        ys = argumentsOf(format, 20, 9);
    // Each special value with each, and powers whose results are in range.
    std::vector<double> special = specialValues();
    for (double x : special)
      for (double y : special) {
        xs.push_back(double(round(format, x)));
        ys.push_back(double(round(format, y)));
      }
    size_t count = xs.size();
    double range = 0.69 * format.maxExponent;
    for (size_t k = 0; k < count; k += 2) {
      double log = std::log(std::fabs(xs[k]));
      if (!std::isfinite(log) || log == 0)
        continue;
      double part = std::sin(double(k));
      xs.push_back(k % 4 ? std::fabs(xs[k]) : xs[k]);
      ys.push_back(double(round(format, range * part / log)));
    }
    check(
        *program, format, "powf", xs, ys,
        [](double x, double y) { return std::pow((long double)x, y); }, limit);
    check(
        *program, format, "atan2", xs, ys,
        [](double x, double y) { return std::atan2((long double)x, y); },
        limit);
    check(
        *program, format, "copysign", xs, ys,
        [](double x, double y) { return std::copysign((long double)x, y); }, 0,
        kMayStay);
  }
};

TEST_P(MathFunctions, OfF32) { checkUnary(kF32, 2); }
TEST_P(MathFunctions, OfF64) { checkUnary(kF64, 2); }
TEST_P(MathFunctions, OfTwoF32) { checkBinary(kF32, 2); }
TEST_P(MathFunctions, OfTwoF64) { checkBinary(kF64, 2); }

// f32 is rounded once more: half a unit and what its error may tip over.
TEST_P(MathFunctions, OfEveryF16) { checkUnary(kF16, 0.502); }
TEST_P(MathFunctions, OfEveryBF16) { checkUnary(kBF16, 0.502); }

/// Integer powers, of every width; from 2^53 on a float would not know whether
/// they are odd.
TEST_P(MathFunctions, IntegerPowers) {
  const int64_t powers[] = {0, 1, -1, 2, -2, 3, 7, -10, 127, -128};
  const int64_t longs[] = {(int64_t(1) << 53) + 1, -(int64_t(1) << 60) - 1,
                           INT64_MAX, INT64_MIN};
  for (const Format &format : {kF32, kF64}) {
    std::string text;
    std::vector<std::pair<std::string, int64_t>> names;
    auto add = [&](const std::string &type, int64_t n) {
      std::string name = "pow_" + type + "_" + std::to_string(names.size());
      names.push_back({name, n});
      text += functionText(
          name, "%m = arith.constant " + std::to_string(n) + " : " + type +
                    "\n    %r = math.fpowi %x, %m : !t, " + type);
    };
    for (const char *type : {"i8", "i32", "i64", "index"})
      for (int64_t n : powers)
        add(type, n);
    for (int64_t n : longs)
      add("i64", n);
    Result<Program> program = compile(format, text);
    ASSERT_TRUE(program.ok()) << program.error().message;
    std::vector<double> xs;
    for (double x : argumentsOf(format, 4, 7))
      if (xs.size() < 2000)
        xs.push_back(x);
    for (const auto &[name, n] : names)
      check(
          *program, format, name, xs, xs,
          [n = n](double x, double) {
            // The library takes 2^63 for odd where x is negative.
            long double power = std::pow(std::fabs((long double)x), n);
            return n % 2 ? std::copysign(power, x) : power;
          },
          2);
  }
}

/// Whether a number is normal, infinite and so on is asked of its own type: the
/// subnormals of f16 are normal in f32.
TEST_P(MathFunctions, Classification) {
  for (const Format &format : {kF16, kBF16, kF32, kF64}) {
    std::string text;
    auto add = [&](const char *name, const std::string &op) {
      text += functionText(
          name, op + "\n    %one = arith.constant 1.0 : !t\n    %zero = "
                     "arith.constant 0.0 : !t\n    %r = arith.select %c, %one, "
                     "%zero : !t");
    };
    for (const char *name : {"isnan", "isinf", "isfinite", "isnormal"})
      add(name, std::string("%c = math.") + name + " %x : !t");
    Result<Program> program = compile(format, text);
    ASSERT_TRUE(program.ok()) << program.error().message;
    std::vector<double> xs = argumentsOf(format, 1e-5, 7);
    auto checkIs = [&](const char *name, std::function<bool(double)> is) {
      check(
          *program, format, name, xs, xs,
          [&](double x, double) { return is(x) ? 1.0L : 0.0L; }, 0);
    };
    checkIs("isnan", [](double x) { return std::isnan(x); });
    checkIs("isinf", [](double x) { return std::isinf(x); });
    checkIs("isfinite", [](double x) { return std::isfinite(x); });
    double least = std::ldexp(1.0, format.minExponent - 1);
    checkIs("isnormal", [&](double x) {
      return std::isfinite(x) && std::fabs(x) >= least;
    });
  }
}

TEST_P(MathFunctions, SincosAndClamp) {
  for (const Format &format : {kF16, kBF16, kF32, kF64}) {
    Result<Program> program = compile(
        format,
        functionText("sine", "%r, %c = math.sincos %x : !t") +
            functionText("cosine", "%s, %r = math.sincos %x : !t") +
            functionText("clamp", "%l = arith.constant -0.5 : !t\n"
                                  "%u = arith.constant 2.0 : !t\n"
                                  "%r = math.clampf %x to [%l, %u] : !t"));
    ASSERT_TRUE(program.ok()) << program.error().message;
    std::vector<double> xs = argumentsOf(format, 5, 7);
    double limit = format.digits < 24 ? 0.502 : 2;
    check(
        *program, format, "sine", xs, xs,
        [](double x, double) { return std::sin((long double)x); }, limit);
    check(
        *program, format, "cosine", xs, xs,
        [](double x, double) { return std::cos((long double)x); }, limit);
    check(
        *program, format, "clamp", xs, xs,
        [](double x, double) -> long double {
          return std::isnan(x) ? x : std::min(std::max(x, -0.5), 2.0);
        },
        0);
  }
}

// The measure itself must tell a wrong number from a right one.
TEST(MathFunctionsMeasure, SeesWhatIsWrong) {
  EXPECT_EQ(ulps(kF32, 1.0, 1.0L), 0);
  EXPECT_NEAR(ulps(kF64, 1.0 + 3 * 0x1p-52, 1.0L), 3, 1e-9);
  EXPECT_NEAR(ulps(kF16, 0x1p-24, 0.0L + 0x1p-23), 1, 1e-9);
  EXPECT_TRUE(std::isinf(ulps(kF32, -0.0, 0.0L)));
  EXPECT_TRUE(std::isinf(
      ulps(kF32, 1.0, std::numeric_limits<long double>::quiet_NaN())));
}

INSTANTIATE_TEST_SUITE_P(Targets, MathFunctions,
                         testing::Values("cpu:generic", "cpu:avx2",
                                         "cpu:avx512", "cpu:avx512bf16"),
                         [](const testing::TestParamInfo<const char *> &info) {
                           return std::string(info.param).substr(4);
                         });

} // namespace
