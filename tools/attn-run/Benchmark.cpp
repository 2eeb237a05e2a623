// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls into memory that exists already, with a sample of the peaks every few
// calls, so that a busy neighbour slows both.

#include "Benchmark.h"

#include "Report.h"

#include "runtime/code/OpenMp.h"
#include "runtime/cpu/Peak.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace attn::run {

static constexpr int64_t peakSamples = 9;
static constexpr int warmUps = 2;

static double tensorBytes(const std::vector<Value> &inputs,
                          const std::vector<Tensor> &results) {
  double bytes = 0;
  for (const Value &input : inputs)
    if (const TensorView *view = std::get_if<TensorView>(&input))
      bytes += static_cast<double>(numElements(view->sizes).value_or(0)) *
               static_cast<double>(byteSize(view->dtype));
  for (const Tensor &result : results)
    bytes += static_cast<double>(result.numBytes());
  return bytes;
}

static std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

Result<std::string> benchmark(const Options &options, const Program &program,
                              const Signature &signature,
                              const std::vector<Value> &inputs,
                              const std::vector<Tensor> &results) {
  std::vector<Tensor> memory;
  std::vector<TensorView> outputs;
  for (const Tensor &result : results) {
    Result<Tensor> copy = Tensor::empty(result.dtype(), result.sizes());
    if (!copy)
      return copy.error();
    outputs.push_back(copy->view());
    memory.push_back(std::move(*copy));
  }
  int threads = threadsOfCall(options.call.threads);
  if (threads > availableCpus())
    std::fprintf(
        stderr,
        "attn-run: warning: %d threads, but this process may run on %d "
        "CPUs\n",
        threads, availableCpus());
  double bytes = tensorBytes(inputs, results);
  Result<PeakMeter> peak =
      PeakMeter::create(threads, static_cast<int64_t>(std::min(bytes, 1e12)),
                        program.target(), operandType(signature));
  if (!peak)
    return peak.error();

  std::vector<double> millis;
  int64_t interval =
      std::max<int64_t>(1, (options.benchmark - 1) / (peakSamples - 1));
  auto call = [&] {
    return program.callInto(signature.function, inputs, outputs, options.call);
  };
  for (int64_t run = -warmUps; run < options.benchmark; ++run) {
    if (run >= 0 && run % interval == 0) {
      peak->sample();
      // The threads went to sleep for the sample; this wakes them.
      if (Result<void> done = call(); !done)
        return done.error();
    }
    auto start = std::chrono::steady_clock::now();
    Result<void> done = call();
    std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    if (!done)
      return done.error();
    if (run >= 0)
      millis.push_back(elapsed.count());
  }

  double medianMillis = median(millis);
  Result<double> flops = program.flops(signature.function, inputs);
  bool hasFlops = flops && *flops > 0;
  std::string json = "{\"function\": \"" + signature.function +
                     "\", \"device\": \"" + options.engine.device +
                     "\", \"target\": \"" + program.target() + "\"";
  auto field = [&](const char *name, const std::string &value) {
    json += std::string(", \"") + name + "\": " + value;
  };
  field("median_ms", number(medianMillis));
  field("min_ms", number(*std::min_element(millis.begin(), millis.end())));
  field("compile_ms", number(program.compileMillis()));
  field("cache", std::string("\"") + name(program.cacheUse().state) + "\"");
  field("gflops", hasFlops ? number(*flops / medianMillis / 1e6) : "null");
  field("gbytes_per_s", number(bytes / medianMillis / 1e6));
  field("threads", std::to_string(threads));
  field("peak_gflops", number(peak->gflops()));
  field("peak_unit", std::string("\"") + peak->unit() + "\"");
  field("peak_gbytes_per_s", number(peak->gbytesPerSecond()));
  Result<std::array<int64_t, 3>> tiles =
      program.tiles(signature.function, inputs);
  if (tiles)
    field("tiles", "{\"skipped\": " + std::to_string((*tiles)[0]) +
                       ", \"plain\": " + std::to_string((*tiles)[1]) +
                       ", \"masked\": " + std::to_string((*tiles)[2]) + "}");
  else
    // The reference device has no tiles.
    field("tiles", "null");
  return json + "}";
}

} // namespace attn::run
