// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Requests, replies and images as bytes: what is written comes back, what is
// broken is refused.

#include "runtime/code/ModuleImage.h"

#include "runtime/code/CompileRequest.h"

#include <gtest/gtest.h>

using namespace attn;

namespace {

ModuleImage image() {
  CompiledFunction function;
  function.signature.function = "attend";
  function.signature.arguments = {
      {Parameter::Kind::tensor, DType::bf16, {-1, 8, 64}, "q", false},
      {Parameter::Kind::index, DType::i64, {}, "", false},
      {Parameter::Kind::scalar, DType::i32, {}, "n", false}};
  function.signature.results = {{Parameter::Kind::tensor,
                                 DType::f32,
                                 {-1},
                                 "lse",
                                 true,
                                 DType::bf16,
                                 {"3:4: 'a' jumps", "5:6: 'b' jumps"}}};
  function.rules = {"first rule", ""};
  AttentionSizes sizes;
  sizes.batch = {SizeSource::Kind::argument, 0, 0, 0};
  sizes.keys = {SizeSource::Kind::constant, 77, 0, 0};
  function.attentions = {sizes};
  ModuleImage image;
  image.compiler = "ids";
  image.target = "cpu:avx2";
  image.remarks = "a: remark: b";
  image.usesOpenMp = true;
  image.functions = {function, CompiledFunction()};
  image.object = std::string("code\0code", 9);
  return image;
}

TEST(ModuleImage, comes_back_as_it_was) {
  Result<ModuleImage> got = decodeImage(encode(image()));
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(got->compiler, "ids");
  EXPECT_EQ(got->target, "cpu:avx2");
  EXPECT_EQ(got->remarks, "a: remark: b");
  EXPECT_TRUE(got->usesOpenMp);
  EXPECT_EQ(got->object, image().object);
  ASSERT_EQ(got->functions.size(), 2u);
  const CompiledFunction &function = got->functions[0];
  EXPECT_EQ(format(function.signature),
            "attend(q: ?x8x64xbf16, index, n: i32) -> (lse: ?xf32)");
  EXPECT_TRUE(function.signature.results[0].isLogSumExp);
  EXPECT_EQ(function.signature.results[0].rounding, DType::bf16);
  EXPECT_EQ(function.signature.results[0].jumps,
            image().functions[0].signature.results[0].jumps);
  EXPECT_EQ(function.rules, image().functions[0].rules);
  ASSERT_EQ(function.attentions.size(), 1u);
  EXPECT_EQ(function.attentions[0].batch.kind, SizeSource::Kind::argument);
  EXPECT_EQ(function.attentions[0].keys.constant, 77);
  EXPECT_EQ(function.attentions[0].queries.kind, SizeSource::Kind::unknown);
  EXPECT_EQ(encode(*got), encode(image()));
}

TEST(ModuleImage, sizes_of_arguments_that_are_not_there_are_unknown) {
  for (SizeSource source : {SizeSource{SizeSource::Kind::argument, 0, 3, 0},
                            SizeSource{SizeSource::Kind::argument, 0, 0, 3},
                            SizeSource{SizeSource::Kind::argument, 0, 1, 0}}) {
    ModuleImage broken = image();
    broken.functions[0].attentions[0].batch = source;
    Result<ModuleImage> got = decodeImage(encode(broken));
    ASSERT_TRUE(got.ok());
    EXPECT_EQ(got->functions[0].attentions[0].batch.kind,
              SizeSource::Kind::unknown);
  }
}

TEST(ModuleImage, broken_bytes_are_refused) {
  std::string whole = encode(image());
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(decodeImage(whole.substr(0, size)).ok()) << size;
  EXPECT_FALSE(decodeImage(whole + "x").ok());
  for (size_t i = 0; i < whole.size(); ++i)
    for (char value : {'\0', '\1', '\x7f', '\xff'}) {
      std::string changed = whole;
      changed[i] = value;
      // Some of these bytes are text, and any text will do.
      (void)decodeImage(changed).ok();
    }
}

TEST(CompileRequest, comes_back_as_it_was) {
  CompileRequest request;
  request.text = "func.func";
  request.name = "a.mlir";
  request.options.device = "reference";
  request.options.referenceStage = "rewrite";
  request.options.target = "cpu:avx2";
  request.options.dumpDir = "d";
  request.options.exact = true;
  request.options.favor = "textbook";
  request.options.reassociate = "always";
  request.options.linearForm = "recurrent";
  request.options.linearChunk = 48;
  request.options.countTiles = true;
  request.output = "asm";
  request.prefix = "p";
  request.whyNoTiles = "no permission";
  std::string bytes = encode(request);
  Result<CompileRequest> got = decodeRequest(bytes);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->text, "func.func");
  EXPECT_EQ(got->name, "a.mlir");
  EXPECT_EQ(got->options.device, "reference");
  EXPECT_EQ(got->options.target, "cpu:avx2");
  EXPECT_EQ(got->options.dumpDir, "d");
  EXPECT_TRUE(got->options.exact);
  EXPECT_EQ(got->options.favor, "textbook");
  EXPECT_EQ(got->options.reassociate, "always");
  EXPECT_EQ(got->options.linearForm, "recurrent");
  EXPECT_EQ(got->options.linearChunk, 48);
  EXPECT_EQ(got->options.referenceStage, "rewrite");
  EXPECT_TRUE(got->options.countTiles);
  EXPECT_EQ(got->output, "asm");
  EXPECT_EQ(got->prefix, "p");
  EXPECT_EQ(got->whyNoTiles, "no permission");
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decodeRequest(bytes.substr(0, size)).ok()) << size;
}

/// One at a time, so that none stands for another.
TEST(CompileRequest, each_switch_comes_back_alone) {
  bool EngineOptions::*switches[] = {
      &EngineOptions::exact, &EngineOptions::countTiles,
      &EngineOptions::mapMask, &EngineOptions::remarks,
      &EngineOptions::explain};
  for (bool EngineOptions::*on : switches) {
    CompileRequest request;
    request.options.*on = true;
    Result<CompileRequest> got = decodeRequest(encode(request));
    ASSERT_TRUE(got.ok());
    for (bool EngineOptions::*which : switches)
      EXPECT_EQ(got->options.*which, which == on);
  }
}

TEST(CompilerReply, comes_back_as_it_was) {
  Result<std::string> good = decodeReply(encodeReply(std::string("bytes")));
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(*good, "bytes");
  Result<std::string> bad =
      decodeReply(encodeReply(Error{ErrorCode::unsupported, "why"}));
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code, ErrorCode::unsupported);
  EXPECT_EQ(bad.error().message, "why");
  EXPECT_FALSE(decodeReply("").ok());
}

} // namespace
