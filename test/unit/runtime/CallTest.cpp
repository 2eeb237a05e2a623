// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of functions whose machine code is written here in C++, so that every
// check of the runtime is seen from both sides without a compiler.

#include "runtime/Call.h"
#include "runtime/KernelMemory.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace attn;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// A memref descriptor of rank 2 as machine code sees it.
struct Matrix {
  float *allocated, *aligned;
  int64_t offset, sizes[2], strides[2];
  float &at(int64_t i, int64_t j) {
    return aligned[offset + i * strides[0] + j * strides[1]];
  }
};

int kernelRuns = 0;

/// scaled(a: ?x3, b: ?x3, n: index, s: f32, m: i32) -> ?x3, a + n m s b.
void kernel(void **arguments) {
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
int64_t plan(int64_t *in, int64_t *out) {
  if (in[0] != in[2]) {
    out[0] = in[0];
    out[1] = in[2];
    return 1;
  }
  out[0] = in[0];
  out[1] = in[1];
  return 0;
}

Parameter tensorType(std::vector<int64_t> sizes, std::string name,
                     DType dtype = DType::f32) {
  Parameter parameter;
  parameter.dtype = dtype;
  parameter.sizes = std::move(sizes);
  parameter.name = std::move(name);
  return parameter;
}

Parameter scalarType(Parameter::Kind kind, DType dtype, std::string name) {
  Parameter parameter = tensorType({}, std::move(name), dtype);
  parameter.kind = kind;
  return parameter;
}

CompiledFunction scaled() {
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

TEST_F(Call, results_are_allocated) {
  Result<std::vector<Tensor>> results = callFunction(function, inputs());
  ASSERT_TRUE(results.ok()) << results.error().message;
  ASSERT_EQ(results->size(), 1u);
  EXPECT_THAT(results->front().sizes(), ElementsAre(2, 3));
  const float *out = results->front().data<float>();
  EXPECT_THAT(std::vector<float>(out, out + 6),
              ElementsAre(31, 62, 93, 124, 155, 186));
}

TEST_F(Call, results_go_into_given_memory) {
  float out[8] = {};
  Result<void> done =
      callFunctionInto(function, inputs(), {view(out, {2, 3}, {5, 1})});
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_THAT(out, ElementsAre(31, 62, 93, 0, 0, 124, 155, 186));
}

TEST_F(Call, inner_strides_are_packed) {
  float columns[6] = {1, 4, 2, 5, 3, 6};
  Result<std::vector<Tensor>> results =
      callFunction(function, inputs(view(columns, {2, 3}, {1, 2})));
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results->front().at(1), 62);
}

TEST_F(Call, misaligned_inputs_are_packed) {
  alignas(4) char bytes[6 * 4 + 1];
  std::copy_n(reinterpret_cast<char *>(a), 24, bytes + 1);
  Result<std::vector<Tensor>> results = callFunction(
      function, inputs(TensorView{bytes + 1, DType::f32, {2, 3}, {}}));
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results->front().at(5), 186);
}

TEST_F(Call, zero_and_negative_outer_strides) {
  Result<std::vector<Tensor>> results =
      callFunction(function, inputs(view(a, {2, 3}, {0, 1})));
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results->front().at(3), 121);
  results = callFunction(function, inputs(view(a + 3, {2, 3}, {-3, 1})));
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results->front().at(0), 34);
}

TEST_F(Call, integers_stand_for_floats) {
  std::vector<Value> values = inputs();
  values[3] = int64_t(1);
  Result<std::vector<Tensor>> results = callFunction(function, values);
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results->front().at(0), 61);
}

TEST_F(Call, counts_of_arguments) {
  EXPECT_EQ(errorOf({}), "function 'scaled': expected 5 inputs, got 0");
  EXPECT_EQ(errorInto({}), "function 'scaled': expected 1 outputs, got 0");
}

TEST_F(Call, types_of_inputs) {
  TensorView wrong = view(a, {2, 3});
  wrong.dtype = DType::i32;
  EXPECT_EQ(errorOf(inputs(wrong)), "function 'scaled' argument 0 (a): "
                                    "expected elements of type f32, got i32");
  wrong.dtype = static_cast<DType>(99);
  EXPECT_THAT(errorOf(inputs(wrong)), HasSubstr("got no element type"));
  EXPECT_EQ(errorOf(inputs(int64_t(1))),
            "function 'scaled' argument 0 (a): expected a tensor ?x3xf32, got "
            "a number");
  std::vector<Value> values = inputs();
  values[2] = 0.5;
  EXPECT_EQ(errorOf(values), "function 'scaled' argument 2 (n): expected "
                             "index, got a floating-point number");
  values[2] = view(a, {2, 3});
  EXPECT_THAT(errorOf(values), HasSubstr("expected index, got a tensor"));
  values = inputs();
  values[3] = view(a, {2, 3});
  EXPECT_EQ(errorOf(values),
            "function 'scaled' argument 3: expected f32, got a tensor");
  values = inputs();
  values[4] = int64_t(1) << 31;
  EXPECT_THAT(errorOf(values), HasSubstr("fits into i32, got 2147483648"));
}

