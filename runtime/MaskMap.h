// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a mask does for one query head, tile by tile and key by key.

#ifndef ATTN_RUNTIME_MASKMAP_H
#define ATTN_RUNTIME_MASKMAP_H

#include "runtime/Tensor.h"

namespace attn {

/// Which attention of a function, counted from 0, and which head of it.
struct MaskPlace {
  int64_t attention = 0;
  int64_t batch = 0;
  int64_t head = 0;
};

struct MaskMap {
  /// What becomes of a tile: left out, run without mask code, run with it, or
  /// beyond the keys in use of the batch entry and so left out.
  enum class Tile : int8_t { skipped, plain, masked, beyond };

  int64_t batches = 0, heads = 0; ///< of the attention
  int64_t queries = 0, keys = 0;
  int64_t queryTiles = 0, keyTiles = 0;
  int64_t queryTile = 0, keyTile = 0;   ///< rows of a tile
  int64_t firstQuery = 0, firstKey = 0; ///< positions of rows 0
  int64_t length = 0;                   ///< keys in use
  int64_t headsPerTile = 1;             ///< query heads that share a tile

  /// i8, query tiles by key tiles, of the values of Tile.
  std::optional<Tensor> tiles;
  /// i8, queries by keys, 1 where the query sees the key.
  std::optional<Tensor> elements;
};

} // namespace attn

#endif // ATTN_RUNTIME_MASKMAP_H
