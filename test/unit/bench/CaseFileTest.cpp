// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/attn-bench/CaseFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace attn;
using namespace attn::bench;
using testing::HasSubstr;

namespace {

TEST(CaseFile, every_word) {
  Result<Case> parsed = parseCase(
      "  name/1 op=gqa dtype=bf16 B=2 H=32:8\tsq=3 sk=70 D=64:48 causal "
      "window=16 softcap=50.5 deviation=4 target=cpu:avx2 threads=3 ");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed->name, "name/1");
  EXPECT_EQ(parsed->op, "gqa");
  EXPECT_EQ(parsed->dtype, DType::bf16);
  EXPECT_EQ(parsed->batch, 2);
  EXPECT_EQ(parsed->queryHeads, 32);
  EXPECT_EQ(parsed->keyHeads, 8);
  EXPECT_EQ(parsed->queries, 3);
  EXPECT_EQ(parsed->keys, 70);
  EXPECT_EQ(parsed->keyDim, 64);
  EXPECT_EQ(parsed->valueDim, 48);
  EXPECT_TRUE(parsed->isCausal);
  EXPECT_EQ(parsed->window, 16);
  EXPECT_EQ(parsed->softcap, 50.5);
  EXPECT_EQ(parsed->deviation, 4);
  EXPECT_EQ(parsed->target, "cpu:avx2");
  EXPECT_EQ(parsed->threads, 3);
}

TEST(CaseFile, defaults) {
  Result<Case> half = parseCase("a dtype=f16 H=4 S=10 D=8");
  ASSERT_TRUE(half.ok()) << half.error().message;
  EXPECT_EQ(half->dtype, DType::f16);
  Result<Case> plain = parseCase("a dtype=f32 H=4 S=10 D=8");
  ASSERT_TRUE(plain.ok()) << plain.error().message;
  EXPECT_EQ(plain->op, "softmax");
  EXPECT_EQ(plain->batch, 1);
  EXPECT_EQ(plain->keyHeads, 4);
  EXPECT_EQ(plain->queries, 10);
  EXPECT_EQ(plain->keys, 10);
  EXPECT_EQ(plain->valueDim, 8);
  EXPECT_FALSE(plain->hasMask());
  EXPECT_EQ(plain->softcap, 0);
  EXPECT_EQ(plain->deviation, 0);
  EXPECT_EQ(plain->target, "host");
  EXPECT_EQ(plain->threads, 0);
  Result<Case> grouped = parseCase("a dtype=f32 H=4:1 S=10 D=8");
  ASSERT_TRUE(grouped.ok()) << grouped.error().message;
  EXPECT_EQ(grouped->op, "gqa");
}

