// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled code touches nothing outside its operands: every input and output
// ends at, or starts right after, a page that may not be accessed.

#include "test/e2e/GuardedMemory.h"
#include "test/e2e/LinearHarness.h"
#include "test/e2e/Variants.h"
#include "gtest/gtest.h"

#include <cstring>

using namespace attn;
using namespace attn::test;

namespace {
struct Cell {
  Target target;
  Side side;
};
void PrintTo(const Cell &c, std::ostream *os) { *os << c.target.name; }

std::vector<Cell> cells() {
  std::vector<Cell> all;
  for (const Target &target : allTargets())
    for (Side side : {Side::EndsAtGuard, Side::StartsAfterGuard})
      all.push_back({target, side});
  return all;
}

class GuardPage : public testing::TestWithParam<Cell> {
protected:
  TensorView place(DType dtype, const std::vector<int64_t> &sizes) {
    int64_t count = *numElements(sizes);
    memory.push_back(std::make_unique<Guarded>(size_t(count) * byteSize(dtype),
                                               GetParam().side));
    return {memory.back()->data, dtype, sizes, contiguousStrides(sizes)};
  }
  TensorView placeCopy(const TensorView &view) {
    TensorView placed = place(view.dtype, view.sizes);
    std::vector<uint8_t> bytes = toBytes(view);
    if (!bytes.empty())
      std::memcpy(placed.data, bytes.data(), bytes.size());
    return placed;
  }

  void check(DType dtype, const Variant &variant, const Sizes &sizes) {
    std::string ir = irFor("gqa", dtype, variant);
    Problem p = makeProblem(sizes, dtype, variant);
    std::vector<Value> inputs;
    for (const oracle::Array *a : {&p.q, &p.k, &p.v})
      inputs.push_back(placeCopy(
          makeTensor(dtype, {a->b, a->h, a->s, a->d}, a->data)->view()));
    for (const Value &value : p.captured.values) {
      const auto *view = std::get_if<TensorView>(&value);
      inputs.push_back(view ? Value(placeCopy(*view)) : value);
    }
    std::vector<TensorView> outputs = {
        place(dtype, {sizes.b, sizes.hq, sizes.sq, sizes.dv}),
        place(logitType(dtype), {sizes.b, sizes.hq, sizes.sq})};
    std::shared_ptr<Program> program = compile(GetParam().target, ir);
    ASSERT_TRUE(program);
    Result<void> result = program->callInto("main", inputs, outputs);
    ASSERT_TRUE(result.ok()) << result.error().message;

    oracle::Result want = oracle::attend(p.attention, p.q, p.k, p.v);
    EXPECT_EQ(oracle::checkOutput(toDoubles(outputs[0]), want.o.data,
                                  toleranceOf(dtype)),
              "")
        << variant.name << ", " << sizes;
    EXPECT_EQ(oracle::checkLse(toDoubles(outputs[1]), want.lse.data,
                               toleranceOf(dtype)),
              "")
        << variant.name << ", " << sizes;
    memory.clear();
  }

  void check(DType dtype, const LinearVariant &variant,
             const LinearSizes &sizes) {
    LinearProblem p = makeLinearProblem(variant, dtype, sizes);
    Arguments arguments = argumentsOf(variant, p);
    std::vector<Value> inputs;
    for (const Value &value : arguments.values)
      inputs.push_back(placeCopy(std::get<TensorView>(value)));
    oracle::LinearResult want = expectedOf(p);
    auto sizesOf = [](const oracle::Array &a) {
      return std::vector<int64_t>{a.b, a.h, a.s, a.d};
    };
    std::vector<TensorView> outputs = {place(dtype, sizesOf(want.o))};
    if (variant.finalState)
      outputs.push_back(place(logitType(dtype), sizesOf(want.state)));
    std::shared_ptr<Program> program =
        compile(GetParam().target, linearIr(variant, dtype, sizes));
    ASSERT_TRUE(program);
    Result<void> result = program->callInto("main", inputs, outputs);
    ASSERT_TRUE(result.ok()) << result.error().message;
    oracle::Tolerance tolerance = toleranceOf(dtype);
    if (dtype == DType::f32 && (variant.beta || variant.transition))
      tolerance = {1e-4, 5e-4, 1e-4};
    EXPECT_EQ(
        oracle::checkOutput(toDoubles(outputs[0]), want.o.data, tolerance), "")
        << variant.name << ", " << sizes;
    if (variant.finalState)
      EXPECT_EQ(oracle::checkOutput(toDoubles(outputs[1]), want.state.data,
                                    tolerance),
                "")
          << variant.name << ", " << sizes;
    memory.clear();
  }

