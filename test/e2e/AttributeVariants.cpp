// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variants made of mask attributes and options. See Variants.h.

#include "test/e2e/BigBird.h"
#include "test/e2e/Variants.h"

using namespace attn;
using namespace attn::test;
using oracle::Align;
using oracle::Window;

/// Key lengths per batch entry, one of them past the end and one below 0 where
/// there are that many entries.
static std::vector<int64_t> someLengths(const Sizes &s) {
  std::vector<int64_t> lengths;
  for (int64_t b = 0; b < s.b; ++b)
    lengths.push_back(b == 0 ? (2 * s.skv + 2) / 3 : b == 1 ? s.skv + 7 : -b);
  return lengths;
}

static std::vector<double> asDoubles(const std::vector<int64_t> &values) {
  return {values.begin(), values.end()};
}

static void bindLengths(Problem &p, DType dtype) {
  p.attention.lengths = someLengths(p.sizes);
  p.captured.add(dtype, {p.sizes.b}, asDoubles(p.attention.lengths));
}

/// One length for all batch entries.
static void bindLength(Problem &p) {
  int64_t length = (3 * p.sizes.skv + 1) / 4;
  p.attention.lengths.assign(size_t(p.sizes.b), length);
  p.captured.add(length);
}

/// A table for blocks of 16 keys with some entries that name no block: the
/// blocks of `p`, or fewer.
static BlockTable someTable(const Problem &p, int64_t heads, int64_t entries,
                            int64_t fewer) {
  int64_t blocks = std::max<int64_t>((p.sizes.skv + 15) / 16 - fewer, 1);
  BlockTable table{heads, blocks, entries, {}};
  for (int64_t n = 0; n < heads * blocks * entries; ++n)
    table.data.push_back(n % 5 == 0 ? -1 : (7 * n + n / 3) % (blocks + 1));
  return table;
}

static void bindBigBird(Problem &p, DType dtype, const BigBird &mask,
                        const BlockTable &table) {
  p.attention.keep = [=](int64_t, int64_t h, int64_t i, int64_t j) {
    return keepsBigBird(mask, table, h, i, j);
  };
  p.captured.add(dtype, {table.heads, table.blocks, table.entries},
                 asDoubles(table.data));
}

static void bindOffsets(Problem &p, DType dtype) {
  p.attention.align = Align::Offset;
  for (int64_t b = 0; b < p.sizes.b; ++b)
    p.attention.offset.push_back(b % 2 == 0 ? p.sizes.skv / 2 - b : -2 - b);
  p.captured.add(dtype, {p.sizes.b}, asDoubles(p.attention.offset));
}

