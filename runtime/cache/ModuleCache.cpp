// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First in, first out, under one lock that is not held while compiling.

#include "runtime/cache/ModuleCache.h"

namespace attn {

ModuleResult ModuleCache::find(const CompileRequest &request) {
  std::shared_ptr<Entry> entry;
  {
    std::lock_guard<std::mutex> lock(mutex);
    std::string key = encode(request);
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
  return entry->module;
}

size_t ModuleCache::size() {
  std::lock_guard<std::mutex> lock(mutex);
  return entries.size();
}

} // namespace attn
