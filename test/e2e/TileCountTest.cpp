// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks skip what they mask: the tiles that a call visits, and those it runs
// with mask code, are within 10 % of what the definition of the mask needs.

#include "test/e2e/BigBird.h"
#include "test/e2e/Variants.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <limits>

using namespace attn;
using namespace attn::test;

namespace {
/// Rows and keys of a tile.
struct TileSize {
  const char *target;
  int64_t rows, keys;
};
const TileSize tileSizes[] = {
    {"cpu:avx512", 48, 64}, {"cpu:avx2", 24, 64}, {"cpu:generic", 8, 64}};

struct Mask {
  std::string name, arguments, clauses;
  std::function<bool(int64_t h, int64_t i, int64_t j)> keeps;
  int64_t length = std::numeric_limits<int64_t>::max();
};

/// 16 documents of unequal length in 1024 tokens.
const int64_t tokens = 1024;
int64_t documentOf(int64_t t) { return (t * t / tokens + t) / 128; }

/// Two random blocks of 64 for each of the 16 blocks of each of 3 heads.
const BlockTable &blockTable() {
  static const BlockTable table = [] {
    BlockTable made{3, 16, 2, {}};
    for (int64_t n = 0; n < 96; ++n)
      made.data.push_back((11 * n + n / 16) % 16);
    return made;
  }();
  return table;
}

std::string keep(const std::string &body) {
  return "align(bottom_right) keep {\n" + keepArguments + body +
         "    attn.yield %p : i1\n  }";
}

const std::vector<Mask> &masks() {
  static const auto causal = [](int64_t, int64_t i, int64_t j) {
    return j <= i;
  };
  static const std::vector<Mask> all = {
      {"none", "", "", [](int64_t, int64_t, int64_t) { return true; }},
      {"causal", "", "align(bottom_right) mask(#attn.causal)", causal},
      {"difference", "",
       keep("    %zero = arith.constant 0 : index\n"
            "    %d = arith.subi %i, %j : index\n"
            "    %p = arith.cmpi sge, %d, %zero : index\n"),
       causal},
      {"not_greater", "",
       keep("    %true = arith.constant true\n"
            "    %g = arith.cmpi sgt, %j, %i : index\n"
            "    %p = arith.xori %g, %true : i1\n"),
       causal},
      {"select", "",
       keep("    %true = arith.constant true\n"
            "    %false = arith.constant false\n"
            "    %g = arith.cmpi sgt, %j, %i : index\n"
            "    %p = arith.select %g, %false, %true : i1\n"),
       causal},
      {"block_diagonal", "",
       keep("    %c = arith.constant 128 : index\n"
            "    %x = arith.divsi %i, %c : index\n"
            "    %y = arith.divsi %j, %c : index\n"
            "    %p = arith.cmpi eq, %x, %y : index\n"),
       [](int64_t, int64_t i, int64_t j) { return i / 128 == j / 128; }},
      {"window", "",
       "align(bottom_right) mask(#attn.causal, #attn.window<left = 255>)",
       [](int64_t, int64_t i, int64_t j) { return j <= i && i - j <= 255; }},
      {"documents", ", %doc: tensor<?xi32>",
       keep("    %x = tensor.extract %doc[%i] : tensor<?xi32>\n"
            "    %y = tensor.extract %doc[%j] : tensor<?xi32>\n"
            "    %p = arith.cmpi eq, %x, %y : i32\n"),
       [](int64_t, int64_t i, int64_t j) {
         return documentOf(i) == documentOf(j);
       }},
      {"bigbird", "",
       "align(bottom_right) mask(#attn.bigbird<block = 64, window = 1, global "
       "= 1, random = 2, blocks = 16, seed = 7>)",
       [](int64_t h, int64_t i, int64_t j) {
         return keepsBigBird({64, 1, 1, 2, 16, 7}, h, i, j);
       }},
      {"bigbird_table", ", %t: tensor<?x?x2xi32>",
       "align(bottom_right) mask(#attn.bigbird<block = 64, window = 1, global "
       "= 1, last = 1>) random_blocks(%t : tensor<?x?x2xi32>)",
       [](int64_t h, int64_t i, int64_t j) {
         return keepsBigBird({64, 1, 1, 0, 0, 0, 1}, blockTable(), h, i, j);
       }},
      {"lengths", ", %n: tensor<?xi64>", "lengths(%n : tensor<?xi64>)",
       [](int64_t, int64_t, int64_t) { return true; }, 300},
      {"length_of_all", ", %n: index", "lengths(%n : index)",
       [](int64_t, int64_t, int64_t) { return true; }, 300},
  };
  return all;
}

struct Cell {
  TileSize tile;
  Mask mask;
};
void PrintTo(const Cell &c, std::ostream *os) {
  *os << c.tile.target << " " << c.mask.name;
}

std::vector<Cell> cells() {
  std::vector<Cell> all;
  for (const TileSize &tile : tileSizes)
    for (const Mask &mask : masks())
      all.push_back({tile, mask});
  return all;
}

struct Counts {
  int64_t skipped = 0, plain = 0, masked = 0;
  int64_t total() const { return skipped + plain + masked; }
};

/// What the definition needs: a tile without an allowed pair is skipped, one
/// with nothing but allowed pairs needs no mask code. Where the keys end within
/// a tile, fewer keys do without a mask.
Counts idealCounts(const TileSize &tile, int64_t sq, int64_t skv,
                   const Mask &mask, int64_t h = 0) {
  Counts counts;
  for (int64_t i0 = 0; i0 < sq; i0 += tile.rows)
    for (int64_t j0 = 0; j0 < skv; j0 += tile.keys) {
      bool any = false, all = true;
      for (int64_t i = i0; i < std::min(i0 + tile.rows, sq); ++i)
        for (int64_t j = j0; j < std::min({j0 + tile.keys, skv, mask.length});
             ++j) {
          bool kept = mask.keeps(h, i + skv - sq, j);
          any |= kept;
          all &= kept;
        }
      ++(!any ? counts.skipped : all ? counts.plain : counts.masked);
    }
  return counts;
}

bool isWithin(int64_t got, int64_t want) {
  return std::abs(got - want) * 10 <= want;
}

class TileCount : public testing::TestWithParam<Cell> {};

TEST_P(TileCount, IsWithinTenPercentOfTheIdeal) {
  const Cell &cell = GetParam();
  const int64_t b = 2, h = 3;
  EngineOptions options;
  options.target = cell.tile.target;
  options.countTiles = true;
  Engine engine(options);
  Variant variant{cell.mask.name, cell.mask.arguments, "", cell.mask.clauses};
  Result<Program> program =
      engine.compileText(irFor("softmax", DType::f32, variant));
  ASSERT_TRUE(program.ok()) << program.error().message;

  for (auto [sq, skv] :
       {std::pair<int64_t, int64_t>{tokens, tokens}, {700, 1000}}) {
    Arguments inputs;
    for (int64_t rows : {sq, skv, skv})
      inputs.add(DType::f32, {b, h, rows, 8},
                 std::vector<double>(size_t(b * h * rows * 8)));
    if (cell.mask.name == "lengths") {
      inputs.add(DType::i64, {b}, {300, 300});
    } else if (cell.mask.name == "length_of_all") {
      inputs.add(int64_t(300));
    } else if (cell.mask.name == "bigbird_table") {
      inputs.add(DType::i32, {3, 16, 2},
                 {blockTable().data.begin(), blockTable().data.end()});
    } else if (cell.mask.name == "documents") {
      std::vector<double> ids;
      for (int64_t t = 0; t < tokens; ++t)
        ids.push_back(double(documentOf(t)));
      ASSERT_EQ(ids.back(), 15);
      inputs.add(DType::i32, {tokens}, ids);
    }
    Result<std::array<int64_t, 3>> tiles =
        program->tiles("main", inputs.values);
    ASSERT_TRUE(tiles.ok()) << tiles.error().message;

    Counts got{(*tiles)[0], (*tiles)[1], (*tiles)[2]};
    Counts want;
    for (int64_t head = 0; head < h; ++head) {
      Counts one = idealCounts(cell.tile, sq, skv, cell.mask, head);
      want.skipped += b * one.skipped;
      want.plain += b * one.plain;
      want.masked += b * one.masked;
    }
    EXPECT_EQ(got.total(), want.total()) << sq << " x " << skv;
    EXPECT_TRUE(isWithin(got.plain + got.masked, want.plain + want.masked))
        << "visited " << got.plain + got.masked << ", ideal "
        << want.plain + want.masked << ", " << sq << " x " << skv;
    EXPECT_TRUE(isWithin(got.masked, want.masked))
        << "masked " << got.masked << ", ideal " << want.masked << ", " << sq
        << " x " << skv;
  }
}

std::string cellName(const testing::TestParamInfo<Cell> &info) {
  return std::string(info.param.tile.target + 4) + "_" + info.param.mask.name;
}
} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, TileCount, testing::ValuesIn(cells()),
                         cellName);

