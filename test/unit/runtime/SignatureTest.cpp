// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The types of a compiled function as a host reads them.

#include "runtime/Engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace attn;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

const char source[] = R"(
func.func @attend(%q: tensor<1x4x?x64xbf16>, %k: tensor<1x2x?x64xbf16>,
                  %v: tensor<1x2x?x32xbf16>, %n: tensor<1xi64>,
                  %first: index, %last: i32, %cap: f32)
    -> (tensor<1x4x?x32xbf16>, tensor<1x4x?xf32>) {
  %o, %lse = attn.gqa %q, %k, %v softcap(%cap : f32) offset(%first : index)
      mask(#attn.causal) lengths(%n : tensor<1xi64>)
      : (tensor<1x4x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x32xbf16>)
      -> (tensor<1x4x?x32xbf16>, tensor<1x4x?xf32>)
  return %o, %lse : tensor<1x4x?x32xbf16>, tensor<1x4x?xf32>
}
func.func @other(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func private @helper(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
)";

class SignatureTest : public testing::Test {
protected:
  SignatureTest() {
    EngineOptions options;
    options.device = "reference";
    Result<Program> compiled = Engine(options).compileText(source);
    EXPECT_TRUE(compiled.ok()) << compiled.error().message;
    if (compiled)
      program = std::move(*compiled);
  }

  std::optional<Program> program;
};

TEST_F(SignatureTest, lists_public_functions) {
  ASSERT_TRUE(program);
  EXPECT_THAT(program->functions(), ElementsAre("attend", "other"));
  EXPECT_EQ(program->signature("helper").error().message,
            "function: expected one of attend, other, got 'helper'");
}

TEST_F(SignatureTest, is_plain_data) {
  ASSERT_TRUE(program);
  Result<Signature> signature = program->signature("attend");
  ASSERT_TRUE(signature.ok()) << signature.error().message;
  EXPECT_EQ(signature->function, "attend");
  ASSERT_EQ(signature->arguments.size(), 7u);
  const std::vector<Parameter> &arguments = signature->arguments;
  EXPECT_EQ(arguments[2].name, "v");
  EXPECT_EQ(arguments[2].kind, Parameter::Kind::tensor);
  EXPECT_EQ(arguments[2].dtype, DType::bf16);
  EXPECT_THAT(arguments[2].sizes, ElementsAre(1, 2, -1, 32));
  EXPECT_EQ(arguments[3].dtype, DType::i64);
  EXPECT_THAT(arguments[3].sizes, ElementsAre(1));
  EXPECT_EQ(arguments[4].name, "first");
  EXPECT_EQ(arguments[4].kind, Parameter::Kind::index);
  EXPECT_EQ(arguments[4].dtype, DType::i64);
  EXPECT_EQ(arguments[5].kind, Parameter::Kind::scalar);
  EXPECT_EQ(arguments[5].dtype, DType::i32);
  EXPECT_EQ(arguments[6].kind, Parameter::Kind::scalar);
  EXPECT_EQ(arguments[6].dtype, DType::f32);
  EXPECT_THAT(arguments[6].sizes, IsEmpty());
  ASSERT_EQ(signature->results.size(), 2u);
  EXPECT_EQ(signature->results[0].name, "o");
  EXPECT_THAT(signature->results[0].sizes, ElementsAre(1, 4, -1, 32));
  EXPECT_FALSE(signature->results[0].isLogSumExp);
  EXPECT_EQ(signature->results[1].dtype, DType::f32);
  EXPECT_TRUE(signature->results[1].isLogSumExp);
}

TEST_F(SignatureTest, is_text) {
  ASSERT_TRUE(program);
  EXPECT_EQ(format(*program->signature("attend")),
            "attend(q: 1x4x?x64xbf16, k: 1x2x?x64xbf16, v: 1x2x?x32xbf16, n: "
            "1xi64, first: index, last: i32, cap: f32) -> (o: 1x4x?x32xbf16, "
            "lse: 1x4x?xf32)");
  EXPECT_EQ(format(*program->signature("other")), "other(x: f32) -> (x: f32)");
}

} // namespace
