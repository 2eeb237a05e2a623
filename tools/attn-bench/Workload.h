// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A case that is ready to run: compiled, with inputs and memory for the output.

#ifndef ATTN_TOOLS_ATTN_BENCH_WORKLOAD_H
#define ATTN_TOOLS_ATTN_BENCH_WORKLOAD_H

#include "Case.h"

#include "runtime/Engine.h"
#include "runtime/cpu/Peak.h"

namespace attn::bench {

/// How the case is compiled.
EngineOptions engineOptions(const Case &problem);

class Workload {
public:
  /// Compiles the case and draws its inputs: where inputsOf() says nothing
  /// else, signed numbers, uniform with mean 0 and variance 1. They are the
  /// same for any machine and number of threads.
  /// `threads` is for cases that name none; 0 leaves them to OpenMP.
  static Result<Workload> create(const Case &problem, int threads);

  const Case &problem() const { return theCase; }
  const Work &work() const { return theWork; }
  const Program &program() const { return theProgram; }
  int threads() const { return numThreads; }

  /// In the order of inputsOf() and outputsOf().
  const std::vector<Tensor> &inputs() const { return theInputs; }
  const std::vector<Tensor> &outputs() const { return theOutputs; }

  /// Calls of one turn: as many as take `turnMillis`, at least one.
  int64_t callsPerTurn() const { return numCalls; }

  /// One call, in milliseconds.
  Result<double> call();

  /// The peaks that the case is compared with, sampled by the caller.
  PeakMeter &peak() { return meter; }

private:
  static constexpr double turnMillis = 50;

  Workload(const Case &problem, Program program, int threads,
           std::vector<Tensor> inputs, std::vector<Tensor> outputs,
           PeakMeter meter);

  Case theCase;
  Work theWork;
  Program theProgram;
  int numThreads;
  std::vector<Tensor> theInputs;
  std::vector<Tensor> theOutputs;
  PeakMeter meter;
  int64_t numCalls = 1;
};

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_WORKLOAD_H
