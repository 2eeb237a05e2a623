// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the front end lets through and what it refuses.

#include "runtime/compile/Source.h"
#include "runtime/compile/BigStack.h"
#include "runtime/compile/Diagnostics.h"

#include "passes/Registration.h"

#include "mlir/IR/MLIRContext.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace attn;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

/// Functions of a text, or the errors about it.
struct Parsed {
  std::vector<CompiledFunction> functions;
  std::string errors;
};

Parsed parse(const std::string &text) {
  Parsed parsed;
  runOnBigStack([&] {
    mlir::DialectRegistry registry;
    mlir::attn::registerAttn(registry);
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    context.printOpOnDiagnostic(false);
    Diagnostics diagnostics(context);
    std::optional<Source> source = parseSource(text, "t.mlir", context);
    if (source)
      parsed.functions = std::move(source->functions);
    parsed.errors = diagnostics.errors();
    EXPECT_EQ(source.has_value(), parsed.errors.empty());
  });
  return parsed;
}

/// A function body around `lines`, with %t : tensor<?xf32>, %n : index.
std::string inFunction(const std::string &lines) {
  return "func.func @f(%t: tensor<?xf32>, %n: index) -> tensor<?xf32> {\n" +
         lines + "\n  return %t : tensor<?xf32>\n}\n";
}

TEST(Source, signatures) {
  Parsed parsed = parse(R"(
    func.func @attend(%q: tensor<2x?x5x8xf32>, %k: tensor<2x3x?x8xf32>,
                      %v: tensor<2x3x?x16xf32>, %n: index, %s: f32, %p: i32)
        -> (tensor<2x?x5x16xf32>, tensor<2x?x5xf32>) {
      %o, %lse = attn.gqa %q, %k, %v
          : (tensor<2x?x5x8xf32>, tensor<2x3x?x8xf32>, tensor<2x3x?x16xf32>)
          -> (tensor<2x?x5x16xf32>, tensor<2x?x5xf32>)
      return %o, %lse : tensor<2x?x5x16xf32>, tensor<2x?x5xf32>
    }
    func.func private @helper(%q: tensor<2xf32>) -> tensor<2xf32> {
      return %q : tensor<2xf32>
    })");
  ASSERT_EQ(parsed.errors, "");
  ASSERT_EQ(parsed.functions.size(), 1u);
  const CompiledFunction &function = parsed.functions[0];
  EXPECT_EQ(format(function.signature),
            "attend(q: 2x?x5x8xf32, k: 2x3x?x8xf32, v: 2x3x?x16xf32, n: index, "
            "s: f32, p: i32) -> (o: 2x?x5x16xf32, lse: 2x?x5xf32)");
  EXPECT_FALSE(function.signature.results[0].isLogSumExp);
  EXPECT_TRUE(function.signature.results[1].isLogSumExp);

  ASSERT_EQ(function.attentions.size(), 1u);
  const AttentionSizes &sizes = function.attentions[0];
  EXPECT_EQ(sizes.batch.constant, 2);
  EXPECT_EQ(sizes.queryHeads.kind, SizeSource::Kind::argument);
  EXPECT_EQ(sizes.queryHeads.argument, 0u);
  EXPECT_EQ(sizes.queryHeads.dim, 1u);
  EXPECT_EQ(sizes.queries.constant, 5);
  EXPECT_EQ(sizes.keys.argument, 1u);
  EXPECT_EQ(sizes.keys.dim, 2u);
  EXPECT_EQ(sizes.keyDim.constant, 8);
  EXPECT_EQ(sizes.valueDim.constant, 16);
}

TEST(Source, names_of_grouped_and_unnamed_results) {
  Parsed parsed = parse(R"(
    func.func @f(%arg0: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %c = arith.constant true
      %r:2 = scf.if %c -> (tensor<2xf32>, tensor<2xf32>) {
        scf.yield %arg0, %arg0 : tensor<2xf32>, tensor<2xf32>
      } else {
        scf.yield %arg0, %arg0 : tensor<2xf32>, tensor<2xf32>
      }
      return %r#1, %arg0 : tensor<2xf32>, tensor<2xf32>
    })");
  ASSERT_EQ(parsed.errors, "");
  EXPECT_EQ(parsed.functions[0].signature.results[0].name, "r#1");
  EXPECT_EQ(parsed.functions[0].signature.results[1].name, "arg0");
}

