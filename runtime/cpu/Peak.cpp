// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the loops on all threads at once and keeps the samples.

#include "runtime/cpu/Peak.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace attn {

/// Runs `work` on all threads at once and returns the seconds until the last
/// has finished.
static double timeOnThreads(int threads, const std::function<void(int)> &work) {
  std::atomic<int> waiting{threads};
  std::vector<double> seconds(threads);
  auto body = [&](int index) {
    // Start together: making a thread takes as long as the work.
    for (--waiting; waiting > 0;)
      std::this_thread::yield();
    auto start = std::chrono::steady_clock::now();
    work(index);
    std::chrono::duration<double> elapsed =
        std::chrono::steady_clock::now() - start;
    seconds[index] = elapsed.count();
  };
  std::vector<std::thread> others;
  for (int index = 1; index < threads; ++index)
    others.emplace_back(body, index);
  body(0);
  for (std::thread &other : others)
    other.join();
  return *std::max_element(seconds.begin(), seconds.end());
}

PeakMeter::PeakMeter(int threads, Tensor buffer,
                     std::vector<MultiplyLoop> multiplies, ReadLoop read)
    : threads(threads), buffer(std::move(buffer)),
      multiplies(std::move(multiplies)), read(read),
      flopSamples(this->multiplies.size()) {}

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
  std::vector<double> operations(threads);
  double seconds = timeOnThreads(
      threads, [&](int index) { operations[index] = loop.run(20000); });
  double total = 0;
  for (double count : operations)
    total += count;
  return total / seconds / 1e9;
}

double PeakMeter::sampleRead() const {
  int64_t lines = buffer.numElements() / 64 / threads;
  // Small working sets are swept several times.
  int64_t sweeps =
      std::max<int64_t>(1, (int64_t(16) << 20) / buffer.numElements());
  const char *data = static_cast<const char *>(buffer.raw());
  double seconds = timeOnThreads(threads, [&](int index) {
    for (int64_t sweep = 0; sweep < sweeps; ++sweep)
      read(data + index * lines * 64, lines);
  });
  return static_cast<double>(64 * lines * threads * sweeps) / seconds / 1e9;
}

void PeakMeter::sample() {
  for (size_t i = 0; i < multiplies.size(); ++i)
    flopSamples[i].push_back(sampleMultiply(multiplies[i]));
  byteSamples.push_back(sampleRead());
}

void PeakMeter::clear() {
  for (std::vector<double> &samples : flopSamples)
    samples.clear();
  byteSamples.clear();
}

std::vector<PeakMeter::Rate> PeakMeter::rates() const {
  std::vector<Rate> rates;
  for (size_t i = 0; i < multiplies.size(); ++i)
    rates.push_back({multiplies[i].instruction, median(flopSamples[i])});
  return rates;
}

PeakMeter::Rate PeakMeter::fastest() const {
  std::vector<Rate> all = rates();
  return *std::max_element(
      all.begin(), all.end(),
      [](const Rate &a, const Rate &b) { return a.gflops < b.gflops; });
}

double PeakMeter::gbytesPerSecond() const { return median(byteSamples); }

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle]
                           : (values[middle - 1] + values[middle]) / 2;
}

} // namespace attn
