// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places on the axes, crossings and slopes, worked out by hand.

#include "tools/plot/LinePlot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace attn::plot;
using testing::HasSubstr;
using testing::Not;

namespace {

/// y = factor x^power at 256, 512, ... 4096.
std::vector<Point> curve(double factor, double power) {
  std::vector<Point> points;
  for (double x = 256; x <= 4096; x *= 2)
    points.push_back({x, factor * std::pow(x, power)});
  return points;
}

TEST(LinePlot, points_lie_on_logarithmic_axes) {
  LinePlot plot{"a < b", "small & thin", "n", "ms", {}, {}};
  plot.series.push_back({"square",
                         0,
                         Series::Line::solid,
                         Series::Mark::disc,
                         {{256, 1}, {512, 10}, {1024, 100}}});
  std::string svg = draw(plot);
  // The axes begin at 72, 72 and have 560 and 400 pixels: the middle of both is
  // at 352, 272.
  EXPECT_THAT(svg, HasSubstr("M72.00 472.00L352.00 272.00L632.00 72.00"));
  EXPECT_THAT(svg, HasSubstr("<circle cx=\"352.00\" cy=\"272.00\""));
  for (const char *text :
       {">a &lt; b<", ">small &amp; thin<", ">n<", ">ms<", ">square<", ">256<",
        ">512<", ">1024<", ">1<", ">10<", ">100<"})
    EXPECT_THAT(svg, HasSubstr(text));
  EXPECT_THAT(svg, Not(HasSubstr("dasharray")));
}

TEST(LinePlot, notes_point_at_their_place) {
  LinePlot plot{"t", "", "n", "ms", {}, {}};
  plot.series.push_back({"line",
                         1,
                         Series::Line::dashed,
                         Series::Mark::ring,
                         {{256, 1}, {1024, 100}}});
  plot.notes.push_back({{512, 10}, "from n = 512"});
  std::string svg = draw(plot);
  EXPECT_THAT(svg, HasSubstr(">from n = 512<"));
  EXPECT_THAT(svg, HasSubstr("<line x1=\"352.00\" y1=\"272.00\" x2=\"352.00\" "
                             "y2=\"472.00\""));
}

// What has no logarithm, or nothing to draw, is no fault.
TEST(LinePlot, nothing_to_draw) {
  LinePlot plot{"t", "", "n", "ms", {}, {}};
  EXPECT_THAT(draw(plot), HasSubstr("</svg>"));
  double nan = std::numeric_limits<double>::quiet_NaN();
  plot.series.push_back({"odd",
                         0,
                         Series::Line::solid,
                         Series::Mark::disc,
                         {{256, nan}, {512, 0}, {0, 1}, {1024, 3}}});
  plot.notes.push_back({{nan, 1}, "nowhere"});
  std::string svg = draw(plot);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  EXPECT_THAT(svg, Not(HasSubstr("nowhere")));
}

TEST(LinePlot, crossing) {
  // x^2 / 1000 and x meet at 1000.
  EXPECT_NEAR(crossing(curve(1, 1), curve(1e-3, 2)), 1000, 1e-9);
  EXPECT_EQ(crossing(curve(1, 1), curve(1, 2)), 0);
  EXPECT_TRUE(std::isinf(crossing(curve(1, 2), curve(1, 1))));
  // Of several crossings the last.
  std::vector<Point> wave = {{1, 1}, {2, 4}, {4, 1}, {8, 4}, {16, 1}};
  std::vector<Point> flat = {{1, 2}, {2, 2}, {4, 2}, {8, 2}, {16, 2}};
  EXPECT_NEAR(crossing(wave, flat), 8 * std::sqrt(2.0), 1e-9);
  double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isinf(crossing({{1, nan}}, {{1, 2}})));
}

TEST(LinePlot, slope_and_value) {
  EXPECT_NEAR(slope(curve(7, 1.5)), 1.5, 1e-12);
  std::vector<Point> bent = {{1, 5}, {256, 256}, {512, 512}, {1024, 1024}};
  EXPECT_NEAR(slope(bent, 256), 1, 1e-12);
  EXPECT_TRUE(std::isnan(slope(bent, 1024)));
  EXPECT_NEAR(valueAt(curve(2, 2), 300), 2 * 300.0 * 300, 1e-6);
  EXPECT_EQ(valueAt(curve(2, 2), 100), 0);
}

} // namespace
