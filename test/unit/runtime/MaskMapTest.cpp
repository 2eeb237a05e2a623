// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the map of a mask says, against the definition of the mask.

#include "runtime/Engine.h"

#include <gtest/gtest.h>

using namespace attn;

namespace {

constexpr int64_t batches = 2, heads = 4, queries = 37, keys = 150;
constexpr int64_t offset = 60;

// Head h sees 20 h + 5 keys before it; a batch entry has its own length.
constexpr const char *text = R"(
func.func @main(%q: tensor<2x4x?x8xf32>, %k: tensor<2x2x?x8xf32>,
                %n: tensor<2xi64>) -> tensor<2x4x?x8xf32> {
  %at = arith.constant 60 : index
  %o = attn.gqa %q, %k, %k offset(%at : index) mask(#attn.causal) lengths(%n : tensor<2xi64>)
      keep {
      ^bb0(%b: index, %h: index, %i: index, %j: index):
        %c20 = arith.constant 20 : index
        %c5 = arith.constant 5 : index
        %steps = arith.muli %h, %c20 : index
        %reach = arith.addi %steps, %c5 : index
        %distance = arith.subi %i, %j : index
        %near = arith.cmpi sle, %distance, %reach : index
        attn.yield %near : i1
      }
      : (tensor<2x4x?x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x8xf32>) -> tensor<2x4x?x8xf32>
  return %o : tensor<2x4x?x8xf32>
}
)";

class MaskMapTest : public testing::Test {
protected:
  MaskMapTest() {
    EngineOptions options;
    options.target = "cpu:generic";
    Result<Program> compiled = Engine(options).compileText(text);
    EXPECT_TRUE(compiled.ok()) << compiled.error().message;
    program.emplace(*compiled);
    inputs = {q.view(), k.view(), lengths.view()};
    int64_t *length = lengths.data<int64_t>();
    length[0] = 90;
    length[1] = 1000; // clamped
  }

  Result<MaskMap> map(MaskPlace place, int64_t maxElements = 100000) const {
    return program->maskMap("main", inputs, place, maxElements);
  }
  static int64_t usedKeys(int64_t batch) { return batch == 0 ? 90 : keys; }
  static bool sees(int64_t batch, int64_t head, int64_t row, int64_t key) {
    int64_t i = row + offset;
    return key < usedKeys(batch) && key <= i && i - key <= 20 * head + 5;
  }

  Tensor q = *Tensor::empty(DType::f32, {batches, heads, queries, 8});
  Tensor k = *Tensor::empty(DType::f32, {batches, 2, keys, 8});
  Tensor lengths = *Tensor::empty(DType::i64, {batches});
  std::vector<Value> inputs;
  std::optional<Program> program;
};

TEST_F(MaskMapTest, elements_are_the_mask_and_tiles_sum_them_up) {
  std::array<int64_t, 4> counts = {};
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t h = 0; h < heads; ++h) {
      Result<MaskMap> got = map({0, b, h});
      ASSERT_TRUE(got.ok()) << got.error().message;
      ASSERT_TRUE(got->elements.has_value());
      EXPECT_EQ(got->queries, queries);
      EXPECT_EQ(got->keys, keys);
      EXPECT_EQ(got->firstQuery, offset);
      EXPECT_EQ(got->firstKey, 0);
      EXPECT_EQ(got->length, usedKeys(b));
      EXPECT_EQ(got->queryTiles, (queries + 7) / 8);
      EXPECT_EQ(got->keyTiles, (keys + 63) / 64);
      for (int64_t t = 0; t < got->queryTiles; ++t)
        for (int64_t u = 0; u < got->keyTiles; ++u) {
          int64_t seen = 0, pairs = 0;
          for (int64_t r = t * 8; r < std::min(t * 8 + 8, queries); ++r)
            for (int64_t j = u * 64; j < std::min(u * 64 + 64, keys); ++j) {
              bool isSeen = sees(b, h, r, j);
              ASSERT_EQ(got->elements->at(r * keys + j), isSeen);
              seen += isSeen;
              pairs += j < usedKeys(b);
            }
          auto kind = MaskMap::Tile(got->tiles->at(t * got->keyTiles + u));
          ++counts[size_t(kind)];
          // The classes of this mask are exact.
          auto expected = u * 64 >= usedKeys(b) ? MaskMap::Tile::beyond
                          : seen == 0           ? MaskMap::Tile::skipped
                          : seen == pairs       ? MaskMap::Tile::plain
                                                : MaskMap::Tile::masked;
          EXPECT_EQ(kind, expected) << b << " " << h << " " << t << " " << u;
        }
    }
  auto total = program->tiles("main", inputs);
  ASSERT_TRUE(total.ok());
  EXPECT_EQ((*total)[0], counts[0] + counts[3]);
  EXPECT_EQ((*total)[1], counts[1]);
  EXPECT_EQ((*total)[2], counts[2]);
  EXPECT_GT(counts[0] * counts[1] * counts[2] * counts[3], 0);
}

