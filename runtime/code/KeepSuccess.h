// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is had once for the life of the process, and asked for again where it
// could not be had: memory or file descriptors that run out come back.

#ifndef ATTN_RUNTIME_CODE_KEEPSUCCESS_H
#define ATTN_RUNTIME_CODE_KEEPSUCCESS_H

#include <atomic>
#include <memory>
#include <mutex>

namespace attn {

/// What `open`, which returns a Result, returned: the first success, which
/// every later call gets, or an error of this call, which lives until the next
/// one of this thread.
template <auto open> const auto &keepSuccess() {
  using Opened = decltype(open());
  static std::atomic<const Opened *> kept{nullptr};
  static std::mutex mutex;
  static thread_local std::unique_ptr<const Opened> failed;
  if (const Opened *known = kept.load(std::memory_order_acquire))
    return *known;
  std::lock_guard<std::mutex> lock(mutex);
  if (const Opened *known = kept.load(std::memory_order_relaxed))
    return *known;
  auto opened = std::make_unique<const Opened>(open());
  if (!opened->ok()) {
    failed = std::move(opened);
    return *failed;
  }
  // Never freed: others have it.
  kept.store(opened.get(), std::memory_order_release);
  return *opened.release();
}

} // namespace attn

#endif // ATTN_RUNTIME_CODE_KEEPSUCCESS_H
