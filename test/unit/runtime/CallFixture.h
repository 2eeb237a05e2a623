// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function whose machine code is written here in C++, so that every check of
// a call is seen from both sides without a compiler.

#ifndef ATTN_TEST_UNIT_RUNTIME_CALLFIXTURE_H
#define ATTN_TEST_UNIT_RUNTIME_CALLFIXTURE_H

#include "runtime/Call.h"

#include <gtest/gtest.h>

namespace attn {

/// A memref descriptor of rank 2 as machine code sees it.
struct Matrix {
  float *allocated, *aligned;
  int64_t offset, sizes[2], strides[2];
  float &at(int64_t i, int64_t j) {
    return aligned[offset + i * strides[0] + j * strides[1]];
  }
};

inline int kernelRuns = 0;

/// scaled(a: ?x3, b: ?x3, n: index, s: f32, m: i32) -> ?x3, a + n m s b.
inline void kernel(void **arguments) {
  ++kernelRuns;
  auto &a = *static_cast<Matrix *>(arguments[0]);
  auto &b = *static_cast<Matrix *>(arguments[1]);
  int64_t n = *static_cast<int64_t *>(arguments[2]);
  float s = *static_cast<float *>(arguments[3]);
  int32_t m = *static_cast<int32_t *>(arguments[4]);
  auto &out = *static_cast<Matrix *>(arguments[5]);
  ASSERT_EQ(a.strides[1], 1);
  ASSERT_EQ(reinterpret_cast<uintptr_t>(a.aligned) % sizeof(float), 0u);
  ASSERT_EQ(b.strides[1], 1);
  ASSERT_EQ(out.strides[1], 1);
  for (int64_t i = 0; i < out.sizes[0]; ++i)
    for (int64_t j = 0; j < out.sizes[1]; ++j)
      out.at(i, j) = a.at(i, j) + n * m * s * b.at(i, j);
}

/// in: a0 a1 b0 b1 n s m.
inline int64_t plan(int64_t *in, int64_t *out) {
  if (in[0] != in[2]) {
    out[0] = in[0];
    out[1] = in[2];
    return 1;
  }
  out[0] = in[0];
  out[1] = in[1];
  return 0;
}

inline Parameter tensorType(std::vector<int64_t> sizes, std::string name,
                            DType dtype = DType::f32) {
  Parameter parameter;
  parameter.dtype = dtype;
  parameter.sizes = std::move(sizes);
  parameter.name = std::move(name);
  return parameter;
}

inline Parameter scalarType(Parameter::Kind kind, DType dtype,
                            std::string name) {
  Parameter parameter = tensorType({}, std::move(name), dtype);
  parameter.kind = kind;
  return parameter;
}

inline CompiledFunction scaled() {
  CompiledFunction function;
  function.signature.function = "scaled";
  function.signature.arguments = {
      tensorType({-1, 3}, "a"), tensorType({-1, 3}, "b"),
      scalarType(Parameter::Kind::index, DType::i64, "n"),
      scalarType(Parameter::Kind::scalar, DType::f32, ""),
      scalarType(Parameter::Kind::scalar, DType::i32, "m")};
  function.signature.results = {tensorType({-1, 3}, "out")};
  function.rules = {"'scaled' b: expected rows (from a)"};
  function.plan = plan;
  function.kernel = kernel;
  return function;
}

class Call : public testing::Test {
protected:
  void SetUp() override { kernelRuns = 0; }

  TensorView view(float *data, std::vector<int64_t> sizes,
                  std::vector<int64_t> strides = {}) {
    return {data, DType::f32, std::move(sizes), std::move(strides)};
  }
  std::vector<Value> inputs(Value first) {
    return {first, view(b, {2, 3}), int64_t(2), 0.5, int64_t(3)};
  }
  std::vector<Value> inputs() { return inputs(view(a, {2, 3})); }

  /// The message of a call that must fail without running the kernel.
  std::string errorOf(const std::vector<Value> &inputs) {
    Result<std::vector<Tensor>> results = callFunction(function, inputs);
    EXPECT_FALSE(results.ok());
    EXPECT_EQ(kernelRuns, 0);
    return results ? "" : results.error().message;
  }
  std::string errorInto(const std::vector<TensorView> &outputs) {
    Result<void> done = callFunctionInto(function, inputs(), outputs);
    EXPECT_FALSE(done.ok());
    EXPECT_EQ(kernelRuns, 0);
    return done ? "" : done.error().message;
  }

  float a[6] = {1, 2, 3, 4, 5, 6};
  float b[6] = {10, 20, 30, 40, 50, 60};
  CompiledFunction function = scaled();
};

} // namespace attn

#endif // ATTN_TEST_UNIT_RUNTIME_CALLFIXTURE_H
