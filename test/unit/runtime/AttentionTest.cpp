// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention by fields: the IR that stands for it, what is refused, and that
// what is not refused is what the compiler takes.

#include "runtime/Attention.h"

#include "runtime/Engine.h"
#include "runtime/Spec.h"
#include "test/e2e/PoisonedCall.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace attn;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

std::string build(const AttentionSpec &spec) {
  Result<std::string> text = buildAttention(spec);
  EXPECT_TRUE(text.ok()) << text.error().message;
  return text ? *text : "";
}

std::string errorOf(const std::function<void(AttentionSpec &)> &change) {
  AttentionSpec spec;
  change(spec);
  Result<std::string> text = buildAttention(spec);
  EXPECT_FALSE(text.ok());
  return text ? "" : text.error().message;
}

/// A spec with everything that can stand together.
AttentionSpec everything(DType dtype) {
  AttentionSpec spec;
  spec.name = "all";
  spec.dtype = dtype;
  spec.batch = 2;
  spec.queryHeads = 6;
  spec.keyHeads = 3;
  spec.keyDim = 16;
  spec.valueDim = 24;
  spec.scale = 0.125;
  spec.softcap = atCall;
  spec.position = Position::offsetPerBatch;
  spec.windowLeft = 40;
  spec.windowRight = 3;
  spec.prefix = CallInteger::perBatch;
  spec.alibi = DType::f32;
  spec.bias = BroadcastSpec{dtype, {1, anySize, anySize}};
  spec.select = {2, 1, anySize, anySize};
  spec.lengths = true;
  spec.keyOffset = true;
  spec.sinks = DType::f32;
  spec.logSumExp = true;
  return spec;
}

Result<Program> compile(const AttentionSpec &spec) {
  EngineOptions options;
  options.device = "reference";
  return Engine(options).compile(spec);
}

TEST(BuildAttention, needs_no_field) {
  EXPECT_EQ(
      build({}),
      "func.func @attend(%q: tensor<?x?x?x?xf32>, %k: tensor<?x?x?x?xf32>, %v: "
      "tensor<?x?x?x?xf32>) -> (tensor<?x?x?x?xf32>) {\n"
      "  %o = attn.gqa %q, %k, %v\n"
      "      : (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, "
      "tensor<?x?x?x?xf32>) -> (tensor<?x?x?x?xf32>)\n"
      "  return %o : tensor<?x?x?x?xf32>\n}\n");
}

TEST(BuildAttention, writes_sizes) {
  AttentionSpec spec;
  spec.name = "decode_1";
  spec.dtype = DType::bf16;
  spec.batch = 4;
  spec.queryHeads = 32;
  spec.keyHeads = 8;
  spec.queries = 1;
  spec.keyDim = 128;
  spec.valueDim = 64;
  spec.logSumExp = true;
  std::string text = build(spec);
  EXPECT_THAT(text, HasSubstr("@decode_1(%q: tensor<4x32x1x128xbf16>, %k: "
                              "tensor<4x8x?x128xbf16>, %v: "
                              "tensor<4x8x?x64xbf16>) -> "
                              "(tensor<4x32x1x64xbf16>, tensor<4x32x1xf32>)"));
  EXPECT_THAT(text, HasSubstr("%o, %lse = attn.gqa"));
}

TEST(BuildAttention, heads_and_dims_default_to_those_of_the_query) {
  AttentionSpec spec;
  spec.queryHeads = 6;
  spec.keyDim = 40;
  EXPECT_THAT(build(spec), HasSubstr("(tensor<?x6x?x40xf32>, "
                                     "tensor<?x6x?x40xf32>, "
                                     "tensor<?x6x?x40xf32>)"));
}

TEST(BuildAttention, writes_clauses_in_order) {
  EXPECT_THAT(
      build(everything(DType::f32)),
      HasSubstr(
          " scale(1.2500000000000000e-01) softcap(%softcap : f32)"
          " offset(%offset : tensor<2xi64>)"
          " mask(#attn.window<left = 40, right = 3>, #attn.prefix)"
          " prefix(%prefix : tensor<2xi64>) alibi(%alibi : tensor<6xf32>)"
          " bias(%bias : tensor<1x?x?xf32>) select(%select : "
          "tensor<2x1x?x?xi1>)"
          " lengths(%lengths : tensor<2xi64>) key_offset(%key_offset : index)"
          " sinks(%sinks : tensor<6xf32>)\n"));
}

