// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First in, first out, under one lock that is not held while compiling.

#include "runtime/cache/ModuleCache.h"

#include <algorithm>

namespace attn {

ModuleResult ModuleCache::find(const CompileRequest &request) {
  std::shared_ptr<Entry> entry;
  std::string key = encode(request);
  {
    std::lock_guard<std::mutex> lock(mutex);
    std::shared_ptr<Entry> &slot = entries[key];
    if (!slot) {
      slot = std::make_shared<Entry>();
      order.push_back(key);
    }
    entry = slot;
    if (order.size() > capacity) {
      entries.erase(order.front());
      order.pop_front();
    }
  }
  std::call_once(entry->once, [&] { entry->module = obtainModule(request); });
  // Memory and files come back.
  if (!entry->module && (entry->module.error().code == ErrorCode::outOfMemory ||
                         entry->module.error().code == ErrorCode::ioFailure))
    forget(key, entry);
  return entry->module;
}

void ModuleCache::forget(const std::string &key,
                         const std::shared_ptr<Entry> &entry) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = entries.find(key);
  // Another thread may have forgotten it, and compile again.
  if (found == entries.end() || found->second != entry)
    return;
  entries.erase(found);
  order.erase(std::find(order.begin(), order.end(), key));
}

size_t ModuleCache::size() {
  std::lock_guard<std::mutex> lock(mutex);
  return entries.size();
}

} // namespace attn
