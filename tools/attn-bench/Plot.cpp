// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Horizontal bars, because names are long. Lengths are in pixels.

#include "Plot.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

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

// Distinct for colour-blind eyes (Okabe and Ito).
static constexpr const char *colours[] = {"#0072b2", "#e69f00", "#009e73",
                                          "#cc79a7", "#56b4e9"};

__attribute__((format(printf, 2, 3))) static void
append(std::string &text, const char *pattern, ...) {
  char piece[512];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(piece, sizeof piece, pattern, arguments);
  va_end(arguments);
  text += piece;
}

static std::string escape(const std::string &text) {
  std::string escaped;
  for (char c : text) {
    if (c == '&')
      escaped += "&amp;";
    else if (c == '<')
      escaped += "&lt;";
    else
      escaped += c;
  }
  return escaped;
}

static std::string bound(const Summary &summary) {
  return summary.isReadBound() ? "reading" : summary.instruction;
}

static std::string figure(const Summary &summary) {
  char text[64];
  if (summary.isReadBound())
    std::snprintf(text, sizeof text, "%.0f%%, %.0f GB/s", 100 * summary.share(),
                  summary.work.bytes / summary.millis / 1e6);
  else
    std::snprintf(text, sizeof text, "%.0f%%, %.0f GFLOP/s",
                  100 * summary.share(),
                  summary.work.keptFlops / summary.millis / 1e6);
  return text;
}

/// The share at the end of the axis: 100 %, or more where a bar is longer.
static double axisEnd(const std::vector<Summary> &cases) {
  double longest = 1;
  for (const Summary &summary : cases)
    longest = std::max(longest, summary.share());
  return std::ceil(longest * 5 - 1e-9) / 5;
}

static void drawAxis(std::string &svg, double left, double bottom, double end) {
  for (int percent = 0; percent <= 100 * end + 1; percent += 20) {
    double x = left + axisLength * percent / 100 / end;
    append(svg, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='%s'/>\n",
           x, top - 6, x, bottom,
           percent == 0 || percent == 100 ? "#555555" : "#dddddd");
    for (double y : {top - 12, bottom + 16})
      append(svg,
             "<text x='%.1f' y='%.1f' text-anchor='middle' "
             "fill='#555555'>%d%%</text>\n",
             x, y, percent);
  }
}

static void drawLegend(std::string &svg,
                       const std::vector<std::string> &bounds) {
  double x = margin;
  for (size_t i = 0; i < bounds.size(); ++i) {
    append(svg,
           "<rect x='%.1f' y='47' width='13' height='13' fill='%s'/>\n"
           "<text x='%.1f' y='58'>%s</text>\n",
           x, colours[i % std::size(colours)], x + 19, bounds[i].c_str());
    x += 19 + letterWidth * static_cast<double>(bounds[i].size()) + 24;
  }
}

std::string plot(const std::vector<Summary> &summaries) {
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

  double left = margin + letterWidth * static_cast<double>(longestName) + 10;
  double end = axisEnd(cases);
  std::string bars;
  double y = top;
  for (size_t i = 0; i < cases.size(); ++i) {
    const Summary &summary = cases[i];
    if (i > 0 && summary.problem.group != cases[i - 1].problem.group)
      y += groupGap;
    size_t colour = std::find(bounds.begin(), bounds.end(), bound(summary)) -
                    bounds.begin();
    double length = axisLength * summary.share() / end;
    double baseline = y + barHeight - 2;
    append(bars,
           "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='%s'/>\n",
           left, y, length, barHeight, colours[colour % std::size(colours)]);
    append(bars, "<text x='%.1f' y='%.1f' text-anchor='end'>", left - 8,
           baseline);
    bars += escape(summary.problem.name) + "</text>\n";
    append(bars, "<text x='%.1f' y='%.1f' fill='#333333'>%s</text>\n",
           left + axisLength + 12, baseline, figure(summary).c_str());
    y += barPitch;
  }

  double width = left + axisLength + figureWidth + margin;
  std::string svg;
  append(svg,
         "<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' "
         "viewBox='0 0 %.0f %.0f' font-family='sans-serif' font-size='12'>\n"
         "<rect width='100%%' height='100%%' fill='white'/>\n"
         "<text x='%.1f' y='28' font-size='16' font-weight='bold'>Share of "
         "the measured peak, masked pairs not counted</text>\n",
         width, y + 32, width, y + 32, margin);
  drawLegend(svg, bounds);
  drawAxis(svg, left, y, end);
  return svg + bars + "</svg>\n";
}

} // namespace attn::bench
