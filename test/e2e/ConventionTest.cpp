// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What holds for every function on every device, whatever it computes: results
// written where they belong, rules between sizes checked before anything runs,
// arithmetic defined for all operands, results rounded once, memory given back.

#include "test/e2e/Harness.h"
#include "test/e2e/PoisonedCall.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <limits>
#include <malloc.h>

using namespace attn;
using namespace attn::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class Convention : public testing::TestWithParam<Target> {
protected:
  void SetUp() override { ATTN_SKIP_UNLESS_HERE(GetParam()); }

  Result<Program> compile(const std::string &text) {
    EngineOptions options;
    options.device = GetParam().device;
    options.target = GetParam().target;
    return Engine(options).compileText(text);
  }

  static std::vector<std::vector<double>>
  valuesOf(const Result<std::vector<Tensor>> &results) {
    std::vector<std::vector<double>> values;
    if (!results) {
      ADD_FAILURE() << results.error().message;
      return values;
    }
    for (const Tensor &tensor : *results) {
      values.emplace_back();
      for (int64_t k = 0; k < tensor.numElements(); ++k)
        values.back().push_back(tensor.at(k));
    }
    return values;
  }

  static std::string messageOf(const Result<std::vector<Tensor>> &results) {
    return results ? "no error" : results.error().message;
  }
};

Arguments arguments(DType dtype, const std::vector<double> &elements) {
  Arguments result;
  result.add(dtype, {int64_t(elements.size())}, elements);
  return result;
}

TEST_P(Convention, ResultsMayBeOneValueAnArgumentOrAConstant) {
  Result<Program> program = compile(R"(
    func.func @main(%x: tensor<?xf32>)
        -> (tensor<?xf32>, tensor<?xf32>, tensor<2xi64>, tensor<f32>) {
      %two = arith.constant dense<[7, -9]> : tensor<2xi64>
      %one = arith.constant dense<1.5> : tensor<f32>
      return %x, %x, %two, %one
          : tensor<?xf32>, tensor<?xf32>, tensor<2xi64>, tensor<f32>
    })");
  ASSERT_TRUE(bool(program)) << program.error().message;
  Arguments x = arguments(DType::f32, {1, -2, 3});
  EXPECT_THAT(valuesOf(callPoisoned(*program, "main", x.values)),
              ElementsAre(ElementsAre(1, -2, 3), ElementsAre(1, -2, 3),
                          ElementsAre(7, -9), ElementsAre(1.5)));
}

TEST_P(Convention, AFunctionMayBeNamedLikeOneOfTheRuntime) {
  Result<Program> program = compile(R"(
    func.func private @half(%x: tensor<?xf32>) -> tensor<?xf32> {
      return %x : tensor<?xf32>
    }
    func.func @malloc(%x: tensor<?xf32>) -> tensor<?xf32> {
      %y = call @half(%x) : (tensor<?xf32>) -> tensor<?xf32>
      return %y : tensor<?xf32>
    })");
  ASSERT_TRUE(bool(program)) << program.error().message;
  EXPECT_THAT(program->functions(), ElementsAre("malloc"));
  Arguments x = arguments(DType::f32, {4, 5});
  EXPECT_THAT(valuesOf(callPoisoned(*program, "malloc", x.values)),
              ElementsAre(ElementsAre(4, 5)));
}

TEST_P(Convention, RulesBetweenSizesComeFirst) {
  Result<Program> program = compile(R"(
    func.func @sum(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %z = linalg.add ins(%x, %y : tensor<?xf32>, tensor<?xf32>)
          outs(%x : tensor<?xf32>) -> tensor<?xf32>
      return %z : tensor<?xf32>
    }
    func.func @cast(%x: tensor<?xf32>) -> tensor<3xf32> {
      %y = tensor.cast %x : tensor<?xf32> to tensor<3xf32>
      return %y : tensor<3xf32>
    }
    func.func @sized(%n: index) -> tensor<?xf32> {
      %zero = arith.constant 0.0 : f32
      %empty = tensor.empty(%n) : tensor<?xf32>
      %y = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>)
          -> tensor<?xf32>
      return %y : tensor<?xf32>
    })");
  ASSERT_TRUE(bool(program)) << program.error().message;
  Arguments x = arguments(DType::f32, {1, 2, 3});
  Arguments y = arguments(DType::f32, {1, 2, 3, 4});
  EXPECT_THAT(
      messageOf(callPoisoned(*program, "sum", {x.values[0], y.values[0]})),
      HasSubstr("'linalg.add' op operand 1: expected size of dimension "
                "0 3, got 4"));
  EXPECT_THAT(messageOf(callPoisoned(*program, "cast", y.values)),
              HasSubstr("'tensor.cast' op source: expected dimension 0 3, got "
                        "4"));
  EXPECT_THAT(messageOf(callPoisoned(*program, "sized", {int64_t(-5)})),
              HasSubstr("expected size of dimension 0 of at least 0, got -5"));
  EXPECT_THAT(
      valuesOf(callPoisoned(*program, "sum", {x.values[0], x.values[0]})),
      ElementsAre(ElementsAre(2, 4, 6)));
  EXPECT_THAT(valuesOf(callPoisoned(*program, "sized", {int64_t(2)})),
              ElementsAre(ElementsAre(0, 0)));
}

