// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How attn.linear is computed changes nothing but rounding: all pairs at once,
// chunks of any size, token by token, and segments of the sequence in parallel
// give the oracle's result and each other's.

#include "test/e2e/LinearHarness.h"
#include "gtest/gtest.h"

using namespace attn;
using namespace attn::test;

namespace {

struct Form {
  std::string name, form;
  int64_t chunk = 0;
};

const std::vector<Form> &forms() {
  static const std::vector<Form> all = {
      {"quadratic", "quadratic"},   {"recurrent", "recurrent"},
      {"chunk_1", "chunk", 1},      {"chunk_7", "chunk", 7},
      {"chunk_16", "chunk", 16},    {"chunk_33", "chunk", 33},
      {"chunk_64", "chunk", 64},    {"chunk_128", "chunk", 128},
      {"chunk_1000", "chunk", 1000}};
  return all;
}

Target inForm(Target target, const Form &form) {
  target.name += "_" + form.name;
  target.configure = [form](EngineOptions &options) {
    options.linearForm = form.form;
    options.linearChunk = form.chunk;
  };
  return target;
}

struct Cell {
  DType dtype;
  std::string variant;
  Target target;
};

void PrintTo(const Cell &cell, std::ostream *os) { *os << cell.variant; }
std::string nameOf(const testing::TestParamInfo<Cell> &info) {
  return std::string(name(info.param.dtype)) + "_" + info.param.variant + "_" +
         info.param.target.name;
}

const LinearSizes kSizes[] = {{2, 6, 3, 3, 129, 129, 24, 40},
                              {1, 2, 1, 1, 70, 70, 33, 17}};

class LinearForms : public testing::TestWithParam<Cell> {};

/// Empty if `got` is what `want` is, up to the rounding of another order.
std::string compareForms(const LinearVariant &variant,
                         const std::vector<Tensor> &want,
                         const std::vector<Tensor> &got) {
  // What a token rounds goes through the transitions of all later ones.
  double bound = variant.beta || variant.transition ? 1e-4 : 1e-5;
  for (size_t n = 0; n < want.size(); ++n) {
    std::string error =
        oracle::checkOutput(toDoubles(got[n].view()), toDoubles(want[n].view()),
                            {bound, 5 * bound, bound});
    if (!error.empty())
      return "result " + std::to_string(n) + ": " + error;
  }
  return {};
}

TEST_P(LinearForms, Agree) {
  const Cell &cell = GetParam();
  ATTN_SKIP_UNLESS_HERE(cell.target);
  const LinearVariant &variant = linearVariantNamed(cell.variant);
  for (const LinearSizes &sizes : kSizes) {
    LinearProblem p = makeLinearProblem(variant, cell.dtype, sizes);
    oracle::LinearResult want = expectedOf(p);
    std::vector<Tensor> first;
    for (const Form &form : forms()) {
      std::vector<Tensor> got = run(inForm(cell.target, form), variant, p);
      if (got.empty())
        return;
      EXPECT_EQ(checkLinear(variant, want, cell.dtype, got), "")
          << form.name << " " << sizes;
      if (first.empty())
        first = std::move(got);
      else if (cell.dtype == DType::f32)
        EXPECT_EQ(compareForms(variant, first, got), "")
            << form.name << " " << sizes;
    }
  }
}

std::vector<Cell> cells() {
  std::vector<Cell> all;
  auto add = [&](DType dtype, std::initializer_list<const char *> variants) {
    for (const char *variant : variants)
      for (const Target &target : targetsFor(dtype))
        if (target.device == "cpu")
          all.push_back({dtype, variant, target});
  };
  add(DType::f32, {"plain",
                   "decay_head_state_lengths",
                   "decay_token",
                   "decay_vector_state_lengths",
                   "gated_delta_state_lengths",
                   "kda",
                   "rwkv6",
                   "rwkv7",
                   "transition_bonus",
                   "delta_bonus",
                   "elu1_token_decay_state_lengths",
                   "softmax_by_feature",
                   "delta_by_feature",
                   "bonus_token",
                   "bonus_by_feature",
                   "delta_bonus_by_feature",
                   "packed_state_lengths",
                   "packed_delta",
                   "packed_rwkv7",
                   "packed_elu1_token"});
  add(DType::bf16, {"decay_vector_state_lengths", "gated_delta"});
  add(DType::f64, {"decay_token", "rwkv7"});
  return all;
}

class LinearSegments : public testing::TestWithParam<Cell> {};

TEST_P(LinearSegments, MatchTheOracle) {
  const Cell &cell = GetParam();
  ATTN_SKIP_UNLESS_HERE(cell.target);
  LinearVariant variant = linearVariantNamed(cell.variant);
  // 16 segments of 129 tokens leave some with none.
  for (int64_t segments : {1, 2, 5, 16})
    for (const Form &form : {forms()[1], forms()[3]}) {
      variant.segments = segments;
      // 14 columns of values stand beside the one of decays in a tile.
      for (const LinearSizes &sizes :
           {kSizes[0], kSizes[1], {1, 2, 1, 1, 129, 129, 24, 14}}) {
        LinearProblem p = makeLinearProblem(variant, cell.dtype, sizes);
        std::vector<Tensor> got = run(inForm(cell.target, form), variant, p);
        if (got.empty())
          return;
        EXPECT_EQ(checkLinear(variant, expectedOf(p), cell.dtype, got), "")
            << segments << " segments, " << form.name << " " << sizes;
      }
    }
}

std::vector<Cell> segmentCells() {
  std::vector<Cell> all;
  for (const char *variant :
       {"plain", "decay_head_state_lengths", "decay_vector_state_lengths",
        "rwkv6", "elu1_token_decay_state_lengths", "softmax_by_feature"})
    for (const Target &target : targetsFor(DType::f32))
      if (target.device == "cpu")
        all.push_back({DType::f32, variant, target});
  return all;
}

} // namespace

INSTANTIATE_TEST_SUITE_P(Segments, LinearSegments,
                         testing::ValuesIn(segmentCells()), nameOf);
INSTANTIATE_TEST_SUITE_P(Forms, LinearForms, testing::ValuesIn(cells()),
                         nameOf);

TEST(LinearFormsMustFail, OnADecayThatOneFormLacks) {
  const LinearVariant &variant = linearVariantNamed("decay_token");
  Target target = targetsFor(DType::f32).back();
  LinearProblem p = makeLinearProblem(variant, DType::f32, kSizes[0]);
  std::vector<Tensor> first = run(inForm(target, forms()[0]), variant, p);
  for (double &g : p.linear.decay.data)
    g *= 0.99;
  std::vector<Tensor> other = run(inForm(target, forms()[1]), variant, p);
  EXPECT_NE(compareForms(variant, first, other), "");
}