namespace {
/// The counts of a call on zeros, with AVX-512's tiles.
Counts countsOf(const std::string &ir, const Sizes &s,
                const std::vector<Value> &captured = {}) {
  EngineOptions options;
  options.target = "cpu:avx512";
  options.countTiles = true;
  Result<Program> program = Engine(options).compileText(ir);
  if (!program) {
    ADD_FAILURE() << program.error().message;
    return {};
  }
  Arguments inputs;
  for (auto [heads, rows] :
       {std::pair{s.hq, s.sq}, {s.hkv, s.skv}, {s.hkv, s.skv}})
    inputs.add(DType::f32, {s.b, heads, rows, s.dk},
               std::vector<double>(size_t(s.b * heads * rows * s.dk)));
  std::vector<Value> values = inputs.values;
  values.insert(values.end(), captured.begin(), captured.end());
  Result<std::array<int64_t, 3>> tiles = program->tiles("main", values);
  if (!tiles) {
    ADD_FAILURE() << tiles.error().message;
    return {};
  }
  return {(*tiles)[0], (*tiles)[1], (*tiles)[2]};
}
} // namespace

/// The four heads of a key head with one query each are one tile, over 512 keys
/// at a time.
TEST(TileCountOfHeads, ATileIsWhatItsHeadsNeed) {
  const Sizes s{1, 4, 1, 1, 2048, 8, 8};
  auto irOf = [&](const std::string &body) {
    Variant variant{"", "", "", keep(body)};
    return irFor("gqa", DType::f32, variant, s);
  };
  const std::string low = "    %half = arith.constant 1024 : index\n"
                          "    %low = arith.cmpi slt, %j, %half : index\n";
  Counts same =
      countsOf(irOf(low + "    %p = arith.andi %low, %low : i1\n"), s);
  EXPECT_EQ(same.skipped, 2);
  EXPECT_EQ(same.plain, 2);
  EXPECT_EQ(same.masked, 0);
  Counts byHead =
      countsOf(irOf(low + "    %zero = arith.constant 0 : index\n"
                          "    %first = arith.cmpi eq, %h, %zero : index\n"
                          "    %p = arith.cmpi eq, %first, %low : i1\n"),
               s);
  EXPECT_EQ(byHead.skipped, 0);
  EXPECT_EQ(byHead.plain, 0);
  EXPECT_EQ(byHead.masked, 4);
}

