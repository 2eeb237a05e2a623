// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor that owns its memory: row major, without gaps, on a 64-byte line.

#ifndef ATTN_RUNTIME_TENSOR_H
#define ATTN_RUNTIME_TENSOR_H

#include "runtime/TensorView.h"

#include <memory>

namespace attn {

class ATTN_API Tensor {
public:
  /// An f32 tensor of shape 0, without memory.
  Tensor() = default;

  /// Memory for the shape, not initialised. Negative sizes, sizes beyond the
  /// address space and failed allocations are errors.
  static Result<Tensor> empty(DType dtype, std::vector<int64_t> sizes);

  /// A row-major copy of a view with any strides.
  static Result<Tensor> copyOf(const TensorView &view);

  DType dtype() const { return shape.dtype; }
  const std::vector<int64_t> &sizes() const { return shape.sizes; }
  int64_t numElements() const { return count; }
  size_t numBytes() const { return count * byteSize(shape.dtype); }

  void *raw() { return shape.data; }
  const void *raw() const { return shape.data; }

  /// The elements; T must have the size of an element of dtype().
  template <class T> T *data() {
    assert(sizeof(T) == byteSize(shape.dtype));
    return static_cast<T *>(shape.data);
  }
  template <class T> const T *data() const {
    assert(sizeof(T) == byteSize(shape.dtype));
    return static_cast<const T *>(shape.data);
  }

  /// A view that is valid while this tensor lives and is not moved into.
  const TensorView &view() const { return shape; }

  /// Element `index` in row-major order as a double; the index must be in
  /// range.
  double at(int64_t index) const;
  void set(int64_t index, double value);

private:
  struct Free {
    void operator()(void *memory) const;
  };
  std::unique_ptr<void, Free> memory;
  TensorView shape{nullptr, DType::f32, {0}, {1}};
  int64_t count = 0;
};

/// Copies elements between views of one dtype and equal sizes, whatever their
/// strides. The caller has checked both.
ATTN_API void copyElements(const TensorView &from, const TensorView &to);

} // namespace attn

#endif // ATTN_RUNTIME_TENSOR_H
