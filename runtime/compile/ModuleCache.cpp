// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First in, first out, under one lock that is not held while compiling.

#include "runtime/compile/ModuleCache.h"

namespace attn {

/// Everything that changes the result. Parts that are not fixed in length are
/// preceded by it, so that no two requests share a key.
static std::string cacheKey(const CompileRequest &request) {
  const EngineOptions &options = request.options;
  std::string key;
  for (const std::string &part :
       {options.device, options.target, options.dumpDir, request.name})
    key += std::to_string(part.size()) + ":" + part;
  key += options.countTiles ? 't' : '-';
  key += options.remarks ? 'r' : '-';
  return key + request.text;
}

ModuleResult ModuleCache::find(const CompileRequest &request) {
  std::shared_ptr<Entry> entry;
  {
    std::lock_guard<std::mutex> lock(mutex);
    std::string key = cacheKey(request);
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
  std::call_once(entry->once, [&] { entry->module = compile(request); });
  return entry->module;
}

size_t ModuleCache::size() {
  std::lock_guard<std::mutex> lock(mutex);
  return entries.size();
}

} // namespace attn
