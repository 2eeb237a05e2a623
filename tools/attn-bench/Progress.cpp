// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The line is written over itself.

#include "Progress.h"

#include <cstdio>
#include <unistd.h>

namespace attn::bench {

static constexpr const char *eraseLine = "\r\x1b[K";

Progress::Progress(size_t steps)
    : steps(steps), isTerminal(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { wipe(); }

void Progress::wipe() const {
  if (isTerminal)
    std::fputs(eraseLine, stderr);
}

void Progress::step(const std::string &what) {
  ++done;
  if (isTerminal)
    std::fprintf(stderr, "%s[%zu/%zu] %s", eraseLine, done, steps,
                 what.c_str());
}

} // namespace attn::bench
