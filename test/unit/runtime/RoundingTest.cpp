// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the front end finds out about results: how coarsely numbers are rounded
// on the way to them, and where rounding alone may decide.

#include "runtime/compile/BigStack.h"
#include "runtime/compile/Diagnostics.h"
#include "runtime/compile/Source.h"

#include "passes/Registration.h"

#include "mlir/IR/MLIRContext.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace attn;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

/// The results of the public functions of `text`, in order.
std::vector<Parameter> resultsOf(const std::string &text) {
  std::vector<Parameter> results;
  runOnBigStack([&] {
    mlir::DialectRegistry registry;
    mlir::attn::registerAttn(registry);
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    Diagnostics diagnostics(context);
    std::optional<Source> source = parseSource(text, "t.mlir", context);
    EXPECT_TRUE(source) << diagnostics.errors();
    if (source)
      for (const CompiledFunction &function : source->functions)
        for (const Parameter &result : function.signature.results)
          results.push_back(result);
  });
  return results;
}

/// A function of %x, %y : tensor<4xf32> and %w : tensor<4xf64>.
Parameter resultOf(const std::string &type, const std::string &lines) {
  std::vector<Parameter> results =
      resultsOf("func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>, "
                "%w: tensor<4xf64>) -> tensor<4x" +
                type + "> {\n" + lines + "\n}\n");
  return results.empty() ? Parameter() : results.front();
}

/// %r of `type` from %in, an element of %x, and %out.
std::string elementwise(const std::string &result, const std::string &input,
                        const std::string &from, const std::string &output,
                        const std::string &to, const std::string &body,
                        const std::string &iterator = "parallel") {
  std::string map = "affine_map<(i) -> (i)>";
  return result + " = linalg.generic {indexing_maps = [" + map + ", " + map +
         "], iterator_types = [\"" + iterator + "\"]} ins(" + input +
         " : tensor<4x" + from + ">) outs(" + output + " : tensor<4x" + to +
         ">) {\n^bb0(%in: " + from + ", %out: " + to + "):\n" + body +
         "\n} -> tensor<4x" + to + ">\n";
}

TEST(Rounding, of_what_is_only_moved_and_widened_is_that_of_the_result) {
  EXPECT_EQ(resultOf("f64", elementwise("%r", "%x", "f32", "%w", "f64", R"(
      %a = arith.extf %in : f32 to f64
      %b = arith.addf %a, %out : f64
      linalg.yield %b : f64)") + "return %r : tensor<4xf64>")
                .rounding,
            DType::f64);
}

TEST(Rounding, is_the_coarsest_on_the_way) {
  // In f32, and then in f64.
  std::string first = elementwise("%a", "%x", "f32", "%y", "f32", R"(
      %p = arith.mulf %in, %out : f32
      linalg.yield %p : f32)");
  std::string second = elementwise("%r", "%a", "f32", "%w", "f64", R"(
      %q = arith.extf %in : f32 to f64
      linalg.yield %q : f64)");
  EXPECT_EQ(
      resultOf("f64", first + second + "return %r : tensor<4xf64>").rounding,
      DType::f32);
  // Within one operation, to less than what comes in and goes out.
  EXPECT_EQ(resultOf("f32", elementwise("%r", "%x", "f32", "%y", "f32", R"(
      %n = arith.truncf %in : f32 to bf16
      %q = arith.extf %n : bf16 to f32
      linalg.yield %q : f32)") + "return %r : tensor<4xf32>")
                .rounding,
            DType::bf16);
  // What does not lead to the result does not count.
  EXPECT_EQ(resultOf("f64", first + "return %w : tensor<4xf64>").rounding,
            DType::f64);
}

TEST(Rounding, of_what_is_called_counts) {
  std::vector<Parameter> results = resultsOf(R"(
    func.func private @narrow(%a: f64) -> f64 {
      %n = arith.truncf %a : f64 to f16
      %w = arith.extf %n : f16 to f64
      return %w : f64
    }
    func.func @f(%t: tensor<4xf64>, %s: f32) -> tensor<4xf64> {
      %a = arith.extf %s : f32 to f64
      %b = func.call @narrow(%a) : (f64) -> f64
      %r = linalg.fill ins(%b : f64) outs(%t : tensor<4xf64>) -> tensor<4xf64>
      return %r : tensor<4xf64>
    })");
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].rounding, DType::f16);
}

/// Attention of `type` with a score and a keep region.
std::vector<Parameter> attention(const std::string &type,
                                 const std::string &score,
                                 const std::string &keep) {
  std::string t = "tensor<1x1x4x2x" + type + ">";
  std::string logit = type == "f64" ? "f64" : "f32";
  return resultsOf(
      "func.func @f(%q: " + t + ") -> (" + t + ", tensor<1x1x4x" + logit +
      ">) {\n%o, %l = attn.softmax %q, %q, %q align(top_left)\n"
      "score {\n^bb0(%s: " +
      logit + ", %b: index, %h: index, %i: index, %j: index):\n" + score +
      "}\nkeep {\n^bb0(%b: index, %h: index, %i: index, "
      "%j: index):\n" +
      keep + "}\n: (" + t + ", " + t + ", " + t + ") -> (" + t +
      ", tensor<1x1x4x" + logit + ">)\nreturn %o, %l : " + t +
      ", tensor<1x1x4x" + logit + ">\n}\n");
}