TEST(CaseFile, a_line_that_is_refused_says_why) {
  struct {
    const char *line, *message;
  } const refused[] = {
      {"dtype=f32 H=4 S=1 D=8", "expected the name of a case first, got "
                                "'dtype=f32'"},
      {"a dtype=f64 H=4 S=1 D=8",
       "dtype: expected f32, bf16 or f16, got 'f64'"},
      {"a H=4 S=1 D=8", "expected dtype=..., got none"},
      {"a dtype=f32 S=1 D=8", "expected H=..., got none"},
      {"a dtype=f32 H=4 S=1", "expected D=..., got none"},
      {"a dtype=f32 H=4 D=8", "expected either S=... or both sq=... and "
                              "sk=..., got none"},
      {"a dtype=f32 H=4 D=8 sq=1", "and sk=..., got sq"},
      {"a dtype=f32 H=4 D=8 S=1 sk=1", "and sk=..., got S and sk"},
      {"a dtype=f32 H=4 D=8 S=0", "S: expected an integer from 1 to 16777216, "
                                  "got '0'"},
      {"a dtype=f32 H=4 D=8 S=1e3", "S: expected an integer"},
      {"a dtype=f32 H=4 D=8 S=99999999999999999999", "S: expected an integer"},
      {"a dtype=f32 H=4: D=8 S=1", "H: expected an integer from 1 to 16777216, "
                                   "got ''"},
      {"a dtype=f32 H=8:3 D=8 S=1", "expected a multiple of the key heads as "
                                    "query heads, got '8:3'"},
      {"a op=softmax dtype=f32 H=8:2 D=8 S=1",
       "expected as many key heads as query heads for op=softmax, got '8:2'"},
      {"a op=line dtype=f32 H=8 D=8 S=1", "op: expected softmax, gqa, linear "
                                          "or favor, got 'line'"},
      {"a dtype=f32 H=8 D=8 S=1 softcap=nan", "softcap: expected a positive "
                                              "number, got 'nan'"},
      {"a dtype=f32 H=8 D=8 S=1 softcap=-1", "softcap: expected a positive "
                                             "number, got '-1'"},
      {"a dtype=f32 H=8 D=8 S=1 deviation=0", "deviation: expected a positive "
                                              "number, got '0'"},
      {"a op=linear dtype=f32 H=8 D=8 S=1 causal gate=3", "expected decay "
                                                          "beside gate, got "
                                                          "'gate'"},
      {"a dtype=f32 H=8 D=8 S=1 gate=3", "expected no gate with op=softmax"},
      {"a dtype=f32 H=8 D=8 S=1 threads=0", "threads: expected an integer from "
                                            "1 to 1024, got '0'"},
      {"a dtype=f32 H=8 D=8 S=1 target=", "target: expected a target, got ''"},
      {"a dtype=f32 H=8 D=8 S=1 casual", "expected one of op, dtype, B, H, S, "
                                         "sq, sk, D, causal, window, softcap, "
                                         "deviation, score, keep, decay, gate, "
                                         "delta, transition, bonus, feature, "
                                         "normalize, state, form, chunk, M, "
                                         "kind, target, threads, got "
                                         "'casual'"},
      {"a dtype=f32 H=8 D=8 S=1 score=relu", "score: expected alibi or bias, "
                                             "got 'relu'"},
      {"a dtype=f32 H=8 D=8 S=1 keep=all", "keep: expected select or xor, got "
                                           "'all'"},
      {"a dtype=f32 H=8 D=8 S=1 causal=1", "expected causal alone, got "
                                           "'causal=1'"},
      {"a dtype=f32 H=8 D=8 S=1 window", "expected window=..., got 'window'"},
      {"a dtype=f32 H=8 D=8 S=1 H=4", "expected H once, got 'H=4'"},
  };
  for (auto [line, message] : refused) {
    Result<Case> parsed = parseCase(line);
    ASSERT_FALSE(parsed.ok()) << line;
    EXPECT_THAT(parsed.error().message, HasSubstr(message)) << line;
  }
}

TEST(CaseFile, every_word_of_the_linear_family) {
  Result<Case> parsed =
      parseCase("a op=linear dtype=f32 H=8:2 S=70 D=64:48 causal decay=token "
                "gate=50 delta bonus "
                "feature=elu1:relu normalize=token state form=chunk chunk=32");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed->op, "linear");
  EXPECT_EQ(parsed->linear.decay, "token");
  EXPECT_EQ(parsed->linear.gate, 50);
  EXPECT_TRUE(parsed->linear.hasDelta);
  EXPECT_FALSE(parsed->linear.hasTransition);
  EXPECT_TRUE(parsed->linear.hasBonus);
  EXPECT_EQ(parsed->linear.queryFeature, "elu1");
  EXPECT_EQ(parsed->linear.keyFeature, "relu");
  EXPECT_EQ(parsed->linear.normalize, "token");
  EXPECT_TRUE(parsed->linear.hasState);
  EXPECT_EQ(parsed->linear.form, "chunk");
  EXPECT_EQ(parsed->linear.chunk, 32);
  Result<Case> favor = parseCase("a op=favor dtype=f32 H=8 S=70 D=64 M=256 "
                                 "kind=hyperbolic");
  ASSERT_TRUE(favor.ok()) << favor.error().message;
  EXPECT_EQ(favor->linear.rows, 256);
  EXPECT_EQ(favor->linear.kind, "hyperbolic");
}

