// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What this machine can do at this moment: multiply-adds in registers and
// reads of a working set. Machines are shared and slow down for seconds at a
// time, so samples are taken between the runs that they are compared with.

#ifndef ATTN_RUNTIME_CPU_PEAK_H
#define ATTN_RUNTIME_CPU_PEAK_H

#include "runtime/Tensor.h"
#include "runtime/cpu/PeakLoops.h"

namespace attn {

/// The middle of the values, or the mean of the two in the middle; 0 for none.
double median(std::vector<double> values);

class PeakMeter {
public:
  /// What one instruction reaches on all threads together.
  struct Rate {
    const char *instruction;
    /// 1e9 operations per second; a multiply and an add are two.
    double gflops = 0;
  };

  /// Measures, with `threads` threads at once, the instructions that code for
  /// `target` ("cpu:avx2", ...) on operands of `dtype` can be made of, and
  /// reads that sweep over `workingSet` bytes (between 1 MiB and 512 MiB).
  static Result<PeakMeter> create(int threads, int64_t workingSet,
                                  const std::string &target,
                                  DType dtype = DType::f32);

  /// One measurement of everything, some 10 ms for each rate, once the other
  /// threads of this process no longer run (at most a second later).
  void sample();

  /// Forgets the samples.
  void clear();

  /// The best of the samples, for what disturbs one only makes it slower. In
  /// the order of findMultiplyLoops(); 0 before the first sample.
  std::vector<Rate> rates() const;

  /// The fastest of rates(), in 1e9 operations per second.
  double gflops() const { return fastest().gflops; }

  /// The instruction that gflops() counts, such as "avx512 fma".
  const char *unit() const { return fastest().instruction; }

  /// The median of the samples of reading, in 1e9 bytes per second; 0 before
  /// the first. Memory is shared with other machines, and a best sample would
  /// be of a moment that they left free.
  double gbytesPerSecond() const { return median(byteRates); }

private:
  PeakMeter(int threads, Tensor buffer, std::vector<MultiplyLoop> multiplies,
            ReadLoop read);
  Rate fastest() const;
  double sampleMultiply(const MultiplyLoop &loop) const;
  double sampleRead() const;

  int threads;
  Tensor buffer;
  std::vector<MultiplyLoop> multiplies;
  ReadLoop read;
  std::vector<double> flopRates;
  std::vector<double> byteRates;
};

} // namespace attn

#endif // ATTN_RUNTIME_CPU_PEAK_H
