// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A repetition of Google Benchmark is a turn: a sample of the peaks, one call
// to warm up, then some calls that are timed one by one.

#include "Turns.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>

namespace attn::bench {

static constexpr int peakSamples = 3;

// Names of counters, in the JSON and between the two functions below.
static constexpr const char *peakGflopsName = "peak_gflops";
static constexpr const char *peakGbytesName = "peak_gbytes_per_s";
static constexpr const char *flopShareName = "share_of_peak_gflops";
static constexpr const char *byteShareName = "share_of_peak_gbytes_per_s";

static void runTurn(benchmark::State &state, Workload &workload) {
  PeakMeter &peak = workload.peak();
  peak.clear();
  for (int i = 0; i < peakSamples; ++i)
    peak.sample();
  if (Result<double> warm = workload.call(); !warm)
    return state.SkipWithError(warm.error().message.c_str());
  double total = 0;
  int64_t calls = 0;
  for (auto unused : state) {
    (void)unused;
    Result<double> millis = workload.call();
    if (!millis) {
      state.SkipWithError(millis.error().message.c_str());
      return;
    }
    state.SetIterationTime(*millis / 1e3);
    total += *millis;
    ++calls;
  }

  double perMilli = 1e-6 / (total / static_cast<double>(calls));
  const Work &work = workload.work();
  auto &counters = state.counters;
  counters["gflops"] = work.flops * perMilli;
  counters["kept_gflops"] = work.keptFlops * perMilli;
  counters["gbytes_per_s"] = work.bytes * perMilli;
  counters["compile_ms"] = workload.program().compileMillis();
  counters["call_threads"] = workload.threads();
  for (const PeakMeter::Rate &rate : peak.rates())
    counters[std::string(peakGflopsName) + " " + rate.instruction] =
        rate.gflops;
  counters[peakGflopsName] = peak.gflops();
  counters[peakGbytesName] = peak.gbytesPerSecond();
  counters[flopShareName] = work.keptFlops * perMilli / peak.gflops();
  counters[byteShareName] = work.bytes * perMilli / peak.gbytesPerSecond();
  state.SetLabel(peak.unit());
}

namespace {
using Run = benchmark::BenchmarkReporter::Run;

/// Keeps the turns by name of the case, and passes them on as JSON.
class Collector : public benchmark::BenchmarkReporter {
public:
  explicit Collector(benchmark::JSONReporter *json) : json(json) {}

  bool ReportContext(const Context &) override { return true; }

  void ReportRuns(const std::vector<Run> &report) override {
    if (json)
      json->ReportRuns(report);
    for (const Run &run : report)
      if (run.run_type == Run::RT_Iteration)
        turns[run.run_name.function_name].push_back(run);
  }

  std::map<std::string, std::vector<Run>> turns;

private:
  benchmark::JSONReporter *json;
};
} // namespace

static double medianOf(const std::vector<Run> &turns, const char *counter) {
  std::vector<double> values;
  for (const Run &turn : turns)
    values.push_back(turn.counters.at(counter).value);
  return median(std::move(values));
}

static void summarise(const std::vector<Run> &turns, Summary &summary) {
  std::vector<double> millis;
  for (const Run &turn : turns) {
    if (turn.error_occurred) {
      summary.failure = turn.error_message;
      return;
    }
    millis.push_back(turn.GetAdjustedRealTime());
  }
  summary.millis = median(std::move(millis));
  summary.peakGflops = medianOf(turns, peakGflopsName);
  summary.peakGbytes = medianOf(turns, peakGbytesName);
  summary.flopShare = medianOf(turns, flopShareName);
  summary.byteShare = medianOf(turns, byteShareName);
  summary.instruction = turns.back().report_label;
}

TurnRunner::TurnRunner(int runs, int threads, std::ostream *stream)
    : runs(runs), threads(threads) {
  static char program[] = "attn-bench";
  static char interleave[] = "--benchmark_enable_random_interleaving=true";
  char *arguments[] = {program, interleave, nullptr};
  int count = 2;
  benchmark::Initialize(&count, arguments);
  if (!stream)
    return;
  json = std::make_unique<benchmark::JSONReporter>();
  json->SetOutputStream(stream);
  json->SetErrorStream(stream);
  json->ReportContext(benchmark::BenchmarkReporter::Context());
}

TurnRunner::~TurnRunner() = default;

void TurnRunner::finish() {
  if (json)
    json->Finalize();
}

std::vector<Summary> TurnRunner::run(const std::vector<Case> &cases,
                                     Progress &progress) {
  std::vector<Summary> summaries;
  std::vector<std::unique_ptr<Workload>> workloads;
  benchmark::ClearRegisteredBenchmarks();
  for (const Case &problem : cases) {
    Summary summary;
    summary.problem = problem;
    summary.work = countWork(problem);
    progress.step(problem.name);
    Result<Workload> workload = Workload::create(problem, threads);
    if (!workload) {
      summary.failure = workload.error().message;
      summary.isUnsupported = workload.error().code == ErrorCode::unsupported;
      summaries.push_back(std::move(summary));
      continue;
    }
    summary.threads = workload->threads();
    summary.compileMillis = workload->program().compileMillis();
    summaries.push_back(std::move(summary));
    workloads.push_back(std::make_unique<Workload>(std::move(*workload)));
    Workload &kept = *workloads.back();
    benchmark::RegisterBenchmark(problem.name.c_str(),
                                 [&progress, &kept](benchmark::State &state) {
                                   progress.step(kept.problem().name);
                                   runTurn(state, kept);
                                 })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(kept.callsPerTurn())
        ->Repetitions(runs);
  }
  if (workloads.empty())
    return summaries;

  Collector collector(json.get());
  benchmark::RunSpecifiedBenchmarks(&collector);
  benchmark::ClearRegisteredBenchmarks();
  for (Summary &summary : summaries)
    if (summary.failure.empty())
      summarise(collector.turns[summary.problem.name], summary);
  return summaries;
}

} // namespace attn::bench