TEST(BuildAttention, packs_sequences) {
  AttentionSpec spec;
  spec.queryHeads = 4;
  spec.sequences = 3;
  spec.position = Position::offsetPerBatch;
  spec.bigBird = BigBirdSpec{16, 1, 2, 3, 8, 7};
  std::string text = build(spec);
  EXPECT_THAT(text, HasSubstr("%q: tensor<1x4x?x?xf32>"));
  EXPECT_THAT(text,
              HasSubstr(" offset(%offset : tensor<3xi64>)"
                        " mask(#attn.bigbird<block = 16, window = 1, global = "
                        "2, last = 0, random = 3, blocks = 8, seed = 7>)"
                        " query_starts(%query_starts : tensor<4xi64>)"
                        " key_starts(%key_starts : tensor<4xi64>)\n"));
  spec.sequences = anySize;
  EXPECT_THAT(build(spec),
              HasSubstr("key_starts(%key_starts : tensor<?xi64>)"));
  // Padding between sequences: a length for each of them.
  spec.sequences = 3;
  spec.lengths = true;
  EXPECT_THAT(build(spec), HasSubstr(" lengths(%lengths : tensor<3xi64>)"));
}

TEST(BuildAttention, compiles_whatever_it_builds) {
  const std::vector<std::function<void(AttentionSpec &)>> changes = {
      [](AttentionSpec &) {},
      [](AttentionSpec &spec) { spec.scale = -3; },
      [](AttentionSpec &spec) { spec.scale = 0; },
      [](AttentionSpec &spec) { spec.scale = 1e-300; },
      [](AttentionSpec &spec) { spec.scale = atCall; },
      [](AttentionSpec &spec) { spec.softcap = 30; },
      [](AttentionSpec &spec) { spec.softcap = 0x1p126; },
      [](AttentionSpec &spec) {
        spec.position = Position::topLeft;
        spec.causal = true;
      },
      [](AttentionSpec &spec) {
        spec.position = Position::bottomRight;
        spec.windowRight = 0;
      },
      [](AttentionSpec &spec) {
        spec.position = Position::offset;
        spec.windowLeft = INT64_MAX;
      },
      [](AttentionSpec &spec) {
        spec.position = Position::offset;
        spec.prefix = CallInteger::index;
      },
      [](AttentionSpec &spec) { spec.bias = BroadcastSpec(); },
      [](AttentionSpec &spec) { spec.bias = BroadcastSpec{DType::f32, {5}}; },
      [](AttentionSpec &spec) { spec.select = {1, 1}; },
      [](AttentionSpec &spec) { spec.queryHeads = spec.keyHeads.emplace(0); },
      [](AttentionSpec &spec) { spec.valueDim = 0; },
      [](AttentionSpec &spec) { spec.keyHeads = 2; },
      [](AttentionSpec &spec) { spec.sequences = 0; },
      [](AttentionSpec &spec) {
        spec.position = Position::topLeft;
        spec.bigBird.emplace().table = 2;
        spec.bigBird->last = 1;
      },
      [](AttentionSpec &spec) {
        spec.sequences = anySize;
        spec.batch = 1;
        spec.lengths = true;
        spec.position = Position::offsetPerBatch;
        spec.prefix = CallInteger::perBatch;
        spec.keyOffset = true;
        spec.sinks = DType::f32;
      },
      [](AttentionSpec &spec) {
        spec.position = Position::topLeft;
        spec.bigBird.emplace();
      },
      [](AttentionSpec &spec) {
        spec.position = Position::topLeft;
        spec.bigBird =
            BigBirdSpec{INT32_MAX, INT32_MAX, INT32_MAX, 64, 65536, UINT32_MAX};
      },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    AttentionSpec spec;
    changes[i](spec);
    Result<Program> program = compile(spec);
    EXPECT_TRUE(program.ok()) << i << ": " << program.error().message;
  }
  for (DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    Result<Program> program = compile(everything(dtype));
    ASSERT_TRUE(program.ok()) << program.error().message;
  }
}

TEST(BuildAttention, tells_its_signature) {
  Result<Program> program = compile(everything(DType::bf16));
  ASSERT_TRUE(program.ok()) << program.error().message;
  Result<Signature> signature = program->signature("all");
  ASSERT_TRUE(signature.ok());
  EXPECT_EQ(format(*signature),
            "all(q: 2x6x?x16xbf16, k: 2x3x?x16xbf16, v: 2x3x?x24xbf16, "
            "softcap: f32, offset: 2xi64, prefix: 2xi64, alibi: 6xf32, bias: "
            "1x?x?xbf16, select: 2x1x?x?xi1, lengths: 2xi64, key_offset: "
            "index, sinks: 6xf32) -> (o: 2x6x?x24xbf16, lse: 2x6x?xf32)");
}

