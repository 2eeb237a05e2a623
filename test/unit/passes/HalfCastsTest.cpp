// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Casts of f16 in compiled code, by integer arithmetic and by instructions:
// every f16 to f32, and what lies on, beside and between the middles of
// neighbours back. What is right is said by the runtime's own conversions,
// which go by elements and through f64.

#include "runtime/Engine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace attn;

namespace {

struct Target {
  const char *name, *device, *target;
};
void PrintTo(const Target &t, std::ostream *os) { *os << t.name; }

double valueOf(uint16_t bits) { return loadAsDouble(DType::f16, &bits); }

uint16_t rounded(double value) {
  uint16_t bits;
  storeFromDouble(DType::f16, value, &bits);
  return bits;
}

template <class T> TensorView view(std::vector<T> &data, DType dtype) {
  return {data.data(), dtype, {1, int64_t(data.size())}, {}};
}

/// A cast of each element, as scalars.
std::string elementwise(const std::string &op, const std::string &from,
                        const std::string &to) {
  return "!from = tensor<1x?x" + from + ">\n!to = tensor<1x?x" + to + ">\n" +
         R"(
func.func @main(%x: !from, %y: !to) -> !to {
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>,
                                        affine_map<(a, b) -> (a, b)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : !from) outs(%y : !to) {
  ^bb0(%a: )" +
         from + ", %b: " + to + "):\n    %c = arith." + op + " %a : " + from +
         " to " + to + "\n    linalg.yield %c : " + to +
         "\n  } -> !to\n  return %r : !to\n}\n";
}

/// C += A B of f16, in lane vectors on a CPU.
std::string product(const std::string &to) {
  return "!a = tensor<1x?xf16>\n!b = tensor<?x?xf16>\n!c = tensor<1x?x" + to +
         ">\n" + R"(
func.func @main(%a: !a, %b: !b, %c: !c) -> !c {
  %r = linalg.matmul ins(%a, %b : !a, !b) outs(%c : !c) -> !c
  return %r : !c
})";
}

class HalfCasts : public testing::TestWithParam<Target> {
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

  /// The elements of the one result.
  template <class T>
  std::vector<T> run(const std::string &text,
                     const std::vector<Value> &inputs) {
    Result<Program> program = engine->compileText(text);
    if (!program) {
      ADD_FAILURE() << program.error().message;
      return {};
    }
    Result<std::vector<Tensor>> out = program->call("main", inputs);
    if (!out) {
      ADD_FAILURE() << out.error().message;
      return {};
    }
    const T *data = out->front().template data<T>();
    return std::vector<T>(data, data + out->front().numElements());
  }

