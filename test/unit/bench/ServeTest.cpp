// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/attn-bench/Serve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

using namespace attn::bench;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

TEST(Serve, a_case_and_a_turn) {
  Server server(1);
  std::string answer =
      server.answer("case a dtype=f32 H=4:2 sq=3 sk=9 D=8 window=4 softcap=2");
  EXPECT_THAT(answer, StartsWith("{\"name\": \"a\", \"op\": \"gqa\", "
                                 "\"dtype\": \"f32\", "
                                 "\"batch\": 1, \"query_heads\": 4, "
                                 "\"key_heads\": 2, \"queries\": 3, \"keys\": "
                                 "9, \"key_dim\": 8, \"value_dim\": 8, "
                                 "\"causal\": false, \"window\": 4, "
                                 "\"softcap\": 2, \"decay\": \"\", "
                                 "\"state\": false, \"threads\": 1, "));
  EXPECT_THAT(server.answer("run"), StartsWith("{\"ms\": "));
}

TEST(Serve, errors_are_answers) {
  Server server(1);
  EXPECT_EQ(server.answer("run"),
            "{\"error\": \"expected a case before 'run'\"}");
  EXPECT_EQ(server.answer("write /tmp"),
            "{\"error\": \"expected a case before 'write'\"}");
  EXPECT_EQ(server.answer("say \"hi\"\t"),
            "{\"error\": \"expected 'case LINE', 'write FOLDER' or 'run', got "
            "'say \\\"hi\\\"\\u0009'\"}");
  EXPECT_EQ(server.answer("case a dtype=f32"),
            "{\"error\": \"expected H=..., got none\"}");
  EXPECT_THAT(server.answer("case a dtype=f32 H=1 S=8 D=8 target=cpu:z80"),
              HasSubstr("z80"));
  EXPECT_EQ(server.answer("case a dtype=f32 H=1 S=8 D=8 score=bias"),
            "{\"error\": \"score: expected none where cases are served, got "
            "bias\"}");
  EXPECT_EQ(server.answer("case a op=linear dtype=f32 H=1 S=8 D=8 causal "
                          "delta"),
            "{\"error\": \"delta: expected none where cases are served, got "
            "one\"}");
  ASSERT_THAT(server.answer("case a dtype=f32 H=1 S=8 D=8"),
              StartsWith("{\"name\""));
  EXPECT_THAT(server.answer("write /no/such/folder"),
              StartsWith("{\"error\": "));
  EXPECT_THAT(server.answer("run twice"), StartsWith("{\"error\": "));
  // A case that is refused leaves none behind.
  server.answer("case b");
  EXPECT_EQ(server.answer("run"),
            "{\"error\": \"expected a case before 'run'\"}");
}

TEST(Serve, one_answer_per_line) {
  std::istringstream requests("run\n\nnothing");
  std::ostringstream answers;
  Server(1).run(requests, answers);
  std::string text = answers.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
}

} // namespace
