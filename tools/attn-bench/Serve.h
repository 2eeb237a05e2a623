// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-bench as a partner of another program, which alternates its own runs
// with those of attn. One request per line, one line of JSON per answer.

#ifndef ATTN_TOOLS_ATTN_BENCH_SERVE_H
#define ATTN_TOOLS_ATTN_BENCH_SERVE_H

#include "Workload.h"

#include <iosfwd>
#include <optional>

namespace attn::bench {

class Server {
public:
  /// `threads` is for cases that name none.
  explicit Server(int threads) : threads(threads) {}

  /// Answers "case LINE", "write FOLDER" and "run" with an object; one with
  /// the field "error" where something is wrong.
  std::string answer(std::string_view request);

  /// Answers line after line until the input ends.
  void run(std::istream &requests, std::ostream &answers);

private:
  Result<std::string> prepare(std::string_view line);
  Result<std::string> write(const std::string &folder) const;
  Result<std::string> takeTurn();

  int threads;
  std::optional<Workload> workload;
};

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_SERVE_H
