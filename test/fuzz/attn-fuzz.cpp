// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-fuzz CAMPAIGN                 runs the campaign; 1 if a seed crashed or
//                                    did not come back in time
// attn-fuzz CAMPAIGN FIRST COUNT     runs these seeds
// attn-fuzz CAMPAIGN SEED            runs one seed in this process, for a
//                                    debugger, after printing its input

#include "test/fuzz/Campaigns.h"

#include <cstdlib>
#include <iostream>
#include <unistd.h>

using namespace attn::fuzz;

/// What a child exits with where an input of the corpus itself is refused: the
/// mutants of such an input would test nothing.
static const int refusedUnchanged = 65;

int main(int argc, char **argv) {
  std::string wanted = argc > 1 ? argv[1] : "", known;
  std::optional<NamedCampaign> found = findCampaign(wanted, known);
  if (!found) {
    std::cerr << "attn-fuzz: expected a campaign: " << known << ", got '"
              << wanted << "'\n";
    return 2;
  }
  NamedCampaign &named = *found;
  Campaign &campaign = named.campaign;
  campaign.consume = [&](uint64_t seed) {
    bool good = named.consume(named.input(seed));
    if (!good && seed < named.corpus.inputs.size())
      _exit(refusedUnchanged);
    return good;
  };
  if (argc == 3) {
    uint64_t seed = std::strtoull(argv[2], nullptr, 10);
    std::cout << named.input(seed) << std::endl;
    campaign.prepare();
    std::cout << (named.consume(named.input(seed)) ? "accepted" : "refused")
              << "\n";
    return 0;
  }
  if (argc == 4) {
    campaign.first = std::strtoull(argv[2], nullptr, 10);
    campaign.count = std::strtoull(argv[3], nullptr, 10);
  }
  Outcome outcome = run(campaign);
  for (const Failure &failure : outcome.failures) {
    if (&failure - outcome.failures.data() == 20) {
      std::cout << "and so on\n";
      break;
    }
    std::cout << "seed " << failure.seed << ": " << failure.what
              << (failure.what == "exit " + std::to_string(refusedUnchanged)
                      ? " (an unchanged input is refused)"
                      : "")
              << "; repeat with: attn-fuzz " << named.name << " "
              << failure.seed << "\n";
  }
  std::cout << named.name << ": " << outcome.ran << " inputs, " << outcome.good
            << " accepted, " << outcome.failures.size() << " failed, longest "
            << outcome.longestSeconds << " s (seed " << outcome.longestSeed
            << ")\n";
  return outcome.failures.empty() ? 0 : 1;
}