/// One query, keys of which those are kept that `keep` says, values 1, 2, 4,
/// ...: the result tells which. `%n` is read at the key's position.
std::string keepProgram(const std::string &keep) {
  return R"(
    func.func @main(%q: tensor<1x1x1x1xf32>, %v: tensor<1x1x?x1xf32>,
                    %n: tensor<?xi32>, %x: tensor<?xf32>)
        -> tensor<1x1x1x1xf32> {
      %o = attn.softmax %q, %v, %v scale(0.0)
          keep {
          ^bb0(%b: index, %h: index, %i: index, %j: index):
            )" +
         keep + R"(
            attn.yield %kept : i1
          }
          : (tensor<1x1x1x1xf32>, tensor<1x1x?x1xf32>, tensor<1x1x?x1xf32>)
          -> tensor<1x1x1x1xf32>
      return %o : tensor<1x1x1x1xf32>
    })";
}

Arguments keepArguments(const std::vector<double> &values,
                        const std::vector<double> &integers,
                        const std::vector<double> &floats = {0}) {
  Arguments result;
  result.add(DType::f32, {1, 1, 1, 1}, {1});
  result.add(DType::f32, {1, 1, int64_t(values.size()), 1}, values);
  result.add(DType::i32, {int64_t(integers.size())}, integers);
  result.add(DType::f32, {int64_t(floats.size())}, floats);
  return result;
}

