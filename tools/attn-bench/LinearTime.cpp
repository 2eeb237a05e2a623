// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Time against the length of the sequence, as figure 4 of "Rethinking Attention
// with Performers" (Choromanski et al. 2021) has it: softmax attention grows
// with its square, linear attention with itself, and somewhere they cross.

#include "Groups.h"
#include "Suite.h"
#include "Table.h"

#include "tools/plot/Drawing.h"
#include "tools/plot/LinePlot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace attn::plot;

namespace attn::bench {

static constexpr int shortest = 256;
/// The slope is that of sequences which are long for a cache.
static constexpr double slopeFrom = 2048;

namespace {
struct Contender {
  const char *name;
  const char *label;
  const char *words;
  size_t colour;
};
} // namespace

/// Causal ones first; softmax is what the others of its half are compared with.
static constexpr Contender contenders[] = {
    {"softmax-causal", "softmax, causal", "causal", 0},
    {"linear-causal", "linear, causal", "op=linear causal", 1},
    {"favor-causal", "FAVOR+ m = 256, causal", "op=favor M=256 causal", 2},
    {"softmax", "softmax, all pairs", "", 0},
    {"linear", "linear, all pairs", "op=linear", 1},
    {"favor", "FAVOR+ m = 256, all pairs", "op=favor M=256", 2}};
static constexpr size_t numCausal = 3;

/// The summaries of one contender as points.
static Series makeSeries(const std::vector<Summary> &summaries, size_t index) {
  const Contender &contender = contenders[index];
  bool isCausal = index < numCausal;
  Series series{contender.label,
                contender.colour,
                isCausal ? Series::Line::solid : Series::Line::dashed,
                isCausal ? Series::Mark::disc : Series::Mark::ring,
                {}};
  for (size_t i = index; i < summaries.size(); i += std::size(contenders))
    if (summaries[i].failure.empty())
      series.points.push_back({static_cast<double>(summaries[i].problem.keys),
                               summaries[i].millis});
  return series;
}

/// Prints what the points of a contender say and returns where it crosses
/// softmax, at the left of which softmax is faster.
static std::vector<Note> compare(const Series &series, const Series &softmax) {
  std::vector<Note> notes;
  if (series.points.empty())
    return notes;
  std::printf("%s: %.4g ms at n = %.0f", series.name.c_str(),
              series.points.back().y, series.points.back().x);
  double growth = slope(series.points, slopeFrom);
  if (!std::isnan(growth))
    std::printf(", grows as n^%.2f", growth);
  bool isComplete = series.points.size() == softmax.points.size();
  if (&series != &softmax && isComplete) {
    double at = crossing(series.points, softmax.points);
    const Point &last = series.points.back();
    if (std::isinf(at)) {
      std::printf(", not faster than softmax at n = %.0f", last.x);
    } else if (at == 0) {
      std::printf(", faster than softmax from n = %.0f on or before",
                  series.points.front().x);
    } else {
      std::printf(", faster than softmax from n = %.0f on", at);
      notes.push_back(
          {{at, valueAt(softmax.points, at)},
           series.name + ": faster from n = " + formatText("%.0f", at)});
    }
    std::printf(", %.2f times as fast at n = %.0f",
                softmax.points.back().y / last.y, last.x);
  }
  std::printf("\n");
  return notes;
}

static std::string csv(const std::vector<Summary> &summaries) {
  std::string text = "series,n,ms,gflops,kept_gflops,share_of_peak,peak\n";
  for (size_t i = 0; i < summaries.size(); ++i) {
    const Summary &summary = summaries[i];
    if (!summary.failure.empty())
      continue;
    text +=
        formatText("%s,%lld,%.6g,%.4g,%.4g,%.4g,%s\n",
                   contenders[i % std::size(contenders)].name,
                   static_cast<long long>(summary.problem.keys), summary.millis,
                   summary.work.flops / summary.millis / 1e6,
                   summary.work.keptFlops / summary.millis / 1e6,
                   summary.share(), peakText(summary).c_str());
  }
  return text;
}

Result<bool> runLinearTime(const Options &options) {
  std::vector<Case> cases;
  for (int n = shortest; n <= options.maxN; n *= 2)
    for (const Contender &contender : contenders)
      cases.push_back(suiteCase(contender.name, n, contender.words));
  TurnRunner runner(options.runs, options.threads, nullptr);
  std::vector<Summary> summaries = runGroups(runner, cases);

  LinePlot plot{"Time of attention against the length of the sequence",
                "",
                "length of the sequence n",
                "time of a call in ms",
                {},
                {}};
  for (const Summary &summary : summaries)
    if (summary.failure.empty())
      plot.subtitle =
          formatText("f32, 8 heads of 64, %d threads; medians of %d "
                     "turns",
                     summary.threads, options.runs);
  for (size_t i = 0; i < std::size(contenders); ++i)
    plot.series.push_back(makeSeries(summaries, i));
  for (size_t i = 0; i < plot.series.size(); ++i) {
    const Series &softmax = plot.series[i < numCausal ? 0 : numCausal];
    for (const Note &note : compare(plot.series[i], softmax))
      plot.notes.push_back(note);
  }
  if (Result<void> done = writeOut(options, "linear-time.csv", csv(summaries));
      !done)
    return done.error();
  if (Result<void> done = writeOut(options, "linear-time.svg", draw(plot));
      !done)
    return done.error();
  return std::all_of(
      summaries.begin(), summaries.end(),
      [](const Summary &summary) { return summary.failure.empty(); });
}

} // namespace attn::bench
