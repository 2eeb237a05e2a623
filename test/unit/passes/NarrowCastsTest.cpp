// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Casts between f16 or bf16 and integers or f64 in compiled code, on every
// device: each rounds once. Arguments lie on, beside and just beyond the
// middles of neighbours, where a second rounding shows.

#include "runtime/Engine.h"
#include "test/unit/passes/FloatMode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <random>

using namespace attn;

namespace {

struct Target {
  const char *name, *device, *target;
};
void PrintTo(const Target &t, std::ostream *os) { *os << t.name; }

struct Narrow {
  const char *name;
  DType dtype;
  int digits, minExponent, maxExponent; ///< as std::numeric_limits has them
};
constexpr Narrow kF16{"f16", DType::f16, 11, -13, 16};
constexpr Narrow kBF16{"bf16", DType::bf16, 8, -125, 128};

/// x rounded to nearest, ties to even.
double rounded(const Narrow &format, long double x) {
  if (x == 0 || !std::isfinite(x))
    return double(x);
  int exponent;
  std::frexp(x, &exponent);
  int last = std::max(exponent, format.minExponent) - format.digits;
  long double result = std::ldexp(std::nearbyint(std::ldexp(x, -last)), last);
  return std::fabs(result) < std::ldexp(1.0L, format.maxExponent)
             ? double(result)
             : std::copysign(std::numeric_limits<double>::infinity(),
                             double(x));
}

/// Elementwise code from %a to %r.
std::string elementwise(const std::string &from, const std::string &to,
                        const std::string &body) {
  return "!from = tensor<?x" + from + ">\n!to = tensor<?x" + to + ">\n" + R"(
func.func @main(%x: !from) -> !to {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : !from
  %e = tensor.empty(%n) : !to
  %o = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>,
                                        affine_map<(d) -> (d)>],
                       iterator_types = ["parallel"]}
      ins(%x : !from) outs(%e : !to) {
  ^bb0(%a: )" +
         from + ", %b: " + to + "):\n" + body + "    linalg.yield %r : " + to +
         "\n  } -> !to\n  return %o : !to\n}\n";
}

class NarrowCasts : public testing::TestWithParam<Target> {
protected:
  void SetUp() override {
    EngineOptions options;
    options.device = GetParam().device;
    options.target = GetParam().target;
    Result<Engine> made = Engine::create(options);
    if (!made)
      GTEST_SKIP() << made.error().message;
    engine = std::make_unique<Engine>(*made);
  }

  template <class T>
  std::optional<Tensor> run(const std::string &text, std::vector<T> &input,
                            DType dtype) {
    Result<Program> program = engine->compileText(text);
    if (!program) {
      ADD_FAILURE() << program.error().message;
      return std::nullopt;
    }
    TensorView view{input.data(), dtype, {int64_t(input.size())}, {}};
    Result<std::vector<Tensor>> out = program->call("main", {view});
    if (!out) {
      ADD_FAILURE() << out.error().message;
      return std::nullopt;
    }
    return std::move(out->front());
  }

  void expectNarrow(const Narrow &format, const Tensor &got,
                    const std::function<long double(size_t)> &exact,
                    const std::string &what) {
    for (int64_t k = 0; k < got.numElements(); ++k) {
      double have = loadAsDouble(format.dtype, got.data<uint16_t>() + k);
      double want = double(
          flushed(format.minExponent, rounded(format, exact(size_t(k)))));
      ASSERT_TRUE((have == want && std::signbit(have) == std::signbit(want)) ||
                  (std::isnan(have) && std::isnan(want)))
          << what << ": element " << k << " is " << have << ", expected "
          << want << " of " << double(exact(size_t(k)));
    }
  }

