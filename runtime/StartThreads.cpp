// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See StartThreads.h.

#include "runtime/StartThreads.h"

#include <atomic>
#include <cstring>
#include <mutex>
#include <pthread.h>
#include <string>
#include <vector>

namespace attn {

/// Waits until the one who starts threads has them all.
static void *waitForAll(void *gate) {
  std::lock_guard<std::mutex> lock(*static_cast<std::mutex *>(gate));
  return nullptr;
}

/// How many of `count` threads could be started at once, and the error of the
/// first that could not.
static int tryThreads(int count, size_t stackBytes, int &error) {
  pthread_attr_t attributes;
  error = pthread_attr_init(&attributes);
  if (error != 0)
    return 0;
  if (stackBytes != 0)
    pthread_attr_setstacksize(&attributes, stackBytes);
  std::mutex gate;
  std::vector<pthread_t> threads;
  threads.reserve(count);
  {
    std::lock_guard<std::mutex> closed(gate);
    pthread_t thread;
    while (static_cast<int>(threads.size()) < count &&
           (error = pthread_create(&thread, &attributes, waitForAll, &gate)) ==
               0)
      threads.push_back(thread);
  }
  for (pthread_t thread : threads)
    pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  return static_cast<int>(threads.size());
}

Result<void> startThreads(int count, size_t stackBytes) {
  // The caller is one of them.
  static std::atomic<int> most{1};
  static std::mutex mutex;
  if (count <= most.load(std::memory_order_relaxed))
    return {};
  std::lock_guard<std::mutex> lock(mutex);
  if (count <= most.load(std::memory_order_relaxed))
    return {};
  int error = 0;
  int started = tryThreads(count - 1, stackBytes, error);
  if (started < count - 1)
    return Error{ErrorCode::outOfMemory,
                 "threads: can't start " + std::to_string(count) + ", but " +
                     std::to_string(started + 1) + ": " + std::strerror(error)};
  most.store(count, std::memory_order_relaxed);
  return {};
}

} // namespace attn
