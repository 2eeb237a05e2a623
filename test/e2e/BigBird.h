// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mask #attn.bigbird from its definition.

#ifndef ATTN_TEST_E2E_BIGBIRD_H
#define ATTN_TEST_E2E_BIGBIRD_H

#include <cmath>
#include <cstdint>
#include <vector>

namespace attn::test {

struct BigBird {
  int64_t block, window, global, random, blocks, seed, last = 0;
};

/// Blocks of keys that blocks of queries see: heads x blocks x entries, of one
/// head for all or of each.
struct BlockTable {
  int64_t heads, blocks, entries;
  std::vector<int64_t> data;
};

inline bool keepsBigBird(const BigBird &m, int64_t h, int64_t i, int64_t j) {
  int64_t bi = int64_t(std::floor(double(i) / double(m.block)));
  int64_t bj = int64_t(std::floor(double(j) / double(m.block)));
  if (std::abs(bi - bj) <= m.window || bi < m.global || bj < m.global)
    return true;
  if (m.last > 0 && (bi >= m.blocks - m.last || bj >= m.blocks - m.last))
    return true;
  for (int64_t t = 0; t < m.random; ++t) {
    uint32_t x = uint32_t(m.seed) + 0x9E3779B1u * uint32_t(h) +
                 0x85EBCA77u * uint32_t(bi) + 0xC2B2AE3Du * uint32_t(t);
    x = (x ^ (x >> 16)) * 0x7FEB352Du;
    x = (x ^ (x >> 15)) * 0x846CA68Bu;
    if (bj == int64_t(((x >> 16) * uint32_t(m.blocks)) >> 16))
      return true;
  }
  return false;
}

/// The same with a table in place of the drawn blocks.
inline bool keepsBigBird(BigBird m, const BlockTable &table, int64_t h,
                         int64_t i, int64_t j) {
  m.random = 0;
  m.blocks = table.blocks;
  if (keepsBigBird(m, h, i, j))
    return true;
  int64_t bi = int64_t(std::floor(double(i) / double(m.block)));
  int64_t bj = int64_t(std::floor(double(j) / double(m.block)));
  if (bi < 0 || bi >= table.blocks || bj < 0)
    return false;
  int64_t head = table.heads == 1 ? 0 : h;
  for (int64_t t = 0; t < table.entries; ++t)
    if (table.data.at(size_t((head * table.blocks + bi) * table.entries + t)) ==
        bj)
      return true;
  return false;
}

} // namespace attn::test

#endif // ATTN_TEST_E2E_BIGBIRD_H
