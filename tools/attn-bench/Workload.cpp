// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles, allocates and fills; one call.

#include "Workload.h"

#include "runtime/Random.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace attn::bench {

static constexpr uint64_t seed = 0;
static constexpr int64_t maxCallsPerTurn = 10000;

static void fill(Tensor &tensor, uint64_t stream) {
  CounterRandom random(seed, stream);
  char *data = static_cast<char *>(tensor.raw());
  size_t step = byteSize(tensor.dtype());
  // Uniform between -sqrt(3) and sqrt(3) has variance 1.
  double width = 2 * std::sqrt(3.0);
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    storeFromDouble(tensor.dtype(), width * (random.uniform(i) - 0.5),
                    data + i * step);
}

Workload::Workload(const Case &problem, Program program, int threads,
                   std::vector<Tensor> memory, PeakMeter meter)
    : theCase(problem), theWork(countWork(problem)),
      theProgram(std::move(program)), numThreads(threads),
      memory(std::move(memory)), meter(std::move(meter)) {}

Result<Workload> Workload::create(const Case &problem, int threads) {
  if (problem.threads > 0)
    threads = problem.threads;
  if (threads == 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  EngineOptions options;
  options.target = problem.target;
  // The time of a compilation is one of the results.
  options.cacheDir = "";
  Result<Program> program =
      Engine(options).compileText(irText(problem), problem.name);
  if (!program)
    return program.error();

  const Case &p = problem;
  std::vector<Tensor> memory;
  for (auto [heads, rows, columns] :
       {std::tuple(p.queryHeads, p.queries, p.keyDim),
        std::tuple(p.keyHeads, p.keys, p.keyDim),
        std::tuple(p.keyHeads, p.keys, p.valueDim),
        std::tuple(p.queryHeads, p.queries, p.valueDim)}) {
    Result<Tensor> tensor =
        Tensor::empty(p.dtype, {p.batch, heads, rows, columns});
    if (!tensor)
      return tensor.error();
    fill(*tensor, memory.size());
    memory.push_back(std::move(*tensor));
  }
  for (const std::string &input : p.extraInputs()) {
    bool isAlibi = input == "alibi", isSelect = input == "select";
    Result<Tensor> tensor =
        Tensor::empty(isSelect ? DType::i1 : DType::f32,
                      isAlibi ? std::vector<int64_t>{p.queryHeads}
                              : std::vector<int64_t>{p.queries, p.keys});
    if (!tensor)
      return tensor.error();
    fill(*tensor, memory.size());
    if (isSelect) {
      // Three of four are true.
      CounterRandom random(seed, memory.size());
      for (int64_t i = 0; i < tensor->numElements(); ++i)
        static_cast<char *>(tensor->raw())[i] = random.uniform(i) < 0.75;
    }
    memory.push_back(std::move(*tensor));
  }
  int64_t bytes =
      static_cast<int64_t>(std::min(countWork(problem).bytes, 1e15));
  Result<PeakMeter> meter =
      PeakMeter::create(threads, bytes, program->target(), p.dtype);
  if (!meter)
    return meter.error();
  Workload workload(problem, std::move(*program), threads, std::move(memory),
                    std::move(*meter));

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
  std::vector<Value> inputs{memory[0].view(), memory[1].view(),
                            memory[2].view()};
  for (size_t i = 4; i < memory.size(); ++i)
    inputs.push_back(memory[i].view());
  auto start = std::chrono::steady_clock::now();
  Result<void> done =
      theProgram.callInto("main", inputs, {memory[3].view()}, options);
  std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  if (!done)
    return done.error();
  return elapsed.count();
}

} // namespace attn::bench
