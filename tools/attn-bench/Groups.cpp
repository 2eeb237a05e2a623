// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A group is a run of cases with the same name of their group.

#include "Groups.h"

#include "Table.h"

#include <algorithm>
#include <cstdio>

namespace attn::bench {

std::vector<Summary> runGroups(TurnRunner &runner,
                               const std::vector<Case> &cases) {
  size_t width = 4;
  for (const Case &problem : cases)
    width = std::max(width, problem.name.size());
  std::fputs(tableHead(width).c_str(), stdout);
  std::fflush(stdout);
  Progress progress(runner.steps(cases.size()));
  std::vector<Summary> summaries;
  for (auto first = cases.begin(); first != cases.end();) {
    auto last = std::find_if(first, cases.end(), [&](const Case &problem) {
      return problem.group != first->group;
    });
    std::vector<Summary> group = runner.run({first, last}, progress);
    progress.wipe();
    std::fputs(tableRows(group, width).c_str(), stdout);
    std::fflush(stdout);
    std::move(group.begin(), group.end(), std::back_inserter(summaries));
    first = last;
  }
  return summaries;
}

} // namespace attn::bench