/// The same bits as attention that is written by hand, and the sizes that are
/// told before.
TEST(BuildAttention, computes_what_is_written_by_hand) {
  AttentionSpec spec;
  spec.queryHeads = 4;
  spec.keyHeads = 2;
  spec.position = Position::bottomRight;
  spec.causal = true;
  spec.windowLeft = 9;
  spec.softcap = 2;
  spec.logSumExp = true;
  Engine engine;
  Result<Program> built = engine.compile(spec);
  ASSERT_TRUE(built.ok()) << built.error().message;
  Result<Program> written = engine.compileText(R"(
func.func @attend(%q: tensor<?x4x?x?xf32>, %k: tensor<?x2x?x?xf32>,
                  %v: tensor<?x2x?x?xf32>)
    -> (tensor<?x4x?x?xf32>, tensor<?x4x?xf32>) {
  %o, %lse = attn.gqa %q, %k, %v softcap(2.0) align(bottom_right)
      mask(#attn.causal, #attn.window<left = 9>)
      : (tensor<?x4x?x?xf32>, tensor<?x2x?x?xf32>, tensor<?x2x?x?xf32>)
      -> (tensor<?x4x?x?xf32>, tensor<?x4x?xf32>)
  return %o, %lse : tensor<?x4x?x?xf32>, tensor<?x4x?xf32>
})");
  ASSERT_TRUE(written.ok()) << written.error().message;
  std::vector<OwnedValue> owned;
  std::vector<Value> inputs;
  for (const char *type : {"3x4x17x24xf32", "3x2x50x24xf32", "3x2x50x8xf32"}) {
    Result<InputSpec> input = parseInputSpec(type);
    ASSERT_TRUE(input.ok());
    Result<OwnedValue> value = evaluate(*input, 1, owned.size());
    ASSERT_TRUE(value.ok());
    owned.push_back(std::move(*value));
    inputs.push_back(owned.back().value());
  }
  auto sizes = built->resultSizes("attend", inputs);
  ASSERT_TRUE(sizes.ok()) << sizes.error().message;
  EXPECT_THAT(*sizes,
              ElementsAre(ElementsAre(3, 4, 17, 8), ElementsAre(3, 4, 17)));
  auto got = test::callPoisoned(*built, "attend", inputs);
  auto expected = test::callPoisoned(*written, "attend", inputs);
  ASSERT_TRUE(got.ok() && expected.ok());
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ((*got)[i].sizes(), (*sizes)[i]);
    EXPECT_EQ(std::memcmp((*got)[i].raw(), (*expected)[i].raw(),
                          (*got)[i].numBytes()),
              0);
  }
  inputs.pop_back();
  EXPECT_EQ(built->resultSizes("attend", inputs).error().message,
            "function 'attend': expected 3 inputs, got 2");
  EXPECT_EQ(built->resultSizes("other", inputs).error().message,
            "function: expected one of attend, got 'other'");
}

TEST(AttentionErrors, names) {
  for (const char *name : {"", "1a", "a b", "a\"", "a.b"})
    EXPECT_EQ(errorOf([&](AttentionSpec &spec) { spec.name = name; }),
              "attention name: expected letters, digits and _, and no digit "
              "first, got '" +
                  std::string(name) + "'");
}

TEST(AttentionErrors, types) {
  EXPECT_EQ(errorOf([](AttentionSpec &spec) { spec.dtype = DType::i8; }),
            "attention dtype: expected f16, bf16, f32 or f64, got i8");
  EXPECT_EQ(errorOf([](AttentionSpec &spec) {
              spec.dtype = DType::bf16;
              spec.bias = BroadcastSpec{DType::f16, {1}};
            }),
            "attention bias.dtype: expected f32 or bf16, got f16");
  EXPECT_EQ(errorOf([](AttentionSpec &spec) { spec.sinks = DType::f64; }),
            "attention sinks: expected f32, got f64");
  EXPECT_EQ(errorOf([](AttentionSpec &spec) { spec.alibi = DType::i32; }),
            "attention alibi: expected f32, got i32");
}

TEST(AttentionErrors, sizes) {
  EXPECT_EQ(errorOf([](AttentionSpec &spec) { spec.batch = -2; }),
            "attention batch: expected a size of at least 0, or anySize, got "
            "-2");
  EXPECT_EQ(errorOf([](AttentionSpec &spec) { spec.keyDim = 0; }),
            "attention keyDim: expected a size of at least 1, or anySize, got "
            "0");
  auto heads = [](int64_t query, int64_t key) {
    return errorOf([=](AttentionSpec &spec) {
      spec.queryHeads = query;
      spec.keyHeads = key;
    });
  };
  EXPECT_EQ(heads(8, 3), "attention keyHeads: expected a number of which "
                         "queryHeads 8 is a multiple, got 3");
  EXPECT_THAT(heads(8, 0), HasSubstr("queryHeads 8 is a multiple, got 0"));
  EXPECT_THAT(heads(2, 4), HasSubstr("queryHeads 2 is a multiple, got 4"));
}