  std::unique_ptr<Engine> engine;
};

std::vector<uint16_t> everyHalf() {
  std::vector<uint16_t> all(65536);
  for (size_t n = 0; n < all.size(); ++n)
    all[n] = uint16_t(n);
  return all;
}

void expectEveryHalf(const std::vector<float> &got) {
  ASSERT_EQ(got.size(), 65536u);
  for (uint32_t n = 0; n < 65536; ++n) {
    double want = valueOf(uint16_t(n));
    if (std::isnan(want))
      ASSERT_TRUE(std::isnan(got[n])) << std::hex << n;
    else
      ASSERT_TRUE(got[n] == want && std::signbit(got[n]) == std::signbit(want))
          << std::hex << n << ": " << got[n];
  }
}

TEST_P(HalfCasts, EveryHalfIsExtendedExactly) {
  std::vector<uint16_t> halves = everyHalf();
  std::vector<float> zeros(halves.size());
  expectEveryHalf(
      run<float>(elementwise("extf", "f16", "f32"),
                 {view(halves, DType::f16), view(zeros, DType::f32)}));
}

TEST_P(HalfCasts, EveryHalfIsExtendedExactlyInVectors) {
  std::vector<uint16_t> halves = everyHalf(), one{rounded(1.0)};
  // To -0 every number can be added.
  std::vector<float> zeros(halves.size(), -0.0f);
  std::vector<float> got = run<float>(
      product("f32"), {view(one, DType::f16), view(halves, DType::f16),
                       view(zeros, DType::f32)});
  expectEveryHalf(got);
}

/// f32 on, beside and between the middles of neighbouring f16, beyond the
/// largest and below the smallest, and what is special.
std::vector<float> boundaries() {
  std::vector<float> all = {0.0f,      -0.0f,    65519.99f,  65520.0f,
                            65520.01f, 65536.0f, 0x1p-25f,   0x1.000002p-25f,
                            0x1p-26f,  1e-40f,   0x1p127f,   INFINITY,
                            -INFINITY, NAN,      0x1.8p-25f, -65520.0f};
  for (uint16_t bits = 0; bits < 0x7c00; ++bits) {
    float value = float(valueOf(bits));
    float next = bits == 0x7bff ? 65536.0f : float(valueOf(bits + 1));
    float middle = (value + next) / 2;
    for (float x : {value, middle, std::nextafter(middle, 0.0f),
                    std::nextafter(middle, next), std::nextafter(value, next)})
      all.insert(all.end(), {x, -x});
  }
  return all;
}

void expectRounded(const std::vector<uint16_t> &got,
                   const std::vector<double> &from) {
  ASSERT_EQ(got.size(), from.size());
  for (size_t n = 0; n < got.size(); ++n) {
    if (std::isnan(from[n]))
      ASSERT_TRUE(std::isnan(valueOf(got[n])));
    else
      ASSERT_EQ(got[n], rounded(from[n])) << "of " << from[n];
  }
}

TEST_P(HalfCasts, SinglesAreRoundedOnceToNearestEven) {
  std::vector<float> x = boundaries();
  std::vector<uint16_t> zeros(x.size());
  expectRounded(run<uint16_t>(elementwise("truncf", "f32", "f16"),
                              {view(x, DType::f32), view(zeros, DType::f16)}),
                {x.begin(), x.end()});
}

TEST_P(HalfCasts, DoublesAreRoundedOnceToNearestEven) {
  std::vector<double> x;
  for (float value : boundaries())
    x.insert(x.end(), {value, value * (1 + 0x1p-50), value * (1 - 0x1p-50)});
  std::vector<uint16_t> zeros(x.size());
  expectRounded(run<uint16_t>(elementwise("truncf", "f64", "f16"),
                              {view(x, DType::f64), view(zeros, DType::f16)}),
                x);
}

TEST_P(HalfCasts, SumsAreRoundedOnceToNearestEvenInVectors) {
  // A number, and about half the distance to the next one.
  std::vector<uint16_t> first, second;
  std::vector<double> sums;
  for (uint16_t bits = 0x3000; bits < 0x7c00; ++bits) {
    double next = bits == 0x7bff ? 65536.0 : valueOf(bits + 1);
    double half = (next - valueOf(bits)) / 2;
    for (double part : {0.0, 1.0, 1 - 0x1p-10, 1 + 0x1p-10, -1.0}) {
      first.push_back(bits);
      second.push_back(rounded(part * half));
      sums.push_back(valueOf(first.back()) + valueOf(second.back()));
    }
  }
  std::vector<uint16_t> both(first), ones{rounded(1.0), rounded(1.0)};
  both.insert(both.end(), second.begin(), second.end());
  std::vector<uint16_t> zeros(first.size());
  int64_t columns = int64_t(first.size());
  expectRounded(
      run<uint16_t>(product("f16"),
                    {view(ones, DType::f16),
                     TensorView{both.data(), DType::f16, {2, columns}, {}},
                     view(zeros, DType::f16)}),
      sums);
}

INSTANTIATE_TEST_SUITE_P(
    Targets, HalfCasts,
    testing::Values(Target{"reference", "reference", "cpu:generic"},
                    Target{"generic", "cpu", "cpu:generic"},
                    Target{"avx2", "cpu", "cpu:avx2"},
                    Target{"avx512", "cpu", "cpu:avx512"}),
    [](const testing::TestParamInfo<Target> &info) {
      return std::string(info.param.name);
    });

} // namespace