  std::vector<std::unique_ptr<Guarded>> memory;
};

TEST_P(GuardPage, NothingOutsideTheOperandsIsTouched) {
  ATTN_SKIP_UNLESS_HERE(GetParam().target);
  const Sizes shapes[] = {
      {2, 6, 2, 37, 53, 40, 24},  {1, 3, 1, 1, 65, 7, 5},
      {1, 2, 1, 49, 129, 64, 80}, {1, 1, 1, 1, 1, 1, 1},
      {1, 4, 2, 5, 2, 3, 33},
  };
  for (DType dtype : {DType::f32, DType::bf16})
    for (const char *name :
         {"none", "causal_bottom_right", "lengths", "documents",
          "boolean_mask_i8", "alibi_f32", "bias"})
      for (const Sizes &sizes : shapes)
        check(dtype, variantNamed(name), sizes);
  for (DType dtype : {DType::f16, DType::f64})
    for (const char *name : {"lengths", "relative_bias_f16"})
      for (const Sizes &sizes : shapes)
        check(dtype, variantNamed(name), sizes);
}

/// Slopes, sinks, biases, masks, starts and lengths are small operands.
TEST_P(GuardPage, NothingOutsideTheClausesIsTouched) {
  ATTN_SKIP_UNLESS_HERE(GetParam().target);
  const Sizes shapes[] = {{2, 6, 2, 37, 53, 40, 24}, {1, 3, 1, 1, 65, 7, 5}};
  for (const Variant &variant : clauseVariants())
    for (const Sizes &sizes : shapes)
      check(DType::f32, variant, sizes);
  for (const char *name : {"sinks", "alibi_clause", "prefix_per_batch",
                           "bias_of_batch_and_rows", "bigbird"})
    for (const Sizes &sizes : shapes)
      check(DType::bf16, variantNamed(name), sizes);
}

/// Packed sequences, whose starts are clamped to the rows, against the same
/// call in usual memory, which packed-test compares with the oracle.
TEST_P(GuardPage, PackedSequences) {
  ATTN_SKIP_UNLESS_HERE(GetParam().target);
  Variant variant{"packed",
                  ", %p: tensor<?xi64>, %qs: tensor<?xi32>, %ks: "
                  "tensor<?xi32>",
                  "",
                  "offset(%p : tensor<?xi64>) mask(#attn.causal) "
                  "query_starts(%qs : tensor<?xi32>) "
                  "key_starts(%ks : tensor<?xi32>)",
                  [](Problem &p) {
                    p.captured.add(DType::i64, {3}, {0, 5, -2});
                    p.captured.add(DType::i32, {4}, {3, 40, 41, 999});
                    p.captured.add(DType::i32, {4}, {-7, 20, 20, 66});
                  }};
  const Sizes sizes{1, 4, 2, 60, 66, 24, 20};
  for (DType dtype : {DType::f32, DType::bf16}) {
    std::string ir = irFor("gqa", dtype, variant);
    Problem p = makeProblem(sizes, dtype, variant);
    std::vector<Tensor> want = run(GetParam().target, ir, p);
    ASSERT_EQ(want.size(), 2u);
    std::vector<Value> inputs;
    for (const oracle::Array *a : {&p.q, &p.k, &p.v})
      inputs.push_back(placeCopy(
          makeTensor(dtype, {a->b, a->h, a->s, a->d}, a->data)->view()));
    for (const Value &value : p.captured.values)
      inputs.push_back(placeCopy(std::get<TensorView>(value)));
    std::vector<TensorView> outputs;
    for (const Tensor &result : want)
      outputs.push_back(place(result.dtype(), result.sizes()));
    Result<void> result =
        compile(GetParam().target, ir)->callInto("main", inputs, outputs);
    ASSERT_TRUE(result.ok()) << result.error().message;
    for (size_t n : {0u, 1u})
      EXPECT_EQ(toBytes(outputs[n]), toBytes(want[n].view()))
          << "result " << n << ", " << name(dtype);
    memory.clear();
  }
}

/// Sizes that the compiler knows take other loops than dynamic ones.
TEST_P(GuardPage, KnownSizes) {
  ATTN_SKIP_UNLESS_HERE(GetParam().target);
  auto checkKnown = [&](DType dtype, const Sizes &sizes, const Sizes &known) {
    const Variant &variant = variantNamed("causal_bottom_right");
    Problem p = makeProblem(sizes, dtype, variant);
    std::vector<Value> inputs;
    for (const oracle::Array *a : {&p.q, &p.k, &p.v})
      inputs.push_back(placeCopy(
          makeTensor(dtype, {a->b, a->h, a->s, a->d}, a->data)->view()));
    std::vector<Tensor> got =
        run(GetParam().target, irFor("gqa", dtype, variant, known), inputs);
    EXPECT_EQ(
        checkAgainst(oracle::attend(p.attention, p.q, p.k, p.v), dtype, got),
        "")
        << sizes;
  };
  for (auto [dk, dv] : {std::pair<int64_t, int64_t>{7, 5}, {40, 80}}) {
    checkKnown(DType::bf16, {2, 6, 2, 37, 53, dk, dv},
               {-1, -1, -1, -1, -1, dk, dv});
    for (DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64}) {
      checkKnown(dtype, {2, 6, 2, 1, 53, dk, dv}, {-1, 6, 2, 1, -1, dk, dv});
      checkKnown(dtype, {2, 4, 2, 2, 53, dk, dv}, {-1, 4, 2, 2, -1, -1, -1});
    }
  }
}

