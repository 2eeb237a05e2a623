// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace attn;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

TEST(Tensor, memory_starts_on_a_line) {
  for (int64_t size : {0, 1, 3, 1000}) {
    Result<Tensor> tensor = Tensor::empty(DType::bf16, {size, 3});
    ASSERT_TRUE(tensor.ok());
    EXPECT_NE(tensor->raw(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->raw()) % 64, 0u);
    EXPECT_EQ(tensor->numElements(), size * 3);
    EXPECT_EQ(tensor->numBytes(), size_t(size * 6));
  }
}

TEST(Tensor, rank_zero_has_one_element) {
  Result<Tensor> tensor = Tensor::empty(DType::f32, {});
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->numElements(), 1);
}

TEST(Tensor, hostile_sizes_are_errors) {
  constexpr int64_t big = INT64_C(1) << 40;
  for (const std::vector<int64_t> &sizes : {std::vector<int64_t>{-1},
                                            {big, big},
                                            {big, big, 0},
                                            {INT64_MAX},
                                            {INT64_MAX, 2},
                                            {INT64_MIN}}) {
    Result<Tensor> tensor = Tensor::empty(DType::f32, sizes);
    ASSERT_FALSE(tensor.ok());
    EXPECT_EQ(tensor.error().code, ErrorCode::outOfMemory);
  }
}

TEST(Tensor, an_allocation_that_fails_is_an_error) {
  Result<Tensor> tensor = Tensor::empty(DType::f32, {INT64_C(1) << 55});
  ASSERT_FALSE(tensor.ok());
  EXPECT_THAT(tensor.error().message, HasSubstr("can't allocate"));
}

TEST(Tensor, copy_follows_strides) {
  int32_t data[] = {0, 1, 2, 3, 4, 5};
  // The transpose of a 2x3 matrix.
  Result<Tensor> copy = Tensor::copyOf({data, DType::i32, {3, 2}, {1, 3}});
  ASSERT_TRUE(copy.ok());
  EXPECT_THAT(
      std::vector<int32_t>(copy->data<int32_t>(), copy->data<int32_t>() + 6),
      ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST(Tensor, copy_follows_negative_and_zero_strides) {
  int32_t data[] = {0, 1, 2};
  Result<Tensor> copy = Tensor::copyOf({data + 2, DType::i32, {2, 3}, {0, -1}});
  ASSERT_TRUE(copy.ok());
  EXPECT_THAT(
      std::vector<int32_t>(copy->data<int32_t>(), copy->data<int32_t>() + 6),
      ElementsAre(2, 1, 0, 2, 1, 0));
}

TEST(Tensor, dimensions_of_size_one_may_carry_any_stride) {
  float data[] = {1, 2};
  TensorView view{data, DType::f32, {1, 2, 1}, {INT64_MAX, 1, INT64_MIN}};
  EXPECT_TRUE(isContiguous(view));
  Result<Tensor> copy = Tensor::copyOf(view);
  ASSERT_TRUE(copy.ok());
  EXPECT_EQ(copy->at(1), 2);
}

TEST(TensorView, touched_bytes) {
  TensorView view{nullptr, DType::f32, {2, 3}, {-10, 2}};
  std::optional<ByteRange> range = touchedBytes(view);
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->begin, -40);
  EXPECT_EQ(range->end, 20);
}

TEST(TensorView, an_empty_view_touches_nothing) {
  std::optional<ByteRange> range =
      touchedBytes({nullptr, DType::f32, {5, 0}, {1, 1}});
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->begin, range->end);
}

TEST(TensorView, reach_beyond_the_address_space_is_refused) {
  EXPECT_FALSE(touchedBytes({nullptr, DType::f32, {3}, {INT64_MAX / 2}}));
  EXPECT_FALSE(touchedBytes({nullptr, DType::f32, {3}, {INT64_MIN}}));
  EXPECT_FALSE(touchedBytes({nullptr, DType::f32, {3, 3}, {1}}));
  EXPECT_FALSE(touchedBytes({nullptr, DType::f32, {-3}, {1}}));
  EXPECT_FALSE(touchedBytes({nullptr, DType::f64, {2}, {INT64_MAX / 4}}));
}

TEST(TensorView, gaps_are_not_contiguous) {
  EXPECT_TRUE(isContiguous({nullptr, DType::f32, {2, 3}, {3, 1}}));
  EXPECT_FALSE(isContiguous({nullptr, DType::f32, {2, 3}, {4, 1}}));
  EXPECT_FALSE(isContiguous({nullptr, DType::f32, {2, 3}, {1, 2}}));
  EXPECT_TRUE(isContiguous({nullptr, DType::f32, {0, 3}, {7, 9}}));
}

TEST(TensorView, types_as_text) {
  EXPECT_EQ(formatType(DType::bf16, {4, -1, 64}), "4x?x64xbf16");
  EXPECT_EQ(formatType(DType::f32, {}), "f32");
}

} // namespace
