// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texts and counts of the linear family, worked out by hand.

#include "test/unit/bench/Outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace attn;
using namespace attn::bench;
using testing::HasSubstr;

namespace {

Case parse(const std::string &words) {
  Result<Case> parsed = parseCase("a dtype=f32 " + words);
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  return parsed.ok() ? *parsed : Case();
}

TEST(LinearCase, text) {
  EXPECT_EQ(
      irText(parse("op=linear B=2 H=4:2 S=5 D=16:8 causal decay=token delta "
                   "state feature=elu1:relu normalize=token")),
      "func.func @main(%q: tensor<2x4x5x16xf32>, %k: tensor<2x2x5x16xf32>, "
      "%v: tensor<2x2x5x8xf32>, %decay: tensor<2x2x5xf32>, "
      "%beta: tensor<2x2x5xf32>, %state: tensor<2x2x16x9xf32>) -> "
      "(tensor<2x4x5x8xf32>, tensor<2x2x16x9xf32>) {\n"
      "  %o, %final_state = attn.linear %q, %k, %v "
      "scale(2.50000000000000000e-01) decay(%decay : tensor<2x2x5xf32>) "
      "beta(%beta : tensor<2x2x5xf32>) state(%state : tensor<2x2x16x9xf32>) "
      "feature(#attn.elu1, #attn.relu) normalize(token) causal : "
      "(tensor<2x4x5x16xf32>, tensor<2x2x5x16xf32>, tensor<2x2x5x8xf32>) -> "
      "(tensor<2x4x5x8xf32>, tensor<2x2x16x9xf32>)\n"
      "  return %o, %final_state : tensor<2x4x5x8xf32>, "
      "tensor<2x2x16x9xf32>\n}\n");
  EXPECT_THAT(irText(parse("op=favor H=2 S=5 D=16 M=32 kind=relu")),
              HasSubstr("%o = attn.favor %q, %k, %v, %w kind(relu) : "
                        "(tensor<1x2x5x16xf32>, tensor<1x2x5x16xf32>, "
                        "tensor<1x2x5x16xf32>, tensor<32x16xf32>) -> "));
}

// The number of features is that of the maps: 2 D, and 1 + D + D (D + 1) / 2.
TEST(LinearCase, features_of_a_state) {
  for (auto [map, features] : {std::pair("relu2", 4), std::pair("hedgehog", 8),
                               std::pair("taylor2", 15)})
    EXPECT_EQ(inputsOf(parse("op=linear H=3 S=5 D=4:6 state feature=" +
                             std::string(map)))
                  .back()
                  .sizes,
              (std::vector<int64_t>{1, 3, features, 6}))
        << map;
}

TEST(LinearCase, work_of_the_recurrence) {
  // 5 tokens: a head of values adds 16 x 8 products to a state, a query head
  // reads as many.
  Work plain = countWork(parse("op=linear B=2 H=4:2 S=5 D=16:8"));
  EXPECT_EQ(plain.keptFlops, 2 * 2 * 5 * 16 * 8 * (2 + 4));
  EXPECT_EQ(plain.flops, plain.keptFlops);
  EXPECT_EQ(plain.bytes, 4 * 2 * 5 * (16 + 8) * (4 + 2));
  // The delta rule reads the state before it writes; a transition writes, too.
  EXPECT_EQ(countWork(parse("op=linear H=1 S=5 D=16:8 causal delta")).keptFlops,
            2 * 5 * 16 * 8 * 3);
  EXPECT_EQ(
      countWork(parse("op=linear H=1 S=5 D=16:8 causal transition")).keptFlops,
      2 * 5 * 16 * 8 * 4);
  // What is divided by is one more column.
  EXPECT_EQ(
      countWork(parse("op=linear H=1 S=5 D=16:8 normalize=token")).keptFlops,
      2 * 5 * 16 * 9 * 2);
}

TEST(LinearCase, work_of_forms) {
  const std::string words = "op=linear H=3 S=200 D=16:8 causal";
  double recurrence = 2.0 * 3 * 200 * 16 * 8 * 2;
  double pair = 2.0 * 3 * (16 + 8);
  EXPECT_EQ(countWork(parse(words)).flops, recurrence + pair * 200 * 64);
  EXPECT_EQ(countWork(parse(words + " chunk=16")).flops,
            recurrence + pair * 200 * 16);
  EXPECT_EQ(countWork(parse(words + " chunk=999")).flops,
            recurrence + pair * 200 * 200);
  EXPECT_EQ(countWork(parse(words + " form=recurrent")).flops, recurrence);
  Work quadratic = countWork(parse(words + " form=quadratic"));
  EXPECT_EQ(quadratic.flops, pair * 200 * 200);
  EXPECT_EQ(quadratic.keptFlops, recurrence);
}

TEST(LinearCase, work_of_decoding) {
  // One token: 256 bytes of q, k, v and o, a decay, and two states of 64 KB.
  Work work =
      countWork(parse("op=linear H=1 S=1 D=128 causal decay=token state"));
  EXPECT_EQ(work.keptFlops, 4 * 128 * 128);
  EXPECT_EQ(work.flops, work.keptFlops);
  EXPECT_EQ(work.bytes, 4 * (4 * 128 + 1 + 2 * 128 * 128));
}

TEST(LinearCase, work_of_favor) {
  // 5 queries and keys of 16 entries become 32 features, or twice as many, for
  // 8 values and what they are divided by.
  double positive = countWork(parse("op=favor H=3 S=5 D=16:8 M=32")).keptFlops;
  EXPECT_EQ(positive, 3 * 5 * (2 * 2 * 32 * 16 + 2 * 2 * 32 * 9));
  double both = countWork(parse("op=favor H=3 S=5 D=16:8 M=32 kind=hyperbolic"))
                    .keptFlops;
  EXPECT_EQ(both, 3 * 5 * (2 * 2 * 32 * 16 + 2 * 2 * 64 * 9));
}

// The numbers that operands are filled with let no state grow without a bound,
// and the outputs are those of the reference device.
TEST(LinearCase, outputs_are_finite_and_right) {
  for (const char *words :
       {"op=linear H=4:2 D=16:8 causal", "op=linear H=2 D=16:8 feature=elu1",
        "op=linear H=2 D=16:8 causal decay=head bonus",
        "op=linear H=2 D=16:8 causal decay=token delta state",
        "op=linear H=2 D=16:8 causal decay=feature transition",
        "op=linear H=2 D=16:8 causal feature=relu normalize=token state",
        "op=favor H=2 D=16:8 M=32 causal",
        "op=favor H=2 D=16:8 M=32 kind=hyperbolic"}) {
    Result<Workload> workload =
        Workload::create(parse(std::string(words) + " S=300"), 1);
    ASSERT_TRUE(workload.ok()) << words << ": " << workload.error().message;
    for (const Tensor &output : workload->outputs())
      for (int64_t i = 0; i < output.numElements(); ++i)
        ASSERT_TRUE(std::isfinite(output.at(i))) << words;
    // What a token rounds goes through the transitions of all later ones.
    expectRightOutputs(*workload, 1e-4);
  }
}

} // namespace
