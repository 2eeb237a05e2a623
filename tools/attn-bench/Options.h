// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of attn-bench.

#ifndef ATTN_TOOLS_ATTN_BENCH_OPTIONS_H
#define ATTN_TOOLS_ATTN_BENCH_OPTIONS_H

#include "runtime/Result.h"

#include <string>
#include <vector>

namespace attn::bench {

struct Options {
  std::vector<std::string> caseFiles;
  /// A regular expression that is searched in the names of cases.
  std::string filter;
  /// Of cases that name none; 0: what OpenMP says.
  int threads = 0;
  int runs = 5;
  std::string jsonFile;
  std::string plotFile;
  /// "linear" or "linear-forms"; empty: the cases of files.
  std::string suite;
  /// The folder of what a suite writes.
  std::string out;
  /// The longest sequence and the most random features of a suite.
  int maxN = 16384;
  int maxM = 1024;
  bool serve = false;
  bool help = false;
};

/// Parses the arguments without the program's name. Messages name the option
/// and what is allowed.
Result<Options> parseOptions(const std::vector<std::string> &arguments);

/// What --help prints.
const char *helpText();

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_OPTIONS_H