TEST_P(GuardPage, LinearAttention) {
  ATTN_SKIP_UNLESS_HERE(GetParam().target);
  const LinearSizes shapes[] = {{2, 6, 3, 3, 37, 37, 24, 20},
                                {1, 2, 1, 1, 65, 65, 7, 33},
                                {1, 1, 1, 1, 1, 1, 3, 5}};
  for (DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64})
    for (const char *name :
         {"plain", "decay_head_state_lengths", "decay_vector_state_lengths",
          "gated_delta_state_lengths", "rwkv6", "rwkv7"})
      for (const LinearSizes &sizes : shapes)
        check(dtype, linearVariantNamed(name), sizes);
}

std::string cellName(const testing::TestParamInfo<Cell> &info) {
  return info.param.target.name + (info.param.side == Side::EndsAtGuard
                                       ? "_ends_at_guard"
                                       : "_starts_after_guard");
}
} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, GuardPage, testing::ValuesIn(cells()),
                         cellName);

/// A byte beyond the end must be fatal, or the tests above say nothing.
TEST(GuardPageMustFail, OnOneByteTooFar) {
  Guarded atEnd(100, Side::EndsAtGuard), atStart(100, Side::StartsAfterGuard);
  ASSERT_TRUE(atEnd.data && atStart.data);
  atEnd.data[99] = atStart.data[0] = 1;
  auto read = [](volatile char *p) { return *p; };
  EXPECT_DEATH((void)read(atEnd.data + 100), "");
  EXPECT_DEATH((void)read(atStart.data - 1), "");
}
