// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mutator and the campaign themselves: seeds repeat, and a crash or a loop
// is found and named.

#include "test/fuzz/Campaign.h"
#include "test/fuzz/Mutator.h"
#include "gtest/gtest.h"

#include <csignal>
#include <cstdlib>
#include <set>
#include <unistd.h>

using namespace attn::fuzz;

static const Corpus corpus{
    {"%o = attn.gqa %q : tensor<4x?x64xf32>\n  return %o\n", "index=5"},
    {"bf16", "attn.softmax"}};

TEST(Mutator, TokensAreTheWholeText) {
  std::vector<std::string> tokens = tokenize("tensor<4x?x64xf32> %a.b");
  EXPECT_EQ(tokens,
            (std::vector<std::string>{"tensor", "<", "4", "x", "?", "x", "64",
                                      "x", "f32", ">", " ", "%a.b"}));
}

TEST(Mutator, SeedsRepeatAndDiffer) {
  std::set<std::string> texts;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    std::string text = mutateText(corpus, seed);
    EXPECT_EQ(text, mutateText(corpus, seed));
    EXPECT_EQ(mutateBinary(corpus, seed), mutateBinary(corpus, seed));
    texts.insert(text);
  }
  EXPECT_GT(texts.size(), 300u);
}

TEST(Mutator, TakesEmptyInputs) {
  Corpus empty{{""}, {}};
  for (uint64_t seed = 0; seed < 100; ++seed) {
    mutateText(empty, seed);
    mutateBinary(empty, seed);
  }
}

TEST(Campaign, RunsEverySeedOnce) {
  Campaign campaign;
  campaign.count = 1000;
  campaign.perChild = 64;
  campaign.consume = [](uint64_t seed) { return seed % 3 == 0; };
  Outcome outcome = run(campaign);
  EXPECT_EQ(outcome.ran, 1000u);
  EXPECT_EQ(outcome.good, 334u);
  EXPECT_TRUE(outcome.failures.empty());
}

TEST(Campaign, NamesTheSeedOfACrashAndOfALoop) {
  Campaign campaign;
  campaign.first = 100;
  campaign.count = 100;
  campaign.perChild = 40;
  campaign.secondsPerSeed = 1.0;
  campaign.consume = [](uint64_t seed) {
    if (seed == 117)
      std::abort();
    if (seed == 150)
      _exit(3);
    if (seed == 199)
      while (true)
        usleep(1000);
    return true;
  };
  Outcome outcome = run(campaign);
  EXPECT_EQ(outcome.good, 97u);
  std::set<std::string> failures;
  for (const Failure &failure : outcome.failures)
    failures.insert(std::to_string(failure.seed) + ": " + failure.what);
  EXPECT_EQ(failures, (std::set<std::string>{
                          "117: signal " + std::to_string(SIGABRT),
                          "150: exit 3", "199: ran for more than 1 s"}));
}

TEST(Campaign, SaysWhatIsWrongAndGoesOn) {
  Campaign campaign;
  campaign.count = 50;
  campaign.perChild = 20;
  campaign.judge = [](uint64_t seed) {
    return Verdict{seed % 25 == 13 ? "wrong " + std::to_string(seed) : "", 3};
  };
  Outcome outcome = run(campaign);
  EXPECT_EQ(outcome.good, 48u);
  EXPECT_EQ(outcome.runs, 150u);
  std::set<std::string> failures;
  for (const Failure &failure : outcome.failures)
    failures.insert(std::to_string(failure.seed) + ": " + failure.what);
  EXPECT_EQ(failures, (std::set<std::string>{"13: wrong 13", "38: wrong 38"}));
}
