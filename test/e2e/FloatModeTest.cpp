// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mode of floating-point numbers of compiled code: subnormal numbers count
// as 0 in arithmetic, in every op and on every thread; those of f16 are normal
// numbers of f32 and stay; and the mode of the calling thread is neither used
// nor changed.

#include "test/e2e/Harness.h"
#include "gtest/gtest.h"

#include <cmath>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

using namespace attn;
using namespace attn::test;
using Shape = std::vector<int64_t>;

namespace {

/// A program of operands x and y whose result is 0 where x is, and far above
/// the least normal number where x is subnormal and y as large as `Family`
/// says.
struct Family {
  std::string name;
  Shape x, y;
  std::string ir;      ///< !x and !y are the types of operands, !t of elements
  bool isLarge = true; ///< y is about 1e20 instead of 1
  std::string form = "auto";
  bool isSums =
      false; ///< x is of the type of sums, f64 beside f64 and else f32
};

std::vector<Family> families() {
  std::vector<Family> all;
  all.push_back({"elementwise", {64, 1000}, {64, 1000}, R"(
func.func @main(%x: !x, %y: !y) -> !x {
  %r = linalg.mul ins(%x, %y : !x, !y) outs(%x : !x) -> !x
  return %r : !x
})"});
  all.push_back({"row_sums", {64, 1000}, {64}, R"(
func.func @main(%x: !x, %y: !y) -> !y {
  %zero = arith.constant 0.0 : !t
  %empty = tensor.empty() : !y
  %init = linalg.fill ins(%zero : !t) outs(%empty : !y) -> !y
  %s = linalg.reduce ins(%x : !x) outs(%init : !y) dimensions = [1]
    (%a: !t, %b: !t) { %c = arith.addf %a, %b : !t linalg.yield %c : !t }
  %r = linalg.mul ins(%s, %y : !y, !y) outs(%init : !y) -> !y
  return %r : !y
})"});
  all.push_back({"matmul", {8, 70, 64}, {8, 64, 64}, R"(
func.func @main(%x: !x, %y: !y) -> !x {
  %zero = arith.constant 0.0 : !t
  %empty = tensor.empty() : !x
  %init = linalg.fill ins(%zero : !t) outs(%empty : !x) -> !x
  %r = linalg.batch_matmul ins(%x, %y : !x, !y) outs(%init : !x) -> !x
  return %r : !x
})"});
  // Values are weighted by no more than 1.
  all.push_back({"softmax",
                 {2, 4, 70, 16},
                 {2, 4, 70, 16},
                 R"(
func.func @main(%x: !x, %y: !y) -> !x {
  %r = attn.softmax %y, %y, %x : (!y, !y, !x) -> !x
  return %r : !x
})",
                 false});
  all.push_back({"few_rows",
                 {2, 1, 4500, 16},
                 {2, 4, 1, 16},
                 R"(
func.func @main(%x: !x, %y: !y) -> !y {
  %r = attn.gqa %y, %x, %x : (!y, !x, !x) -> !y
  return %r : !y
})",
                 false});
  for (std::string form : {"chunk", "quadratic", "recurrent"}) {
    all.push_back({"linear_keys_" + form,
                   {2, 4, 70, 16},
                   {2, 4, 70, 16},
                   R"(
func.func @main(%x: !x, %y: !y) -> !x {
  %r = attn.linear %y, %x, %y causal : (!y, !x, !y) -> !x
  return %r : !x
})",
                   true,
                   form});
    all.push_back({"linear_state_" + form,
                   {2, 4, 16, 16},
                   {2, 4, 70, 16},
                   R"(
func.func @main(%x: !x, %y: !y) -> (!y, !x) {
  %zero = arith.constant 0.0 : !t
  %empty = tensor.empty() : !y
  %k = linalg.fill ins(%zero : !t) outs(%empty : !y) -> !y
  %r, %s = attn.linear %y, %k, %y state(%x : !x) causal : (!y, !y, !y) -> (!y, !x)
  return %r, %s : !y, !x
})",
                   true,
                   form,
                   true});
  }
  all.push_back({"features", {2, 4, 70, 16}, {2, 4, 70, 16}, R"(
func.func @main(%x: !x, %y: !y) -> !x {
  %f = attn.feature_map %x map {
  ^bb0(%e: !l):
    attn.yield %e : !l
  } : !x -> !x
  %r = linalg.mul ins(%f, %y : !x, !y) outs(%x : !x) -> !x
  return %r : !x
})"});
  return all;
}

std::string typeOf(const Shape &shape, DType dtype) {
  std::string type = "tensor<";
  for (int64_t size : shape)
    type += std::to_string(size) + "x";
  return type + std::string(name(dtype)) + ">";
}

DType typeOfX(const Family &family, DType dtype) {
  return family.isSums && dtype != DType::f64 ? DType::f32 : dtype;
}

std::string irOf(const Family &family, DType dtype) {
  return "!t = " + std::string(name(dtype)) +
         "\n!l = " + std::string(name(logitType(dtype))) +
         "\n!x = " + typeOf(family.x, typeOfX(family, dtype)) +
         "\n!y = " + typeOf(family.y, dtype) + family.ir;
}

std::vector<double> fillOf(const Shape &shape, double magnitude) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  std::vector<double> values = randomValues(count, 3);
  for (double &value : values)
    value = std::copysign(magnitude * (1.0 + std::fabs(value)), value);
  return values;
}