TEST(AttentionErrors, numbers) {
  for (double scale : {HUGE_VAL, std::nan(""), 1e39})
    EXPECT_THAT(errorOf([=](AttentionSpec &spec) { spec.scale = scale; }),
                HasSubstr("attention scale: expected a number that is finite "
                          "in f32, got "));
  for (double softcap :
       {0.0, -1.0, HUGE_VAL, std::nan(""), 1e39, 1e-39, 1e-38, 1e38})
    EXPECT_THAT(errorOf([=](AttentionSpec &spec) { spec.softcap = softcap; }),
                HasSubstr("attention softcap: expected a number > 0 that is "
                          "normal in f32 with its reciprocal, got "));
  // In f64 these are numbers like others.
  AttentionSpec spec;
  spec.dtype = DType::f64;
  spec.scale = 1e39;
  spec.softcap = 1e-39;
  Result<Program> program = compile(spec);
  EXPECT_TRUE(program.ok()) << program.error().message;
}

TEST(AttentionErrors, masks) {
  EXPECT_EQ(errorOf([](AttentionSpec &spec) { spec.windowLeft = -1; }),
            "attention windowLeft: expected a bound of at least 0, or none, "
            "got -1");
  EXPECT_EQ(errorOf([](AttentionSpec &spec) {
              spec.position = Position::topLeft;
              spec.causal = true;
              spec.prefix = CallInteger::index;
            }),
            "attention prefix: expected none beside causal, which it contains, "
            "got both");
  EXPECT_EQ(errorOf([](AttentionSpec &spec) {
              spec.causal = true;
              spec.windowRight = 2;
              spec.alibi = DType::f32;
            }),
            "attention position: expected one of topLeft, bottomRight, offset "
            "and offsetPerBatch for causal, windowRight, alibi, got none");
}

TEST(AttentionErrors, big_bird) {
  auto error = [](BigBirdSpec mask) {
    return errorOf([=](AttentionSpec &spec) {
      spec.position = Position::topLeft;
      spec.bigBird = mask;
    });
  };
  EXPECT_EQ(
      error({0, 1, 1, 0, 0, 0}),
      "attention bigBird.block: expected a number from 1 to 2147483647, got 0");
  EXPECT_EQ(error({1, -1, 1, 0, 0, 0}), "attention bigBird.window: expected a "
                                        "number from 0 to 2147483647, got -1");
  EXPECT_THAT(error({1, 1, -1, 0, 0, 0}), HasSubstr("bigBird.global: "));
  EXPECT_THAT(
      error({1, 1, 1, 65, 1, 0}),
      HasSubstr("bigBird.random: expected a number from 0 to 64, got 65"));
  for (int64_t blocks : {0, 65537})
    EXPECT_EQ(
        error({1, 1, 1, 2, blocks, 0}),
        "attention bigBird.blocks: expected a number from 1 to 65536, got " +
            std::to_string(blocks));
  EXPECT_THAT(
      error({1, 1, 1, 0, 0, -1}),
      HasSubstr(
          "bigBird.seed: expected a number from 0 to 4294967295, got -1"));
}

TEST(AttentionErrors, sequences) {
  EXPECT_EQ(errorOf([](AttentionSpec &spec) { spec.sequences = -2; }),
            "attention sequences: expected a number of at least 0, or anySize, "
            "got -2");
  EXPECT_EQ(errorOf([](AttentionSpec &spec) {
              spec.sequences = 2;
              spec.batch = 2;
            }),
            "attention batch: expected 1 beside sequences, got 2");
  EXPECT_EQ(errorOf([](AttentionSpec &spec) {
              spec.sequences = 2;
              spec.bias = BroadcastSpec();
            }),
            "attention bias: expected none beside sequences, got both");
}

TEST(AttentionErrors, broadcast) {
  auto select = [](std::vector<int64_t> sizes) {
    return errorOf([&](AttentionSpec &spec) {
      spec.batch = 2;
      spec.queryHeads = 4;
      spec.select = std::move(sizes);
    });
  };
  EXPECT_EQ(select({}), "attention select: expected 1 to 4 sizes, got 0");
  EXPECT_EQ(select({1, 1, 1, 1, 1}),
            "attention select: expected 1 to 4 sizes, got 5");
  EXPECT_EQ(select({2, 1, 1}), "attention select[0]: expected 1, anySize or "
                               "queryHeads (4), got 2");
  EXPECT_EQ(select({1, -2}), "attention select[1]: expected 1, anySize or keys "
                             "(any size), got -2");
  EXPECT_EQ(errorOf([](AttentionSpec &spec) {
              spec.batch = 2;
              spec.bias = BroadcastSpec{DType::f32, {3, 1, 1, 1}};
            }),
            "attention bias.sizes[0]: expected 1, anySize or batch (2), got 3");
}

} // namespace
