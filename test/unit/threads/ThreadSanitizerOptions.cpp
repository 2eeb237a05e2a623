// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ThreadSanitizer should know about libraries that it does not watch.

extern "C" const char *__tsan_default_options();

/// LLVM, MLIR and libomp are not instrumented, and neither is compiled code:
/// how they synchronise isn't seen, so what they hand to memcpy and the like is
/// not looked at either. A race of ours is between two accesses of our own.
extern "C" const char *__tsan_default_options() {
  return "ignore_noninstrumented_modules=1";
}
