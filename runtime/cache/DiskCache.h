// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images of compiled modules on disk, for the processes of one user. An entry
// that is torn, foreign or of another key is as good as none. Internal; no
// LLVM.

#ifndef ATTN_RUNTIME_CACHE_DISKCACHE_H
#define ATTN_RUNTIME_CACHE_DISKCACHE_H

#include "runtime/cache/CacheFolder.h"

namespace attn {

class DiskCache {
public:
  /// Entries have at most `maxBytes` together, and an eighth of that each.
  static constexpr uint64_t defaultBytes = uint64_t(64) << 20;
  static Result<DiskCache> open(const std::string &folder,
                                uint64_t maxBytes = defaultBytes);

  /// What was stored under exactly this key, or nothing.
  std::optional<std::string> find(std::string_view key) const;

  /// Stores a value, and removes others where there are too many.
  Result<void> store(std::string_view key, std::string_view value) const;

  /// The file of a key in the folder.
  static std::string fileName(std::string_view key);

private:
  DiskCache(CacheFolder folder, uint64_t maxBytes)
      : folder(std::move(folder)), maxBytes(maxBytes) {}

  CacheFolder folder;
  uint64_t maxBytes;
};

} // namespace attn

#endif // ATTN_RUNTIME_CACHE_DISKCACHE_H
