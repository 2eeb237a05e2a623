// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The 16-bit floats are checked over all their values, the rounding at every
// midpoint between neighbours.

#include "runtime/DType.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace attn;

namespace {

uint16_t encode(DType dtype, double value) {
  uint16_t bits;
  storeFromDouble(dtype, value, &bits);
  return bits;
}

double decode(DType dtype, uint16_t bits) { return loadAsDouble(dtype, &bits); }

template <class T> T stored(DType dtype, double value) {
  T result;
  storeFromDouble(dtype, value, &result);
  return result;
}

class Float16 : public testing::TestWithParam<DType> {
protected:
  uint16_t infinity() const {
    return GetParam() == DType::f16 ? 0x7c00 : 0x7f80;
  }
};

TEST_P(Float16, every_number_survives_a_round_trip) {
  for (int bits = 0; bits <= infinity(); ++bits) {
    ASSERT_EQ(encode(GetParam(), decode(GetParam(), bits)), bits);
    uint16_t negative = bits | 0x8000;
    ASSERT_EQ(encode(GetParam(), decode(GetParam(), negative)), negative);
  }
}

TEST_P(Float16, midpoints_go_to_the_even_neighbour) {
  for (int bits = 0; bits + 1 < infinity(); ++bits) {
    double low = decode(GetParam(), bits), high = decode(GetParam(), bits + 1);
    ASSERT_LT(low, high);
    double middle = low + (high - low) / 2;
    ASSERT_EQ(encode(GetParam(), middle), bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(encode(GetParam(), std::nextafter(middle, 0)), bits);
    ASSERT_EQ(encode(GetParam(), std::nextafter(middle, high)), bits + 1);
  }
}

TEST_P(Float16, numbers_beyond_the_largest_become_infinite) {
  double largest = decode(GetParam(), infinity() - 1);
  double step = largest - decode(GetParam(), infinity() - 2);
  EXPECT_EQ(encode(GetParam(), largest + step / 2), infinity());
  EXPECT_EQ(encode(GetParam(), std::nextafter(largest + step / 2, 0)),
            infinity() - 1);
  EXPECT_EQ(encode(GetParam(), -1e300), infinity() | 0x8000);
  EXPECT_EQ(encode(GetParam(), 1e-300), 0);
}

TEST_P(Float16, nan_stays_nan) {
  double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(decode(GetParam(), encode(GetParam(), nan))));
  EXPECT_TRUE(std::isnan(decode(GetParam(), infinity() + 1)));
}

INSTANTIATE_TEST_SUITE_P(DType, Float16,
                         testing::Values(DType::f16, DType::bf16));

TEST(DType, known_patterns) {
  EXPECT_EQ(encode(DType::f16, 1.0), 0x3c00);
  EXPECT_EQ(encode(DType::f16, -65504.0), 0xfbff);
  EXPECT_EQ(encode(DType::f16, std::ldexp(1.0, -24)), 0x0001);
  EXPECT_EQ(encode(DType::bf16, 1.0), 0x3f80);
  EXPECT_EQ(encode(DType::bf16, -2.5), 0xc020);
}

TEST(DType, double_rounding_does_not_happen) {
  // Through f32 this would first become 1 + 2^-8 exactly, then round to 1.
  double value = 1 + std::ldexp(1.0, -8) + std::ldexp(1.0, -40);
  EXPECT_EQ(encode(DType::bf16, value), 0x3f81);
}

TEST(DType, integers_saturate) {
  EXPECT_EQ(stored<int8_t>(DType::i8, 200), 127);
  EXPECT_EQ(stored<int8_t>(DType::i8, -200), -128);
  EXPECT_EQ(stored<uint8_t>(DType::u8, -1), 0);
  EXPECT_EQ(stored<int32_t>(DType::i32, 1e12),
            std::numeric_limits<int32_t>::max());
  EXPECT_EQ(stored<int64_t>(DType::i64, 1e30),
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(stored<int64_t>(DType::i64, NAN), 0);
  EXPECT_EQ(stored<uint8_t>(DType::i1, -0.5), 1);
  EXPECT_EQ(stored<uint8_t>(DType::i1, 0), 0);
}

TEST(DType, names_are_inverse_to_parsing) {
  for (DType dtype :
       {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i1, DType::i8,
        DType::u8, DType::i32, DType::i64}) {
    Result<DType> parsed = parseDType(name(dtype));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, dtype);
  }
  Result<DType> unknown = parseDType("f31");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().message,
            "element type: expected one of f64, f32, f16, bf16, i1, i8, u8, "
            "i32, i64, got 'f31'");
}

} // namespace
