// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A POSIX thread with 512 MiB of stack; pages cost nothing until touched.

#include "runtime/compile/BigStack.h"

#include <cstddef>
#include <pthread.h>

namespace attn {

static constexpr size_t stackBytes = size_t(512) << 20;

static void *runWork(void *work) {
  (*static_cast<const std::function<void()> *>(work))();
  return nullptr;
}

void runOnBigStack(const std::function<void()> &work) {
  pthread_attr_t attributes;
  pthread_t thread;
  bool started = false;
  if (pthread_attr_init(&attributes) == 0) {
    void *argument = const_cast<std::function<void()> *>(&work);
    started = pthread_attr_setstacksize(&attributes, stackBytes) == 0 &&
              pthread_create(&thread, &attributes, runWork, argument) == 0;
    pthread_attr_destroy(&attributes);
  }
  if (started)
    pthread_join(thread, nullptr);
  else
    work();
}

} // namespace attn