TEST(Source, parse_errors_have_places) {
  EXPECT_THAT(parse("func.func @f(").errors, HasSubstr("t.mlir:1:13: error: "));
  EXPECT_THAT(parse("").errors, HasSubstr("expected a public function"));
  EXPECT_THAT(parse("\x01\x02").errors, HasSubstr("t.mlir:1:1: error: "));
  EXPECT_THAT(parse(inFunction("%x = no.such_op %t")).errors,
              HasSubstr("t.mlir:2:"));
}

TEST(Source, what_is_no_text) {
  EXPECT_THAT(parse("ML\xefR\x01").errors, HasSubstr("got bytecode"));
  EXPECT_THAT(parse(std::string("module {\0}", 10)).errors,
              HasSubstr("got a NUL byte"));
}

TEST(Source, deep_nesting) {
  for (const char *bracket : {"(", "[", "{", "<"}) {
    std::string text = "#a = ";
    for (int i = 0; i < 100000; ++i)
      text += bracket;
    EXPECT_THAT(parse(text).errors, HasSubstr("at most 200 brackets"));
  }
  // Arrows and strings do not count.
  std::string arrows = "// ((((\n";
  for (int i = 0; i < 300; ++i)
    arrows += "func.func private @f" + std::to_string(i) +
              "(%a: index) -> index {\n return %a : index // <<<\n}\n";
  arrows += inFunction("");
  EXPECT_EQ(parse(arrows).errors, "");
}

TEST(Source, long_expressions) {
  for (const char *step : {"- ", "1 + ", "1 * ", "d0 mod 2 + ", "1 +\n"}) {
    std::string text = "#a = affine_map<(d0) -> (";
    for (int i = 0; i < 200000; ++i)
      text += step;
    EXPECT_THAT(parse(text + "d0)>").errors, HasSubstr("in an expression"))
        << step;
  }
}

TEST(Source, aliases_that_double) {
  std::string text = "!a0 = tuple<i32, i32>\n";
  for (int i = 1; i < 60; ++i)
    text += "!a" + std::to_string(i) + " = tuple<!a" + std::to_string(i - 1) +
            ", !a" + std::to_string(i - 1) + ">\n";
  text += "func.func @f(%x: !a59) {\n  return\n}\n";
  EXPECT_THAT(parse(text).errors, HasSubstr("bytes in an expanded alias"));
}

TEST(Source, aliases_used_often_are_fine) {
  std::string text = "#m = affine_map<(d0) -> (d0)>\n"
                     "#n = affine_map<(d0) -> (d0 + 1)>\n";
  std::string lines;
  for (int i = 0; i < 2000; ++i)
    lines += "%x" + std::to_string(i) + " = affine.apply #n(%n)\n";
  EXPECT_EQ(parse(text + inFunction(lines)).errors, "");
}

/// The message about what would crash MLIR's parser, or nothing.
std::optional<std::string> faultOf(llvm::StringRef text,
                                   Branches branches = Branches::none) {
  std::optional<ParserFault> fault = findParserFault(text, branches);
  if (!fault)
    return std::nullopt;
  return fault->message;
}

TEST(Source, values_are_defined_above_their_uses) {
  EXPECT_FALSE(faultOf("func.func @f(%q : f32, %r: f32) {\n"
                       "  %a, %b = op.x %q, %r : f32\n"
                       "  %c:2 = op.y %a, %b\n"
                       "  op.z %c#1, %q {^bb0(%s: f32, %t: f32):\n"
                       "    %u = op.x %s, %t }\n"
                       "} // %late = comment\n"
                       "func.func @g(%late: f32) { op \"%x = y\" }"));
  EXPECT_EQ(faultOf("func.func @f() {\n  op.x %a\n  %a = op.y\n}"),
            "line 3: expected '%a' to be defined above its use");
  EXPECT_EQ(faultOf("%a = op.x %s {\n^bb0(%s: f32):"),
            "line 2: expected '%s' to be defined above its use");
  EXPECT_EQ(faultOf("func.func @f(%q: f32) {\n op.x %q, %a : f32\n"
                    " op.y {^bb0(%s: f32, %a: f32):"),
            "line 3: expected '%a' to be defined above its use");
  EXPECT_EQ(faultOf("op.x offset(%a : index)\n%a = op.y"),
            "line 2: expected '%a' to be defined above its use");
  // Regions side by side may use the same names.
  EXPECT_FALSE(faultOf("op.x {^bb0(%s : f32, %t : f32): op.y %t : f32}"
                       " {^bb0(%s : f32): %t = op.z %s : f32}"));
  // A name of one function is not visible in the next.
  EXPECT_EQ(faultOf("func.func @f(%a: f32) { op.x %a }\n"
                    "func.func @g() { op.x %a\n %a = op.y }"),
            "line 3: expected '%a' to be defined above its use");
  EXPECT_FALSE(faultOf("func.func @f() { %a = op.x }\n"
                       "func.func @g() { %a = op.y }"));
}

