// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocation and strided copies.

#include "runtime/Tensor.h"

#include "runtime/PhysicalMemory.h"

#include <cstdlib>
#include <cstring>

namespace attn {

static constexpr size_t lineBytes = 64;

void Tensor::Free::operator()(void *memory) const { std::free(memory); }

Result<Tensor> Tensor::empty(DType dtype, std::vector<int64_t> sizes) {
  std::optional<int64_t> count = attn::numElements(sizes);
  int64_t bytes = 0;
  // Half of the address space is left free so that rounding up to whole lines
  // and end pointers can't wrap.
  if (!count ||
      __builtin_mul_overflow(*count, static_cast<int64_t>(byteSize(dtype)),
                             &bytes) ||
      bytes > INT64_MAX / 2)
    return Error{ErrorCode::outOfMemory,
                 "tensor of shape " + formatSizes(sizes) +
                     ": expected non-negative sizes within the address space"};
  size_t rounded = (static_cast<size_t>(bytes) / lineBytes + 1) * lineBytes;
  void *memory = fitsIntoMemory(rounded)
                     ? std::aligned_alloc(lineBytes, rounded)
                     : nullptr;
  if (!memory)
    return Error{ErrorCode::outOfMemory, "tensor " + formatType(dtype, sizes) +
                                             ": can't allocate " +
                                             std::to_string(bytes) + " bytes"};
  Tensor tensor;
  tensor.memory.reset(memory);
  tensor.shape = {memory, dtype, std::move(sizes), {}};
  tensor.shape.strides = contiguousStrides(tensor.shape.sizes);
  tensor.count = *count;
  return tensor;
}

Result<Tensor> Tensor::copyOf(const TensorView &view) {
  if (!touchedBytes(view))
    return Error{ErrorCode::invalidArgument,
                 "tensor of shape " + formatSizes(view.sizes) +
                     ": sizes and strides do not describe memory"};
  Result<Tensor> copy = empty(view.dtype, view.sizes);
  if (copy)
    copyElements(view, copy->view());
  return copy;
}

double Tensor::at(int64_t index) const {
  assert(index >= 0 && index < count);
  size_t bytes = byteSize(shape.dtype);
  return loadAsDouble(shape.dtype,
                      static_cast<const char *>(shape.data) + index * bytes);
}

void Tensor::set(int64_t index, double value) {
  assert(index >= 0 && index < count);
  size_t bytes = byteSize(shape.dtype);
  storeFromDouble(shape.dtype, value,
                  static_cast<char *>(shape.data) + index * bytes);
}

/// Copies dimension `dim` and everything inside it; strides in bytes.
static void copyDim(const std::vector<int64_t> &sizes, size_t dim,
                    const char *from, const std::vector<int64_t> &fromStrides,
                    char *to, const std::vector<int64_t> &toStrides,
                    size_t bytes) {
  if (dim == sizes.size()) {
    std::memcpy(to, from, bytes);
    return;
  }
  int64_t element = bytes;
  bool isInnermost = dim + 1 == sizes.size();
  if (isInnermost && fromStrides[dim] == element && toStrides[dim] == element) {
    std::memcpy(to, from, sizes[dim] * bytes);
    return;
  }
  for (int64_t i = 0; i < sizes[dim]; ++i)
    copyDim(sizes, dim + 1, from + i * fromStrides[dim], fromStrides,
            to + i * toStrides[dim], toStrides, bytes);
}

/// Strides of `view` in bytes; dimensions of size 1 get 0, so that whatever
/// they carry can't overflow.
static std::vector<int64_t> byteStrides(const TensorView &view) {
  std::vector<int64_t> strides =
      view.strides.empty() ? contiguousStrides(view.sizes) : view.strides;
  int64_t bytes = byteSize(view.dtype);
  for (size_t i = 0; i < strides.size(); ++i)
    strides[i] = view.sizes[i] == 1 ? 0 : strides[i] * bytes;
  return strides;
}

void copyElements(const TensorView &from, const TensorView &to) {
  if (attn::numElements(from.sizes).value_or(0) == 0)
    return;
  copyDim(from.sizes, 0, static_cast<const char *>(from.data),
          byteStrides(from), static_cast<char *>(to.data), byteStrides(to),
          byteSize(from.dtype));
}

} // namespace attn
