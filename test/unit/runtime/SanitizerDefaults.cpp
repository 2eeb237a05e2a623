// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the sanitizers, where they are built in, should know about libraries
// that are not ours. Without sanitizers nobody calls these functions.

extern "C" const char *__asan_default_options();
extern "C" const char *__lsan_default_suppressions();

/// libMLIR is not instrumented, so its containers look overflowed.
extern "C" const char *__asan_default_options() {
  return "detect_container_overflow=0";
}

/// libomp keeps a block for each host thread that has ended.
extern "C" const char *__lsan_default_suppressions() { return "leak:libomp"; }
