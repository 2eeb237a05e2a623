// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls and what is checked before their kernel runs.

#include "CallFixture.h"

#include <gmock/gmock.h>

using namespace attn;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

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

TEST_F(Call, output_strides_that_share_elements) {
  // Rows of three that start one apart, in either direction, or nowhere else.
  float out[6];
  for (std::vector<int64_t> strides :
       {std::vector<int64_t>{-1, 1}, {1, 1}, {2, 1}, {-2, 1}, {0, 1}})
    EXPECT_EQ(errorInto({view(out + 2, {2, 3}, strides)}),
              "function 'scaled' result 0 (out): expected strides that keep "
              "elements apart, got elements that may overlap")
        << strides[0];
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