TEST(Source, values_are_used_in_the_region_that_defines_them) {
  auto message = [](int line) {
    return "line " + std::to_string(line) +
           ": expected '%s' to be defined above its use";
  };
  const char *twice[] = {
      "op.x {^bb0(%s: f32): op.y %s}\n",
      "op.x {%s = op.y}\n",
      "linalg.reduce (%r: f32, %s: f32) { op.y %r, %s }\n",
      "scf.for %s = %a to %b { op.y %s }\n",
      "scf.for %i = %a to %b iter_args(%s = %a, %r = %b) { op.y %r, %s }\n",
      "scf.for %i = %a to %b iter_args(%r = %a, %s = %b) { op.y %r, %s }\n",
      "scf.forall (%r, %s) in (2, 3) { op.y %r, %s }\n"};
  const std::string first = "%a, %b = op.w\n";
  for (std::string region : twice) {
    EXPECT_FALSE(faultOf(first + region + region)) << region;
    EXPECT_EQ(faultOf(first + region + "op.x %s\n" + region), message(4))
        << region;
    EXPECT_EQ(faultOf(first + region + "op.x { op.y %s }\n" + region),
              message(4))
        << region;
    // Braces of attributes are no scope.
    std::string inner = "op.z { op.x {a = 1}\n" + region + "}\n";
    EXPECT_FALSE(faultOf(first + inner + inner)) << region;
  }
  // Results and arguments are visible behind the regions of their operations.
  const char *visible[] = {
      "%s = scf.for %i = %a to %b {}\n", "%r, %s = op.x { op.y }\n",
      "%s, %r = op.x { op.y }\n", "func.func @f(%s: f32) attributes {a} {\n",
      "%i = op.x // as (\n%s = op.x {} // and,\n"};
  for (std::string region : visible)
    EXPECT_FALSE(faultOf(region + "op.x {b} {op.y %s}\nop.y %s\n" +
                         "func.func @g() { %s = op.x }"))
        << region;
}

TEST(Source, loops_define_their_variables) {
  const char *twice = "func.func @f() {\n"
                      "scf.forall (%i, %j) in (2, 3) { op.x %i, %j }\n"
                      "scf.for %j = %a to %b { op.x %j }\n}";
  EXPECT_FALSE(faultOf(twice));
  EXPECT_EQ(faultOf("op.x (%i, %j) in (2, 3)\n%j = op.y"),
            "line 2: expected '%j' to be defined above its use");
}

TEST(Source, functions_with_branches_may_refer_forward) {
  const char *plain = "llvm.func @f() {\n^bb1:\nop.x %a\n%a = op.y\n}";
  const char *branch = "llvm.func @f() {\n  llvm.br ^bb2\n^bb1:\n  op.x %a\n"
                       "^bb2:\n  %a = op.y\n  llvm.br ^bb1\n}";
  EXPECT_TRUE(faultOf(plain, Branches::allowed));
  EXPECT_TRUE(faultOf(branch));
  EXPECT_FALSE(faultOf(branch, Branches::allowed));
  // A branch in another function does not matter.
  std::string both = std::string(branch) + "\n" + plain;
  EXPECT_EQ(faultOf(both, Branches::allowed),
            "line 12: expected '%a' to be defined above its use");
  // Names of one function mean nothing in the next.
  EXPECT_FALSE(faultOf("llvm.func @f() { op.x %a }\n"
                       "llvm.func @g(%a: i64) { op.x %a }",
                       Branches::allowed));
}

TEST(Source, arrays_of_index) {
  EXPECT_EQ(faultOf("op {a = array<i64: 1>, b = array< index: 1>}"),
            "line 1: expected no array of index");
}

