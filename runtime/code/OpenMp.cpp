// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// dlopen of libomp. It stays open for the life of the process: its worker
// threads can't be taken away safely.

#include "runtime/code/OpenMp.h"

#include "runtime/KernelMemory.h"
#include "runtime/code/KeepSuccess.h"

#include <algorithm>
#include <dlfcn.h>

namespace attn {

Result<OpenMp> OpenMp::open() {
  std::string failures;
  // First the library of the LLVM that attn was built with.
  for (const char *name : {ATTN_LIBOMP_PATH, "libomp.so.5", "libomp.so"}) {
    void *library = *name ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (!library) {
      if (const char *reason = *name ? dlerror() : nullptr)
        failures += std::string("; ") + reason;
      continue;
    }
    OpenMp result;
    result.library = library;
    result.setNumThreads =
        reinterpret_cast<void (*)(int)>(dlsym(library, "omp_set_num_threads"));
    result.maxThreads =
        reinterpret_cast<int (*)()>(dlsym(library, "omp_get_max_threads"));
    result.numProcs =
        reinterpret_cast<int (*)()>(dlsym(library, "omp_get_num_procs"));
    result.threadLimit =
        reinterpret_cast<int (*)()>(dlsym(library, "omp_get_thread_limit"));
    setParallelProbe(
        reinterpret_cast<int (*)()>(dlsym(library, "omp_in_parallel")));
    if (result.setNumThreads && result.maxThreads && result.numProcs &&
        result.threadLimit)
      return result;
    failures += std::string("; ") + name + ": no omp_set_num_threads";
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
