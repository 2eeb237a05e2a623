// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chains of two products of matrices, with the order of products that was
// written and with another one, against their definition in f64: random chains
// that allow another order, and chains with something between the products that
// forbids it.

#include "test/e2e/PoisonedCall.h"
#include "test/e2e/ProductChains.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace attn;
using namespace attn::test;

namespace {

std::shared_ptr<Program> compileWith(const Target &target,
                                     const std::string &ir,
                                     const std::string &mode) {
  EngineOptions options;
  options.device = target.device;
  options.target = target.target;
  options.reassociate = mode;
  options.remarks = true;
  options.cacheDir = "";
  Result<Program> program = Engine(options).compileText(ir);
  if (!program) {
    ADD_FAILURE() << target.name << ": " << program.error().message << "\nin:\n"
                  << ir;
    return nullptr;
  }
  return std::make_shared<Program>(*program);
}

/// What is wrong with the chain on a target; `hasOther` tells whether the order
/// of products is another one than was written.
std::string check(const Target &target, const Chain &c, const std::string &mode,
                  bool &hasOther,
                  const std::function<void(Operands &)> &spoil = nullptr) {
  std::string ir = irFor(c);
  std::shared_ptr<Program> program = compileWith(target, ir, mode);
  if (!program)
    return "it does not compile";
  std::string remarks = program->remarks();
  hasOther = remarks.find("' reassociated: ") != std::string::npos ||
             remarks.find("' is linear attention: ") != std::string::npos;
  Operands operands(c);
  Result<std::vector<Tensor>> got =
      callPoisoned(*program, "main", operands.inputs());
  if (!got)
    return got.error().message;
  if (spoil)
    spoil(operands);
  std::string wrong =
      oracle::checkOutput(toDoubles((*got)[0].view()), operands.expected(),
                          toleranceOf(std::max(c.sum, c.outType())));
  return wrong.empty() ? "" : wrong + "\n" + ir + remarks;
}

/// A random chain, with sizes that divide nothing.
Chain randomChain(const Weights &weights, std::mt19937 &random) {
  auto pick = [&](std::initializer_list<int64_t> from) {
    return from.begin()[random() % from.size()];
  };
  auto flip = [&] { return random() % 2 == 1; };
  Chain c;
  c.weights = weights;
  c.n = pick({1, 2, 7, 37, 65, 130});
  c.p = weights.isSquare ? c.n : pick({1, 3, 50, 129});
  c.m = pick({1, 3, 8, 33});
  c.dv = pick({1, 5, 16, 41});
  for (int64_t rank = pick({0, 1, 2}); rank > 0; --rank)
    c.batch.push_back(pick({1, 2, 3}));
  switch (random() % 4) {
  case 0:
    c.operand = c.sum = DType::f64;
    break;
  case 1:
    c.operand = DType::bf16;
    break;
  case 2:
    c.operand = DType::f16;
    break;
  default:
    break;
  }
  c.a = flip();
  c.b = flip();
  c.v = flip();
  c.scores = flip();
  // A product of fewest numbers first is what costs say, not `always`.
  bool isWeighted = weights.name != "none" && weights.name != "scaled";
  c.o = isWeighted && flip();
  return c;
}

/// Operands and results of one chain in types of their own.
struct MixedTypes {
  DType operand, right, value, sum, out;
};
const MixedTypes mixedTypes[] = {
    {DType::f32, DType::f32, DType::f64, DType::f32, DType::f64},
    {DType::f32, DType::f64, DType::f32, DType::f64, DType::f64},
    {DType::f32, DType::f64, DType::f32, DType::f32, DType::f32},
    {DType::f64, DType::f32, DType::f64, DType::f64, DType::f64},
    {DType::bf16, DType::bf16, DType::f32, DType::f32, DType::f32},
    {DType::bf16, DType::f32, DType::bf16, DType::f32, DType::f32},
    {DType::f32, DType::bf16, DType::bf16, DType::f32, DType::f32},
    {DType::bf16, DType::bf16, DType::f32, DType::bf16, DType::f32},
    {DType::bf16, DType::bf16, DType::bf16, DType::f32, DType::f64},
    {DType::f16, DType::f16, DType::f64, DType::f16, DType::f64},
};

class Reassociate : public testing::TestWithParam<Weights> {};

TEST_P(Reassociate, MatchesTheDefinitionInEitherOrder) {
  std::mt19937 random(7);
  const std::vector<Target> &targets = allTargets();
  for (size_t number = 0; number < 12; ++number) {
    Chain c = randomChain(GetParam(), random);
    const Target &target = targets[number % targets.size()];
    if (!whyNotHere(target).empty())
      continue;
    for (const char *mode : {"always", "never", "auto"}) {
      bool hasOther = false;
      EXPECT_EQ(check(target, c, mode, hasOther), "")
          << target.name << " " << mode;
      bool mayHave = GetParam().isLegal && target.device != "reference";
      if (std::string(mode) != "auto") {
        EXPECT_EQ(hasOther, mayHave && std::string(mode) == "always")
            << target.name << " " << mode << "\n"
            << irFor(c);
      } else {
        EXPECT_TRUE(mayHave || !hasOther);
      }
    }
  }
}

/// The result is what its types say, to the coarsest rounding on the way,
/// whatever the order of products.
TEST_P(Reassociate, MixedTypes) {
  std::mt19937 random(11);
  const std::vector<Target> &targets = allTargets();
  size_t number = 0;
  for (const MixedTypes &types : mixedTypes) {
    Chain c = randomChain(GetParam(), random);
    c.operand = types.operand;
    c.right = types.right;
    c.value = types.value;
    c.sum = types.sum;
    c.out = types.out;
    const Target &target = targets[number++ % targets.size()];
    if (!whyNotHere(target).empty())
      continue;
    for (const char *mode : {"always", "never"}) {
      bool hasOther = false;
      EXPECT_EQ(check(target, c, mode, hasOther), "")
          << target.name << " " << mode;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Weights, Reassociate, testing::ValuesIn(allWeights()),
                         [](const auto &info) { return info.param.name; });

Chain longChain(const std::string &weights) {
  Chain c;
  c.weights = weightsOf(weights);
  c.n = c.p = 300;
  c.m = 16;
  c.dv = 24;
  c.batch = {2};
  return c;
}

TEST(ReassociateAuto, TakesWhatCostsLess) {
  const Target &target = allTargets()[1];
  for (const char *weights : {"none", "scaled", "causal", "token_decay"}) {
    bool hasOther = false;
    Chain c = longChain(weights);
    EXPECT_EQ(check(target, c, "auto", hasOther), "");
    EXPECT_TRUE(hasOther) << weights;
  }
  bool hasOther = true;
  Chain c = longChain("none");
  c.n = c.p = 5;
  EXPECT_EQ(check(target, c, "auto", hasOther), "");
  EXPECT_FALSE(hasOther);
}

/// Sums over many keys leave the range of f16 where the scores do not.
TEST(ReassociateAuto, SumsOverKeysDoNotOverflow) {
  Chain c = longChain("none");
  c.operand = c.sum = DType::f16;
  c.batch = {};
  std::string ir = irFor(c);
  for (const char *mode : {"always", "never"}) {
    std::shared_ptr<Program> program = compileWith(allTargets()[1], ir, mode);
    ASSERT_TRUE(program);
    Operands operands(c);
    auto fill = [&](size_t which, double number) {
      std::vector<double> values(size_t(operands.tensors[which]->numElements()),
                                 number);
      operands.tensors[which] =
          makeTensor(DType::f16, operands.tensors[which]->view().sizes, values);
    };
    // 300 * 64 * 64 > 65504, and 16 * 2^-14 * 64 * 300 * 64 is not too large.
    fill(0, std::ldexp(1.0, -14));
    fill(1, 64);
    fill(2, 64);
    Result<std::vector<Tensor>> got =
        callPoisoned(*program, "main", operands.inputs());
    ASSERT_TRUE(got.ok()) << got.error().message;
    for (double value : toDoubles((*got)[0].view()))
      ASSERT_NEAR(value, 1200.0, 1e-2) << mode;
  }
}

/// What the tests above would say if the device did something else.
TEST(ReassociateMustFail, OnAnotherMaskDecayOrOperand) {
  const Target &target = allTargets()[1];
  auto wrong = [&](const std::string &made, const std::string &defined) {
    bool hasOther = false;
    Chain c = longChain(made);
    return check(target, c, "always", hasOther, [&](Operands &operands) {
      operands.c.weights = weightsOf(defined);
    });
  };
  EXPECT_EQ(wrong("causal", "causal"), "");
  EXPECT_NE(wrong("causal", "strict"), "");
  EXPECT_NE(wrong("causal", "none"), "");
  EXPECT_NE(wrong("power", "slope"), "");
  EXPECT_NE(wrong("token_decay", "causal"), "");
  EXPECT_NE(wrong("none", "scaled"), "");
  bool hasOther = false;
  EXPECT_NE(check(target, longChain("causal"), "always", hasOther,
                  [](Operands &operands) { operands.b.front() += 1; }),
            "");
}

} // namespace
