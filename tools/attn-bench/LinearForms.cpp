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

/// What the choice may take over the fastest form.
static constexpr double tolerance = 1.2;
static constexpr const char *forms[] = {"quadratic", "chunk", "recurrent",
                                        "auto"};
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

/// Prints how the choice, the last of the forms of one length, compares with
/// the others. False if it takes too much, or one has failed.
static bool compare(const Summary *summaries, std::string &csv) {
  const Summary *chosen = summaries + std::size(forms) - 1;
  auto hasFailed = [](const Summary &s) { return !s.failure.empty(); };
  if (std::any_of(summaries, chosen + 1, hasFailed))
    return false;
  const Summary *fastest = std::min_element(
      summaries, chosen, [](const Summary &left, const Summary &right) {
        return left.millis < right.millis;
      });
  double over = chosen->millis / fastest->millis;
  auto n = static_cast<long long>(chosen->problem.keys);
  csv += std::to_string(n);
  for (const Summary *form = summaries; form <= chosen; ++form)
    csv += formatText(",%.6g", form->millis);
  csv += formatText(",%.4g\n", over);
  std::printf(
      "n = %lld: %s is fastest; the choice takes %.2f times as long%s\n", n,
      forms[fastest - summaries], over, over <= tolerance ? "" : ": too much");
  for (const std::string &remark : remarksOn(chosen->problem))
    std::printf("    %s\n", remark.c_str());
  return over <= tolerance;
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
  std::string csv = "n,quadratic_ms,chunk_ms,recurrent_ms,auto_ms,"
                    "auto_over_fastest\n";
  for (size_t i = 0; i < summaries.size(); i += std::size(forms))
    isFine &= compare(&summaries[i], csv);
  if (Result<void> done = writeOut(options, "linear-forms.csv", csv); !done)
    return done.error();
  return isFine;
}

} // namespace attn::bench
