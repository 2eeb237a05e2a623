// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The folder of the disk cache: which one it is, whether code from it can be
// trusted, and how much it holds. Internal; no LLVM.

#ifndef ATTN_RUNTIME_CACHE_CACHEFOLDER_H
#define ATTN_RUNTIME_CACHE_CACHEFOLDER_H

#include "runtime/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attn {

/// The folder that `option` names, or else the environment: $ATTN_CACHE_DIR,
/// $XDG_CACHE_HOME/attn, $HOME/.cache/attn. Empty where there is to be no
/// cache, an error where no folder can be named.
Result<std::string> chooseCacheFolder(const std::optional<std::string> &option);

/// A folder whose files only this user can have written. Names are relative to
/// it and stay so, whatever happens to its path.
class CacheFolder {
public:
  /// Makes the folder where it is missing, for this user alone. Refuses one
  /// that belongs to another user or that others may write.
  static Result<CacheFolder> open(const std::string &path);
  CacheFolder(CacheFolder &&other);
  CacheFolder &operator=(CacheFolder &&) = delete;
  ~CacheFolder();

  /// The content of a file that only this user can have written and that has
  /// at most `limit` bytes; nothing in all other cases. Marks it as used now.
  std::optional<std::string> read(const std::string &name,
                                  uint64_t limit) const;

  /// Puts a whole file in place of what there was, or changes nothing.
  Result<void> replace(const std::string &name, std::string_view content) const;

  /// Removes the files that were not used for longest until all have at most
  /// `limit` bytes, among them what writers left that did not finish; after an
  /// hour such a file goes anyway. Counts and removes only names of a hash and
  /// `suffix`.
  void shrink(std::string_view suffix, uint64_t limit) const;

private:
  CacheFolder(int descriptor, std::string path)
      : descriptor(descriptor), path(std::move(path)) {}
  Error failure(const char *what) const;
  Result<void> write(const std::string &name, std::string_view content) const;

  int descriptor;
  std::string path;
};

} // namespace attn

#endif // ATTN_RUNTIME_CACHE_CACHEFOLDER_H
