// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention by fields: blocks of BigBird that a call names in a table.

#include "runtime/Attention.h"
#include "runtime/Engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace attn;

namespace {

Result<std::string> buildWith(const BigBirdSpec &mask) {
  AttentionSpec spec;
  spec.queryHeads = 4;
  spec.position = Position::topLeft;
  spec.bigBird = mask;
  return buildAttention(spec);
}

TEST(BuildAttention, reads_random_blocks) {
  BigBirdSpec mask{16, 1, 1};
  mask.last = 1;
  mask.table = 3;
  Result<std::string> text = buildWith(mask);
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_THAT(*text, testing::HasSubstr(
                         " mask(#attn.bigbird<block = 16, window = 1, global = "
                         "1, last = 1, random = 0, blocks = 0, seed = 0>)"
                         " random_blocks(%random_blocks : tensor<4x?x3xi64>)"));
  Result<Program> program = Engine().compileText(*text);
  EXPECT_TRUE(program.ok()) << program.error().message;
}

TEST(AttentionErrors, random_blocks) {
  BigBirdSpec mask;
  mask.last = 1;
  EXPECT_EQ(buildWith(mask).error().message,
            "attention bigBird.blocks: expected a number from 1 to 65536, got "
            "0");
  mask.table = 65;
  EXPECT_EQ(buildWith(mask).error().message,
            "attention bigBird.table: expected a number from 0 to 64, got "
            "65");
  mask.table = 3;
  mask.blocks = 8;
  EXPECT_EQ(buildWith(mask).error().message,
            "attention bigBird.blocks: expected 0 beside a table, got 8");
}

} // namespace