// Of linalg.transpose, broadcast and reduce, whose parsers make an attribute of
// what failed to parse.
TEST(Source, dimensions_are_lists_of_integers) {
  for (const char *word : {"permutation", "dimensions"}) {
    auto inText = [&](const std::string &list) {
      return "func.func @f() {\n  op.x outs(%e : t) " + std::string(word) +
             " = " + list + "\n}";
    };
    for (const char *list :
         {"[1 0]", "[x]", "", "1, 0", "[1, 0", "[1,, 0]", "[1, ]", "[, 1]",
          "[99999999999999999999]", "[1, 0x1ffffffffffffffff]", "[1.0]", "[-]",
          "[--1]", "(1)", "// [1]\n x", "\"[1]\"", "array<i64: 1>"})
      EXPECT_EQ(faultOf(inText(list)),
                "line 2: expected a list of integers in brackets behind '" +
                    std::string(word) + " ='")
          << list;
    for (const char *list :
         {"[]", "[1]", "[1, 0]", " [ 1 ,0 ] ", "// one\n[1, // two\n 0]",
          "[-1]", "[007]", "[9223372036854775807, -9223372036854775808]",
          "[0x7F]"})
      EXPECT_EQ(faultOf(inText(list)), std::nullopt) << list;
  }
  // The comma in front is of a comment, that of an attribute is not.
  EXPECT_TRUE(faultOf("op.x // ,\n dimensions = 1"));
  EXPECT_TRUE(faultOf("op.x // {\n dimensions = 1"));
  EXPECT_TRUE(faultOf("op.x dimensions // =\n = 1"));
  EXPECT_TRUE(faultOf(llvm::StringRef("op.x dimensions \0 = 1", 22)));
  EXPECT_TRUE(faultOf("op.x {a = \",\"} dimensions = 1"));
  EXPECT_FALSE(faultOf("op.x <{dimensions = array<i64: 1>}>"));
  EXPECT_FALSE(faultOf("op.x {a, dimensions = 1 : i64}"));
  // Part of another word, or no word of an op.
  EXPECT_FALSE(faultOf("op.x my_dimensions = 1 dimensions_2 = 3"));
  EXPECT_FALSE(faultOf("op.x \"dimensions = 1\" // permutation = x"));
  // As a program.
  std::string transpose =
      "func.func @f(%a: tensor<2x3xf32>, %e: tensor<3x2xf32>) -> "
      "tensor<3x2xf32> {\n  %t = linalg.transpose ins(%a : tensor<2x3xf32>) "
      "outs(%e : tensor<3x2xf32>) permutation = [1, 0]\n  return %t : "
      "tensor<3x2xf32>\n}\n";
  EXPECT_EQ(parse(transpose).errors, "");
  EXPECT_THAT(parse(transpose.replace(transpose.find("1, 0"), 4, "1 0")).errors,
              HasSubstr("line 2: expected a list of integers in brackets "
                        "behind 'permutation ='"));
}

TEST(Source, functions_only) {
  EXPECT_THAT(parse("func.func private @f(%a: index)").errors,
              HasSubstr("t.mlir:1:1: error: 'func.func' op expected a body"));
  EXPECT_THAT(parse("module { module { } }").errors,
              HasSubstr("expected functions (func.func) in a module"));
  EXPECT_THAT(parse("func.func private @f() {\n  return\n}").errors,
              HasSubstr("expected a public function"));
  EXPECT_THAT(parse("func.func @f() {\n  cf.br ^a\n^a:\n  return\n}").errors,
              HasSubstr("got 'cf.br'"));
  EXPECT_THAT(parse("func.func @\"a b\"() {\n  return\n}").errors,
              HasSubstr("expected a name of letters, digits, _, . and $"));
}

TEST(Source, ops_that_reach_past_the_runtime) {
  EXPECT_THAT(parse("llvm.func @f() {\n  llvm.return\n}").errors,
              HasSubstr("got 'llvm.func'"));
  EXPECT_THAT(parse(inFunction("%m = memref.alloc() : memref<4xf32>")).errors,
              HasSubstr("got 'memref.alloc'"));
  EXPECT_THAT(parse(inFunction("%c = arith.constant true\n"
                               "cf.assert %c, \"no\""))
                  .errors,
              HasSubstr("got 'cf.assert'"));
}

