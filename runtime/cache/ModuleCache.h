// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled modules in memory: the same text under the same options is compiled
// once, also when several threads ask for it at the same time. Internal; no
// LLVM.

#ifndef ATTN_RUNTIME_CACHE_MODULECACHE_H
#define ATTN_RUNTIME_CACHE_MODULECACHE_H

#include "runtime/cache/ObtainModule.h"

#include <deque>
#include <map>
#include <mutex>

namespace attn {

class ModuleCache {
public:
  /// Keeps at most `capacity` modules; the oldest goes first. Modules in use
  /// live on with their programs.
  explicit ModuleCache(size_t capacity) : capacity(capacity) {}

  /// Compiles or waits for whoever does. Errors are kept, too, but those of
  /// memory and files, after which the next call tries again.
  ModuleResult find(const CompileRequest &request);

  size_t size();

private:
  struct Entry {
    std::once_flag once;
    ModuleResult module = Error{};
  };

  void forget(const std::string &key, const std::shared_ptr<Entry> &entry);

  size_t capacity;
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Entry>> entries;
  std::deque<std::string> order;
};

} // namespace attn

#endif // ATTN_RUNTIME_CACHE_MODULECACHE_H
