// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the sanitizers should know about libraries that are not ours; linked
// into every program of such a build.

extern "C" const char *__asan_default_options();
extern "C" const char *__lsan_default_suppressions();

/// libMLIR is not instrumented. Its containers look overflowed, and memory that
/// LLVM's headers poison in our code until an arena hands it out is handed out
/// over there, where nothing lifts the poison.
extern "C" const char *__asan_default_options() {
  return "detect_container_overflow=0:allow_user_poisoning=0";
}

/// libomp keeps a block for each host thread that has ended.
extern "C" const char *__lsan_default_suppressions() { return "leak:libomp"; }