TEST_F(Call, shapes_of_inputs) {
  EXPECT_THAT(errorOf(inputs(view(a, {6}))),
              HasSubstr("expected rank 2, got rank 1"));
  EXPECT_THAT(errorOf(inputs(view(a, {3, 2}))),
              HasSubstr("expected dimension 1 of size 3, got 2"));
  EXPECT_THAT(errorOf(inputs(view(a, {-1, 3}))),
              HasSubstr("expected dimension 0 not to be negative, got -1"));
  EXPECT_THAT(errorOf(inputs(view(a, {2, 3}, {1}))),
              HasSubstr("expected 2 strides or none, got 1"));
  EXPECT_THAT(errorOf(inputs(view(a, {INT64_MAX, 3}))),
              HasSubstr("within the address space"));
  EXPECT_THAT(errorOf(inputs(view(a, {2, 3}, {INT64_MAX, 1}))),
              HasSubstr("within the address space"));
  EXPECT_THAT(errorOf(inputs(view(nullptr, {2, 3}))),
              HasSubstr("memory for 2x3xf32, got a null pointer"));
}

TEST_F(Call, broken_rules_are_reported_with_their_sizes) {
  EXPECT_EQ(errorOf(inputs(view(a, {1, 3}))),
            "'scaled' b: expected rows (from a) 1, got 2");
}

TEST_F(Call, empty_tensors_need_no_memory) {
  std::vector<Value> values = inputs(view(nullptr, {0, 3}));
  values[1] = view(nullptr, {0, 3});
  Result<std::vector<Tensor>> results = callFunction(function, values);
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results->front().numElements(), 0);
}

TEST_F(Call, hostile_plans_do_not_allocate) {
  function.plan = [](int64_t *, int64_t *out) -> int64_t {
    out[0] = INT64_MAX;
    out[1] = 3;
    return 0;
  };
  EXPECT_THAT(errorOf(inputs()), HasSubstr("within the address space"));
  function.plan = [](int64_t *, int64_t *out) -> int64_t {
    out[0] = -5;
    return 0;
  };
  EXPECT_THAT(errorOf(inputs()), HasSubstr("non-negative sizes"));
}

TEST_F(Call, shapes_of_outputs) {
  float out[16];
  TensorView wrong = view(out, {2, 3});
  wrong.dtype = DType::bf16;
  EXPECT_EQ(errorInto({wrong}), "function 'scaled' result 0 (out): expected "
                                "elements of type f32, got bf16");
  EXPECT_THAT(errorInto({view(out, {3, 3})}),
              HasSubstr("expected 2x3xf32, got 3x3xf32"));
  EXPECT_THAT(errorInto({view(out, {2, 3}, {1, 2})}),
              HasSubstr("an innermost stride of 1, got 2"));
  EXPECT_THAT(errorInto({view(out, {2, 3}, {0, 1})}),
              HasSubstr("strides that keep elements apart"));
  EXPECT_THAT(errorInto({view(out, {2, 3}, {2, 1})}),
              HasSubstr("strides that keep elements apart"));
  EXPECT_THAT(errorInto({view(nullptr, {2, 3})}), HasSubstr("a null pointer"));
  TensorView odd = view(out, {2, 3});
  odd.data = reinterpret_cast<char *>(out) + 2;
  EXPECT_THAT(errorInto({odd}), HasSubstr("memory aligned to 4 bytes"));
}

TEST_F(Call, outputs_that_overlap_inputs) {
  EXPECT_EQ(errorInto({view(a, {2, 3})}),
            "function 'scaled' result 0 (out): expected memory of its own, got "
            "an overlap with function 'scaled' argument 0 (a)");
  float shared[12] = {};
  std::vector<Value> values = inputs(view(shared, {2, 3}));
  EXPECT_FALSE(
      callFunctionInto(function, values, {view(shared + 5, {2, 3})}).ok());
  EXPECT_EQ(kernelRuns, 0);
  EXPECT_TRUE(
      callFunctionInto(function, values, {view(shared + 6, {2, 3})}).ok());
}

