// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A strided view of memory that somebody else owns, and the arithmetic on
// sizes and strides that does not trust its operands.

#ifndef ATTN_RUNTIME_TENSORVIEW_H
#define ATTN_RUNTIME_TENSORVIEW_H

#include "runtime/DType.h"
#include "runtime/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attn {

/// Memory with a shape. `strides` count elements; empty strides mean row
/// major without gaps. Inputs are never written through `data`.
struct TensorView {
  void *data = nullptr;
  DType dtype = DType::f32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};

/// Row-major strides without gaps. Sizes of 0 count as 1, so that the result
/// never overflows where numElements() does not.
ATTN_API std::vector<int64_t>
contiguousStrides(const std::vector<int64_t> &sizes);

/// Product of the sizes; nothing when a size is negative or the product (with
/// 0 counted as 1) does not fit into 63 bits.
ATTN_API std::optional<int64_t> numElements(const std::vector<int64_t> &sizes);

/// True where elements lie in row-major order without gaps; dimensions of
/// size 1 may carry any stride.
ATTN_API bool isContiguous(const TensorView &view);

/// Byte offsets of the first byte and of one past the last byte that the view
/// touches, relative to `data`.
struct ByteRange {
  int64_t begin = 0;
  int64_t end = 0;
};

/// Nothing when the shape is malformed (negative size, strides of another
/// rank) or reaches beyond 63 bits. An empty view touches nothing.
ATTN_API std::optional<ByteRange> touchedBytes(const TensorView &view);

/// "4x8x128" or "" for rank 0, the dimension -1 as '?'.
ATTN_API std::string formatSizes(const std::vector<int64_t> &sizes);

/// "4x8x128xf32", or "f32" for rank 0.
ATTN_API std::string formatType(DType dtype, const std::vector<int64_t> &sizes);

} // namespace attn

#endif // ATTN_RUNTIME_TENSORVIEW_H
