// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Horizontal bars, because names are long. Lengths are in pixels.

#include "Plot.h"

#include "tools/plot/Drawing.h"

#include <algorithm>
#include <cmath>

using namespace attn::plot;

namespace attn::bench {

static constexpr double margin = 16;
static constexpr double top = 92;
static constexpr double barPitch = 20;
static constexpr double barHeight = 13;
static constexpr double groupGap = 12;
static constexpr double axisLength = 500;
/// To the right of the axis, for the figures.
static constexpr double figureWidth = 150;
/// Of a letter in the font of names.
static constexpr double letterWidth = 7.0;

static std::string bound(const Summary &summary) {
  return summary.isReadBound() ? "reading" : summary.instruction;
}

static std::string figure(const Summary &summary) {
  // 1e9 of something per second.
  double perSecond = summary.millis * 1e6;
  double percent = 100 * summary.share();
  return summary.isReadBound() ? formatText("%.0f%%, %.0f GB/s", percent,
                                            summary.work.bytes / perSecond)
                               : formatText("%.0f%%, %.0f GFLOP/s", percent,
                                            summary.work.keptFlops / perSecond);
}

/// The share at the end of the axis: 100 %, or more where a bar is longer.
static double axisEnd(const std::vector<Summary> &cases) {
  double longest = 1;
  for (const Summary &summary : cases)
    longest = std::max(longest, summary.share());
  return std::ceil(longest * 5 - 1e-9) / 5;
}

static const char *colourOf(size_t bound) {
  return colours[bound % std::size(colours)];
}

static void drawAxis(Drawing &out, double left, double bottom, double end) {
  for (int percent = 0; percent <= 100 * end + 1; percent += 20) {
    double x = left + axisLength * percent / 100 / end;
    out.line(x, top - 6, x, bottom,
             percent == 0 || percent == 100 ? "stroke=\"#555555\""
                                            : "stroke=\"#dddddd\"");
    for (double y : {top - 12, bottom + 16})
      out.text(x, y, std::to_string(percent) + "%", Anchor::middle,
               "fill=\"#555555\"");
  }
}

static void drawLegend(Drawing &out, const std::vector<std::string> &bounds) {
  double x = margin;
  for (size_t i = 0; i < bounds.size(); ++i) {
    out.rectangle(x, 47, 13, 13, formatText("fill=\"%s\"", colourOf(i)));
    out.text(x + 19, 58, bounds[i]);
    x += 19 + letterWidth * static_cast<double>(bounds[i].size()) + 24;
  }
}

std::string drawShares(const std::vector<Summary> &summaries) {
  std::vector<Summary> cases;
  std::vector<std::string> bounds;
  size_t longestName = 0;
  for (const Summary &summary : summaries) {
    if (!summary.failure.empty())
      continue;
    cases.push_back(summary);
    longestName = std::max(longestName, summary.problem.name.size());
    if (std::find(bounds.begin(), bounds.end(), bound(summary)) == bounds.end())
      bounds.push_back(bound(summary));
  }

  double bottom = top + barPitch * static_cast<double>(cases.size());
  for (size_t i = 1; i < cases.size(); ++i)
    if (cases[i].problem.group != cases[i - 1].problem.group)
      bottom += groupGap;
  double left = margin + letterWidth * static_cast<double>(longestName) + 10;
  double end = axisEnd(cases);
  Drawing out(left + axisLength + figureWidth + margin, bottom + 32);
  out.text(margin, 28, "Share of the measured peak, masked pairs not counted",
           Anchor::start, "font-size=\"16\" font-weight=\"bold\"");
  drawLegend(out, bounds);
  drawAxis(out, left, bottom, end);

  double y = top;
  for (size_t i = 0; i < cases.size(); ++i) {
    const Summary &summary = cases[i];
    if (i > 0 && summary.problem.group != cases[i - 1].problem.group)
      y += groupGap;
    size_t colour = std::find(bounds.begin(), bounds.end(), bound(summary)) -
                    bounds.begin();
    double baseline = y + barHeight - 2;
    out.rectangle(left, y, axisLength * summary.share() / end, barHeight,
                  formatText("fill=\"%s\"", colourOf(colour)));
    out.text(left - 8, baseline, summary.problem.name, Anchor::end);
    out.text(left + axisLength + 12, baseline, figure(summary));
    y += barPitch;
  }
  return out.take();
}

} // namespace attn::bench
