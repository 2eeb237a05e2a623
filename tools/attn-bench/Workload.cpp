// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles, allocates and fills; one call.

#include "Workload.h"

#include "runtime/Random.h"
#include "runtime/code/OpenMp.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <unistd.h>

namespace attn::bench {

static constexpr uint64_t seed = 0;
static constexpr int64_t maxCallsPerTurn = 10000;

static void fill(const Operand &operand, uint64_t stream, Tensor &tensor) {
  CounterRandom random(seed, stream);
  char *data = static_cast<char *>(tensor.raw());
  size_t step = byteSize(tensor.dtype());
  // Uniform between -sqrt(3) and sqrt(3) has variance 1.
  double width = 2 * std::sqrt(3.0);
  for (int64_t i = 0; i < tensor.numElements(); ++i) {
    double number =
        operand.isNormal ? random.normal(i) : width * (random.uniform(i) - 0.5);
    if (operand.dtype == DType::i1)
      data[i] = random.uniform(i) < 0.75;
    else
      storeFromDouble(tensor.dtype(), operand.mean + operand.deviation * number,
                      data + i * step);
  }
}

/// Memory for the operands, with random numbers in it.
static Result<std::vector<Tensor>>
allocate(const std::vector<Operand> &operands) {
  std::vector<Tensor> tensors;
  for (const Operand &operand : operands) {
    Result<Tensor> tensor = Tensor::empty(operand.dtype, operand.sizes);
    if (!tensor)
      return tensor.error();
    fill(operand, tensors.size(), *tensor);
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

Workload::Workload(const Case &problem, Program program, int threads,
                   std::vector<Tensor> inputs, std::vector<Tensor> outputs,
                   PeakMeter meter)
    : theCase(problem), theWork(countWork(problem)),
      theProgram(std::move(program)), numThreads(threads),
      theInputs(std::move(inputs)), theOutputs(std::move(outputs)),
      meter(std::move(meter)) {}

EngineOptions engineOptions(const Case &problem) {
  EngineOptions options;
  options.target = problem.target;
  options.linearForm = problem.linear.form;
  options.linearChunk = problem.linear.chunk;
  // The time of a compilation is one of the results.
  options.cacheDir = "";
  return options;
}

/// Says so where threads wait for each other's CPUs.
static void warnOfThreads(const Case &problem, int threads) {
  if (threads <= availableCpus())
    return;
  // A terminal may show progress on the line.
  std::fprintf(
      stderr,
      "%sattn-bench: warning: %s: %d threads, but this process may run "
      "on %d CPUs\n",
      isatty(STDERR_FILENO) ? "\r\033[K" : "", problem.name.c_str(), threads,
      availableCpus());
}

Result<Workload> Workload::create(const Case &problem, int threads) {
  if (problem.threads > 0)
    threads = problem.threads;
  threads = threadsOfCall(threads);
  warnOfThreads(problem, threads);
  Result<Program> program =
      Engine(engineOptions(problem)).compileText(irText(problem), problem.name);
  if (!program)
    return program.error();
  Result<std::vector<Tensor>> inputs = allocate(inputsOf(problem));
  if (!inputs)
    return inputs.error();
  Result<std::vector<Tensor>> outputs = allocate(outputsOf(problem));
  if (!outputs)
    return outputs.error();
  int64_t bytes =
      static_cast<int64_t>(std::min(countWork(problem).bytes, 1e15));
  Result<PeakMeter> meter =
      PeakMeter::create(threads, bytes, program->target(), problem.dtype);
  if (!meter)
    return meter.error();
  Workload workload(problem, std::move(*program), threads, std::move(*inputs),
                    std::move(*outputs), std::move(*meter));

  // The first call also pays for threads and scratch memory.
  double millis = 0;
  for (int i = 0; i < 2; ++i) {
    Result<double> taken = workload.call();
    if (!taken)
      return taken.error();
    millis = *taken;
  }
  workload.numCalls = static_cast<int64_t>(
      std::clamp<double>(std::ceil(turnMillis / millis), 1, maxCallsPerTurn));
  return workload;
}

Result<double> Workload::call() {
  CallOptions options;
  options.threads = numThreads;
  std::vector<Value> inputs(theInputs.size());
  std::transform(theInputs.begin(), theInputs.end(), inputs.begin(),
                 [](const Tensor &tensor) { return tensor.view(); });
  std::vector<TensorView> outputs(theOutputs.size());
  std::transform(theOutputs.begin(), theOutputs.end(), outputs.begin(),
                 [](const Tensor &tensor) { return tensor.view(); });
  auto start = std::chrono::steady_clock::now();
  Result<void> done = theProgram.callInto("main", inputs, outputs, options);
  std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  if (!done)
    return done.error();
  return elapsed.count();
}

} // namespace attn::bench