TEST(Source, types) {
  EXPECT_THAT(
      parse(inFunction("%x = arith.constant 0 : i1000000")).errors,
      HasSubstr("expected a number or a tensor of numbers of at most 64 bits"));
  EXPECT_THAT(parse(inFunction("%x = arith.constant dense<0.0> : "
                               "vector<4xf32>"))
                  .errors,
              HasSubstr("of at most 64 bits"));
  EXPECT_THAT(parse("func.func @f(%a: f64) {\n  return\n}").errors,
              HasSubstr("argument 0: expected a tensor of f64, f32, f16, bf16, "
                        "i1, i8, i32 or i64, or index, i64, i32 or f32, got "
                        "'f64'"));
  EXPECT_THAT(parse("func.func @f(%a: tensor<*xf32>) {\n  return\n}").errors,
              HasSubstr("error: "));
  EXPECT_THAT(parse("func.func @f(%a: index) -> index {\n  return %a : "
                    "index\n}")
                  .errors,
              HasSubstr("result 0: expected a tensor"));
  for (const char *type :
       {"tensor<9223372036854775807x2xf32>", "tensor<4611686018427387904xf32>"})
    EXPECT_THAT(
        parse("func.func @f(%a: " + std::string(type) + ") {\n  return\n}")
            .errors,
        HasSubstr("block argument: expected a tensor of at most 2^59 "
                  "elements, got " +
                  std::string(type)));
  EXPECT_THAT(parse("func.func @f(%a: tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x"
                    "1xf32>) {\n  return\n}")
                  .errors,
              HasSubstr("expected a tensor of at most 16 dimensions"));
  EXPECT_THAT(parse("func.func @f(%a: tensor<2xsi8>) {\n  return\n}").errors,
              HasSubstr("error: "));
}

TEST(Source, what_a_later_stage_leaves) {
  EXPECT_THAT(parse("func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
                    "  return %a : tensor<2xf32>\n}\n"
                    "func.func @f.plan(%a: !llvm.ptr, %b: !llvm.ptr) -> i64\n"
                    "    attributes {attn.rules = []} {\n"
                    "  %c = arith.constant 0 : i64\n  return %c : i64\n}")
                  .errors,
              HasSubstr("expected a source, not what a stage of the compiler "
                        "leaves, got a plan"));
  EXPECT_THAT(parse("llvm.func @f()").errors,
              HasSubstr("expected a source, not what a stage of the compiler "
                        "leaves, got 'llvm.func'"));
}

TEST(Source, attributes_that_change_code) {
  EXPECT_THAT(parse("func.func @f() attributes {passthrough = [\"naked\"]} {\n"
                    "  return\n}")
                  .errors,
              HasSubstr("attribute 'passthrough' is not supported"));
  EXPECT_THAT(
      parse("func.func @f(%a: tensor<2xf32> {llvm.align = 64 : i64}) {\n"
            "  return\n}")
          .errors,
      HasSubstr("argument 0: attributes are not supported"));
  EXPECT_THAT(parse("module attributes {llvm.data_layout = \"\"} {\n"
                    "func.func @f() {\n  return\n}\n}")
                  .errors,
              HasSubstr("is not supported"));
}

TEST(Source, recursion) {
  EXPECT_THAT(
      parse("func.func @f() {\n  call @f() : () -> ()\n  return\n}").errors,
      HasSubstr("expected no recursion, got a call of 'f'"));
  EXPECT_THAT(parse("func.func @f() {\n  call @g() : () -> ()\n  return\n}\n"
                    "func.func @g() {\n  call @f() : () -> ()\n  return\n}")
                  .errors,
              HasSubstr("expected no recursion"));
  EXPECT_EQ(parse("func.func @f() {\n  call @h() : () -> ()\n"
                  "  call @g() : () -> ()\n  return\n}\n"
                  "func.func @g() {\n  call @h() : () -> ()\n  return\n}\n"
                  "func.func @h() {\n  return\n}")
                .errors,
            "");
}

TEST(Source, size) {
  std::string lines;
  for (int i = 0; i < 30000; ++i)
    lines += "%x" + std::to_string(i) + " = arith.addi %n, %n : index\n";
  EXPECT_THAT(parse(inFunction(lines)).errors,
              HasSubstr("expected at most 20000 operations"));
}

TEST(Source, large_constants) {
  EXPECT_THAT(parse(inFunction("%c = arith.constant dense<1.0> : "
                               "tensor<1000000000xf32>"))
                  .errors,
              HasSubstr("at most 67108864 bytes of constants"));
  EXPECT_THAT(parse(inFunction("%c = arith.constant dense<1.0> : "
                               "tensor<500000000000000000xf32>"))
                  .errors,
              HasSubstr("at most 67108864 bytes of constants"));
  EXPECT_EQ(parse(inFunction("%c = arith.constant dense<1.0> : "
                             "tensor<1000000xf32>"))
                .errors,
            "");
}

TEST(Source, messages_stay_short) {
  std::string lines;
  for (int i = 0; i < 3000; ++i)
    lines += "\"attn.softmax\"() : () -> ()\n";
  EXPECT_LT(parse(inFunction(lines)).errors.size(), 20000u);
}

} // namespace
