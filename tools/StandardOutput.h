// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a tool ends where its output or its memory can't be had.

#ifndef ATTN_TOOLS_STANDARDOUTPUT_H
#define ATTN_TOOLS_STANDARDOUTPUT_H

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <new>

namespace attn {

/// The exit status of `run`; 2, with a message, where standard output could not
/// be written or memory ran out.
template <class Run> int runWithStandardOutput(const char *tool, Run run) {
  constexpr int exitFailure = 2;
  int status;
  try {
    status = run();
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr, "%s: out of memory\n", tool);
    return exitFailure;
  }
  errno = 0;
  std::cout.flush();
  if (std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout.good())
    return status;
  std::fprintf(stderr, "%s: standard output: can't write%s%s\n", tool,
               errno ? ": " : "", errno ? std::strerror(errno) : "");
  return exitFailure;
}

} // namespace attn

#endif // ATTN_TOOLS_STANDARDOUTPUT_H
