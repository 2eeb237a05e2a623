// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules of numbers that are values: a scale or a softcap that its rule refuses
// as a number is refused by the call that brings it, before anything runs, or
// makes rows NaN where only the kernel gets to see it.

#include "test/e2e/Harness.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace attn;
using namespace attn::test;

namespace {

/// One head of `type`, with scale %s and softcap %c.
std::string numbersIr(const std::string &type, const std::string &arguments,
                      const std::string &prelude) {
  std::string t = "tensor<1x1x?x2x" + type + ">";
  return "func.func @main(%q: " + t + ", %k: " + t + arguments + ") -> " + t +
         " {\n" + prelude +
         "\n  %o = attn.softmax %q, %k, %k scale(%s : f32) softcap(%c : f32)"
         " align(top_left) mask(#attn.causal) : (" +
         t + ", " + t + ", " + t + ") -> " + t + "\n  return %o : " + t +
         "\n}\n";
}

class Numbers : public testing::TestWithParam<Target> {
protected:
  void SetUp() override { ATTN_SKIP_UNLESS_HERE(GetParam()); }

  /// Q, K and the given numbers.
  Arguments inputs(DType dtype, std::vector<double> numbers) {
    Arguments arguments;
    arguments.add(dtype, {1, 1, 2, 2}, {1, -2, 0.5, 3});
    arguments.add(dtype, {1, 1, 2, 2}, {2, 1, -1, 0.25});
    for (double number : numbers)
      arguments.addFloat(number);
    return arguments;
  }
};

const float kInf = INFINITY, kNan = NAN;
const std::string scaleText =
    "'attn.softmax' op scale: expected a number that is finite in ";
const std::string capText =
    "'attn.softmax' op softcap: expected a number > 0 that is normal in ";

TEST_P(Numbers, ThatBreakARuleAreRefusedByTheCall) {
  struct Bad {
    double number;
    const char *got;
  };
  const Bad badCaps[] = {{0, "0"},
                         {-0.0, "-0"},
                         {-2, "-2"},
                         {kInf, "inf"},
                         {-kInf, "-inf"},
                         {kNan, "nan"},
                         {1e300, "inf"},
                         {1e-300, "0"},
                         // Subnormal, and with a subnormal reciprocal.
                         {0x1p-127, "5.87747175e-39"},
                         {0x1.2p126, "9.57044157e+37"}};
  for (DType dtype : {DType::f32, DType::bf16, DType::f64}) {
    std::string ir = numbersIr(name(dtype), ", %s: f32, %c: f32", "");
    std::string type = dtype == DType::f64 ? "f64" : "f32";
    for (const Bad &bad : badCaps)
      EXPECT_EQ(errorOf(GetParam(), ir, inputs(dtype, {1, bad.number}).values),
                capText + "f32 with its reciprocal, got " + bad.got);
    for (const Bad &bad :
         {Bad{kInf, "inf"}, {-kInf, "-inf"}, {kNan, "nan"}, {-1e39, "-inf"}})
      EXPECT_EQ(errorOf(GetParam(), ir, inputs(dtype, {bad.number, 1}).values),
                scaleText + type + ", got " + bad.got);
    // A scale may be anything that is finite.
    for (double scale : {0.0, -0.0, -3.0, 3e38, 1e-45})
      EXPECT_EQ(errorOf(GetParam(), ir, inputs(dtype, {scale, 1}).values), "")
          << scale;
    for (double cap : {0.5, 1.0, 0x1p126, 0x1p-126})
      EXPECT_EQ(errorOf(GetParam(), ir, inputs(dtype, {1, cap}).values), "")
          << cap;
  }
}

/// What arithmetic makes of arguments and sizes is looked at, too.
TEST_P(Numbers, ThatAreComputedAreRefusedByTheCall) {
  std::string ir = numbersIr("f32", ", %x: f32, %y: f32", R"(
  %c2 = arith.constant 2 : index
  %n = tensor.dim %q, %c2 : tensor<1x1x?x2xf32>
  %i = arith.index_cast %n : index to i64
  %f = arith.sitofp %i : i64 to f32
  %e = math.exp %x : f32
  %s = arith.divf %e, %f : f32
  %one = arith.constant 1.0 : f32
  %d = arith.subf %y, %one : f32
  %c = math.sqrt %d : f32)");
  auto errorWith = [&](double x, double y) {
    return errorOf(GetParam(), ir, inputs(DType::f32, {x, y}).values);
  };
  EXPECT_EQ(errorWith(0, 5), "");
  EXPECT_EQ(errorWith(100, 5), scaleText + "f32, got inf");
  EXPECT_EQ(errorWith(0, 1), capText + "f32 with its reciprocal, got 0");
  EXPECT_EQ(errorWith(0, -3), capText + "f32 with its reciprocal, got nan");
}

/// One that a tensor holds is only seen by the kernel: every row with a key is
/// NaN, and a row without one is 0 as ever.
TEST_P(Numbers, ThatATensorHoldsMakeRowsNaN) {
  std::string ir = numbersIr("f32", ", %x: tensor<2xf32>", R"(
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = tensor.extract %x[%c0] : tensor<2xf32>
  %c = tensor.extract %x[%c1] : tensor<2xf32>)");
  auto resultOf = [&](double scale, double cap) {
    Arguments arguments = inputs(DType::f32, {});
    arguments.add(DType::f32, {2}, {scale, cap});
    std::vector<Tensor> got = run(GetParam(), ir, arguments.values);
    return got.size() == 1 ? toDoubles(got[0].view()) : std::vector<double>();
  };
  for (auto [scale, cap] : {std::pair<double, double>{1, 0},
                            {1, -2},
                            {1, kInf},
                            {1, kNan},
                            {kInf, 1},
                            {-kInf, 1},
                            {kNan, 1},
                            {1, 2.5e-39}}) {
    std::vector<double> got = resultOf(scale, cap);
    ASSERT_EQ(got.size(), 4u);
    for (double x : got)
      EXPECT_TRUE(std::isnan(x)) << scale << " " << cap << ": " << x;
  }
  // Row 0 sees one key, row 1 both, with logits 2 tanh(s / 2) of s = 4 and
  // 0.25.
  std::vector<double> got = resultOf(1, 2);
  ASSERT_EQ(got.size(), 4u);
  double weight = std::exp(2 * std::tanh(4 / 2.0)),
         other = std::exp(2 * std::tanh(0.25 / 2.0));
  EXPECT_NEAR(got[0], 2, 1e-6);
  EXPECT_NEAR(got[1], 1, 1e-6);
  EXPECT_NEAR(got[2], (2 * weight - other) / (weight + other), 1e-5);
  EXPECT_NEAR(got[3], (weight + 0.25 * other) / (weight + other), 1e-5);
}

} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, Numbers, testing::ValuesIn(allTargets()),
                         [](const testing::TestParamInfo<Target> &info) {
                           return info.param.name;
                         });
