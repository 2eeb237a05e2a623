// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the loops on all threads at once and keeps the samples.

#include "runtime/cpu/Peak.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <numeric>
#include <thread>

namespace attn {

/// How long threads run before they are measured, in which the system spreads
/// them over cores, and how long they are measured at least: mostly less than
/// they run before it gives their cores to others. A peak is what the machine
/// can do, not what others leave of it.
static constexpr auto warmUpTime = std::chrono::milliseconds(4);
static constexpr auto sampleTime = std::chrono::milliseconds(4);

/// Waits for threads of this process that spin, which those of OpenMP do for a
/// while when their work is done: they would take the cores from a sample.
static void waitUntilIdle() {
  constexpr int maxPolls = 100;
  constexpr auto pollTime = std::chrono::milliseconds(10);
  constexpr std::clock_t idleTime = CLOCKS_PER_SEC / 1000;
  for (int poll = 0; poll < maxPolls; ++poll) {
    // Of all threads together.
    std::clock_t before = std::clock();
    std::this_thread::sleep_for(pollTime);
    if (std::clock() - before < idleTime)
      return;
  }
}

/// Repeats `work` on all threads at once: work(t, n) is the nth piece of thread
/// t and returns an amount. Returns the amount per second of all together while
/// all of them run, over some and no less than `minAmount`.
static double
rateOnThreads(int threads, double minAmount,
              const std::function<double(int thread, int64_t piece)> &work) {
  std::vector<std::atomic<double>> amounts(threads);
  std::atomic<bool> isDone{false};
  auto body = [&](int thread) {
    double amount = 0;
    for (int64_t piece = 0; !isDone; ++piece) {
      amount += work(thread, piece);
      amounts[thread] = amount;
    }
  };
  std::vector<std::thread> workers;
  for (int thread = 0; thread < threads; ++thread)
    workers.emplace_back(body, thread);

  auto total = [&] {
    return std::accumulate(amounts.begin(), amounts.end(), 0.0);
  };
  auto haveAllBegun = [&] {
    return std::all_of(amounts.begin(), amounts.end(),
                       [](const std::atomic<double> &x) { return x > 0; });
  };
  do
    std::this_thread::sleep_for(warmUpTime);
  while (!haveAllBegun());
  auto start = std::chrono::steady_clock::now();
  double before = total(), done;
  std::chrono::duration<double> elapsed;
  do {
    std::this_thread::sleep_for(sampleTime);
    done = total() - before;
    elapsed = std::chrono::steady_clock::now() - start;
  } while (done <= 0 || done < minAmount);
  isDone = true;
  for (std::thread &worker : workers)
    worker.join();
  return done / elapsed.count();
}

PeakMeter::PeakMeter(int threads, Tensor buffer,
                     std::vector<MultiplyLoop> multiplies, ReadLoop read)
    : threads(threads), buffer(std::move(buffer)),
      multiplies(std::move(multiplies)), read(read),
      flopRates(this->multiplies.size()) {}

Result<PeakMeter> PeakMeter::create(int threads, int64_t workingSet,
                                    const std::string &target, DType dtype) {
  constexpr int64_t mebi = 1 << 20;
  int64_t bytes = std::clamp<int64_t>(workingSet, mebi, 512 * mebi);
  Result<Tensor> buffer = Tensor::empty(DType::i8, {bytes});
  if (!buffer)
    return buffer.error();
  // Pages that were never written are all the same zero page.
  std::fill_n(buffer->data<int8_t>(), bytes, int8_t(1));
  return PeakMeter(std::max(threads, 1), std::move(*buffer),
                   findMultiplyLoops(target, dtype), findReadLoop(target));
}

double PeakMeter::sampleMultiply(const MultiplyLoop &loop) const {
  auto work = [&](int, int64_t) { return loop.run(20000); };
  return rateOnThreads(threads, /*minAmount=*/0, work) / 1e9;
}

double PeakMeter::sampleRead() const {
  constexpr int64_t linesPerPiece = 4096;
  int64_t lines = buffer.numElements() / 64 / threads;
  int64_t linesOfPiece = std::min(lines, linesPerPiece);
  const char *data = static_cast<const char *>(buffer.raw());
  // Each thread sweeps over a part of its own, again and again.
  auto work = [&](int thread, int64_t piece) {
    int64_t line = piece % (lines / linesOfPiece) * linesOfPiece;
    read(data + (thread * lines + line) * 64, linesOfPiece);
    return static_cast<double>(64 * linesOfPiece);
  };
  auto bytes = static_cast<double>(64 * lines * threads);
  return rateOnThreads(threads, /*minAmount=*/bytes, work) / 1e9;
}

void PeakMeter::sample() {
  waitUntilIdle();
  for (size_t i = 0; i < multiplies.size(); ++i)
    flopRates[i] = std::max(flopRates[i], sampleMultiply(multiplies[i]));
  byteRates.push_back(sampleRead());
}

void PeakMeter::clear() {
  std::fill(flopRates.begin(), flopRates.end(), 0);
  byteRates.clear();
}

std::vector<PeakMeter::Rate> PeakMeter::rates() const {
  std::vector<Rate> rates;
  for (size_t i = 0; i < multiplies.size(); ++i)
    rates.push_back({multiplies[i].instruction, flopRates[i]});
  return rates;
}

PeakMeter::Rate PeakMeter::fastest() const {
  std::vector<Rate> all = rates();
  return *std::max_element(
      all.begin(), all.end(),
      [](const Rate &a, const Rate &b) { return a.gflops < b.gflops; });
}

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle]
                           : (values[middle - 1] + values[middle]) / 2;
}

} // namespace attn
