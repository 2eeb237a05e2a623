// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One line on standard error, where that is a terminal.

#ifndef ATTN_TOOLS_ATTN_BENCH_PROGRESS_H
#define ATTN_TOOLS_ATTN_BENCH_PROGRESS_H

#include <cstddef>
#include <string>

namespace attn::bench {

class Progress {
public:
  explicit Progress(size_t steps);
  /// Wipes the line.
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// Another of the steps begins.
  void step(const std::string &what);

  /// Wipes the line until the next step, for others to print.
  void wipe() const;

private:
  size_t done = 0;
  size_t steps;
  bool isTerminal;
};

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_PROGRESS_H
