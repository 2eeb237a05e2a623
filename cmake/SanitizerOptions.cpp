// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Defaults of the sanitizers, linked into every program of such a build.

// LLVM's headers poison what an arena has not handed out. Our code does so,
// the libMLIR of the system, which is not instrumented, never lifts it: every
// arena that both use would be reported.
extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0";
}
