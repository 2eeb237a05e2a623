// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Difference.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace attn;

namespace {

Tensor tensorOf(std::vector<double> values, DType dtype = DType::f32,
                std::vector<int64_t> sizes = {}) {
  if (sizes.empty())
    sizes = {static_cast<int64_t>(values.size())};
  Result<Tensor> tensor = Tensor::empty(dtype, sizes);
  EXPECT_TRUE(tensor.ok());
  for (size_t i = 0; i < values.size(); ++i)
    tensor->set(i, values[i]);
  return std::move(*tensor);
}

TEST(Difference, finite_values) {
  Difference d = compare(tensorOf({3, 4, 1}), tensorOf({3, 4.5, 0}), 0.6, 0);
  EXPECT_EQ(d.maxAbs, 1);
  EXPECT_EQ(d.worst, 2);
  EXPECT_EQ(d.outside, 1);
  EXPECT_DOUBLE_EQ(d.relativeRms, std::sqrt(1.25 / (9 + 20.25)));
}

TEST(Difference, the_relative_part_grows_with_the_value) {
  EXPECT_EQ(compare(tensorOf({101, 1.5}), tensorOf({100, 1}), 0, 0.02).outside,
            1);
}

TEST(Difference, equal_infinities_and_nan_agree) {
  Difference d = compare(tensorOf({NAN, INFINITY, -INFINITY, 1}),
                         tensorOf({NAN, INFINITY, -INFINITY, 1}));
  EXPECT_EQ(d.kindMismatches, 0);
  EXPECT_EQ(d.maxAbs, 0);
  EXPECT_TRUE(isWithin(d, {}));
}

TEST(Difference, other_kinds_are_mismatches) {
  for (auto [got, expected] : {std::pair(NAN, 1.0f),
                               {1.0f, NAN},
                               {INFINITY, -INFINITY},
                               {INFINITY, 1.0f},
                               {NAN, INFINITY}}) {
    Difference d = compare(tensorOf({0, got}), tensorOf({0, expected}));
    EXPECT_EQ(d.kindMismatches, 1);
    EXPECT_EQ(d.outside, 1);
    EXPECT_EQ(d.worst, 1);
    EXPECT_FALSE(isWithin(d, {Tolerance::Kind::maxAbs, 1e9}));
  }
}

TEST(Difference, zeros_are_measured_absolutely) {
  Difference d = compare(tensorOf({2e-3, 0}), tensorOf({0, 0}));
  EXPECT_NEAR(d.relativeRms, 2e-3 / std::sqrt(2.0), 1e-9);
  EXPECT_FALSE(isWithin(d, {Tolerance::Kind::relativeRms, 1e-5}));
}

TEST(Difference, a_sum_that_overflows_is_not_within) {
  Difference d =
      compare(tensorOf({1e200}, DType::f64), tensorOf({-1e200}, DType::f64));
  EXPECT_FALSE(isWithin(d, {Tolerance::Kind::relativeRms, 1}));
}

TEST(Difference, empty_tensors_agree) {
  Difference d = compare(tensorOf({}), tensorOf({}));
  EXPECT_EQ(d.worst, -1);
  EXPECT_TRUE(isWithin(d, {}));
}

TEST(Difference, tolerances_by_type) {
  Parameter result;
  result.dtype = DType::bf16;
  EXPECT_EQ(defaultTolerance(result, DType::bf16).bound, 8e-3);
  result.dtype = DType::f32;
  EXPECT_EQ(defaultTolerance(result, DType::f32).bound, 1e-5);
  result.isLogSumExp = true;
  EXPECT_EQ(defaultTolerance(result, DType::f32).kind, Tolerance::Kind::maxAbs);
  EXPECT_EQ(defaultTolerance(result, DType::f32).bound, 1e-5);
  EXPECT_EQ(defaultTolerance(result, DType::bf16).bound, 4e-3);
  EXPECT_EQ(defaultTolerance(result, DType::f16).bound, 4e-3);
  result.dtype = DType::f64;
  EXPECT_EQ(defaultTolerance(result, DType::f64).bound, 1e-13);
  // The LSE of f64 beside operands of other types.
  EXPECT_EQ(defaultTolerance(result, DType::f16).bound, 1e-13);
}

TEST(Difference, elements_as_text) {
  EXPECT_EQ(
      formatElements(tensorOf({1, -2, 0.1f, INFINITY}, DType::f32, {2, 2})),
      "[[1, -2], [0.100000001, inf]]");
  EXPECT_EQ(formatElements(tensorOf({1, 2, 3, 4}, DType::i64, {2, 1, 2})),
            "[[[1, 2]], [[3, 4]]]");
  EXPECT_EQ(formatElements(tensorOf({}, DType::f32, {2, 0})), "[]");
  Result<Tensor> scalar = Tensor::empty(DType::f64, {});
  ASSERT_TRUE(scalar.ok());
  scalar->set(0, 0.5);
  EXPECT_EQ(formatElements(*scalar), "0.5");
}

} // namespace
