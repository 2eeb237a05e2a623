// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Columns of fixed width.

#include "Table.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace attn::bench {

__attribute__((format(printf, 1, 2))) static std::string
format(const char *pattern, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

static std::string padded(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string tableHead(size_t nameWidth) {
  return padded("case", nameWidth) +
         "         ms  ratio  GFLOP/s     kept   GB/s  of peak  compile ms"
         "  peak\n";
}

std::string peakText(const Summary &summary) {
  return summary.isReadBound() ? format("%.0f GB/s", summary.peakGbytes)
                               : format("%.0f %s", summary.peakGflops,
                                        summary.instruction.c_str());
}

std::string tableRows(const std::vector<Summary> &group, size_t nameWidth) {
  std::string rows;
  double first = 0;
  for (const Summary &summary : group) {
    std::string name = padded(summary.problem.name, nameWidth);
    if (!summary.failure.empty()) {
      rows += name + (summary.isUnsupported ? "  unsupported: " : "  error: ") +
              summary.failure + "\n";
      continue;
    }
    if (first == 0)
      first = summary.millis;
    auto rate = [&](double amount) { return amount / summary.millis / 1e6; };
    std::string kept = "-", gbytes = "-";
    if (summary.problem.hasMask() || summary.problem.isLinear())
      kept = format("%.1f", rate(summary.work.keptFlops));
    if (summary.isReadBound())
      gbytes = format("%.1f", rate(summary.work.bytes));
    rows +=
        name +
        format(" %10.3f %6.3f %8.1f %8s %6s %7.1f%% %11.1f  ", summary.millis,
               summary.millis / first, rate(summary.work.flops), kept.c_str(),
               gbytes.c_str(), 100 * summary.share(), summary.compileMillis) +
        peakText(summary) + "\n";
  }
  return rows;
}

} // namespace attn::bench
