// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Target cpu:amx uses the tiles as often as its blocks say, and the emulator
// that the other programs run it on does what the instructions do.

#include "test/e2e/Harness.h"
#include "test/e2e/TileEmulator.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace attn;
using namespace attn::test;

#if defined(__x86_64__)
namespace {
struct alignas(64) Configuration {
  uint8_t palette = 1, startRow = 0, reserved[14] = {};
  uint16_t rowBytes[16] = {};
  uint8_t rows[16] = {};
};

const Target &amx() { return allTargets().back(); }

/// sums = 1 + left * right for 2 x 4 bf16 by 2 pairs x 3, in tiles 0, 1, 2.
__attribute__((target("amx-tile,amx-bf16"))) void
multiplySmall(const uint16_t *left, const uint16_t *right, float *sums,
              uint8_t rightRows) {
  Configuration configuration;
  configuration.rows[0] = configuration.rows[1] = 2;
  configuration.rows[2] = rightRows;
  configuration.rowBytes[0] = configuration.rowBytes[2] = 12;
  configuration.rowBytes[1] = 8;
  _tile_loadconfig(&configuration);
  _tile_loadd(0, sums, 12);
  _tile_loadd(1, left, 8);
  _tile_loadd(2, right, 12);
  _tile_dpbf16ps(0, 1, 2);
  _tile_stored(0, sums, 12);
  _tile_release();
}

uint16_t bf16(float value) { return oracle::toBf16(value); }

TEST(Amx, the_product_of_two_tiles) {
  ATTN_SKIP_UNLESS_HERE(amx());
  // Rows of the left operand are (1 2 3 4) and (0 0 -1 0.5); columns of the
  // right one are (1 0 2 0), (0 1 0 1) and (1 1 1 1), in pairs of rows.
  const float leftValues[] = {1, 2, 3, 4, 0, 0, -1, 0.5};
  const float rightValues[] = {1, 0, 0, 1, 1, 1, 2, 0, 0, 1, 1, 1};
  uint16_t left[8], right[12];
  std::transform(std::begin(leftValues), std::end(leftValues), left, bf16);
  std::transform(std::begin(rightValues), std::end(rightValues), right, bf16);
  float sums[6] = {1, 1, 1, 1, 1, 1};
  multiplySmall(left, right, sums, 2);
  const float want[] = {1 + 7, 1 + 6, 1 + 10, 1 - 2, 1 + 0.5, 1 - 0.5};
  for (int n = 0; n < 6; ++n)
    EXPECT_EQ(sums[n], want[n]) << n;
}

TEST(Amx, subnormal_operands_are_zero) {
  ATTN_SKIP_UNLESS_HERE(amx());
  uint16_t left[8] = {1}, right[12] = {bf16(0x1p120f)};
  float sums[6] = {};
  multiplySmall(left, right, sums, 2);
  EXPECT_EQ(sums[0], 0.0f);
}

TEST(AmxMustFail, on_tiles_that_do_not_fit) {
  ATTN_SKIP_UNLESS_HERE(amx());
  uint16_t left[8] = {}, right[36] = {};
  float sums[6] = {};
  EXPECT_DEATH(multiplySmall(left, right, sums, 3), "");
}

/// Instructions of two calls on one thread, which is what run() makes, or none
/// where they are not emulated.
TileCounts countTiles(const Sizes &sizes) {
  Variant plain{"none", "", "", "", [](Problem &) {}};
  Problem p = makeProblem(sizes, DType::bf16, plain);
  std::string ir = irFor("gqa", DType::bf16, plain, sizes);
  TileCounts before = tileCounts();
  std::vector<Tensor> got = run(amx(), ir, p, /*threads=*/1);
  TileCounts after = tileCounts();
  EXPECT_EQ(checkAgainst(oracle::attend(p.attention, p.q, p.k, p.v),
                         DType::bf16, got),
            "");
  return {after.instructions - before.instructions,
          after.products - before.products,
          after.configurations - before.configurations};
}

// A thread's buffers hold what the tile before left in them: here weights that
// are NaN, of query 5, for keys that the next query tile does not have. Its
// keys, 64 to 79, fill half of a tile.
TEST(Amx, what_a_buffer_held_before_does_not_matter) {
  ATTN_SKIP_UNLESS_HERE(amx());
  Variant split{"split", "", "",
                "align(top_left) keep {\n"
                "  ^bb0(%b: index, %h: index, %i: index, %j: index):\n"
                "    %rows = arith.constant 48 : index\n"
                "    %keys = arith.constant 64 : index\n"
                "    %second = arith.cmpi sge, %i, %rows : index\n"
                "    %later = arith.cmpi sge, %j, %keys : index\n"
                "    %p = arith.cmpi eq, %second, %later : i1\n"
                "    attn.yield %p : i1\n  }",
                [](Problem &p) {
                  p.attention.align = oracle::Align::TopLeft;
                  p.attention.keep = [](int64_t, int64_t, int64_t i,
                                        int64_t j) {
                    return (i >= 48) == (j >= 64);
                  };
                }};
  Sizes sizes{1, 1, 1, 96, 80, 64, 64};
  Problem p = makeProblem(sizes, DType::bf16, split);
  p.q.at(0, 0, 5, 0) = NAN;
  std::vector<Tensor> got =
      run(amx(), irFor("gqa", DType::bf16, split, sizes), p, /*threads=*/1);
  EXPECT_EQ(checkAgainst(oracle::attend(p.attention, p.q, p.k, p.v),
                         DType::bf16, got),
            "");
}

struct Count {
  Sizes sizes;
  int64_t products, tiles;
};
class AmxCounts : public testing::TestWithParam<Count> {};

TEST_P(AmxCounts, products_and_configurations) {
  ATTN_SKIP_UNLESS_HERE(amx());
  TileCounts counts = countTiles(GetParam().sizes);
  if (counts.instructions == 0)
    GTEST_SKIP() << "this CPU has AMX: nothing is counted";
  EXPECT_EQ(counts.products, 2 * GetParam().products);
  // Once per query tile and once more where the thread finds no other.
  EXPECT_LE(counts.configurations, 2 * (GetParam().tiles + 1));
}

// ceil(keys / 16) x ceil(Dk / 32) x queries / 16 for the scores, ceil(Dv / 16)
// x ceil(keys / 32) x queries / 16 for the sums.
INSTANTIATE_TEST_SUITE_P(
    Shapes, AmxCounts,
    testing::Values(Count{{1, 1, 1, 48, 64, 64, 64}, (8 + 8) * 3, 1},
                    Count{{1, 1, 1, 32, 128, 64, 64}, 2 * (8 + 8) * 2, 1},
                    Count{
                        {1, 1, 1, 48, 70, 64, 80}, ((8 + 10) + (2 + 5)) * 3, 1},
                    Count{{1, 1, 1, 48, 64, 40, 24}, (8 + 4) * 3, 1},
                    Count{{1, 2, 1, 96, 64, 64, 64}, 4 * (8 + 8) * 3, 4}));
} // namespace
#endif
