// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Google Benchmark over the cases of a group, which take turns.

#ifndef ATTN_TOOLS_ATTN_BENCH_TURNS_H
#define ATTN_TOOLS_ATTN_BENCH_TURNS_H

#include "Progress.h"
#include "Workload.h"

#include <iosfwd>
#include <memory>

namespace benchmark {
class JSONReporter;
}

namespace attn::bench {

/// What was measured of a case: medians over its turns.
struct Summary {
  Case problem;
  Work work;
  /// Why there is nothing else; empty where all went well.
  std::string failure;
  /// The failure is that this machine or compiler can't run such a case.
  bool isUnsupported = false;

  int threads = 0;
  double compileMillis = 0;
  double millis = 0;
  double peakGflops = 0;
  double peakGbytes = 0;
  /// The instruction of peakGflops.
  std::string instruction;
  /// Operations that the mask keeps over the peak of the instruction, and bytes
  /// over the peak of reading. Medians of the shares of single turns.
  double flopShare = 0;
  double byteShare = 0;

  /// Reading takes longer than computing at the peaks.
  bool isReadBound() const { return byteShare > flopShare; }
  double share() const { return isReadBound() ? byteShare : flopShare; }
};

class TurnRunner {
public:
  /// `runs` turns per case; samples go to `json` unless it is null, which has
  /// to outlive the runner.
  TurnRunner(int runs, int threads, std::ostream *json);
  ~TurnRunner();

  /// Compiles and runs the cases, which then no longer take memory. The result
  /// has their order. Takes steps() of the progress.
  std::vector<Summary> run(const std::vector<Case> &cases, Progress &progress);

  /// How many steps of progress so many cases take.
  size_t steps(size_t numCases) const { return numCases * (runs + 1); }

  /// Ends the JSON; nothing may be run afterwards.
  void finish();

private:
  int runs;
  int threads;
  std::unique_ptr<benchmark::JSONReporter> json;
};

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_TURNS_H
