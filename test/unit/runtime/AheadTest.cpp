// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What surrounds code that is compiled ahead of time: names in C, descriptions
// and the CPU. Programs that are linked with such code are in test/package.

#include "runtime/ahead/CpuFeatures.h"
#include "runtime/ahead/Description.h"
#include "runtime/ahead/Header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace attn;
using testing::HasSubstr;
using testing::Not;

namespace {

Parameter tensor(const std::string &name) {
  return {Parameter::Kind::tensor, DType::f32, {2, -1}, name, false};
}

ModuleImage moduleOf(std::vector<Signature> signatures) {
  ModuleImage image;
  image.target = "cpu:avx2";
  for (Signature &signature : signatures) {
    CompiledFunction function;
    function.signature = std::move(signature);
    image.functions.push_back(std::move(function));
  }
  return image;
}

std::string headerOf(std::vector<Signature> signatures) {
  Result<std::string> header = aheadHeader("net", moduleOf(signatures));
  EXPECT_TRUE(header.ok()) << header.error().message;
  return header ? *header : "";
}

TEST(AheadName, main_is_the_module) {
  EXPECT_EQ(aheadName("net", "main"), "net");
  EXPECT_EQ(aheadName("net", "decode"), "net_decode");
  EXPECT_EQ(aheadName("net", "a.b-c$d"), "net_a_b_c_d");
  EXPECT_EQ(aheadSymbol("net", "main"), "net_function");
}

TEST(AheadName, what_c_takes) {
  for (const char *name : {"a", "_1", "Net2", "main"})
    EXPECT_TRUE(isIdentifier(name)) << name;
  for (const char *name :
       {"", "1a", "a b", "a-b", "\xc3\xa4", "int", "template", "typeof"})
    EXPECT_FALSE(isIdentifier(name)) << name;
}

TEST(AheadHeader, declares_plan_and_call) {
  std::string header =
      headerOf({{"main",
                 {tensor("q"),
                  {Parameter::Kind::index, DType::i64, {}, "n", false},
                  {Parameter::Kind::scalar, DType::f32, {}, "c", false}},
                 {tensor("o")}}});
  EXPECT_THAT(header, HasSubstr("/* main(q: 2x?xf32, n: index, c: f32) -> "
                                "(o: 2x?xf32)\n"));
  EXPECT_THAT(header, HasSubstr("attn_status net_plan(\n"
                                "    const attn_tensor *q,\n"
                                "    int64_t n,\n"
                                "    double c,\n"
                                "    int64_t o_sizes[2]) {\n"));
  EXPECT_THAT(header, HasSubstr("attn_status net(\n"
                                "    const attn_tensor *q,\n"
                                "    int64_t n,\n"
                                "    double c,\n"
                                "    const attn_tensor *o,\n"
                                "    int threads) {\n"));
  EXPECT_THAT(header, HasSubstr("{ATTN_TENSOR, q, 0, 0},\n"
                                "      {ATTN_INTEGER, 0, n, 0},\n"
                                "      {ATTN_NUMBER, 0, 0, c}};\n"));
}

TEST(AheadHeader, gives_names_where_the_source_has_none_for_c) {
  std::string header =
      headerOf({{"main",
                 {tensor(""), tensor("0"), tensor("int"), tensor("threads"),
                  tensor("attn_x"), tensor("x_sizes"), tensor("y")},
                 {tensor("y"), tensor("x"), tensor("r#1")}}});
  EXPECT_THAT(header, HasSubstr("net(\n"
                                "    const attn_tensor *argument0,\n"
                                "    const attn_tensor *argument1,\n"
                                "    const attn_tensor *argument2,\n"
                                "    const attn_tensor *argument3,\n"
                                "    const attn_tensor *argument4,\n"
                                "    const attn_tensor *x_sizes,\n"
                                "    const attn_tensor *y,\n"
                                "    const attn_tensor *result0,\n"
                                "    const attn_tensor *result1,\n"
                                "    const attn_tensor *result2,\n"
                                "    int threads) {\n"));
}

TEST(AheadHeader, a_chosen_name_gives_way) {
  std::string header =
      headerOf({{"main", {tensor("argument1"), tensor("")}, {tensor("o")}}});
  EXPECT_THAT(header, HasSubstr("const attn_tensor *argument1,\n"
                                "    const attn_tensor *argument1_,\n"));
}

TEST(AheadHeader, functions_of_one_name_are_refused) {
  Result<std::string> header =
      aheadHeader("net", moduleOf({{"a.b", {}, {}}, {"a_b", {}, {}}}));
  ASSERT_FALSE(header.ok());
  EXPECT_EQ(header.error().message, "function 'a_b': expected a name of its "
                                    "own in C, got 'net_a_b' again");
  // The plan of one is another.
  EXPECT_FALSE(
      aheadHeader("net", moduleOf({{"a", {}, {}}, {"a_plan", {}, {}}})).ok());
}

TEST(Description, survives_being_bytes) {
  Description description;
  description.features = "x86-64-v3";
  description.image = moduleOf({{"main", {tensor("q")}, {tensor("o")}}});
  description.image.functions[0].rules = {"a rule"};
  Result<Description> read = decodeDescription(encode(description));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->features, "x86-64-v3");
  EXPECT_EQ(read->image.target, "cpu:avx2");
  EXPECT_EQ(format(read->image.functions[0].signature),
            "main(q: 2x?xf32) -> (o: 2x?xf32)");
  EXPECT_EQ(read->image.functions[0].rules[0], "a rule");
}

TEST(Description, other_bytes_are_refused) {
  std::string bytes =
      encode(Description{moduleOf({{"main", {tensor("q")}, {}}}), "x86-64-v3"});
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decodeDescription(bytes.substr(0, size)).ok()) << size;
  EXPECT_FALSE(decodeDescription(bytes + "x").ok());
  EXPECT_FALSE(decodeDescription(encode(Description{moduleOf({}), ""})).ok());
}

TEST(CpuFeatures, says_what_is_lacking) {
  // Every machine that runs attn's tests has it.
  EXPECT_EQ(whyNotFeatures("x86-64-v2"), "");
  EXPECT_EQ(whyNotFeatures(""), "");
  EXPECT_EQ(whyNotFeatures("x86-64-v2,z80"), "this CPU lacks z80");
  if (!__builtin_cpu_supports("amx-tile"))
    EXPECT_THAT(whyNotFeatures("x86-64-v2,amx-tile"), Not(""));
}

} // namespace
