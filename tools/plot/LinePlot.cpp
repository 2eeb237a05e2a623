// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Axes, lines, marks, and a legend to the right, which no line can cross.

#include "LinePlot.h"

#include "Drawing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attn::plot {

// In pixels.
static constexpr double left = 72, top = 72, right = 24, bottom = 56;
static constexpr double axisWidth = 560, axisHeight = 400;
static constexpr double legendGap = 20, legendPitch = 22, sampleWidth = 30;
/// Of a letter in the font of the legend.
static constexpr double letterWidth = 6.4;
static constexpr double markRadius = 4;

static bool hasPlace(const Point &point) {
  return point.x > 0 && point.y > 0 && std::isfinite(point.x) &&
         std::isfinite(point.y);
}

namespace {
/// One axis from `low` to `high`.
struct Axis {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  std::vector<double> labels;
  std::vector<double> lines;

  void cover(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  /// Of `value`, between 0 and 1.
  double place(double value) const {
    return std::log(value / low) / std::log(high / low);
  }
};

class Figure {
public:
  explicit Figure(const LinePlot &plot);
  std::string draw();

private:
  void drawAxes();
  void drawSeries(const Series &series);
  void drawNote(const Note &note);
  void drawLegend();
  double x(double value) const {
    return left + axisWidth * across.place(value);
  }
  double y(double value) const {
    return top + axisHeight * (1 - up.place(value));
  }

