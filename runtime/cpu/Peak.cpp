// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over vectors of the width that the CPU has; vector extensions of the
// compiler keep them readable, one body serves all widths.

#include "runtime/cpu/Peak.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace attn {

struct PeakMeter::Loops {
  const char *unit;
  /// Multiply-adds for `rounds`; returns the number of operations.
  double (*multiply)(int64_t rounds);
  /// Reads whole lines of 64 bytes.
  void (*read)(const char *data, int64_t lines);
};

// Operands and results go through memory that other files might see, or the
// compiler would compute them beforehand or not at all.
namespace peak {
std::atomic<float> factorSource{0.999f}, termSource{1e-3f}, floatSink;
std::atomic<uint64_t> wordSink;
} // namespace peak

template <int bytes> struct Vector {
  using Float = float __attribute__((vector_size(bytes)));
  using Word = uint64_t __attribute__((vector_size(bytes)));
};

/// Enough independent chains to hide the latency of a multiply-add on two
/// ports; few enough for the registers.
template <int bytes, int chains>
__attribute__((always_inline)) inline double multiplyLoop(int64_t rounds) {
  using Float = typename Vector<bytes>::Float;
  Float sum[chains];
  for (int i = 0; i < chains; ++i)
    sum[i] = Float{} + static_cast<float>(i);
  Float factor = Float{} + peak::factorSource.load();
  Float term = Float{} + peak::termSource.load();
  for (int64_t round = 0; round < rounds; ++round) {
#pragma clang loop unroll(full)
    for (int i = 0; i < chains; ++i)
      sum[i] = sum[i] * factor + term;
  }
  for (int i = 1; i < chains; ++i)
    sum[0] += sum[i];
  float total = 0;
  for (int i = 0; i < bytes / 4; ++i)
    total += sum[0][i];
  peak::floatSink = total;
  return 2.0 * chains * (bytes / 4) * static_cast<double>(rounds);
}

template <int bytes>
__attribute__((always_inline)) inline void readLoop(const char *data,
                                                    int64_t lines) {
  using Word = typename Vector<bytes>::Word;
  constexpr int perLine = 64 / bytes;
  Word sum[perLine] = {};
  const Word *words = reinterpret_cast<const Word *>(data);
  for (int64_t line = 0; line < lines; ++line) {
#pragma clang loop unroll(full)
    for (int i = 0; i < perLine; ++i)
      sum[i] ^= words[line * perLine + i];
  }
  uint64_t total = 0;
  for (int i = 0; i < perLine; ++i)
    for (int k = 0; k < bytes / 8; ++k)
      total ^= sum[i][k];
  peak::wordSink = total;
}

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512vl,fma"))) static double
multiply512(int64_t rounds) {
  return multiplyLoop<64, 24>(rounds);
}
__attribute__((target("avx512f,avx512vl"))) static void
read512(const char *data, int64_t lines) {
  readLoop<64>(data, lines);
}
__attribute__((target("avx2,fma"))) static double multiply256(int64_t rounds) {
  return multiplyLoop<32, 12>(rounds);
}
__attribute__((target("avx2"))) static void read256(const char *data,
                                                    int64_t lines) {
  readLoop<32>(data, lines);
}
#endif
static double multiply128(int64_t rounds) {
  return multiplyLoop<16, 12>(rounds);
}
static void read128(const char *data, int64_t lines) {
  readLoop<16>(data, lines);
}

const PeakMeter::Loops &PeakMeter::findLoops(const std::string &target) {
#if defined(__x86_64__)
  static constexpr Loops avx512 = {"avx512 fma", multiply512, read512};
  static constexpr Loops avx2 = {"avx2 fma", multiply256, read256};
  if (target == "cpu:avx512" && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512vl"))
    return avx512;
  if (target != "cpu:generic" && __builtin_cpu_supports("avx2") &&
      __builtin_cpu_supports("fma"))
    return avx2;
#endif
  static constexpr Loops narrow = {"sse", multiply128, read128};
  return narrow;
}

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

const char *PeakMeter::unit() const { return loops->unit; }

PeakMeter::PeakMeter(int threads, Tensor buffer, const Loops &loops)
    : loops(&loops), threads(threads), buffer(std::move(buffer)) {}

Result<PeakMeter> PeakMeter::create(int threads, int64_t workingSet,
                                    const std::string &target) {
  constexpr int64_t mebi = 1 << 20;
  int64_t bytes = std::clamp<int64_t>(workingSet, mebi, 256 * mebi);
  Result<Tensor> buffer = Tensor::empty(DType::i8, {bytes});
  if (!buffer)
    return buffer.error();
  // Pages that were never written are all the same zero page.
  std::fill_n(buffer->data<int8_t>(), bytes, int8_t(1));
  return PeakMeter(std::max(threads, 1), std::move(*buffer), findLoops(target));
}

void PeakMeter::sample() {
  std::vector<double> operations(threads);
  double seconds = timeOnThreads(
      threads, [&](int index) { operations[index] = loops->multiply(20000); });
  double total = 0;
  for (double count : operations)
    total += count;
  flopSamples.push_back(total / seconds / 1e9);

  int64_t lines = buffer.numElements() / 64 / threads;
  // Small working sets are swept several times.
  int64_t sweeps =
      std::max<int64_t>(1, (int64_t(16) << 20) / buffer.numElements());
  const char *data = static_cast<const char *>(buffer.raw());
  seconds = timeOnThreads(threads, [&](int index) {
    for (int64_t sweep = 0; sweep < sweeps; ++sweep)
      loops->read(data + index * lines * 64, lines);
  });
  byteSamples.push_back(static_cast<double>(64 * lines * threads * sweeps) /
                        seconds / 1e9);
}

double PeakMeter::gflops() const { return median(flopSamples); }

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
