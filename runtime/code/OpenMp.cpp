// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// dlopen of libomp, unless it or another copy is in the process already. It
// stays open for the life of the process: its worker threads can't be taken
// away safely.

#include "runtime/code/OpenMp.h"

#include "runtime/KernelMemory.h"
#include "runtime/StartThreads.h"
#include "runtime/code/KeepSuccess.h"

#include <algorithm>
#include <dlfcn.h>
#include <link.h>
#include <vector>

namespace attn {

// What compiled code calls, and what surrounds it.
static constexpr const char *neededSymbols[] = {
    "__kmpc_fork_call",        "__kmpc_global_thread_num",
    "__kmpc_barrier",          "__kmpc_dispatch_init_8u",
    "__kmpc_dispatch_next_8u", "omp_get_max_threads",
    "omp_set_num_threads",     "omp_get_num_procs",
    "omp_get_thread_limit",    "omp_in_parallel"};

/// The first of `neededSymbols` that `library` lacks, or null.
static const char *findMissing(void *library) {
  for (const char *symbol : neededSymbols)
    if (!dlsym(library, symbol))
      return symbol;
  return nullptr;
}

/// The files in this process whose name begins as those of LLVM's OpenMP
/// library do, Intel's copy of it included. Wheels of Python rename theirs to
/// libomp-<hash>.so.
static std::vector<std::string> findLoadedFiles() {
  std::vector<std::string> files;
  auto visit = [](dl_phdr_info *info, size_t, void *to) {
    std::string path = info->dlpi_name;
    std::string name = path.substr(path.rfind('/') + 1);
    if (name.rfind("libomp", 0) == 0 || name.rfind("libiomp", 0) == 0)
      static_cast<std::vector<std::string> *>(to)->push_back(path);
    return 0;
  };
  dl_iterate_phdr(visit, &files);
  return files;
}

Result<OpenMp> OpenMp::take(void *library) {
  auto get = [&](const char *symbol) { return dlsym(library, symbol); };
  OpenMp result;
  result.library = library;
  result.setNumThreads =
      reinterpret_cast<void (*)(int)>(get("omp_set_num_threads"));
  result.maxThreads = reinterpret_cast<int (*)()>(get("omp_get_max_threads"));
  result.numProcs = reinterpret_cast<int (*)()>(get("omp_get_num_procs"));
  result.threadLimit = reinterpret_cast<int (*)()>(get("omp_get_thread_limit"));
  result.stackBytes =
      reinterpret_cast<size_t (*)()>(get("kmp_get_stacksize_s"));
  setParallelProbe(reinterpret_cast<int (*)()>(get("omp_in_parallel")));
  return result;
}

static Error notLikeLlvm(const std::string &which, const char *missing) {
  return Error{ErrorCode::unsupported, "OpenMP library " + which +
                                           ": expected " + missing +
                                           ", as LLVM's has, got none"};
}

/// The library that is in this process already, if there is one: two of them
/// abort each other.
std::optional<Result<OpenMp>> OpenMp::findLoaded() {
  for (const std::string &file : findLoadedFiles()) {
    void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
    // One of its tools.
    if (!library || !dlsym(library, "__kmpc_fork_call"))
      continue;
    if (const char *missing = findMissing(library))
      return notLikeLlvm("'" + file + "', which this process has loaded",
                         missing);
    return take(library);
  }
  // A program may be linked with it.
  if (!dlsym(RTLD_DEFAULT, "__kmpc_fork_call"))
    return std::nullopt;
  if (const char *missing = findMissing(RTLD_DEFAULT))
    return notLikeLlvm("which this process is linked with", missing);
  return take(RTLD_DEFAULT);
}

Result<OpenMp> OpenMp::open() {
  if (std::optional<Result<OpenMp>> loaded = findLoaded())
    return *loaded;
  std::string failures;
  // First the library of the LLVM that attn was built with.
  for (const char *name : {ATTN_LIBOMP_PATH, "libomp.so.5", "libomp.so"}) {
    void *library = *name ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (!library) {
      if (const char *reason = *name ? dlerror() : nullptr)
        failures += std::string("; ") + reason;
      continue;
    }
    const char *missing = findMissing(library);
    if (!missing)
      return take(library);
    failures += std::string("; ") + name + ": no " + missing;
    dlclose(library);
  }
  return Error{ErrorCode::ioFailure,
               "expected the OpenMP library libomp.so.5 (package "
               "libomp5-22), got none" +
                   failures};
}

bool OpenMp::owns(std::string_view name) {
  return name.substr(0, 7) == "__kmpc_" || name.substr(0, 4) == "omp_";
}

void *OpenMp::lookup(const std::string &name) const {
  return dlsym(library, name.c_str());
}

const Result<OpenMp> &OpenMp::get() { return keepSuccess<&OpenMp::open>(); }

Result<void> OpenMp::startThreads(int threads) const {
  return attn::startThreads(threadsOf(threads), stackBytes ? stackBytes() : 0);
}

int OpenMp::threadsOf(int threads) const {
  return std::min(threads > 0 ? threads : maxThreads(), threadLimit());
}

int threadsOfCall(int threads) {
  const Result<OpenMp> &openMp = OpenMp::get();
  return openMp.ok() ? openMp->threadsOf(threads) : 1;
}

int availableCpus() {
  const Result<OpenMp> &openMp = OpenMp::get();
  return openMp.ok() ? openMp->availableCpus() : 1;
}

ThreadCount::ThreadCount(const OpenMp &openMp, int threads)
    : openMp(openMp), previous(openMp.maxThreads()) {
  openMp.setNumThreads(openMp.threadsOf(threads));
}

ThreadCount::~ThreadCount() { openMp.setNumThreads(previous); }

} // namespace attn
