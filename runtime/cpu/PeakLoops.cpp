// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vector extensions of the compiler keep the loops readable, one body serves
// all widths; bf16 needs the intrinsics.

#include "runtime/cpu/PeakLoops.h"

#include "runtime/cpu/Tiles.h"

#include <atomic>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace attn {

// Operands and results go through memory that other files might see, or the
// compiler would compute them beforehand or not at all.
namespace peak {
std::atomic<float> factorSource{0.999f}, termSource{1e-3f}, floatSink;
/// Two bf16 numbers, each 0.5.
std::atomic<uint32_t> pairSource{0x3f003f00};
std::atomic<uint64_t> wordSink;
} // namespace peak

template <int bytes> struct Vector {
  using Float = float __attribute__((vector_size(bytes)));
  using Word = uint64_t __attribute__((vector_size(bytes)));
};

/// Enough independent chains to hide the latency of a multiply-add on two
/// ports; few enough for the registers.
template <int bytes, int chains>
__attribute__((always_inline)) inline double multiplyLoop(int64_t rounds) {
  using Float = typename Vector<bytes>::Float;
  Float sum[chains];
  for (int i = 0; i < chains; ++i)
    sum[i] = Float{} + static_cast<float>(i);
  Float factor = Float{} + peak::factorSource.load();
  Float term = Float{} + peak::termSource.load();
  for (int64_t round = 0; round < rounds; ++round) {
#pragma clang loop unroll(full)
    for (int i = 0; i < chains; ++i)
      sum[i] = sum[i] * factor + term;
  }
  for (int i = 1; i < chains; ++i)
    sum[0] += sum[i];
  float total = 0;
  for (int i = 0; i < bytes / 4; ++i)
    total += sum[0][i];
  peak::floatSink = total;
  return 2.0 * chains * (bytes / 4) * static_cast<double>(rounds);
}

template <int bytes>
__attribute__((always_inline)) inline void readLoop(const char *data,
                                                    int64_t lines) {
  using Word = typename Vector<bytes>::Word;
  constexpr int perLine = 64 / bytes;
  Word sum[perLine] = {};
  const Word *words = reinterpret_cast<const Word *>(data);
  for (int64_t line = 0; line < lines; ++line) {
#pragma clang loop unroll(full)
    for (int i = 0; i < perLine; ++i)
      sum[i] ^= words[line * perLine + i];
  }
  uint64_t total = 0;
  for (int i = 0; i < perLine; ++i)
    for (int k = 0; k < bytes / 8; ++k)
      total ^= sum[i][k];
  peak::wordSink = total;
}

static double multiply128(int64_t rounds) {
  return multiplyLoop<16, 12>(rounds);
}
static void read128(const char *data, int64_t lines) {
  readLoop<16>(data, lines);
}

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512vl,fma"))) static double
multiply512(int64_t rounds) {
  return multiplyLoop<64, 24>(rounds);
}
__attribute__((target("avx512f,avx512vl"))) static void
read512(const char *data, int64_t lines) {
  readLoop<64>(data, lines);
}
__attribute__((target("avx2,fma"))) static double multiply256(int64_t rounds) {
  return multiplyLoop<32, 12>(rounds);
}
__attribute__((target("avx2"))) static void read256(const char *data,
                                                    int64_t lines) {
  readLoop<32>(data, lines);
}

/// vdpbf16ps: each of 16 lanes adds two products of bf16 to an f32.
__attribute__((target("avx512f,avx512bf16"))) static double
dotBf16(int64_t rounds) {
  constexpr int chains = 24;
  __m512bh pairs =
      (__m512bh)_mm512_set1_epi32(static_cast<int>(peak::pairSource.load()));
  __m512 sum[chains];
  for (__m512 &chain : sum)
    chain = _mm512_setzero_ps();
  for (int64_t round = 0; round < rounds; ++round) {
#pragma clang loop unroll(full)
    for (int i = 0; i < chains; ++i)
      sum[i] = _mm512_dpbf16_ps(sum[i], pairs, pairs);
  }
  for (int i = 1; i < chains; ++i)
    sum[0] = _mm512_add_ps(sum[0], sum[i]);
  peak::floatSink = _mm512_reduce_add_ps(sum[0]);
  return 2.0 * 2 * 16 * chains * static_cast<double>(rounds);
}

namespace {
/// What ldtilecfg reads.
struct alignas(64) TileConfig {
  uint8_t palette = 1;
  uint8_t startRow = 0;
  uint8_t reserved[14] = {};
  uint16_t rowBytes[16] = {};
  uint8_t rows[16] = {};
};
} // namespace

/// tdpbf16ps on whole tiles: 16 x 16 sums of f32 take 32 products each. Four
/// tiles of sums hide its latency, as a matrix product with 2 x 2 tiles would.
__attribute__((target("amx-tile,amx-bf16"))) static double
tileBf16(int64_t rounds) {
  constexpr int tiles = 8;
  constexpr int rowBytes = 64;
  constexpr int rows = 16;
  TileConfig config;
  for (int tile = 0; tile < tiles; ++tile) {
    config.rowBytes[tile] = rowBytes;
    config.rows[tile] = rows;
  }
  alignas(64) uint32_t pairs[rows * rowBytes / sizeof(uint32_t)];
  for (uint32_t &pair : pairs)
    pair = peak::pairSource.load();
  alignas(64) float sums[rows * rowBytes / sizeof(float)];

  _tile_loadconfig(&config);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_loadd(4, pairs, rowBytes);
  _tile_loadd(5, pairs, rowBytes);
  _tile_loadd(6, pairs, rowBytes);
  _tile_loadd(7, pairs, rowBytes);
  for (int64_t round = 0; round < rounds; ++round) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, sums, rowBytes);
  // Gives the state back, so that the kernel need not save it any more.
  _tile_release();
  peak::floatSink = sums[0];
  return 4 * 2.0 * 16 * 16 * 32 * static_cast<double>(rounds);
}

static bool hasDotBf16() {
  return __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bf16");
}
#endif // __x86_64__

std::vector<MultiplyLoop> findMultiplyLoops(const std::string &target,
                                            DType dtype) {
#if defined(__x86_64__)
  std::vector<MultiplyLoop> loops;
  bool isNarrow = target == "cpu:generic" || target == "cpu:avx2";
  if (dtype == DType::bf16 && !isNarrow) {
    if (whyNoTiles().empty())
      loops.push_back({"amx bf16", tileBf16});
    if (hasDotBf16())
      loops.push_back({"avx512 bf16 dot", dotBf16});
  }
  if (!isNarrow && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512vl"))
    loops.push_back({"avx512 fma", multiply512});
  else if (target != "cpu:generic" && __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("fma"))
    loops.push_back({"avx2 fma", multiply256});
  else
    loops.push_back({"sse", multiply128});
  return loops;
#else
  return {{"128-bit vectors", multiply128}};
#endif
}

ReadLoop findReadLoop(const std::string &target) {
#if defined(__x86_64__)
  bool isNarrow = target == "cpu:generic" || target == "cpu:avx2";
  if (!isNarrow && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512vl"))
    return read512;
  if (target != "cpu:generic" && __builtin_cpu_supports("avx2"))
    return read256;
#endif
  return read128;
}

} // namespace attn
