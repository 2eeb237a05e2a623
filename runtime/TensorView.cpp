// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Overflow-checked arithmetic on sizes and strides.

#include "runtime/TensorView.h"

#include <algorithm>

namespace attn {

std::vector<int64_t> contiguousStrides(const std::vector<int64_t> &sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    if (__builtin_mul_overflow(stride, std::max<int64_t>(sizes[i], 1), &stride))
      stride = 0;
  }
  return strides;
}

std::optional<int64_t> numElements(const std::vector<int64_t> &sizes) {
  int64_t product = 1;
  bool isEmpty = false;
  for (int64_t size : sizes) {
    if (size < 0)
      return std::nullopt;
    isEmpty |= size == 0;
    if (__builtin_mul_overflow(product, std::max<int64_t>(size, 1), &product))
      return std::nullopt;
  }
  return isEmpty ? 0 : product;
}

bool isContiguous(const TensorView &view) {
  std::optional<int64_t> count = numElements(view.sizes);
  if (!count)
    return false;
  if (view.strides.empty() || *count == 0)
    return true;
  int64_t expected = 1;
  for (size_t i = view.sizes.size(); i-- > 0;) {
    if (view.sizes[i] != 1 && view.strides[i] != expected)
      return false;
    expected *= view.sizes[i];
  }
  return true;
}

std::optional<ByteRange> touchedBytes(const TensorView &view) {
  std::optional<int64_t> count = numElements(view.sizes);
  if (!count)
    return std::nullopt;
  if (!view.strides.empty() && view.strides.size() != view.sizes.size())
    return std::nullopt;
  if (*count == 0)
    return ByteRange{};
  const std::vector<int64_t> strides =
      view.strides.empty() ? contiguousStrides(view.sizes) : view.strides;
  int64_t first = 0, last = 0;
  for (size_t i = 0; i < view.sizes.size(); ++i) {
    int64_t reach;
    if (__builtin_mul_overflow(view.sizes[i] - 1, strides[i], &reach))
      return std::nullopt;
    int64_t &side = reach < 0 ? first : last;
    if (__builtin_add_overflow(side, reach, &side))
      return std::nullopt;
  }
  int64_t bytes = byteSize(view.dtype);
  ByteRange range;
  if (__builtin_mul_overflow(first, bytes, &range.begin) ||
      __builtin_add_overflow(last, 1, &last) ||
      __builtin_mul_overflow(last, bytes, &range.end))
    return std::nullopt;
  return range;
}

std::string formatSizes(const std::vector<int64_t> &sizes) {
  std::string text;
  for (int64_t size : sizes) {
    if (!text.empty())
      text += 'x';
    text += size == -1 ? "?" : std::to_string(size);
  }
  return text;
}

std::string formatType(DType dtype, const std::vector<int64_t> &sizes) {
  return sizes.empty() ? name(dtype) : formatSizes(sizes) + "x" + name(dtype);
}

} // namespace attn