TEST(CaseFile, words_that_do_not_go_with_the_op) {
  struct {
    const char *words, *message;
  } const refused[] = {
      {"op=softmax S=9 decay=head", "expected no decay with op=softmax"},
      {"op=gqa S=9 chunk=8", "expected no chunk with op=gqa"},
      {"op=linear S=9 window=3", "expected no window with op=linear"},
      {"op=linear S=9 M=3", "expected no M with op=linear"},
      {"op=favor S=9 state M=8", "expected no state with op=favor"},
      {"op=favor S=9", "expected M=..., got none"},
      {"op=linear S=9 causal decay=tokens",
       "decay: expected head, token or feature, got 'tokens'"},
      {"op=linear S=9 decay=head", "expected causal beside decay"},
      {"op=linear S=9 causal delta transition",
       "expected delta or transition, got 'both'"},
      {"op=linear sq=3 sk=9 causal",
       "expected as many keys as queries for causal op=linear, got '3:9'"},
      {"op=linear S=9 feature=elu", "feature: expected identity, elu1, relu, "},
      {"op=linear S=9 feature=relu:taylor2",
       "expected maps of as many features, got 'relu:taylor2'"},
      {"op=linear S=9 form=cubic", "form: expected auto, quadratic, chunk or "
                                   "recurrent, got 'cubic'"},
      {"op=linear S=9 chunk=0", "chunk: expected an integer from 1 to"},
      {"op=favor S=9 M=8 kind=cosine",
       "kind: expected positive, hyperbolic, trigonometric or relu"},
  };
  for (auto [words, message] : refused) {
    Result<Case> parsed =
        parseCase(std::string("a dtype=f32 H=2 D=8 ") + words);
    ASSERT_FALSE(parsed.ok()) << words;
    EXPECT_THAT(parsed.error().message, HasSubstr(message)) << words;
  }
}

TEST(CaseFile, groups_comments_and_places) {
  std::vector<Case> cases;
  Result<void> done = parseCases("# a comment\r\n"
                                 "alone dtype=f32 H=1 S=1 D=1 # more\n"
                                 "\n"
                                 " [two]\n"
                                 "b dtype=f32 H=1 S=2 D=1\r\n"
                                 "c dtype=f32 H=1 S=3 D=1",
                                 "x.txt", cases);
  ASSERT_TRUE(done.ok()) << done.error().message;
  ASSERT_EQ(cases.size(), 3u);
  EXPECT_EQ(cases[0].group, "");
  EXPECT_EQ(cases[0].where, "x.txt:2");
  EXPECT_EQ(cases[1].group, "two");
  EXPECT_EQ(cases[2].group, "two");
  EXPECT_EQ(cases[2].queries, 3);
  EXPECT_EQ(cases[2].where, "x.txt:6");
}

TEST(CaseFile, errors_name_file_and_line) {
  std::vector<Case> cases;
  EXPECT_EQ(
      parseCases("\na dtype=f32 H=1 S=1\n", "x.txt", cases).error().message,
      "x.txt:2: expected D=..., got none");
  EXPECT_EQ(parseCases("[two words]", "x.txt", cases).error().message,
            "x.txt:1: expected [group], one word, got '[two words]'");
  EXPECT_EQ(parseCases("[]", "x.txt", cases).error().message,
            "x.txt:1: expected [group], one word, got '[]'");
  ASSERT_TRUE(parseCases("a dtype=f32 H=1 S=1 D=1", "x.txt", cases).ok());
  EXPECT_EQ(
      parseCases("\n a dtype=f32 H=1 S=1 D=2", "y.txt", cases).error().message,
      "y.txt:2: expected a name that is not taken, got 'a', which is at "
      "x.txt:1");
}

TEST(CaseFile, files_of_the_repository) {
  std::vector<Case> cases;
  for (const char *name :
       {"table.txt", "models.txt", "masks.txt", "linear.txt"}) {
    Result<void> done =
        readCases(std::string(ATTN_SOURCE_DIR) + "/bench/cases/" + name, cases);
    EXPECT_TRUE(done.ok()) << done.error().message;
  }
  EXPECT_GT(cases.size(), 50u);
  EXPECT_FALSE(readCases(ATTN_SOURCE_DIR "/bench/cases/absent", cases).ok());
}

} // namespace
