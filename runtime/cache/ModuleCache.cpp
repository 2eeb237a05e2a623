// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First in, first out, under one lock that is not held while compiling.

#include "runtime/cache/ModuleCache.h"

#include "runtime/code/CompilerLibrary.h"

#include <chrono>

namespace attn {

static ModuleResult compileModule(const CompileRequest &request) {
  const Result<CompilerLibrary> &compiler = CompilerLibrary::get();
  if (!compiler)
    return compiler.error();
  auto start = std::chrono::steady_clock::now();
  Result<std::string> bytes = compiler->compile(request);
  if (!bytes)
    return bytes.error();
  Result<ModuleImage> image = decodeImage(*bytes);
  if (!image)
    return image.error();
  Result<CompiledModule> module = linkModule(std::move(*image));
  if (!module)
    return module.error();
  std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  module->compileMillis = elapsed.count();
  return std::make_shared<const CompiledModule>(std::move(*module));
}

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
  std::call_once(entry->once, [&] { entry->module = compileModule(request); });
  return entry->module;
}

size_t ModuleCache::size() {
  std::lock_guard<std::mutex> lock(mutex);
  return entries.size();
}

} // namespace attn