  std::unique_ptr<Engine> engine;
};

/// Small integers, and each power of two with middles of neighbours of 8 and 11
/// bits, beside and far beside them.
std::vector<int64_t> integers() {
  std::vector<int64_t> all = {INT64_MIN, INT64_MAX};
  for (int64_t n = -300; n < 300; ++n)
    all.push_back(n);
  std::mt19937_64 random(1);
  for (int exponent = 4; exponent < 63; ++exponent)
    for (int digits : {8, 11, 24, 53})
      for (int repeat = 0; repeat < 6; ++repeat) {
        uint64_t power = uint64_t(1) << exponent;
        int step = exponent - digits; // exponent of half of the last place
        if (step < 0)
          continue;
        uint64_t unit = uint64_t(1) << step;
        uint64_t middle = power + unit * (2 * (random() % 8) + 1);
        for (uint64_t x : {middle, middle + 1, middle - 1, power, power - 1,
                           middle + (unit >> 2), middle + random() % 4096})
          all.insert(all.end(), {int64_t(x), int64_t(0 - x)});
      }
  return all;
}

TEST_P(NarrowCasts, FromIntegersOfEveryWidth) {
  std::vector<int64_t> numbers = integers();
  for (const Narrow &format : {kF16, kBF16})
    for (int width : {1, 8, 16, 32, 64})
      for (bool isSigned : {true, false}) {
        std::string type = "i" + std::to_string(width);
        std::string body =
            width == 64 ? "    %n_ = arith.addi %a, %a_zero : i64\n"
                        : "    %n_ = arith.trunci %a : i64 to " + type + "\n";
        body = "    %a_zero = arith.constant 0 : i64\n" + body +
               "    %r = arith." + (isSigned ? "sitofp" : "uitofp") +
               " %n_ : " + type + " to " + format.name + "\n";
        auto got =
            run(elementwise("i64", format.name, body), numbers, DType::i64);
        ASSERT_TRUE(got);
        expectNarrow(
            format, *got,
            [&](size_t k) -> long double {
              uint64_t bits = uint64_t(numbers[k]) << (64 - width);
              return isSigned ? (long double)(int64_t(bits) >> (64 - width))
                              : (long double)(bits >> (64 - width));
            },
            type + (isSigned ? " signed to " : " unsigned to ") + format.name);
      }
}

TEST_P(NarrowCasts, FromF64) {
  std::vector<double> numbers = {0.0,
                                 -0.0,
                                 1e300,
                                 -1e300,
                                 1e-300,
                                 0x1p-1074,
                                 std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()};
  for (const Narrow &format : {kF16, kBF16})
    for (int exponent = format.minExponent - format.digits - 3;
         exponent <= format.maxExponent; ++exponent)
      for (int part = 0; part < 9; ++part) {
        int last = std::max(exponent, format.minExponent) - format.digits - 1;
        double middle =
            std::ldexp(1.0, exponent - 1) + std::ldexp(2 * part + 1, last);
        // An f32 of the last ones is the middle.
        for (double x : {middle, std::nextafter(middle, 0.0),
                         std::nextafter(middle, 1e300), middle * (1 + 0x1p-20),
                         middle * (1 + 0x1p-30), middle * (1 - 0x1p-30)})
          numbers.insert(numbers.end(), {x, -x});
      }
  for (const Narrow &format : {kF16, kBF16}) {
    auto got =
        run(elementwise("f64", format.name,
                        std::string("    %r = arith.truncf %a : f64 to ") +
                            format.name + "\n"),
            numbers, DType::f64);
    ASSERT_TRUE(got);
    expectNarrow(
        format, *got, [&](size_t k) { return flushed(-1021, numbers[k]); },
        std::string("f64 to ") + format.name);
  }
}

TEST_P(NarrowCasts, EveryOneToF64AndToIntegers) {
  std::vector<uint16_t> all(65536);
  for (size_t n = 0; n < all.size(); ++n)
    all[n] = uint16_t(n);
  for (const Narrow &format : {kF16, kBF16}) {
    std::string f = format.name;
    auto exact = [&](size_t k) {
      return double(
          flushed(format.minExponent, loadAsDouble(format.dtype, &all[k])));
    };
    auto wide = run(
        elementwise(f, "f64", "    %r = arith.extf %a : " + f + " to f64\n"),
        all, format.dtype);
    ASSERT_TRUE(wide);
    for (size_t k = 0; k < all.size(); ++k)
      ASSERT_TRUE(std::isnan(exact(k))
                      ? std::isnan(wide->data<double>()[k])
                      : (wide->data<double>()[k] == exact(k) &&
                         std::signbit(wide->data<double>()[k]) ==
                             std::signbit(exact(k))))
          << f << " " << k;
    // The nearest integer towards zero that the type has, 0 for NaN.
    for (bool isSigned : {true, false}) {
      auto got = run(elementwise(f, "i32",
                                 std::string("    %r = arith.fpto") +
                                     (isSigned ? "si" : "ui") + " %a : " + f +
                                     " to i32\n"),
                     all, format.dtype);
      ASSERT_TRUE(got);
      double low = isSigned ? INT32_MIN : 0;
      double high = isSigned ? INT32_MAX : UINT32_MAX;
      for (size_t k = 0; k < all.size(); ++k) {
        double x = exact(k);
        double want =
            std::isnan(x) ? 0 : std::trunc(std::min(std::max(x, low), high));
        int32_t bits = got->data<int32_t>()[k];
        double have = isSigned ? double(bits) : double(uint32_t(bits));
        ASSERT_EQ(have, want + 0.0) << f << " " << x;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Targets, NarrowCasts,
    testing::Values(Target{"reference", "reference", "host"},
                    Target{"generic", "cpu", "cpu:generic"},
                    Target{"avx2", "cpu", "cpu:avx2"},
                    Target{"avx512", "cpu", "cpu:avx512"},
                    Target{"avx512bf16", "cpu", "cpu:avx512bf16"}),
    [](const auto &info) { return info.param.name; });

} // namespace