std::vector<Tensor> runFamily(const Family &family, DType dtype, Target target,
                              double x, double y) {
  target.name += "_" + family.form;
  target.configure = [&](EngineOptions &options) {
    options.linearForm = family.form;
  };
  std::shared_ptr<Tensor> left = makeTensor(typeOfX(family, dtype), family.x,
                                            fillOf(family.x, x)),
                          right =
                              makeTensor(dtype, family.y, fillOf(family.y, y));
  return run(target, irOf(family, dtype), {left->view(), right->view()});
}

struct Cell {
  Family family;
  DType dtype;
  Target target;
};
void PrintTo(const Cell &cell, std::ostream *os) { *os << cell.family.name; }
std::string nameOf(const testing::TestParamInfo<Cell> &info) {
  return info.param.family.name + "_" + std::string(name(info.param.dtype)) +
         "_" + info.param.target.name;
}

class FloatMode : public testing::TestWithParam<Cell> {
protected:
  void SetUp() override { ATTN_SKIP_UNLESS_HERE(GetParam().target); }
};

std::vector<Cell> cells() {
  std::vector<Cell> all;
  for (const Family &family : families())
    for (DType dtype : {DType::f32, DType::f64, DType::bf16})
      for (const Target &target : targetsFor(dtype))
        all.push_back({family, dtype, target});
  return all;
}

//===- subnormal numbers --------------------------------------------------===//

TEST_P(FloatMode, SubnormalOperandsCountAsZero) {
  const auto &[family, dtype, target] = GetParam();
  bool isWide = dtype == DType::f64;
  double large = !family.isLarge ? 1.0 : isWide ? 1e140 : 1e18;
  // About 2^-128 and 2^-1024.
  double subnormal = isWide ? 5.6e-309 : 2.9e-39;
  for (const Tensor &result :
       runFamily(family, dtype, target, subnormal, large))
    for (double value : toDoubles(result.view()))
      ASSERT_EQ(value, 0.0);
  // The same numbers 2^12 times as large are normal, and are not lost.
  std::vector<Tensor> normal =
      runFamily(family, dtype, target, subnormal * 4096, large);
  ASSERT_FALSE(normal.empty());
  for (double value : toDoubles(normal[0].view()))
    if (value != 0.0)
      return;
  FAIL() << "normal numbers count as 0";
}

INSTANTIATE_TEST_SUITE_P(Families, FloatMode, testing::ValuesIn(cells()),
                         nameOf);