const std::vector<Variant> &attn::test::attributeVariants() {
  static const std::vector<Variant> variants = {
      {"none", "", "", "", [](Problem &) {}},
      {"causal_bottom_right", "", "", "align(bottom_right) mask(#attn.causal)",
       [](Problem &p) {
         p.attention.align = Align::BottomRight;
         p.attention.causal = true;
       }},
      {"causal_top_left", "", "", "align(top_left) mask(#attn.causal)",
       [](Problem &p) {
         p.attention.align = Align::TopLeft;
         p.attention.causal = true;
       }},
      {"causal_window", "", "",
       "align(bottom_right) mask(#attn.causal, #attn.window<left = 19>)",
       [](Problem &p) {
         p.attention.align = Align::BottomRight;
         p.attention.causal = true;
         p.attention.window = Window{19, std::nullopt};
       }},
      {"window_both_sides", "", "",
       "align(top_left) mask(#attn.window<left = 5, right = 11>)",
       [](Problem &p) {
         p.attention.align = Align::TopLeft;
         p.attention.window = Window{5, 11};
       }},
      {"window_right_only", "", "",
       "align(bottom_right) mask(#attn.window<right = 3>)",
       [](Problem &p) {
         p.attention.align = Align::BottomRight;
         p.attention.window = Window{std::nullopt, 3};
       }},
      {"window_zero", "", "",
       "align(bottom_right) mask(#attn.window<left = 0, right = 0>)",
       [](Problem &p) {
         p.attention.align = Align::BottomRight;
         p.attention.window = Window{0, 0};
       }},
      {"window_of_any_size", "", "",
       "align(bottom_right) mask(#attn.window<left = 9223372036854775807, "
       "right = 9223372036854775806>)",
       [](Problem &p) { p.attention.align = Align::BottomRight; }},
      {"causal_far_positions", ", %p: index, %k0: index", "",
       "offset(%p : index) mask(#attn.causal, #attn.window<left = 25>) "
       "key_offset(%k0 : index)",
       [](Problem &p) {
         // Every position fits 64 bits, none fits 32.
         p.attention.align = Align::Offset;
         p.attention.keyOffset = INT64_MAX - 4 - p.sizes.sq - p.sizes.skv;
         p.attention.offset = {p.attention.keyOffset + 3};
         p.attention.causal = true;
         p.attention.window = Window{25, std::nullopt};
         p.captured.add(p.attention.offset[0]);
         p.captured.add(p.attention.keyOffset);
       }},
      {"bigbird", "", "",
       "align(bottom_right) mask(#attn.bigbird<block = 16, window = 1, global "
       "= 1, random = 2, blocks = 16, seed = 4294967295>)",
       [](Problem &p) {
         p.attention.align = Align::BottomRight;
         p.attention.keep = [](int64_t, int64_t h, int64_t i, int64_t j) {
           return keepsBigBird({16, 1, 1, 2, 16, 4294967295}, h, i, j);
         };
       }},
      {"bigbird_before_zero", ", %p: index, %k0: index", "",
       "offset(%p : index) mask(#attn.bigbird<block = 4, window = 1, global = "
       "0, random = 1, blocks = 6, seed = 3>) key_offset(%k0 : index)",
       [](Problem &p) {
         p.attention.align = Align::Offset;
         p.attention.offset = {-9};
         p.attention.keyOffset = -6;
         p.attention.keep = [](int64_t, int64_t h, int64_t i, int64_t j) {
           return keepsBigBird({4, 1, 0, 1, 6, 3}, h, i, j);
         };
         p.captured.add(p.attention.offset[0]);
         p.captured.add(p.attention.keyOffset);
       }},
      {"bigbird_last", "", "",
       "mask(#attn.bigbird<block = 8, window = 0, global = 1, last = 2, random "
       "= 1, blocks = 7, seed = 5>) align(top_left)",
       [](Problem &p) {
         p.attention.align = Align::TopLeft;
         p.attention.keep = [](int64_t, int64_t h, int64_t i, int64_t j) {
           return keepsBigBird({8, 0, 1, 1, 7, 5, 2}, h, i, j);
         };
       }},
      {"bigbird_table", ", %t: tensor<?x?x3xi32>", "",
       "align(bottom_right) mask(#attn.bigbird<block = 16, window = 1, global "
       "= 1, last = 1>) random_blocks(%t : tensor<?x?x3xi32>)",
       [](Problem &p) {
         p.attention.align = Align::BottomRight;
         bindBigBird(p, DType::i32, {16, 1, 1, 0, 0, 0, 1},
                     someTable(p, p.sizes.hq, 3, 0));
       }},
      {"bigbird_one_table", ", %p: index, %k0: index, %t: tensor<1x?x2xi64>",
       "",
       "key_offset(%k0 : index) random_blocks(%t : tensor<1x?x2xi64>) "
       "mask(#attn.window<left = 90>, #attn.bigbird<block = 16, window = 0, "
       "global = 0>) offset(%p : index)",
       [](Problem &p) {
         p.attention.align = Align::Offset;
         p.attention.offset = {-21};
         p.attention.keyOffset = -18;
         p.attention.window = Window{90, std::nullopt};
         p.captured.add(p.attention.offset[0]);
         p.captured.add(p.attention.keyOffset);
         bindBigBird(p, DType::i64, {16, 0, 0, 0, 0, 0, 0},
                     someTable(p, 1, 2, 1));
       }},
      {"scale_softcap", "", "", "scale(0.7) softcap(2.0)",
       [](Problem &p) {
         p.attention.scale = 0.7;
         p.attention.softcap = 2.0;
       }},
      {"negative_scale", "", "", "scale(-0.3)",
       [](Problem &p) { p.attention.scale = -0.3; }},
      {"zero_scale", "", "", "scale(0.0)",
       [](Problem &p) { p.attention.scale = 0.0; }},
      {"lengths", ", %n: tensor<?xi64>", "", "lengths(%n : tensor<?xi64>)",
       [](Problem &p) { bindLengths(p, DType::i64); }},
      {"causal_lengths_i32", ", %n: tensor<?xi32>", "",
       "align(bottom_right) mask(#attn.causal) lengths(%n : tensor<?xi32>)",
       [](Problem &p) {
         p.attention.align = Align::BottomRight;
         p.attention.causal = true;
         bindLengths(p, DType::i32);
       }},
      {"length_of_all", ", %n: index", "", "lengths(%n : index)", bindLength},
      {"causal_length_of_all", ", %n: index", "",
       "lengths(%n : index) mask(#attn.causal) align(bottom_right)",
       [](Problem &p) {
         p.attention.align = Align::BottomRight;
         p.attention.causal = true;
         bindLength(p);
       }},
      {"causal_offset", ", %p: index", "",
       "offset(%p : index) mask(#attn.causal)",
       [](Problem &p) {
         p.attention.align = Align::Offset;
         p.attention.offset = {p.sizes.skv / 3};
         p.attention.causal = true;
         p.captured.add(p.attention.offset[0]);
       }},
      {"causal_offset_per_batch", ", %p: tensor<?xi64>", "",
       "offset(%p : tensor<?xi64>) mask(#attn.causal)",
       [](Problem &p) {
         p.attention.causal = true;
         bindOffsets(p, DType::i64);
       }},
      {"window_offset_per_batch_i32", ", %p: tensor<?xi32>", "",
       "offset(%p : tensor<?xi32>) mask(#attn.window<left = 4, right = 9>)",
       [](Problem &p) {
         p.attention.window = Window{4, 9};
         bindOffsets(p, DType::i32);
       }},
      {"causal_key_offset", ", %p: index, %k0: index", "",
       "offset(%p : index) mask(#attn.causal) key_offset(%k0 : index)",
       [](Problem &p) {
         p.attention.align = Align::Offset;
         p.attention.offset = {1000 + p.sizes.skv / 3};
         p.attention.keyOffset = 1000;
         p.attention.causal = true;
         p.captured.add(p.attention.offset[0]);
         p.captured.add(p.attention.keyOffset);
       }},
      {"everything", ", %p: tensor<?xi64>, %n: tensor<?xi64>, %k0: index", "",
       "scale(0.4) softcap(3.0) offset(%p : tensor<?xi64>) "
       "mask(#attn.causal, #attn.window<left = 30, right = 2>) "
       "lengths(%n : tensor<?xi64>) key_offset(%k0 : index)",
       [](Problem &p) {
         p.attention.scale = 0.4;
         p.attention.softcap = 3.0;
         p.attention.causal = true;
         p.attention.window = Window{30, 2};
         p.attention.keyOffset = -3;
         bindOffsets(p, DType::i64);
         bindLengths(p, DType::i64);
         p.captured.add(p.attention.keyOffset);
       }},
  };
  return variants;
}
