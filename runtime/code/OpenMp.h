// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The OpenMP library that compiled code runs its threads with. It is opened
// when the first program needs it, and shared by all.

#ifndef ATTN_RUNTIME_CODE_OPENMP_H
#define ATTN_RUNTIME_CODE_OPENMP_H

#include "runtime/Result.h"

#include <optional>
#include <string>
#include <string_view>

namespace attn {

class OpenMp {
public:
  /// The library, opened on first use, or why it can't be had now.
  static const Result<OpenMp> &get();

  /// True for the names of functions of an OpenMP library.
  static bool owns(std::string_view name);

  /// The address of a function of the library, or null.
  void *lookup(const std::string &name) const;

  /// Refuses a call whose threads, as in threadsOf, can't be started, as the
  /// library would abort.
  Result<void> startThreads(int threads) const;

  /// CPUs that this process may run on.
  int availableCpus() const { return numProcs(); }

  /// Threads of a call that asks for `threads`. 0 leaves them to OpenMP: what
  /// OMP_NUM_THREADS says, or omp_set_num_threads of a host that shares the
  /// library, or one per available CPU. OMP_THREAD_LIMIT bounds both.
  int threadsOf(int threads) const;

private:
  friend class ThreadCount;
  OpenMp() = default;
  static Result<OpenMp> open();
  static std::optional<Result<OpenMp>> findLoaded();
  static Result<OpenMp> take(void *library);

  void *library = nullptr;
  void (*setNumThreads)(int) = nullptr;
  int (*maxThreads)() = nullptr;
  int (*numProcs)() = nullptr;
  int (*threadLimit)() = nullptr;
  size_t (*stackBytes)() = nullptr; ///< null where the library does not say
};

/// OpenMp::threadsOf and availableCpus; 1 where there is no library, without
/// which nothing runs on threads.
int threadsOfCall(int threads);
int availableCpus();

/// Sets the threads of parallel regions that this thread starts, for a scope.
class ThreadCount {
public:
  /// `threads` as in OpenMp::threadsOf.
  ThreadCount(const OpenMp &openMp, int threads);
  ~ThreadCount();
  ThreadCount(const ThreadCount &) = delete;
  ThreadCount &operator=(const ThreadCount &) = delete;

private:
  const OpenMp &openMp;
  int previous;
};

} // namespace attn

#endif // ATTN_RUNTIME_CODE_OPENMP_H
