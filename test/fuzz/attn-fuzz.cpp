// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-fuzz CAMPAIGN                 runs the campaign; 1 if a seed crashed or
//                                    did not come back in time
// attn-fuzz CAMPAIGN FIRST COUNT     runs these seeds
// attn-fuzz CAMPAIGN SEED            runs one seed in this process, for a
//                                    debugger, after printing its input
//
// A campaign mutates inputs and wants no crash (Campaigns.h), or is a family of
// random programs whose results are compared (families/Differential.h).

#include "test/fuzz/Campaigns.h"
#include "test/fuzz/families/Differential.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <unistd.h>

using namespace attn::fuzz;

/// What a child exits with where an input of the corpus itself is refused: the
/// mutants of such an input would test nothing.
static const int refusedUnchanged = 65;

static uint64_t number(const char *text) {
  return std::strtoull(text, nullptr, 10);
}

/// How far a campaign is, on a terminal.
static void showProgress(Campaign &campaign) {
  if (!isatty(STDERR_FILENO))
    return;
  campaign.progress = [count = campaign.count](uint64_t done, uint64_t failed) {
    std::fprintf(stderr, "\r%llu of %llu, %llu failed ",
                 (unsigned long long)done, (unsigned long long)count,
                 (unsigned long long)failed);
    if (done == count)
      std::fprintf(stderr, "\n");
  };
}

/// Prints the seeds that failed, some of them with their inputs.
static int report(const std::string &name, const Outcome &outcome,
                  const std::string &counts,
                  const std::function<std::string(uint64_t)> &inputOf) {
  for (const Failure &failure : outcome.failures) {
    if (&failure - outcome.failures.data() == 20) {
      std::cout << "and so on\n";
      break;
    }
    std::cout << "seed " << failure.seed << ": " << failure.what
              << (failure.what == "exit " + std::to_string(refusedUnchanged)
                      ? " (an unchanged input is refused)"
                      : "")
              << "; repeat with: attn-fuzz " << name << " " << failure.seed
              << "\n"
              << (inputOf ? inputOf(failure.seed) : "");
  }
  std::cout << name << ": " << outcome.ran << " inputs, " << counts << ", "
            << outcome.failures.size() << " failed, longest "
            << outcome.longestSeconds << " s (seed " << outcome.longestSeed
            << ")\n";
  return outcome.failures.empty() ? 0 : 1;
}

static int runFamily(const Family &family, int argc, char **argv) {
  auto textOf = [&](uint64_t seed) {
    RandomProgram program = family.make(seed);
    return "// " + program.options + "\n" + program.text;
  };
  if (argc == 3) {
    std::cout << textOf(number(argv[2])) << std::flush;
    Verdict verdict = judge(family.make(number(argv[2])));
    std::cout << (verdict.wrong.empty() ? "right\n" : verdict.wrong);
    return verdict.wrong.empty() ? 0 : 1;
  }
  Campaign campaign;
  campaign.judge = [&](uint64_t seed) { return judge(family.make(seed)); };
  campaign.first = argc == 4 ? number(argv[2]) : 0;
  campaign.count = argc == 4 ? number(argv[3]) : family.count;
  campaign.perChild = 100;
  campaign.secondsPerSeed = 120.0;
  showProgress(campaign);
  Outcome outcome = run(campaign);
  return report(family.name, outcome,
                std::to_string(outcome.runs) + " runs of a target", textOf);
}

static int runCampaign(NamedCampaign &named, int argc, char **argv) {
  Campaign &campaign = named.campaign;
  campaign.consume = [&](uint64_t seed) {
    bool good = named.consume(named.input(seed));
    if (!good && seed < named.corpus.inputs.size())
      _exit(refusedUnchanged);
    return good;
  };
  if (argc == 3) {
    uint64_t seed = number(argv[2]);
    std::cout << named.input(seed) << std::endl;
    campaign.prepare();
    std::cout << (named.consume(named.input(seed)) ? "accepted" : "refused")
              << "\n";
    return 0;
  }
  if (argc == 4) {
    campaign.first = number(argv[2]);
    campaign.count = number(argv[3]);
  }
  showProgress(campaign);
  Outcome outcome = run(campaign);
  return report(named.name, outcome, std::to_string(outcome.good) + " accepted",
                nullptr);
}

int main(int argc, char **argv) {
  std::string wanted = argc > 1 ? argv[1] : "", families, campaigns;
  if (std::optional<Family> family = findFamily(wanted, families))
    return runFamily(*family, argc, argv);
  if (std::optional<NamedCampaign> named = findCampaign(wanted, campaigns))
    return runCampaign(*named, argc, argv);
  std::cerr << "attn-fuzz: expected a campaign: " << campaigns << " "
            << families << ", got '" << wanted << "'\n";
  return 2;
}