TEST_F(MaskMapTest, one_length_for_all_and_a_table_of_blocks) {
  // Blocks of 10 keys: the row of block 3 names block 1, that of block 4 none.
  const char *source = R"(
    func.func @main(%q: tensor<2x1x?x8xf32>, %k: tensor<2x1x?x8xf32>,
                    %n: index, %t: tensor<1x5x1xi32>) -> tensor<2x1x?x8xf32> {
      %o = attn.softmax %q, %k, %k align(top_left) lengths(%n : index)
          mask(#attn.bigbird<block = 10, window = 0, global = 1, last = 1>)
          random_blocks(%t : tensor<1x5x1xi32>)
          : (tensor<2x1x?x8xf32>, tensor<2x1x?x8xf32>, tensor<2x1x?x8xf32>) -> tensor<2x1x?x8xf32>
      return %o : tensor<2x1x?x8xf32>
    }
  )";
  EngineOptions options;
  options.target = "cpu:generic";
  Result<Program> compiled = Engine(options).compileText(source);
  ASSERT_TRUE(compiled.ok()) << compiled.error().message;
  Tensor rows = *Tensor::empty(DType::f32, {2, 1, 50, 8});
  Tensor table = *Tensor::empty(DType::i32, {1, 5, 1});
  const int32_t blocks[] = {-1, 3, 2, 1, -1};
  std::copy(std::begin(blocks), std::end(blocks), table.data<int32_t>());
  std::vector<Value> values{rows.view(), rows.view(), int64_t(47),
                            table.view()};
  for (int64_t b : {0, 1}) {
    Result<MaskMap> got = compiled->maskMap("main", values, {0, b, 0}, 10000);
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_EQ(got->length, 47);
    ASSERT_TRUE(got->elements.has_value());
    for (int64_t i = 0; i < 50; ++i)
      for (int64_t j = 0; j < 50; ++j) {
        int64_t bi = i / 10, bj = j / 10;
        bool sees = bi == bj || bi == 0 || bj == 0 || bi == 4 || bj == 4 ||
                    bj == blocks[bi];
        EXPECT_EQ(got->elements->at(size_t(i * 50 + j)), sees && j < 47)
            << i << " " << j;
      }
  }
}

TEST_F(MaskMapTest, elements_only_as_asked) {
  EXPECT_TRUE(map({}, queries * keys)->elements.has_value());
  EXPECT_FALSE(map({}, queries * keys - 1)->elements.has_value());
  EXPECT_FALSE(map({}, 0)->elements.has_value());
}

TEST_F(MaskMapTest, errors) {
  EXPECT_EQ(map({1, 0, 0}).error().message,
            "function 'main': attention: expected 0 to 0, got 1");
  EXPECT_EQ(map({0, 2, 0}).error().message,
            "function 'main': batch: expected 0 to 1, got 2");
  EXPECT_EQ(map({0, 0, 4}).error().message,
            "function 'main': head: expected 0 to 3, got 4");
  EXPECT_EQ(map({0, -1, 0}).error().message,
            "function 'main': batch: expected 0 to 1, got -1");
  EXPECT_FALSE(program->maskMap("other", inputs, {}).ok());
  EXPECT_FALSE(program->maskMap("main", {}, {}).ok());
  EngineOptions options;
  options.device = "reference";
  EXPECT_EQ(Engine(options)
                .compileText(text)
                ->maskMap("main", inputs, {})
                .error()
                .message,
            "function 'main': this device has no tiles");
}

TEST_F(MaskMapTest, a_batch_without_entries_has_no_map) {
  const char *empty = R"(
    func.func @main(%q: tensor<?x1x4x8xf32>, %n: tensor<?xi64>) -> tensor<?x1x4x8xf32> {
      %o = attn.softmax %q, %q, %q lengths(%n : tensor<?xi64>)
          : (tensor<?x1x4x8xf32>, tensor<?x1x4x8xf32>, tensor<?x1x4x8xf32>) -> tensor<?x1x4x8xf32>
      return %o : tensor<?x1x4x8xf32>
    })";
  Tensor none = *Tensor::empty(DType::f32, {0, 1, 4, 8});
  Tensor noLengths = *Tensor::empty(DType::i64, {0});
  Result<Program> compiled = Engine().compileText(empty);
  ASSERT_TRUE(compiled.ok()) << compiled.error().message;
  EXPECT_EQ(compiled->maskMap("main", {none.view(), noLengths.view()}, {})
                .error()
                .message,
            "function 'main': batch: expected none as there is none, got 0");
}

} // namespace