class FloatModeOn : public testing::TestWithParam<Target> {
protected:
  void SetUp() override { ATTN_SKIP_UNLESS_HERE(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Targets, FloatModeOn, testing::ValuesIn(allTargets()),
                         [](const auto &info) { return info.param.name; });

TEST_P(FloatModeOn, SubnormalResultsAreZero) {
  // e^-95 is about 2^-137, e^-80 about 2^-115.
  std::string ir = R"(
func.func @main(%x: tensor<40000xf32>) -> tensor<40000xf32> {
  %r = linalg.exp ins(%x : tensor<40000xf32>) outs(%x : tensor<40000xf32>) -> tensor<40000xf32>
  return %r : tensor<40000xf32>
})";
  std::vector<double> x(40000, -95.0);
  x.back() = -80.0;
  std::shared_ptr<Tensor> tensor = makeTensor(DType::f32, {40000}, x);
  std::vector<Tensor> results = run(GetParam(), ir, {tensor->view()});
  ASSERT_EQ(results.size(), 1u);
  std::vector<double> values = toDoubles(results[0].view());
  EXPECT_NEAR(values.back(), std::exp(-80.0), 1e-5 * std::exp(-80.0));
  values.pop_back();
  for (double value : values)
    ASSERT_EQ(value, 0.0);
}

TEST_P(FloatModeOn, SubnormalsOfF16Stay) {
  // Units of 2^-24, the least f16, that are subnormal up to 1023.
  std::vector<double> v;
  for (int64_t n = 0; n < 40; ++n)
    v.push_back(std::ldexp(n % 2 ? -1.0 - 25.0 * n : 3.0 + 25.0 * n, -24));
  // One key has the weight 1; with query, key and value 1, 1 and v the state of
  // one token is v; and 1 times v is v.
  std::string programs[] = {R"(
func.func @main(%a: tensor<1x1x1x1xf16>, %v: tensor<1x1x1x40xf16>) -> tensor<1x1x1x40xf16> {
  %r = attn.softmax %a, %a, %v : (tensor<1x1x1x1xf16>, tensor<1x1x1x1xf16>, tensor<1x1x1x40xf16>) -> tensor<1x1x1x40xf16>
  return %r : tensor<1x1x1x40xf16>
})",
                            R"(
func.func @main(%a: tensor<1x1x1x1xf16>, %v: tensor<1x1x1x40xf16>) -> tensor<1x1x1x40xf16> {
  %r = attn.linear %a, %a, %v causal : (tensor<1x1x1x1xf16>, tensor<1x1x1x1xf16>, tensor<1x1x1x40xf16>) -> tensor<1x1x1x40xf16>
  return %r : tensor<1x1x1x40xf16>
})",
                            R"(
func.func @main(%a: tensor<1x1x1x1xf16>, %v: tensor<1x1x1x40xf16>) -> tensor<1x1x1x40xf16> {
  %c = tensor.collapse_shape %a [[0], [1], [2, 3]] : tensor<1x1x1x1xf16> into tensor<1x1x1xf16>
  %empty = tensor.empty() : tensor<1x1x1x40xf16>
  %one = linalg.broadcast ins(%c : tensor<1x1x1xf16>) outs(%empty : tensor<1x1x1x40xf16>) dimensions = [3]
  %r = linalg.mul ins(%one, %v : tensor<1x1x1x40xf16>, tensor<1x1x1x40xf16>) outs(%empty : tensor<1x1x1x40xf16>) -> tensor<1x1x1x40xf16>
  return %r : tensor<1x1x1x40xf16>
}
)"};
  std::shared_ptr<Tensor> a = makeTensor(DType::f16, {1, 1, 1, 1}, {1.0}),
                          values = makeTensor(DType::f16, {1, 1, 1, 40}, v);
  for (const std::string &ir : programs) {
    std::vector<Tensor> results =
        run(GetParam(), ir, {a->view(), values->view()});
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(toDoubles(results[0].view()), v);
  }
}

//===- the mode of the caller ---------------------------------------------===//

#if defined(__x86_64__)

/// Sets the mode of this thread until the end of the block.
struct HostMode {
  explicit HostMode(unsigned mode) : before(_mm_getcsr()) { _mm_setcsr(mode); }
  ~HostMode() { _mm_setcsr(before); }
  unsigned before;
};

TEST_P(FloatModeOn, ModeOfTheCallerIsNeitherUsedNorChanged) {
  constexpr unsigned kMasks = 0x1f80, kFlags = 0x3f, kUp = 0x4000,
                     kToZero = 0x6000, kSubnormals = 0x8040;
  // Of the traps, all but those of inexact results, which the runtime's own
  // arithmetic has.
  constexpr unsigned kTraps = 0x1000;
  for (const Family &family : families()) {
    SCOPED_TRACE(family.name);
    Target target = GetParam();
    target.name += "_" + family.form;
    target.configure = [&](EngineOptions &options) {
      options.linearForm = family.form;
    };
    std::string ir = irOf(family, DType::f32);
    // Some subnormal results, overflows and results that are not exact.
    std::shared_ptr<Tensor> x =
        makeTensor(DType::f32, family.x, fillOf(family.x, 1.7e-38));
    std::shared_ptr<Tensor> y =
        makeTensor(DType::f32, family.y, fillOf(family.y, 0.3));
    std::vector<Tensor> want = run(target, ir, {x->view(), y->view()});
    std::shared_ptr<Program> program = compile(target, ir);
    ASSERT_TRUE(program);
    for (unsigned mode :
         {kMasks, kMasks | kUp, kMasks | kToZero | 0x15u, kMasks | kFlags,
          kMasks | kSubnormals, kTraps, kTraps | kUp}) {
      SCOPED_TRACE(testing::Message() << "MXCSR " << std::hex << mode);
      unsigned after;
      std::vector<Tensor> got;
      {
        HostMode host(mode);
        got = run(target, ir, {x->view(), y->view()});
        after = _mm_getcsr();
      }
      EXPECT_EQ(after, mode);
      ASSERT_EQ(got.size(), want.size());
      for (size_t n = 0; n < got.size(); ++n)
        EXPECT_EQ(toBytes(got[n].view()), toBytes(want[n].view()));
    }
  }
}

#endif // __x86_64__

} // namespace