const std::string sameScore = "attn.yield %s : f32\n";
const std::string allKept =
    "%k = arith.cmpi sle, %j, %i : index\nattn.yield %k : i1\n";
const std::string distance = "%d = arith.subi %i, %j : index\n"
                             "%di = arith.index_cast %d : index to i64\n"
                             "%df = arith.sitofp %di : i64 to f32\n";

TEST(Rounding, of_a_logarithm_is_that_of_its_weights) {
  std::vector<Parameter> narrow = attention("bf16", sameScore, allKept);
  ASSERT_EQ(narrow.size(), 2u);
  EXPECT_EQ(narrow[0].rounding, DType::bf16);
  EXPECT_EQ(narrow[1].dtype, DType::f32);
  EXPECT_EQ(narrow[1].rounding, DType::bf16);
  std::vector<Parameter> wide = attention("f32", sameScore, allKept);
  ASSERT_EQ(wide.size(), 2u);
  EXPECT_EQ(wide[1].rounding, DType::f32);
  EXPECT_THAT(wide[0].jumps, IsEmpty());
}

TEST(Rounding, decides_where_a_computed_number_becomes_an_integer) {
  auto jumpsOf = [](const std::string &score, const std::string &keep) {
    std::vector<Parameter> results = attention("f32", score, keep);
    return results.empty() ? std::vector<std::string>() : results[0].jumps;
  };
  // Of the score, and of a product of positions, which the reference device
  // computes in f64; both have their line and column.
  EXPECT_THAT(jumpsOf("%n = arith.fptosi %s : f32 to i64\n"
                      "%m = arith.sitofp %n : i64 to f32\n"
                      "attn.yield %m : f32\n",
                      allKept),
              ElementsAre("5:6: 'arith.fptosi' rounds to an integer"));
  std::string product = distance + "%c = arith.constant 0.7 : f32\n"
                                   "%x = arith.mulf %df, %c : f32\n";
  EXPECT_THAT(jumpsOf(product + "%n = arith.fptosi %x : f32 to i64\n"
                                "%m = arith.sitofp %n : i64 to f32\n"
                                "attn.yield %m : f32\n",
                      allKept),
              ElementsAre("10:6: 'arith.fptosi' rounds to an integer"));
  // A minimum decides nothing else than which of two equal numbers it is.
  EXPECT_THAT(jumpsOf("%z = arith.constant 1.0 : f32\n"
                      "%k = arith.cmpf ogt, %s, %z : f32\n"
                      "%n = arith.select %k, %z, %s : f32\n"
                      "attn.yield %n : f32\n",
                      allKept),
              IsEmpty());
  EXPECT_THAT(jumpsOf("%z = arith.constant 1.0 : f32\n"
                      "%o = arith.constant 2.0 : f32\n"
                      "%k = arith.cmpf ogt, %s, %z : f32\n"
                      "%n = arith.select %k, %o, %s : f32\n"
                      "attn.yield %n : f32\n",
                      allKept),
              ElementsAre("7:6: 'arith.cmpf' compares computed numbers"));
  // Positions are the same everywhere, and so is arithmetic in a keep region,
  // but not what a library computes.
  EXPECT_THAT(jumpsOf(distance + "%n = arith.fptosi %df : f32 to i32\n"
                                 "%m = arith.sitofp %n : i32 to f32\n"
                                 "attn.yield %m : f32\n",
                      allKept),
              IsEmpty());
  std::string compared = "%k = arith.cmpf olt, %x, %df : f32\n"
                         "attn.yield %k : i1\n";
  EXPECT_THAT(jumpsOf(sameScore, product + compared), IsEmpty());
  EXPECT_THAT(
      jumpsOf(sameScore, distance + "%x = math.exp %df : f32\n" + compared),
      ElementsAre(HasSubstr("'arith.cmpf' compares computed numbers")));
}

TEST(Rounding, decides_on_sums_but_not_on_operands) {
  std::string body = R"(
      %n = math.roundeven %in : f32
      linalg.yield %n : f32)";
  EXPECT_THAT(
      resultOf("f32", elementwise("%r", "%x", "f32", "%y", "f32", body) +
                          "return %r : tensor<4xf32>")
          .jumps,
      IsEmpty());
  std::string sum = "%a = linalg.matmul ins(%x2, %x2 : tensor<4x4xf32>, "
                    "tensor<4x4xf32>) outs(%x2 : tensor<4x4xf32>) -> "
                    "tensor<4x4xf32>\n";
  std::vector<Parameter> results = resultsOf(
      "func.func @f(%x2: tensor<4x4xf32>) -> tensor<4x4xf32> {\n" + sum +
      "%r = linalg.map ins(%a : tensor<4x4xf32>) outs(%x2 : tensor<4x4xf32>)\n"
      "(%in: f32, %init: f32) {\n%n = math.roundeven %in : f32\n"
      "linalg.yield %n : f32\n}\nreturn %r : tensor<4x4xf32>\n}\n");
  ASSERT_EQ(results.size(), 1u);
  EXPECT_THAT(results[0].jumps,
              ElementsAre(HasSubstr("'math.roundeven' rounds to an integer")));
}

} // namespace
