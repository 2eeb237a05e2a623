// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost model against the clock: each form of causal linear attention, and
// what the compiler chooses.

#include "Groups.h"
#include "Suite.h"

#include "tools/plot/Drawing.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

using namespace attn::plot;

namespace attn::bench {

/// What the choice may take over the faster form.
static constexpr double tolerance = 1.2;
static constexpr const char *forms[] = {"quadratic", "chunk", "auto"};
static constexpr int lengths[] = {64, 256, 1024, 4096, 16384};

/// What the compiler says of the forms of the case, one line each.
static std::vector<std::string> remarksOn(const Case &problem) {
  EngineOptions options = engineOptions(problem);
  options.remarks = true;
  Result<Program> program =
      Engine(options).compileText(irText(problem), problem.name);
  std::vector<std::string> found;
  if (!program)
    return found;
  std::istringstream lines(program->remarks());
  for (std::string line; std::getline(lines, line);)
    if (line.find("linear") != std::string::npos)
      found.push_back(line);
  return found;
}

Result<bool> runFormSuite(const Options &options) {
  std::vector<Case> cases;
  for (int n : lengths)
    if (n <= options.maxN)
      for (const char *form : forms)
        cases.push_back(
            suiteCase(form, n, std::string("op=linear causal form=") + form));
  TurnRunner runner(options.runs, options.threads, nullptr);
  std::vector<Summary> summaries = runGroups(runner, cases);

  bool isFine = true;
  std::string csv = "n,quadratic_ms,chunk_ms,auto_ms,auto_over_faster\n";
  for (size_t i = 0; i + 3 <= summaries.size(); i += std::size(forms)) {
    const Summary &quadratic = summaries[i], &chunk = summaries[i + 1];
    const Summary &chosen = summaries[i + 2];
    auto n = static_cast<long long>(chosen.problem.keys);
    if (!quadratic.failure.empty() || !chunk.failure.empty() ||
        !chosen.failure.empty()) {
      isFine = false;
      continue;
    }
    double over = chosen.millis / std::min(quadratic.millis, chunk.millis);
    isFine &= over <= tolerance;
    csv += formatText("%lld,%.6g,%.6g,%.6g,%.4g\n", n, quadratic.millis,
                      chunk.millis, chosen.millis, over);
    std::printf("n = %lld: %s is faster, %.2f times; the choice takes %.2f "
                "times the faster%s\n",
                n, quadratic.millis < chunk.millis ? "quadratic" : "chunk",
                std::max(quadratic.millis, chunk.millis) /
                    std::min(quadratic.millis, chunk.millis),
                over, over <= tolerance ? "" : ": too much");
    for (const std::string &remark : remarksOn(chosen.problem))
      std::printf("    %s\n", remark.c_str());
  }
  if (Result<void> done = writeOut(options, "linear-forms.csv", csv); !done)
    return done.error();
  return isFine;
}

} // namespace attn::bench
