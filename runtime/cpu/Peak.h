// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What this machine can do at this moment: f32 multiply-adds in registers and
// reads of a working set. Machines are shared and slow down for seconds at a
// time, so samples are taken between the runs that they are compared with.

#ifndef ATTN_RUNTIME_CPU_PEAK_H
#define ATTN_RUNTIME_CPU_PEAK_H

#include "runtime/Tensor.h"

namespace attn {

class PeakMeter {
public:
  /// Measures with `threads` threads the instructions that code for `target`
  /// ("cpu:avx2", ...) is made of; reads sweep over `workingSet` bytes (between
  /// 1 MiB and 256 MiB).
  static Result<PeakMeter> create(int threads, int64_t workingSet,
                                  const std::string &target);

  /// One measurement of both, a few milliseconds.
  void sample();

  /// Medians over the samples; 0 before the first.
  double gflops() const;
  double gbytesPerSecond() const;

  /// The instructions that gflops() counts: "avx512 fma", "avx2 fma" or "sse".
  const char *unit() const;

private:
  struct Loops;
  PeakMeter(int threads, Tensor buffer, const Loops &loops);
  static const Loops &findLoops(const std::string &target);

  const Loops *loops;
  int threads;
  Tensor buffer;
  std::vector<double> flopSamples, byteSamples;
};

/// The middle of the values, or the mean of the two in the middle; 0 for none.
double median(std::vector<double> values);

} // namespace attn

#endif // ATTN_RUNTIME_CPU_PEAK_H
