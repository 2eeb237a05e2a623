// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of element types, and exact conversion to and from double.

#include "runtime/DType.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace attn {

namespace {
struct Entry {
  DType dtype;
  const char *name;
  size_t bytes;
};

/// A binary float of 16 bits: sign, exponent, fraction.
struct Format16 {
  int fractionBits;
  int minExponent;
  uint16_t infinity;
};
} // namespace

static constexpr Entry table[] = {
    {DType::f64, "f64", 8},   {DType::f32, "f32", 4}, {DType::f16, "f16", 2},
    {DType::bf16, "bf16", 2}, {DType::i1, "i1", 1},   {DType::i8, "i8", 1},
    {DType::u8, "u8", 1},     {DType::i32, "i32", 4}, {DType::i64, "i64", 8},
};
static constexpr Format16 half = {10, -14, 0x7c00};
static constexpr Format16 brain = {7, -126, 0x7f80};

static const Entry &entry(DType dtype) {
  return table[static_cast<size_t>(dtype)];
}

size_t byteSize(DType dtype) { return entry(dtype).bytes; }

const char *name(DType dtype) { return entry(dtype).name; }

bool isFloat(DType dtype) {
  return dtype == DType::f64 || dtype == DType::f32 || dtype == DType::f16 ||
         dtype == DType::bf16;
}

Result<DType> parseDType(std::string_view text) {
  std::string known;
  for (const Entry &candidate : table) {
    if (text == candidate.name)
      return candidate.dtype;
    known += known.empty() ? "" : ", ";
    known += candidate.name;
  }
  return Error{ErrorCode::invalidArgument, "element type: expected one of " +
                                               known + ", got '" +
                                               std::string(text) + "'"};
}

static double decode(uint16_t bits, const Format16 &format) {
  double sign = bits & 0x8000 ? -1.0 : 1.0;
  int magnitude = bits & 0x7fff;
  int fractionMask = (1 << format.fractionBits) - 1;
  int exponent = magnitude >> format.fractionBits;
  int fraction = magnitude & fractionMask;
  if (magnitude >= format.infinity)
    return fraction ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0)
    return sign *
           std::ldexp(fraction, format.minExponent - format.fractionBits);
  return sign *
         std::ldexp(fraction + (1 << format.fractionBits),
                    exponent - 1 + format.minExponent - format.fractionBits);
}

/// Rounds once from the full double, to nearest even.
static uint16_t encode(double value, const Format16 &format) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double magnitude = std::fabs(value);
  if (std::isnan(value))
    return sign | format.infinity | (1 << (format.fractionBits - 1));
  if (magnitude == 0 || std::isinf(value))
    return sign | (magnitude == 0 ? 0 : format.infinity);
  int exponent = std::max(std::ilogb(magnitude), format.minExponent);
  // Beyond any 16-bit float; also keeps the shift below in range.
  if (exponent > 200)
    return sign | format.infinity;
  double units =
      std::nearbyint(std::ldexp(magnitude, format.fractionBits - exponent));
  // A subnormal has units < 2^fractionBits and no exponent to add; a carry
  // out of the fraction moves into the exponent, and from the largest number
  // into infinity, by itself.
  uint32_t bits = static_cast<uint32_t>(units);
  bits += static_cast<uint32_t>(exponent - format.minExponent)
          << format.fractionBits;
  return sign |
         static_cast<uint16_t>(std::min<uint32_t>(bits, format.infinity));
}

template <class T> static T load(const void *data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

template <class T> static void store(T value, void *data) {
  std::memcpy(data, &value, sizeof(T));
}

template <class T> static void storeInteger(double value, void *data) {
  constexpr T low = std::numeric_limits<T>::min();
  constexpr T high = std::numeric_limits<T>::max();
  T result = 0;
  // The upper bound as a double may round up to high + 1, hence >=.
  if (value >= static_cast<double>(high))
    result = high;
  else if (value <= static_cast<double>(low))
    result = low;
  else if (!std::isnan(value))
    result = static_cast<T>(value);
  store(result, data);
}

double loadAsDouble(DType dtype, const void *data) {
  switch (dtype) {
  case DType::f64:
    return load<double>(data);
  case DType::f32:
    return load<float>(data);
  case DType::f16:
    return decode(load<uint16_t>(data), half);
  case DType::bf16:
    return decode(load<uint16_t>(data), brain);
  case DType::i1:
    return load<uint8_t>(data) != 0;
  case DType::i8:
    return load<int8_t>(data);
  case DType::u8:
    return load<uint8_t>(data);
  case DType::i32:
    return load<int32_t>(data);
  case DType::i64:
    return static_cast<double>(load<int64_t>(data));
  }
  return 0;
}

void storeFromDouble(DType dtype, double value, void *data) {
  switch (dtype) {
  case DType::f64:
    return store(value, data);
  case DType::f32:
    return store(static_cast<float>(value), data);
  case DType::f16:
    return store(encode(value, half), data);
  case DType::bf16:
    return store(encode(value, brain), data);
  case DType::i1:
    return store<uint8_t>(value != 0, data);
  case DType::i8:
    return storeInteger<int8_t>(value, data);
  case DType::u8:
    return storeInteger<uint8_t>(value, data);
  case DType::i32:
    return storeInteger<int32_t>(value, data);
  case DType::i64:
    return storeInteger<int64_t>(value, data);
  }
}

} // namespace attn
