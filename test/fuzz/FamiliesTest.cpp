// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The families themselves: seeds repeat, every clause is drawn, and what is
// wrong with a result is seen, also beside values that mean nothing.

#include "test/fuzz/families/Differential.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace attn;
using namespace attn::fuzz;

namespace {
RandomProgram makeOf(const std::string &name, uint64_t seed) {
  std::string known;
  return findFamily(name, known)->make(seed);
}

/// The words that no program of the first seeds has.
std::string missingIn(const std::string &family, uint64_t count,
                      const std::vector<std::string> &words) {
  std::string texts, missing;
  for (uint64_t seed = 0; seed < count; ++seed)
    texts += makeOf(family, seed).text;
  for (const std::string &word : words)
    if (texts.find(word) == std::string::npos)
      missing += word + " ";
  return missing;
}
} // namespace

TEST(Families, SeedsRepeatAndDiffer) {
  for (const char *name : {"linear", "softmax", "products"}) {
    RandomProgram one = makeOf(name, 7), same = makeOf(name, 7);
    EXPECT_EQ(one.text, same.text);
    ASSERT_EQ(one.calls.size(), same.calls.size());
    for (size_t n = 0; n < one.calls.size(); ++n)
      for (size_t w = 0; w < one.calls[n].wanted.size(); ++w)
        EXPECT_EQ(one.calls[n].wanted[w].sizes, same.calls[n].wanted[w].sizes);
    EXPECT_NE(one.text, makeOf(name, 8).text);
  }
}

TEST(Families, EveryClauseIsDrawn) {
  EXPECT_EQ(missingIn("linear", 200,
                      {"scale(",
                       "decay(",
                       "beta(",
                       "transition(",
                       "bonus(",
                       "state(",
                       "lengths(",
                       "feature(",
                       "normalize(token)",
                       "normalize(feature)",
                       "block(",
                       "causal",
                       "attn.segments",
                       "%o, %s1",
                       "query_starts(",
                       "key_starts(",
                       "%n : index",
                       "feature(#attn.cosformer)",
                       "taylor2",
                       "hedgehog",
                       "cosformer",
                       "f16",
                       "bf16",
                       "f64",
                       "tensor<1x1x"}),
            "");
  EXPECT_EQ(missingIn("softmax", 200,
                      {"attn.softmax", "attn.gqa",        "scale(",
                       "softcap(",     "align(top_left)", "align(bottom_right)",
                       "offset(",      "mask(",           "#attn.causal",
                       "#attn.window", "#attn.prefix",    "#attn.bigbird",
                       "prefix(",      "alibi(",          "bias(",
                       "select(",      "lengths(",        "key_offset(",
                       "sinks(",       "query_starts(",   "key_starts(",
                       "score {",      "keep {",          "tensor.extract %cap",
                       "%o, %lse",     "random_blocks(",  "%len : index"}),
            "");
  EXPECT_EQ(
      missingIn("products", 250,
                {"linalg.matmul", "linalg.batch_matmul", "linalg.contract",
                 "linalg.generic", "attn.favor", "attn.feature_map",
                 "attn.merge", "math.tanh", "projection(", "map {", " log"}),
      "");
}

TEST(Families, AWrongResultIsSeen) {
  RandomProgram program = makeOf("products", 0);
  for (uint64_t seed = 1; program.calls[0].wanted[0].values.empty(); ++seed)
    program = makeOf("products", seed);
  EXPECT_EQ(judge(program).wrong, "");
  Wanted &wanted = program.calls[0].wanted[0];
  wanted.wobble = nullptr;
  wanted.values.back() += 1.0;
  EXPECT_NE(judge(program).wrong.find("entry"), std::string::npos);
}

static Wanted wantedOf(std::vector<double> values, std::vector<double> wobble) {
  Wanted w;
  w.name = "O";
  w.values = values;
  w.wobble = [wobble] { return wobble; };
  w.isUnsteady = true;
  return w;
}

/// A quotient by nearly 0 does not hide what is wrong beside it.
TEST(CheckWanted, UnsteadyValuesSetNoScale) {
  Wanted w = wantedOf({1.0, 1e9}, {1e-8, 1e6});
  EXPECT_EQ(checkWanted(w, {1.0, 1.02e9}), "");
  EXPECT_NE(checkWanted(w, {1.01, 1e9}), "");
  EXPECT_NE(checkWanted(w, {1.0, 5e9}), "");
}

TEST(CheckWanted, KindsAndCountsMatter) {
  Wanted w = wantedOf({1.0, 0.0}, {0.0, 0.0});
  EXPECT_NE(checkWanted(w, {1.0}), "");
  EXPECT_NE(checkWanted(w, {1.0, NAN}), "");
  EXPECT_NE(checkWanted(w, {INFINITY, 0.0}), "");
  EXPECT_EQ(checkWanted(w, {1.0, 0.0}), "");
}

TEST(CheckWanted, SmallErrorsOfManyValuesAreSeen) {
  std::vector<double> values(100, 1.0), got(100, 1.0 + 3e-5);
  Wanted w = wantedOf(values, std::vector<double>(100, 0.0));
  EXPECT_NE(checkWanted(w, got).find("relative RMS"), std::string::npos);
}
