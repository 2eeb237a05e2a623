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
  for (auto [dtype, bound] : {std::pair(DType::f64, 1e-13),
                              {DType::f32, 1e-5},
                              {DType::f16, 1e-3},
                              {DType::bf16, 8e-3}}) {
    result.dtype = dtype;
    EXPECT_EQ(defaultTolerance(result).bound, bound);
    EXPECT_EQ(defaultTolerance(result).kind, Tolerance::Kind::relativeRms);
  }
  result.isLogSumExp = true;
  for (auto [dtype, rounding, bound] :
       {std::tuple(DType::f64, DType::f64, 1e-13),
        {DType::f32, DType::f32, 1e-5},
        {DType::f32, DType::bf16, 4e-3},
        {DType::f32, DType::f16, 4e-3}}) {
    result.dtype = dtype;
    result.rounding = rounding;
    EXPECT_EQ(defaultTolerance(result).bound, bound);
    EXPECT_EQ(defaultTolerance(result).kind, Tolerance::Kind::maxAbs);
  }
  result = {};
  result.dtype = DType::i32;
  EXPECT_EQ(defaultTolerance(result).bound, 0);
}

/// The coarser of the result's type and of what it was computed from.
TEST(Difference, tolerances_by_the_coarsest_rounding_on_the_way) {
  Parameter result;
  result.dtype = DType::f64;
  for (auto [rounding, bound] : {std::pair(DType::f64, 1e-13),
                                 {DType::f32, 1e-5},
                                 {DType::f16, 1e-3},
                                 {DType::bf16, 8e-3}}) {
    result.rounding = rounding;
    EXPECT_EQ(defaultTolerance(result).bound, bound);
  }
  result.dtype = DType::bf16;
  result.rounding = DType::f32;
  EXPECT_EQ(defaultTolerance(result).bound, 8e-3);
}

TEST(Difference, what_is_not_finite_is_counted) {
  Tensor got = tensorOf({1, NAN, INFINITY, 3, NAN});
  Tensor expected = tensorOf({1, NAN, INFINITY, NAN, 2});
  Difference d = compare(got, expected);
  EXPECT_EQ(d.finite, 1);
  EXPECT_EQ(d.sameKind, 2);
  EXPECT_EQ(d.kindMismatches, 2);
  EXPECT_EQ(formatErrors(d),
            "2 of 5 elements differ in NaN or infinity, 2 of 5 elements not "
            "finite in both, max abs error 0, relative rms 0");
  EXPECT_EQ(formatErrors(compare(tensorOf({1.5}), tensorOf({1})), false),
            "max abs error 0.5");
  EXPECT_EQ(formatErrors(compare(tensorOf({NAN}), tensorOf({NAN}))),
            "1 of 1 elements not finite in both, none finite in both");
  EXPECT_EQ(formatErrors(compare(tensorOf({NAN, 1}), tensorOf({1, NAN}))),
            "2 of 2 elements differ in NaN or infinity, none finite in both");
  EXPECT_EQ(formatErrors(compare(tensorOf({}), tensorOf({}))),
            "max abs error 0, relative rms 0");
}

TEST(Difference, ranges_are_of_what_is_finite) {
  EXPECT_EQ(formatRange(tensorOf({1, -2, 4})), "min -2, max 4, mean 1");
  EXPECT_EQ(formatRange(tensorOf({NAN, 1, 3, -INFINITY})),
            "min 1, max 3, mean 2, 1 NaN, 1 infinite");
  EXPECT_EQ(formatRange(tensorOf({NAN, NAN})), "2 NaN");
  EXPECT_EQ(formatRange(tensorOf({INFINITY, -INFINITY})), "2 infinite");
  EXPECT_EQ(formatRange(tensorOf({})), "");
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
