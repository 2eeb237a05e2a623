// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Table and plot of made-up figures.

#include "tools/attn-bench/Plot.h"
#include "tools/attn-bench/Table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace attn::bench;
using testing::HasSubstr;
using testing::Not;

namespace {

/// 8 GFLOP, half of them kept, in 20 ms on a machine that does 400 GFLOP/s.
Summary computeBound() {
  Summary summary;
  summary.problem.name = "prefill";
  summary.problem.group = "one";
  summary.problem.isCausal = true;
  summary.work = {8e9, 4e9, 1e6};
  summary.threads = 2;
  summary.compileMillis = 70;
  summary.millis = 20;
  summary.peakGflops = 400;
  summary.peakGbytes = 50;
  summary.instruction = "avx2 fma";
  summary.flopShare = 0.5;
  summary.byteShare = 0.001;
  return summary;
}

/// 400 MB in 10 ms on a machine that reads 50 GB/s.
Summary readBound() {
  Summary summary = computeBound();
  summary.problem.name = "decode";
  summary.problem.group = "two";
  summary.problem.isCausal = false;
  summary.work = {1e9, 1e9, 4e8};
  summary.millis = 10;
  summary.flopShare = 0.25;
  summary.byteShare = 0.8;
  return summary;
}

Summary failed() {
  Summary summary;
  summary.problem.name = "odd";
  summary.failure = "no such instruction";
  return summary;
}

TEST(Table, rows) {
  EXPECT_EQ(tableHead(8), "case             ms  ratio  GFLOP/s     kept   GB/s "
                          " of peak  compile ms  peak\n");
  EXPECT_EQ(tableRows({computeBound(), readBound()}, 8),
            "prefill      20.000  1.000    400.0    200.0      -    50.0%"
            "        70.0  400 avx2 fma\n"
            "decode       10.000  0.500    100.0        -   40.0    80.0%"
            "        70.0  50 GB/s\n");
}

TEST(Table, failures) {
  Summary summary = failed();
  EXPECT_EQ(tableRows({summary}, 4), "odd   error: no such instruction\n");
  summary.isUnsupported = true;
  EXPECT_EQ(tableRows({summary}, 4),
            "odd   unsupported: no such instruction\n");
}

TEST(Plot, bars) {
  std::string svg = drawShares({computeBound(), failed(), readBound()});
  EXPECT_THAT(svg, HasSubstr(">prefill</text>"));
  EXPECT_THAT(svg, HasSubstr(">50%, 200 GFLOP/s</text>"));
  EXPECT_THAT(svg, HasSubstr(">80%, 40 GB/s</text>"));
  EXPECT_THAT(svg, HasSubstr(">avx2 fma</text>"));
  EXPECT_THAT(svg, HasSubstr(">reading</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("odd")));
  // Half and four fifths of an axis of 500 pixels.
  EXPECT_THAT(svg, HasSubstr("width=\"250.00\""));
  EXPECT_THAT(svg, HasSubstr("width=\"400.00\""));
}

TEST(Plot, a_bar_beyond_the_peak_stays_on_the_axis) {
  Summary summary = computeBound();
  summary.flopShare = 1.1;
  summary.problem.name = "a<b&c";
  std::string svg = drawShares({summary});
  EXPECT_THAT(svg, HasSubstr(">120%</text>"));
  // 500 pixels times 1.1 / 1.2.
  EXPECT_THAT(svg, HasSubstr("width=\"458.33\""));
  EXPECT_THAT(svg, HasSubstr(">a&lt;b&amp;c</text>"));
}

} // namespace