  const LinePlot &plot;
  Axis across;
  Axis up;
  Drawing out;
};
} // namespace

/// Powers of 2 within the values, at most a dozen of them.
static void chooseBinary(Axis &axis) {
  double first = std::ceil(std::log2(axis.low) - 1e-9);
  double last = std::floor(std::log2(axis.high) + 1e-9);
  double step = std::max(1.0, std::ceil((last - first + 1) / 12));
  for (double power = first; power <= last; power += step)
    axis.labels.push_back(std::exp2(power));
  axis.lines = axis.labels;
  if (axis.low == axis.high) {
    axis.low /= 2;
    axis.high *= 2;
  }
}

/// Ends at 1, 2 or 5 times powers of 10, each of which has a line.
static void chooseDecimal(Axis &axis) {
  std::vector<double> steps;
  for (int power = -12; power <= 12; ++power)
    for (int factor : {1, 2, 5})
      steps.push_back(factor * std::pow(10.0, power));
  auto first =
      std::upper_bound(steps.begin(), steps.end(), axis.low * (1 + 1e-9));
  auto last =
      std::lower_bound(steps.begin(), steps.end(), axis.high * (1 - 1e-9));
  if (first != steps.begin())
    --first;
  if (last == steps.end())
    --last;
  if (first >= last)
    last = std::min(first + 1, steps.end() - 1);
  axis.low = *first;
  axis.high = *last;
  bool hasRoom = last - first < 9;
  for (auto step = first; step <= last; ++step) {
    axis.lines.push_back(*step);
    // The first of three is the power of 10.
    if (hasRoom || (step - steps.begin()) % 3 == 0)
      axis.labels.push_back(*step);
  }
}

static double legendWidth(const LinePlot &plot) {
  size_t longest = 0;
  for (const Series &series : plot.series)
    longest = std::max(longest, series.name.size());
  return sampleWidth + 8 + letterWidth * static_cast<double>(longest);
}

Figure::Figure(const LinePlot &plot)
    : plot(plot), out(left + axisWidth + legendGap + legendWidth(plot) + right,
                      top + axisHeight + bottom) {
  for (const Series &series : plot.series)
    for (const Point &point : series.points)
      if (hasPlace(point)) {
        across.cover(point.x);
        up.cover(point.y);
      }
  if (across.high == 0)
    across.low = across.high = up.low = up.high = 1;
  chooseBinary(across);
  chooseDecimal(up);
}

void Figure::drawAxes() {
  const char *grid = "stroke=\"#e2e2e2\"";
  for (double value : across.lines)
    out.line(x(value), top, x(value), top + axisHeight, grid);
  for (double value : up.lines)
    out.line(left, y(value), left + axisWidth, y(value), grid);
  out.rectangle(left, top, axisWidth, axisHeight,
                "fill=\"none\" stroke=\"#555\"");
  for (double value : across.labels) {
    out.line(x(value), top + axisHeight, x(value), top + axisHeight + 5,
             "stroke=\"#555\"");
    out.text(x(value), top + axisHeight + 20, formatText("%.10g", value),
             Anchor::middle);
  }
  for (double value : up.labels) {
    out.line(left - 5, y(value), left, y(value), "stroke=\"#555\"");
    out.text(left - 9, y(value) + 4, formatText("%.10g", value), Anchor::end);
  }
  out.text(left + axisWidth / 2, top + axisHeight + 43, plot.xLabel,
           Anchor::middle);
  out.turnedText(20, top + axisHeight / 2, plot.yLabel);
}

static std::string lineStyle(const Series &series) {
  std::string style = std::string("fill=\"none\" stroke=\"") +
                      colours[series.colour % std::size(colours)] +
                      "\" stroke-width=\"2\"";
  if (series.line == Series::Line::dashed)
    style += " stroke-dasharray=\"6 4\"";
  return style;
}

static void drawMark(Drawing &out, const Series &series, double x, double y) {
  std::string colour = colours[series.colour % std::size(colours)];
  if (series.mark == Series::Mark::disc)
    out.circle(x, y, markRadius, "fill=\"" + colour + "\"");
  if (series.mark == Series::Mark::ring)
    out.circle(x, y, markRadius,
               "fill=\"#ffffff\" stroke-width=\"2\" stroke=\"" + colour + "\"");
}

void Figure::drawSeries(const Series &series) {
  std::string path;
  for (const Point &point : series.points)
    if (hasPlace(point))
      path += formatText("%c%.2f %.2f", path.empty() ? 'M' : 'L', x(point.x),
                         y(point.y));
  if (series.line != Series::Line::none && !path.empty())
    out.path(path, lineStyle(series));
  for (const Point &point : series.points)
    if (hasPlace(point))
      drawMark(out, series, x(point.x), y(point.y));
}

void Figure::drawNote(const Note &note) {
  if (!hasPlace(note.at))
    return;
  double atX = x(note.at.x), atY = y(note.at.y);
  out.line(atX, atY, atX, top + axisHeight,
           "stroke=\"#222\" stroke-dasharray=\"2 3\"");
  out.circle(atX, atY, markRadius + 3, "fill=\"none\" stroke=\"#222\"");
  // Beside the foot, on the side where there is room.
  bool isLeft = atX > left + 0.6 * axisWidth;
  double line = static_cast<double>(&note - plot.notes.data());
  out.text(atX + (isLeft ? -6 : 6), top + axisHeight - 10 - 16 * line,
           note.text, isLeft ? Anchor::end : Anchor::start,
           "stroke=\"#ffffff\" stroke-width=\"4\" paint-order=\"stroke\"");
}

void Figure::drawLegend() {
  double x = left + axisWidth + legendGap, y = top + 8;
  for (const Series &series : plot.series) {
    if (series.line != Series::Line::none)
      out.path(formatText("M%.2f %.2fh%.2f", x, y, sampleWidth),
               lineStyle(series));
    drawMark(out, series, x + sampleWidth / 2, y);
    out.text(x + sampleWidth + 8, y + 4, series.name);
    y += legendPitch;
  }
}

std::string Figure::draw() {
  out.text(left, 30, plot.title, Anchor::start,
           "font-size=\"16\" font-weight=\"bold\"");
  out.text(left, 52, plot.subtitle, Anchor::start, "fill=\"#555\"");
  drawAxes();
  for (const Series &series : plot.series)
    drawSeries(series);
  for (const Note &note : plot.notes)
    drawNote(note);
  drawLegend();
  return out.take();
}

std::string draw(const LinePlot &plot) { return Figure(plot).draw(); }

double crossing(const std::vector<Point> &falling,
                const std::vector<Point> &other) {
  double at = 0;
  for (size_t i = 0; i < std::min(falling.size(), other.size()); ++i) {
    double gap = std::log(falling[i].y / other[i].y);
    // Not "gap >= 0": NaN is no win.
    if (gap < 0) {
      if (!std::isinf(at))
        continue;
      double before = std::log(falling[i - 1].y / other[i - 1].y);
      double share = before / (before - gap);
      at = falling[i - 1].x * std::pow(falling[i].x / falling[i - 1].x, share);
    } else {
      at = std::numeric_limits<double>::infinity();
    }
  }
  return at;
}

double valueAt(const std::vector<Point> &points, double x) {
  for (size_t i = 1; i < points.size(); ++i) {
    const Point &from = points[i - 1], &to = points[i];
    if (from.x <= x && x <= to.x)
      return from.y * std::pow(to.y / from.y,
                               std::log(x / from.x) / std::log(to.x / from.x));
  }
  return 0;
}

double slope(const std::vector<Point> &points, double firstX) {
  double count = 0, meanX = 0, meanY = 0, products = 0, squares = 0;
  for (const Point &point : points)
    if (point.x >= firstX) {
      // Running means and sums of deviations.
      double toX = std::log(point.x) - meanX, toY = std::log(point.y) - meanY;
      count += 1;
      meanX += toX / count;
      meanY += toY / count;
      products += toX * (std::log(point.y) - meanY);
      squares += toX * (std::log(point.x) - meanX);
    }
  return count > 1 ? products / squares
                   : std::numeric_limits<double>::quiet_NaN();
}

} // namespace attn::plot
