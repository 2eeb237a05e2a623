// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The expected counts are worked out by hand or with a loop over all pairs.

#include "test/unit/bench/Outputs.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace attn;
using namespace attn::bench;

namespace {

Case parse(const std::string &line) {
  Result<Case> parsed = parseCase(line);
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  return parsed.ok() ? *parsed : Case();
}

TEST(Case, text) {
  EXPECT_EQ(irText(parse("a dtype=bf16 B=2 H=8:4 sq=5 sk=7 D=16:24 window=3 "
                         "softcap=50")),
            "func.func @main(%q: tensor<2x8x5x16xbf16>, "
            "%k: tensor<2x4x7x16xbf16>, %v: tensor<2x4x7x24xbf16>) -> "
            "tensor<2x8x5x24xbf16> {\n"
            "  %o = attn.gqa %q, %k, %v softcap(5.00000000000000000e+01) "
            "align(bottom_right) mask(#attn.causal, #attn.window<left = 2>) : "
            "(tensor<2x8x5x16xbf16>, tensor<2x4x7x16xbf16>, "
            "tensor<2x4x7x24xbf16>) -> tensor<2x8x5x24xbf16>\n"
            "  return %o : tensor<2x8x5x24xbf16>\n}\n");
}

TEST(Case, work_of_a_rectangle) {
  Work work = countWork(parse("a dtype=bf16 B=2 H=8:4 sq=5 sk=7 D=16:24"));
  EXPECT_EQ(work.flops, 2 * 2 * 8 * 5 * 7 * (16 + 24));
  EXPECT_EQ(work.keptFlops, work.flops);
  EXPECT_EQ(work.bytes, 2 * 2 * (16 + 24) * (8 * 5 + 4 * 7));
}

TEST(Case, work_under_a_mask) {
  // Queries stand at positions 4 to 6 of 7 keys: they see 5, 6 and 7.
  Work causal = countWork(parse("a dtype=f32 H=1 sq=3 sk=7 D=1 causal"));
  EXPECT_EQ(causal.flops, 2 * 2 * 21);
  EXPECT_EQ(causal.keptFlops, 2 * 2 * (5 + 6 + 7));
  EXPECT_EQ(causal.bytes, 4 * 2 * (3 + 7));
  // Two keys each, 3 to 6 together.
  Work window = countWork(parse("a dtype=f32 H=1 sq=3 sk=7 D=1 window=2"));
  EXPECT_EQ(window.keptFlops, 2 * 2 * 6);
  EXPECT_EQ(window.bytes, 4 * 2 * (3 + 4));
  // The first two of five queries stand before the first of three keys.
  Work early = countWork(parse("a dtype=f32 H=1 sq=5 sk=3 D=1 causal"));
  EXPECT_EQ(early.keptFlops, 2 * 2 * (1 + 2 + 3));
}

// What the engine counts and computes is what the case says.
TEST(Workload, agrees_with_the_engine) {
  Case problem = parse("a dtype=bf16 B=2 H=4:2 sq=9 sk=33 D=16:8 window=5 "
                       "softcap=4 threads=1");
  Result<Workload> workload = Workload::create(problem, 0);
  ASSERT_TRUE(workload.ok()) << workload.error().message;
  EXPECT_EQ(workload->threads(), 1);
  const std::vector<Tensor> &memory = workload->inputs();
  ASSERT_EQ(memory.size(), 3u);
  std::vector<Value> inputs = {memory[0].view(), memory[1].view(),
                               memory[2].view()};
  Result<double> flops = workload->program().flops("main", inputs);
  ASSERT_TRUE(flops.ok()) << flops.error().message;
  EXPECT_EQ(workload->work().flops, *flops);
  // Creating it has called it.
  ASSERT_EQ(workload->outputs().size(), 1u);
  expectRightOutputs(*workload, 8e-3);
  // Inputs have mean 0 and variance 1: 2 * 2 * 33 * 16 numbers.
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < memory[1].numElements(); ++i) {
    sum += memory[1].at(i);
    squares += memory[1].at(i) * memory[1].at(i);
  }
  auto count = static_cast<double>(memory[1].numElements());
  EXPECT_NEAR(sum / count, 0, 0.1);
  EXPECT_NEAR(squares / count, 1, 0.1);
}

// Each score and mask with its operands, a slope per head or a number or
// boolean per query and key; causal and its window may stand beside them.
TEST(Workload, scores_and_masks_run) {
  for (const char *words :
       {"score=alibi", "score=bias", "keep=select", "keep=xor",
        "causal score=bias keep=select", "window=3 score=alibi keep=xor"}) {
    Case problem = parse(std::string("a dtype=f32 H=3 sq=5 sk=7 D=8 ") + words);
    Result<Workload> workload = Workload::create(problem, 1);
    ASSERT_TRUE(workload.ok()) << words << ": " << workload.error().message;
    expectRightOutputs(*workload, 1e-5);
    const std::vector<Tensor> &memory = workload->inputs();
    std::vector<Operand> operands = inputsOf(problem);
    ASSERT_EQ(memory.size(), operands.size()) << words;
    for (size_t n = 3; n < memory.size(); ++n)
      EXPECT_EQ(memory[n].view().sizes, operands[n].name == "alibi"
                                            ? std::vector<int64_t>{3}
                                            : (std::vector<int64_t>{5, 7}))
          << words;
  }
}

TEST(Workload, a_target_that_is_not_there) {
  Case problem = parse("a dtype=f32 H=1 S=8 D=8 target=cpu:z80");
  Result<Workload> workload = Workload::create(problem, 1);
  ASSERT_FALSE(workload.ok());
  EXPECT_NE(workload.error().message.find("z80"), std::string::npos);
}

TEST(Case, deviations_of_operands) {
  Result<Case> spread =
      parseCase("a dtype=f32 H=2 S=3 D=8 deviation=4 score=bias");
  ASSERT_TRUE(spread.ok()) << spread.error().message;
  for (const Operand &operand : inputsOf(*spread)) {
    bool isSpread = operand.name != "bias";
    EXPECT_EQ(operand.isNormal, isSpread) << operand.name;
    EXPECT_EQ(operand.deviation, isSpread ? 4 : 1) << operand.name;
  }
  // Uniform between -6 and 0: the mean is -3, the variance 36 / 12.
  Result<Case> gated =
      parseCase("a op=linear dtype=f32 H=2 S=3 D=8 causal decay=token gate=6");
  ASSERT_TRUE(gated.ok()) << gated.error().message;
  Operand decay = inputsOf(*gated).at(3);
  EXPECT_EQ(decay.name, "decay");
  EXPECT_FALSE(decay.isNormal);
  EXPECT_EQ(decay.mean, -3);
  EXPECT_NEAR(decay.deviation, std::sqrt(3.0), 1e-12);
}

} // namespace