TEST_P(Convention, DivisionHasAResultForEveryOperand) {
  // min / d of the keys is min / 1, min / -1 = min, min / 0 = min, min / 2.
  Result<Program> program = compile(keepProgram(R"(
            %d = tensor.extract %n[%j] : tensor<?xi32>
            %min = arith.constant -2147483648 : i32
            %quotient = arith.divsi %min, %d : i32
            %same = arith.cmpi eq, %quotient, %min : i32
            %rest = arith.remsi %min, %d : i32
            %zero = arith.constant 0 : i32
            %none = arith.cmpi eq, %rest, %zero : i32
            %kept = arith.andi %same, %none : i1)"));
  ASSERT_TRUE(bool(program)) << program.error().message;
  Arguments in = keepArguments({3, 6, 12, 24}, {1, -1, 0, 2});
  EXPECT_THAT(valuesOf(callPoisoned(*program, "main", in.values)),
              ElementsAre(ElementsAre(7)));
}

TEST_P(Convention, ShiftsHaveAResultForEveryAmount) {
  // By the width and more, -8 gives 0, and its sign where the shift has one.
  Result<Program> program = compile(keepProgram(R"(
            %amount = tensor.extract %n[%j] : tensor<?xi32>
            %number = arith.constant -8 : i32
            %width = arith.constant 32 : i32
            %zero = arith.constant 0 : i32
            %ones = arith.constant -1 : i32
            %inside = arith.cmpi ult, %amount, %width : i32
            %up = arith.shli %number, %amount : i32
            %down = arith.shrui %number, %amount : i32
            %signed = arith.shrsi %number, %amount : i32
            %noUp = arith.cmpi eq, %up, %zero : i32
            %noDown = arith.cmpi eq, %down, %zero : i32
            %sign = arith.cmpi eq, %signed, %ones : i32
            %nothing = arith.andi %noUp, %noDown : i1
            %outside = arith.andi %nothing, %sign : i1
            %kept = arith.xori %outside, %inside : i1)"));
  ASSERT_TRUE(bool(program)) << program.error().message;
  // All five are kept: the mean of 1, 2, 4, 8 and 16.
  Arguments in = keepArguments({1, 2, 4, 8, 16}, {0, 31, 32, 33, -1});
  std::vector<std::vector<double>> values =
      valuesOf(callPoisoned(*program, "main", in.values));
  ASSERT_EQ(values.size(), 1u);
  EXPECT_NEAR(values[0].at(0), 6.2, 1e-6);
}

TEST_P(Convention, ConversionsToIntegersAreClamped) {
  Result<Program> program = compile(keepProgram(R"(
            %f = tensor.extract %x[%j] : tensor<?xf32>
            %integer = arith.fptosi %f : f32 to i32
            %expected = tensor.extract %n[%j] : tensor<?xi32>
            %kept = arith.cmpi eq, %integer, %expected : i32)"));
  ASSERT_TRUE(bool(program)) << program.error().message;
  double inf = std::numeric_limits<double>::infinity();
  // All eight are kept: the mean of 1, 2, 4, 8, 16, 32, 64, 128. The last two
  // are the greatest f32 that i32 holds and the least one.
  Arguments in =
      keepArguments({1, 2, 4, 8, 16, 32, 64, 128},
                    {-2147483648.0, 2147483647, 0, -2, 2147483647,
                     -2147483648.0, 2147483520, -2147483648.0},
                    {-1e30, 1e30, std::numeric_limits<double>::quiet_NaN(),
                     -2.75, inf, -inf, 2147483520, -2147483648.0});
  EXPECT_THAT(valuesOf(callPoisoned(*program, "main", in.values)),
              ElementsAre(ElementsAre(31.875)));
}

TEST_P(Convention, RegionsCompareFloatsOfEveryWidth) {
  // The entry of f16 is that of f64, or that of f64 is one that f32 has.
  Result<Program> program = compile(R"(
    func.func @main(%q: tensor<1x1x1x1xf64>, %v: tensor<1x1x?x1xf64>,
                    %n: tensor<?xf16>, %x: tensor<?xf64>)
        -> tensor<1x1x1x1xf64> {
      %o = attn.softmax %q, %v, %v scale(0.0)
          keep {
          ^bb0(%b: index, %h: index, %i: index, %j: index):
            %narrow = tensor.extract %n[%j] : tensor<?xf16>
            %extended = arith.extf %narrow : f16 to f64
            %wide = tensor.extract %x[%j] : tensor<?xf64>
            %same = arith.cmpf oeq, %extended, %wide : f64
            %rounded = arith.truncf %wide : f64 to f32
            %again = arith.extf %rounded : f32 to f64
            %short = arith.cmpf oeq, %again, %wide : f64
            %kept = arith.ori %same, %short : i1
            attn.yield %kept : i1
          }
          : (tensor<1x1x1x1xf64>, tensor<1x1x?x1xf64>, tensor<1x1x?x1xf64>)
          -> tensor<1x1x1x1xf64>
      return %o : tensor<1x1x1x1xf64>
    })");
  ASSERT_TRUE(bool(program)) << program.error().message;
  Arguments in;
  in.add(DType::f64, {1, 1, 1, 1}, {1});
  in.add(DType::f64, {1, 1, 6, 1}, {1, 2, 4, 8, 16, 32});
  in.add(DType::f16, {6}, {65504, 0x1p-24, 1, 1, 2, -INFINITY});
  in.add(DType::f64, {6},
         {65504, 0x1p-24, 1 + 0x1p-40, 1 + 0x1p-20, NAN, -INFINITY});
  // All but the third and the fifth: (1 + 2 + 8 + 32) / 4.
  EXPECT_THAT(valuesOf(callPoisoned(*program, "main", in.values)),
              ElementsAre(ElementsAre(10.75)));
}

TEST_P(Convention, IndicesOfCapturedTensorsAreClamped) {
  Result<Program> program = compile(keepProgram(R"(
            %far = arith.constant 1000000000000 : index
            %one = arith.constant 1 : i32
            %past = arith.addi %j, %far : index
            %last = tensor.extract %n[%past] : tensor<?xi32>
            %before = arith.subi %j, %far : index
            %first = tensor.extract %n[%before] : tensor<?xi32>
            %sum = arith.addi %first, %last : i32
            %kept = arith.cmpi eq, %sum, %one : i32)"));
  ASSERT_TRUE(bool(program)) << program.error().message;
  Arguments in = keepArguments({2, 4}, {8, 5, 6, -7});
  EXPECT_THAT(valuesOf(callPoisoned(*program, "main", in.values)),
              ElementsAre(ElementsAre(3)));
  in = keepArguments({2, 4}, {8, 5, 6, -6});
  EXPECT_THAT(valuesOf(callPoisoned(*program, "main", in.values)),
              ElementsAre(ElementsAre(0)));
}

/// Functions of each kind, all of whose buffers have at least 480 bytes.
TEST_P(Convention, CallsGiveTheirMemoryBack) {
  const char *programs[] = {R"(
    func.func @main(%q: tensor<1x2x?x8xf32>, %k: tensor<1x2x?x8xf32>)
        -> tensor<1x2x?x8xf32> {
      %a = attn.softmax %q, %k, %k : (tensor<1x2x?x8xf32>,
          tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) -> tensor<1x2x?x8xf32>
      %b = attn.softmax %a, %k, %k : (tensor<1x2x?x8xf32>,
          tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) -> tensor<1x2x?x8xf32>
      return %b : tensor<1x2x?x8xf32>
    })",
                            R"(
    func.func @main(%q: tensor<1x2x?x8xf32>, %k: tensor<1x2x?x8xf32>)
        -> (tensor<1x2x?x8xf32>, tensor<1x2x8x9xf32>) {
      %o, %s = attn.linear %q, %k, %k feature(#attn.elu1) normalize(token)
          causal
          : (tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>)
          -> (tensor<1x2x?x8xf32>, tensor<1x2x8x9xf32>)
      return %o, %s : tensor<1x2x?x8xf32>, tensor<1x2x8x9xf32>
    })",
                            R"(
    func.func @main(%q: tensor<1x2x?x8xf32>, %k: tensor<1x2x?x8xf32>)
        -> tensor<1x2x?x8xf32> {
      %w = attn.random_features seed(3) : tensor<32x8xf32>
      %o = attn.favor %q, %k, %k, %w kind(positive) causal
          : (tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>,
             tensor<32x8xf32>) -> tensor<1x2x?x8xf32>
      return %o : tensor<1x2x?x8xf32>
    })",
                            R"(
    func.func @main(%q: tensor<1x2x60x8xf32>, %k: tensor<1x2x60x8xf32>)
        -> tensor<2x60x60xf32> {
      %a = tensor.collapse_shape %q [[0, 1], [2], [3]]
          : tensor<1x2x60x8xf32> into tensor<2x60x8xf32>
      %b = tensor.collapse_shape %k [[0, 1], [2], [3]]
          : tensor<1x2x60x8xf32> into tensor<2x60x8xf32>
      %zero = arith.constant 0.0 : f32
      %empty = tensor.empty() : tensor<2x60x60xf32>
      %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x60x60xf32>)
          -> tensor<2x60x60xf32>
      %p = linalg.batch_matmul
          indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>,
                           affine_map<(b, m, n, k) -> (b, n, k)>,
                           affine_map<(b, m, n, k) -> (b, m, n)>]
          ins(%a, %b : tensor<2x60x8xf32>, tensor<2x60x8xf32>)
          outs(%c : tensor<2x60x60xf32>) -> tensor<2x60x60xf32>
      return %p : tensor<2x60x60xf32>
    })"};
  Arguments in;
  for (int k = 0; k < 2; ++k)
    in.add(DType::f32, {1, 2, 60, 8}, std::vector<double>(2 * 60 * 8, 0.5));
  for (const char *text : programs) {
    Result<Program> program = compile(text);
    ASSERT_TRUE(bool(program)) << program.error().message;
    auto call = [&] {
      EXPECT_TRUE(bool(callPoisoned(*program, "main", in.values)));
    };
    for (int warmUp = 0; warmUp < 3; ++warmUp)
      call();
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (int repeat = 0; repeat < 100; ++repeat)
      call();
    size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
    // A leak of the smallest buffer, one row per query, would be
    // 200 * 480 bytes.
    EXPECT_LT(double(after), double(before) + 40000) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Convention, testing::ValuesIn(allTargets()),
                         [](const auto &info) { return info.param.name; });

/// Calls into poisoned memory tell what is not written.
TEST(PoisonedCallMustFail, OnAnElementThatIsNotWritten) {
  EngineOptions options;
  options.target = "cpu:generic";
  Result<Program> program = Engine(options).compileText(R"(
    func.func @main() -> tensor<3xf32> {
      %y = tensor.empty() : tensor<3xf32>
      return %y : tensor<3xf32>
    })");
  ASSERT_TRUE(bool(program)) << program.error().message;
  Result<std::vector<Tensor>> results = callPoisoned(*program, "main", {});
  ASSERT_FALSE(bool(results));
  EXPECT_THAT(results.error().message,
              HasSubstr("result 0, element 0 of 3xf32"));
}

// The mean of the values is 1 + 2^-8 + 2^-39, just above the middle of two
// bf16. Rounded to f32 first it would be the middle, and then 1.
TEST(Reference, RoundsOnce) {
  EngineOptions options;
  options.device = "reference";
  Result<Program> program = Engine(options).compileText(R"(
    func.func @main(%q: tensor<1x1x1x1xbf16>, %v: tensor<1x1x?x1xbf16>)
        -> tensor<1x1x1x1xbf16> {
      %o = attn.softmax %q, %v, %v scale(0.0)
          : (tensor<1x1x1x1xbf16>, tensor<1x1x?x1xbf16>, tensor<1x1x?x1xbf16>)
          -> tensor<1x1x1x1xbf16>
      return %o : tensor<1x1x1x1xbf16>
    })");
  ASSERT_TRUE(bool(program)) << program.error().message;
  double step = 0x1p-7, tiny = 0x1p-36;
  std::vector<std::pair<std::vector<double>, double>> cases = {
      {{1 + step, 1 + step, 1 + step, 1 + step, 1, 1, 2, tiny}, 1 + step},
      {{1 + step, 1 + step, 1 + step, 1 + step, 1, 1, 2, -tiny}, 1},
      {{1 + step, 1 + step, 1 + step, 1 + step, 1, 1, 2, 0}, 1}, // to even
      {{-1 - step, -1 - step, -1 - step, -1 - step, -1, -1, -2, -tiny},
       -1 - step},
      {{0x1.fep127, 0x1.fep127}, 0x1.fep127},
      // The smallest numbers: the mean of 131 and 132 steps, a tie. What is
      // subnormal counts as 0, as a value and as a mean.
      {{0x83p-133, 0x84p-133}, 0x84p-133},
      {{-0x81p-133, -0x80p-133}, -0x80p-133},
      {{0x80p-133, 0}, 0},
      {{0x7fp-133, 0x100p-133}, 0x80p-133}};
  for (const auto &[values, expected] : cases) {
    Arguments in;
    in.add(DType::bf16, {1, 1, 1, 1}, {1});
    in.add(DType::bf16, {1, 1, int64_t(values.size()), 1}, values);
    Result<std::vector<Tensor>> results =
        callPoisoned(*program, "main", in.values);
    ASSERT_TRUE(bool(results)) << results.error().message;
    EXPECT_EQ((*results)[0].at(0), expected) << values.back();
  }
}

// The same for f16: the mean is 1 + 2^-11, a tie, or 2^-26 above it.
TEST(Reference, RoundsOnceToF16) {
  EngineOptions options;
  options.device = "reference";
  Result<Program> program = Engine(options).compileText(R"(
    func.func @main(%q: tensor<1x1x1x1xf16>, %v: tensor<1x1x?x1xf16>)
        -> tensor<1x1x1x1xf16> {
      %o = attn.softmax %q, %v, %v scale(0.0)
          : (tensor<1x1x1x1xf16>, tensor<1x1x?x1xf16>, tensor<1x1x?x1xf16>)
          -> tensor<1x1x1x1xf16>
      return %o : tensor<1x1x1x1xf16>
    })");
  ASSERT_TRUE(bool(program)) << program.error().message;
  double step = 0x1p-10;
  std::vector<double> values(65536, 1.0);
  std::fill(values.begin(), values.begin() + 32768, 1 + step);
  for (auto [last, expected] :
       {std::pair{1 + 0.0, 1.0}, {1 + step, 1 + step}}) {
    values.back() = last;
    Arguments in;
    in.add(DType::f16, {1, 1, 1, 1}, {1});
    in.add(DType::f16, {1, 1, int64_t(values.size()), 1}, values);
    Result<std::vector<Tensor>> results =
        callPoisoned(*program, "main", in.values);
    ASSERT_TRUE(bool(results)) << results.error().message;
    EXPECT_EQ((*results)[0].at(0), expected) << last;
  }
}

} // namespace
