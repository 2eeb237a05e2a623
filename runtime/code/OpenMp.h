// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The OpenMP library that compiled code runs its threads with. It is opened
// when the first program needs it, and shared by all.

#ifndef ATTN_RUNTIME_CODE_OPENMP_H
#define ATTN_RUNTIME_CODE_OPENMP_H

#include "runtime/Result.h"

#include <string>
#include <string_view>

namespace attn {

class OpenMp {
public:
  /// The library, opened on first use, or why it can't be had.
  static const Result<OpenMp> &get();

  /// True for the names of functions of an OpenMP library.
  static bool owns(std::string_view name);

  /// The address of a function of the library, or null.
  void *lookup(const std::string &name) const;

  /// Threads that are sensible for this process.
  int availableThreads() const { return numProcs(); }

private:
  friend class ThreadCount;
  OpenMp() = default;
  static Result<OpenMp> open();

  void *library = nullptr;
  void (*setNumThreads)(int) = nullptr;
  int (*maxThreads)() = nullptr;
  int (*numProcs)() = nullptr;
};

/// Sets the threads of parallel regions that this thread starts, for a scope.
class ThreadCount {
public:
  /// `threads` 0 means one per available core.
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
