// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lines and marks over two logarithmic axes.

#ifndef ATTN_TOOLS_PLOT_LINEPLOT_H
#define ATTN_TOOLS_PLOT_LINEPLOT_H

#include <string>
#include <vector>

namespace attn::plot {

struct Point {
  double x;
  double y;
};

struct Series {
  enum class Line { none, solid, dashed };
  enum class Mark { none, disc, ring };

  std::string name;
  /// By position in `colours`.
  size_t colour = 0;
  Line line = Line::solid;
  Mark mark = Mark::disc;
  std::vector<Point> points;
};

/// A place that is pointed at.
struct Note {
  Point at;
  std::string text;
};

struct LinePlot {
  std::string title;
  std::string subtitle;
  std::string xLabel;
  std::string yLabel;
  /// x is labelled with powers of 2, where there are some.
  std::vector<Series> series;
  std::vector<Note> notes;
};

/// An SVG. Points with a coordinate that is not positive and finite have no
/// place on the axes and are left out.
std::string draw(const LinePlot &plot);

/// Where the lines through two sets of points with the same x cross for good,
/// `falling` below `other` from there on, on logarithmic axes. 0 where it is
/// below everywhere, infinity where it isn't at the last x.
double crossing(const std::vector<Point> &falling,
                const std::vector<Point> &other);

/// The y of the line through the points at `x`, on logarithmic axes; 0 outside.
double valueAt(const std::vector<Point> &points, double x);

/// The slope of the straight line that fits best on logarithmic axes, of
/// points from `firstX` on; NaN for fewer than two.
double slope(const std::vector<Point> &points, double firstX = 0);

} // namespace attn::plot

#endif // ATTN_TOOLS_PLOT_LINEPLOT_H