/// Sequences of 96 and 48 rows with 128 and 64 keys, in tiles of 48 by 64: the
/// first rows do not see the second keys.
TEST(TileCountOfPackedRows, EachSequenceHasItsOwnTiles) {
  const Sizes s{1, 2, 2, 144, 192, 8, 8};
  Variant variant{"", ", %q0: tensor<?xi64>, %k0: tensor<?xi64>", "",
                  "align(top_left) mask(#attn.causal) "
                  "query_starts(%q0 : tensor<?xi64>) "
                  "key_starts(%k0 : tensor<?xi64>)"};
  Arguments starts;
  starts.add(DType::i64, {3}, {0, 96, 144});
  starts.add(DType::i64, {3}, {0, 128, 192});
  Counts counts =
      countsOf(irFor("softmax", DType::f32, variant), s, starts.values);
  EXPECT_EQ(counts.skipped, 2 * 1);
  EXPECT_EQ(counts.plain, 0);
  EXPECT_EQ(counts.masked, 2 * (3 + 1));
}

TEST(TileCount, PackedLengthsSkipThePadding) {
  for (const TileSize &tile : tileSizes) {
    EngineOptions options;
    options.target = tile.target;
    options.countTiles = true;
    Engine engine(options);
    Variant variant{"packed",
                    ", %n: tensor<?xi64>, %qs: tensor<?xi64>, %ks: "
                    "tensor<?xi64>",
                    "",
                    "lengths(%n : tensor<?xi64>) query_starts(%qs : "
                    "tensor<?xi64>) key_starts(%ks : tensor<?xi64>)"};
    Result<Program> program =
        engine.compileText(irFor("softmax", DType::f32, variant));
    ASSERT_TRUE(program.ok()) << program.error().message;
    // 96 queries over 640 keys, of which 100 are in use; 48 over 64, all in
    // use.
    Arguments inputs;
    for (int64_t rows : {144, 704, 704})
      inputs.add(DType::f32, {1, 2, rows, 8},
                 std::vector<double>(size_t(2 * rows * 8)));
    inputs.add(DType::i64, {2}, {100, 64});
    inputs.add(DType::i64, {3}, {0, 96, 144});
    inputs.add(DType::i64, {3}, {0, 640, 704});
    Result<std::array<int64_t, 3>> tiles =
        program->tiles("main", inputs.values);
    ASSERT_TRUE(tiles.ok()) << tiles.error().message;
    int64_t first = 96 / tile.rows, second = 48 / tile.rows;
    EXPECT_EQ((*tiles)[0], 2 * first * 8) << tile.target;
    EXPECT_EQ((*tiles)[1], 2 * (first * 2 + second)) << tile.target;
    EXPECT_EQ((*tiles)[2], 0) << tile.target;
  }
}

TEST(TileCountMustFail, OnTilesThatAreNotSkipped) {
  EXPECT_TRUE(isWithin(110, 100));
  EXPECT_FALSE(isWithin(111, 100));
  EXPECT_FALSE(isWithin(1, 0));
  // Counting a causal mask as none is far off.
  Counts causal = idealCounts(tileSizes[0], tokens, tokens, masks()[1]);
  EXPECT_EQ(causal.total(), 22 * 16);
  EXPECT_FALSE(isWithin(causal.total(), causal.plain + causal.masked));
}
