// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A hit opens neither the compiler nor LLVM. Whatever is wrong with the disk
// cache costs a compilation, never a program.

#include "runtime/cache/ObtainModule.h"

#include "runtime/cache/CacheKey.h"
#include "runtime/cache/DiskCache.h"
#include "runtime/code/CompilerLibrary.h"

#include <chrono>

namespace attn {

namespace {
/// Time that is spent on a module.
class Stopwatch {
public:
  double millis() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - start)
        .count();
  }
  /// Does `work` without counting it.
  template <class Work> void pauseFor(Work work) {
    auto begin = Clock::now();
    work();
    start += Clock::now() - begin;
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
};

/// A module, its image as bytes, and the libraries that made it.
struct Compiled {
  CompiledModule module;
  std::string compiler;
  std::string bytes;
};

/// The place of a request in the disk cache.
struct DiskEntry {
  DiskCache cache;
  std::string key;

  /// Opens the cache, if there is to be one.
  static Result<std::optional<DiskEntry>> open(const CompileRequest &request);
  /// The module that is there, loaded.
  std::optional<CompiledModule> load() const;
  /// Why the module could not be stored, or nothing.
  std::string store(const Compiled &compiled) const;
};
} // namespace

Result<std::optional<DiskEntry>>
DiskEntry::open(const CompileRequest &request) {
  if (!request.options.dumpDir.empty())
    return Error{ErrorCode::unsupported, "the stages are dumped by compiling"};
  Result<std::string> folder = chooseCacheFolder(request.options.cacheDir);
  if (!folder)
    return folder.error();
  if (folder->empty())
    return std::optional<DiskEntry>();
  const Result<Maker> &maker = Maker::get();
  if (!maker)
    return maker.error();
  Result<DiskCache> cache = DiskCache::open(*folder);
  if (!cache)
    return cache.error();
  return std::optional(DiskEntry{std::move(*cache), cacheKey(request, *maker)});
}

std::optional<CompiledModule> DiskEntry::load() const {
  std::optional<std::string> bytes = cache.find(key);
  if (!bytes)
    return std::nullopt;
  Result<ModuleImage> image = decodeImage(*bytes);
  if (!image)
    return std::nullopt;
  Result<CompiledModule> module = linkModule(std::move(*image));
  if (!module)
    return std::nullopt;
  return std::move(*module);
}

std::string DiskEntry::store(const Compiled &compiled) const {
  // The key names the libraries that attn was built with.
  if (compiled.compiler != Maker::get()->compiler)
    return "compiled with other libraries than attn was built with";
  Result<void> done = cache.store(key, compiled.bytes);
  return done ? "" : done.error().message;
}

static Result<Compiled> compileModule(const CompileRequest &request) {
  const Result<CompilerLibrary> &compiler = CompilerLibrary::get();
  if (!compiler)
    return compiler.error();
  Result<std::string> bytes = compiler->compile(request);
  if (!bytes)
    return bytes.error();
  Result<ModuleImage> image = decodeImage(*bytes);
  if (!image)
    return image.error();
  std::string ids = image->compiler;
  Result<CompiledModule> module = linkModule(std::move(*image));
  if (!module)
    return module.error();
  return Compiled{std::move(*module), std::move(ids), std::move(*bytes)};
}

static ModuleResult finish(CompiledModule module, double millis, CacheUse use) {
  module.compileMillis = millis;
  module.cacheUse = std::move(use);
  return std::make_shared<const CompiledModule>(std::move(module));
}

ModuleResult obtainModule(const CompileRequest &request) {
  Stopwatch watch;
  CacheUse use;
  Result<std::optional<DiskEntry>> opened = DiskEntry::open(request);
  if (!opened)
    use.note = opened.error().message;
  const DiskEntry *entry = opened && *opened ? &**opened : nullptr;
  if (entry) {
    use.state = CacheUse::State::hit;
    if (std::optional<CompiledModule> module = entry->load())
      return finish(std::move(*module), watch.millis(), use);
    use.state = CacheUse::State::miss;
  }
  watch.pauseFor([] { (void)CompilerLibrary::get(); });
  Result<Compiled> compiled = compileModule(request);
  if (!compiled)
    return compiled.error();
  double millis = watch.millis();
  if (entry)
    use.note = entry->store(*compiled);
  return finish(std::move(compiled->module), millis, use);
}

} // namespace attn
