// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of decoding of attn.linear: one token and a state, all sizes known,
// which has loops of its own that write the final state in one pass. Sizes of 1
// and of several heads, columns that are whole vectors and that are not.

#include "test/e2e/LinearHarness.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>

using namespace attn;
using namespace attn::test;
using oracle::Divisor;

namespace {

/// One token with a state; `set` adds the clauses.
LinearVariant stepOf(const std::string &name, void (*set)(LinearVariant &)) {
  LinearVariant variant;
  variant.name = name;
  variant.state = variant.staticSizes = true;
  set(variant);
  return variant;
}

const std::vector<LinearVariant> &steps() {
  static const std::vector<LinearVariant> all = {
      stepOf("step", [](LinearVariant &) {}),
      stepOf("step_decay_head",
             [](LinearVariant &v) { v.decay = Decay::Head; }),
      stepOf("step_decay_vector",
             [](LinearVariant &v) { v.decay = Decay::Vector; }),
      stepOf("step_bonus",
             [](LinearVariant &v) {
               v.decay = Decay::Vector;
               v.bonus = true;
             }),
      stepOf("step_delta",
             [](LinearVariant &v) {
               v.decay = Decay::Token;
               v.beta = true;
             }),
      stepOf("step_transition", [](LinearVariant &v) { v.transition = true; }),
      stepOf("step_normalize",
             [](LinearVariant &v) {
               v.features = "#attn.elu1";
               v.queryFeature.kind = v.keyFeature.kind =
                   oracle::FeatureKind::Elu1;
               v.divisor = Divisor::Token;
             }),
      stepOf("step_without_state",
             [](LinearVariant &v) {
               v.state = false;
               v.divisor = Divisor::Token;
               v.features = "#attn.elu1";
               v.queryFeature.kind = v.keyFeature.kind =
                   oracle::FeatureKind::Elu1;
             }),
  };
  return all;
}

struct Cell {
  DType dtype;
  LinearVariant variant;
  Target target;
};
void PrintTo(const Cell &cell, std::ostream *os) { *os << cell.variant.name; }
std::string nameOf(const testing::TestParamInfo<Cell> &info) {
  return std::string(name(info.param.dtype)) + "_" + info.param.variant.name +
         "_" + info.param.target.name;
}

std::vector<Cell> cells() {
  std::vector<Cell> all;
  for (DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64})
    for (const LinearVariant &variant : steps())
      for (const Target &target : targetsFor(dtype))
        all.push_back({dtype, variant, target});
  return all;
}

class LinearStep : public testing::TestWithParam<Cell> {};

TEST_P(LinearStep, MatchesTheOracle) {
  const Cell &cell = GetParam();
  ATTN_SKIP_UNLESS_HERE(cell.target);
  for (const LinearSizes &sizes : {LinearSizes{1, 1, 1, 1, 1, 1, 1, 1},
                                   {1, 1, 1, 1, 1, 1, 24, 16},
                                   {1, 4, 2, 2, 1, 1, 7, 64},
                                   {2, 2, 2, 2, 1, 1, 9, 96},
                                   {2, 2, 1, 1, 1, 1, 16, 20}}) {
    LinearProblem p = makeLinearProblem(cell.variant, cell.dtype, sizes);
    std::vector<Tensor> got = run(cell.target, cell.variant, p);
    EXPECT_EQ(checkLinear(cell.variant, expectedOf(p), cell.dtype, got), "")
        << sizes << "\n"
        << linearIr(cell.variant, cell.dtype, sizes);
  }
}

class LinearStepTargets : public testing::TestWithParam<Target> {
protected:
  void SetUp() override { ATTN_SKIP_UNLESS_HERE(GetParam()); }
};

/// With k = 1 and v = 3 on a state of (5, 2), sum first: q = 2 reads
/// 2 (5 + 3) / (2 (2 + 1)).
TEST_P(LinearStepTargets, TheNormaliserOfOneHeadIsWritten) {
  LinearVariant variant =
      stepOf("", [](LinearVariant &v) { v.divisor = Divisor::Token; });
  std::string ir = linearIr(variant, DType::f32, {1, 1, 1, 1, 1, 1, 1, 1});
  Arguments in;
  in.add(DType::f32, {1, 1, 1, 1}, {2});
  in.add(DType::f32, {1, 1, 1, 1}, {1});
  in.add(DType::f32, {1, 1, 1, 1}, {3});
  in.add(DType::f32, {1, 1, 1, 2}, {5, 2});
  std::vector<Tensor> got = run(GetParam(), ir, in.values);
  ASSERT_EQ(got.size(), 2u);
  EXPECT_NEAR(toDoubles(got[0].view())[0], 8.0 / 3.0, 1e-6);
  EXPECT_EQ(toDoubles(got[1].view()), (std::vector<double>{8, 3}));
}

/// A state beyond the caches is written past them where it lies on whole lines;
/// a final state whose rows have a gap of one element does not.
TEST_P(LinearStepTargets, LargeStatesGoIntoAnyMemory) {
  const LinearVariant &variant = steps()[1];
  const LinearSizes sizes = {1, 33, 33, 33, 1, 1, 512, 512};
  LinearProblem p = makeLinearProblem(variant, DType::f32, sizes);
  oracle::LinearResult want = expectedOf(p);
  EXPECT_EQ(checkLinear(variant, want, DType::f32, run(GetParam(), variant, p)),
            "");
  std::shared_ptr<Program> program =
      compile(GetParam(), linearIr(variant, DType::f32, sizes));
  ASSERT_TRUE(program);
  std::shared_ptr<Tensor> o = makeTensor(DType::f32, {1, 33, 1, 512}, {});
  std::shared_ptr<Tensor> memory =
      makeTensor(DType::f32, {1, 33, 512, 513},
                 std::vector<double>(33 * 512 * 513, 12345.0));
  TensorView state = memory->view();
  state.strides = contiguousStrides(state.sizes);
  state.sizes.back() = 512;
  Arguments arguments = argumentsOf(variant, p);
  Result<void> done =
      program->callInto("main", arguments.values, {o->view(), state});
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(oracle::checkOutput(toDoubles(o->view()), want.o.data,
                                oracle::f32Tolerance),
            "");
  EXPECT_EQ(oracle::checkOutput(toDoubles(state), want.state.data,
                                oracle::f32Tolerance),
            "");
  std::vector<double> all = toDoubles(memory->view());
  for (size_t n = 512; n < all.size(); n += 513)
    ASSERT_EQ(all[n], 12345.0) << "a gap was written";
}
} // namespace

INSTANTIATE_TEST_SUITE_P(All, LinearStep, testing::ValuesIn(cells()), nameOf);
INSTANTIATE_TEST_SUITE_P(Targets, LinearStepTargets,
                         testing::ValuesIn(targetsFor(DType::f32)),
                         [](const testing::TestParamInfo<Target> &info) {
                           return info.param.name;
                         });

TEST(LinearStepMustFail, OnAStateThatDoesNotDecay) {
  const LinearVariant &variant = steps()[1];
  LinearProblem p =
      makeLinearProblem(variant, DType::f32, {1, 2, 1, 1, 1, 1, 7, 64});
  std::vector<Tensor> got = run(targetsFor(DType::f32).back(), variant, p);
  p.linear.headDecay = {0};
  EXPECT_NE(checkLinear(variant, expectedOf(p), DType::f32, got), "");
}
