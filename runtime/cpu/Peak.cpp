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

/// Many times what starting the threads takes, and mostly less than they run
/// before the system gives their cores to others: a peak is what the machine
/// can do, not what others leave of it.
static constexpr double sampleSeconds = 0.002;

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

/// Repeats `work`, which returns an amount, on all threads at once. Returns
/// the amount per second of all together.
static double rateOnThreads(int threads,
                            const std::function<double(int)> &work) {
  std::atomic<int> waiting{threads};
  std::vector<double> rates(threads);
  auto body = [&](int index) {
    // Start together: making a thread takes a while.
    for (--waiting; waiting > 0;)
      std::this_thread::yield();
    double amount = 0;
    std::chrono::duration<double> elapsed{0};
    auto start = std::chrono::steady_clock::now();
    while (elapsed.count() < sampleSeconds) {
      amount += work(index);
      elapsed = std::chrono::steady_clock::now() - start;
    }
    rates[index] = amount / elapsed.count();
  };
  std::vector<std::thread> others;
  for (int index = 1; index < threads; ++index)
    others.emplace_back(body, index);
  body(0);
  for (std::thread &other : others)
    other.join();
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

PeakMeter::PeakMeter(int threads, Tensor buffer,
                     std::vector<MultiplyLoop> multiplies, ReadLoop read)
    : threads(threads), buffer(std::move(buffer)),
      multiplies(std::move(multiplies)), read(read),
      flopRates(this->multiplies.size()) {}

Result<PeakMeter> PeakMeter::create(int threads, int64_t workingSet,
                                    const std::string &target, DType dtype) {
  constexpr int64_t mebi = 1 << 20;
  int64_t bytes = std::clamp<int64_t>(workingSet, mebi, 256 * mebi);
  Result<Tensor> buffer = Tensor::empty(DType::i8, {bytes});
  if (!buffer)
    return buffer.error();
  // Pages that were never written are all the same zero page.
  std::fill_n(buffer->data<int8_t>(), bytes, int8_t(1));
  return PeakMeter(std::max(threads, 1), std::move(*buffer),
                   findMultiplyLoops(target, dtype), findReadLoop(target));
}

double PeakMeter::sampleMultiply(const MultiplyLoop &loop) const {
  return rateOnThreads(threads, [&](int) { return loop.run(20000); }) / 1e9;
}

double PeakMeter::sampleRead() const {
  int64_t lines = buffer.numElements() / 64 / threads;
  const char *data = static_cast<const char *>(buffer.raw());
  auto sweep = [&](int index) {
    read(data + index * lines * 64, lines);
    return static_cast<double>(64 * lines);
  };
  return rateOnThreads(threads, sweep) / 1e9;
}

void PeakMeter::sample() {
  waitUntilIdle();
  for (size_t i = 0; i < multiplies.size(); ++i)
    flopRates[i] = std::max(flopRates[i], sampleMultiply(multiplies[i]));
  byteRate = std::max(byteRate, sampleRead());
}

void PeakMeter::clear() {
  std::fill(flopRates.begin(), flopRates.end(), 0);
  byteRate = 0;
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