TEST_F(Call, outputs_that_overlap_each_other) {
  function.signature.results.push_back(tensorType({}, "second"));
  float out[6];
  Result<void> done = callFunctionInto(function, inputs(),
                                       {view(out, {2, 3}), view(out + 5, {})});
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message, HasSubstr("overlap with function 'scaled' "
                                              "result 0 (out)"));
}

TEST_F(Call, negative_output_strides) {
  float out[6];
  Result<void> done =
      callFunctionInto(function, inputs(), {view(out + 3, {2, 3}, {-3, 1})});
  ASSERT_TRUE(done.ok());
  EXPECT_THAT(out, ElementsAre(124, 155, 186, 31, 62, 93));
}

TEST_F(Call, unsigned_bytes_pass_as_i8) {
  function.signature.arguments[0] = tensorType({-1}, "bytes", DType::i8);
  function.signature.arguments.resize(1);
  function.plan = [](int64_t *in, int64_t *out) {
    out[0] = in[0];
    out[1] = 3;
    return int64_t(0);
  };
  function.kernel = [](void **) { ++kernelRuns; };
  uint8_t bytes[2] = {};
  EXPECT_TRUE(
      callFunction(function, {TensorView{bytes, DType::u8, {2}, {}}}).ok());
  EXPECT_FALSE(
      callFunction(function, {TensorView{bytes, DType::i1, {2}, {}}}).ok());
}

TEST_F(Call, kernels_that_run_out_of_memory) {
  static void *first;
  function.kernel = [](void **) {
    first = kernelAllocate(100);
    kernelFree(kernelAllocateAligned(64, 100));
    // A block of huge pages, usable to its end.
    size_t large = (size_t(1) << 22) + 5;
    void *block = kernelAllocate(large);
    std::memset(block, 1, large);
    kernelFree(block);
    kernelAllocate(SIZE_MAX / 2);
    ADD_FAILURE() << "the kernel went on";
  };
  EXPECT_EQ(errorOf(inputs()),
            "function 'scaled': can't allocate the memory that it needs");
  EXPECT_NE(first, nullptr);
  function.kernel = [](void **) { kernelAllocateAligned(64, SIZE_MAX - 100); };
  EXPECT_THAT(errorOf(inputs()), HasSubstr("can't allocate"));
  // Outside of a call there is nothing to leave.
  EXPECT_EQ(kernelAllocate(SIZE_MAX / 2), nullptr);
  // Afterwards everything works as before.
  function.kernel = kernel;
  EXPECT_TRUE(callFunction(function, inputs()).ok());
}

TEST_F(Call, more_scores_than_any_memory) {
  SizeSource huge{SizeSource::Kind::constant, int64_t(1) << 30, 0, 0};
  function.attentions = {{huge, huge, huge, huge, huge, huge}};
  EXPECT_THAT(errorOf(inputs()), HasSubstr("at most 2^56 scores"));
}

TEST_F(Call, tile_counts) {
  EXPECT_EQ(countTiles(function, inputs()).error().message,
            "function 'scaled': this device counts no tiles");
  function.tiles = [](void **arguments) {
    auto *words = static_cast<int64_t *>(arguments[5]);
    auto *counts = reinterpret_cast<int64_t *>(words[1]);
    EXPECT_EQ(words[3], 3);
    counts[0] = 1;
    counts[1] = 2;
    counts[2] = 3;
  };
  Result<std::array<int64_t, 3>> counts = countTiles(function, inputs());
  ASSERT_TRUE(counts.ok());
  EXPECT_THAT(*counts, ElementsAre(1, 2, 3));
}

TEST_F(Call, flops_of_full_rectangles) {
  SizeSource rows{SizeSource::Kind::argument, 0, 0, 0};
  auto constant = [](int64_t value) {
    return SizeSource{SizeSource::Kind::constant, value, 0, 0};
  };
  AttentionSizes sizes{constant(3),  constant(5), rows,
                       constant(11), constant(7), constant(13)};
  function.attentions = {sizes, sizes};
  Result<double> flops = countFlops(function, inputs());
  ASSERT_TRUE(flops.ok());
  EXPECT_EQ(*flops, 2 * (2.0 * 3 * 5 * 2 * 11 * (7 + 13)));
  function.attentions[1].keys = {};
  EXPECT_THAT(countFlops(function, inputs()).error().message,
              HasSubstr("do not follow from the arguments"));
}

} // namespace
