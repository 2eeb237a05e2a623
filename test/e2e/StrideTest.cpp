// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands and results as strided views, and results of no elements.

#include "test/e2e/LinearHarness.h"
#include "test/e2e/Variants.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>

using namespace attn;
using namespace attn::test;

namespace {
class Strides : public testing::TestWithParam<Target> {
protected:
  void SetUp() override { ATTN_SKIP_UNLESS_HERE(GetParam()); }

  /// Storage whose axes stand in `order` (outermost first), each with `gap`
  /// unused slots, viewed as B x H x S x D; unused slots hold NaN.
  TensorView strided(const TensorView &packed, std::vector<size_t> order,
                     std::vector<int64_t> gap = {0, 0, 0, 0}) {
    std::vector<int64_t> strides(4);
    int64_t count = 1;
    for (size_t n = 4; n-- > 0;) {
      strides[order[n]] = count;
      count *= packed.sizes[order[n]] + gap[n];
    }
    storage.push_back(makeTensor(packed.dtype, {count},
                                 std::vector<double>(size_t(count), NAN)));
    TensorView view{storage.back()->view().data, packed.dtype, packed.sizes,
                    strides};
    copyElements(packed, view);
    return view;
  }

  void expectSameBits(const std::vector<Tensor> &got,
                      const std::vector<Tensor> &want) {
    ASSERT_EQ(got.size(), want.size());
    for (size_t n = 0; n < got.size(); ++n)
      EXPECT_TRUE(toBytes(got[n].view()) == toBytes(want[n].view()))
          << "result " << n;
  }

  std::vector<std::shared_ptr<Tensor>> storage;
};

struct Packed {
  std::string ir;
  std::vector<Value> inputs;
  TensorView view(size_t n) const { return std::get<TensorView>(inputs[n]); }
  Arguments arguments;
};

Packed makePacked(DType dtype, const Sizes &sizes, const std::string &name) {
  Packed packed;
  const Variant &variant = variantNamed(name);
  packed.ir = irFor("gqa", dtype, variant);
  Problem p = makeProblem(sizes, dtype, variant);
  packed.arguments = p.captured;
  for (const oracle::Array *a : {&p.q, &p.k, &p.v}) {
    packed.arguments.add(dtype, {a->b, a->h, a->s, a->d}, a->data);
    packed.inputs.push_back(packed.arguments.values.back());
  }
  packed.inputs.insert(packed.inputs.end(), p.captured.values.begin(),
                       p.captured.values.end());
  return packed;
}

const Sizes sizes{2, 6, 2, 37, 70, 40, 24};

TEST_P(Strides, A32_SequenceBeforeHeads) {
  for (DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64}) {
    Packed p = makePacked(dtype, sizes, "causal_bottom_right");
    std::vector<Tensor> want = run(GetParam(), p.ir, p.inputs);
    std::vector<Value> views;
    for (size_t n = 0; n < 3; ++n)
      views.push_back(strided(p.view(n), {0, 2, 1, 3}));
    expectSameBits(run(GetParam(), p.ir, views), want);
    // V alone, with gaps after every axis.
    expectSameBits(run(GetParam(), p.ir,
                       {p.view(0), p.view(1),
                        strided(p.view(2), {2, 0, 1, 3}, {0, 1, 2, 3})}),
                   want);
  }
}

TEST_P(Strides, A32_SequenceBeforeHeadsAsReported) {
  Packed p = makePacked(DType::f32, {84, 3, 3, 3, 3, 64, 64}, "none");
  std::vector<Tensor> want = run(GetParam(), p.ir, p.inputs);
  std::vector<Value> views;
  for (size_t n = 0; n < 3; ++n)
    views.push_back(strided(p.view(n), {0, 2, 1, 3}));
  expectSameBits(run(GetParam(), p.ir, views), want);
  expectSameBits(run(GetParam(), p.ir, {p.view(0), p.view(1), views[2]}), want);
}

TEST_P(Strides, A31_InnerStrideIsPackedNotMisread) {
  for (DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64}) {
    Packed p = makePacked(dtype, sizes, "none");
    std::vector<Tensor> want = run(GetParam(), p.ir, p.inputs);
    std::vector<Value> views;
    for (size_t n = 0; n < 3; ++n)
      views.push_back(strided(p.view(n), {0, 1, 3, 2}));
    expectSameBits(run(GetParam(), p.ir, views), want);
  }
}

TEST_P(Strides, NegativeOuterStrides) {
  Packed p = makePacked(DType::f32, sizes, "causal_bottom_right");
  std::vector<Tensor> want = run(GetParam(), p.ir, p.inputs);
  std::vector<Value> views;
  for (size_t n = 0; n < 3; ++n) {
    // Rows stored last to first.
    TensorView packed = p.view(n), view = strided(packed, {0, 1, 2, 3});
    int64_t rows = packed.sizes[2], d = packed.sizes[3];
    view.data = static_cast<float *>(view.data) + (rows - 1) * d;
    view.strides[2] = -d;
    copyElements(packed, view);
    views.push_back(view);
  }
  expectSameBits(run(GetParam(), p.ir, views), want);
}

TEST_P(Strides, A33_SizeOneDimensionsCarryAnyStride) {
  Packed p = makePacked(DType::f32, {1, 1, 1, 1, 70, 40, 1}, "none");
  std::vector<Tensor> want = run(GetParam(), p.ir, p.inputs);
  for (int64_t odd :
       {int64_t(0), int64_t(3), int64_t(7), int64_t(-5), int64_t(1) << 60}) {
    std::vector<Value> views;
    for (size_t n = 0; n < 3; ++n) {
      TensorView view = p.view(n);
      if (view.strides.empty())
        view.strides = contiguousStrides(view.sizes);
      for (size_t d = 0; d < 4; ++d)
        if (view.sizes[d] == 1)
          view.strides[d] = odd;
      views.push_back(view);
    }
    SCOPED_TRACE("stride " + std::to_string(odd));
    expectSameBits(run(GetParam(), p.ir, views), want);
  }
}

TEST_P(Strides, StrideZeroBroadcasts) {
  // All batch entries and heads share one K and V.
  Packed one = makePacked(DType::f32, {1, 6, 1, 37, 70, 40, 24}, "none");
  Packed p = makePacked(DType::f32, {3, 6, 2, 37, 70, 40, 24}, "none");
  std::vector<Value> shared = {p.view(0)}, copied = {p.view(0)};
  for (size_t n : {1, 2}) {
    TensorView view = one.view(n);
    view.strides = contiguousStrides(view.sizes);
    view.sizes[0] = 3;
    view.sizes[1] = 2;
    view.strides[0] = view.strides[1] = 0;
    shared.push_back(view);
    copied.push_back(strided(view, {0, 1, 2, 3}));
  }
  expectSameBits(run(GetParam(), p.ir, shared), run(GetParam(), p.ir, copied));
}

TEST_P(Strides, CapturedTensorsMayBeViews) {
  Packed p = makePacked(DType::f32, sizes, "documents");
  std::vector<Tensor> want = run(GetParam(), p.ir, p.inputs);
  // Ids with a gap after each, then transposed: no unit stride is left.
  TensorView packed = p.view(3);
  int64_t rows = packed.sizes[0], columns = packed.sizes[1];
  storage.push_back(makeTensor(DType::i32, {columns, rows + 1},
                               std::vector<double>(columns * (rows + 1), 99)));
  TensorView view{
      storage.back()->view().data, DType::i32, packed.sizes, {1, rows + 1}};
  copyElements(packed, view);
  std::vector<Value> inputs = p.inputs;
  inputs[3] = view;
  expectSameBits(run(GetParam(), p.ir, inputs), want);

  // One length for all batch entries.
  p = makePacked(DType::f32, sizes, "lengths");
  std::shared_ptr<Tensor> both = makeTensor(DType::i64, {2}, {33, 33});
  std::shared_ptr<Tensor> one = makeTensor(DType::i64, {1}, {33});
  inputs = p.inputs;
  inputs[3] = both->view();
  want = run(GetParam(), p.ir, inputs);
  inputs[3] = TensorView{one->view().data, DType::i64, {2}, {0}};
  expectSameBits(run(GetParam(), p.ir, inputs), want);
}

TEST_P(Strides, OutputsIntoStridedMemory) {
  for (DType dtype : {DType::f32, DType::bf16}) {
    Packed p = makePacked(dtype, sizes, "causal_bottom_right");
    std::vector<Tensor> want = run(GetParam(), p.ir, p.inputs);
    ASSERT_EQ(want.size(), 2u);
    std::shared_ptr<Program> program = compile(GetParam(), p.ir);
    TensorView o = strided(want[0].view(), {0, 2, 1, 3}, {0, 0, 0, 5});
    TensorView lse = want[1].view();
    // Poison what the call has to write, then look for it and for the gaps.
    Tensor poison = std::move(*Tensor::copyOf(want[0].view()));
    for (int64_t n = 0; n < poison.numElements(); ++n)
      poison.set(n, 12345.0);
    copyElements(poison.view(), o);
    Result<void> result = program->callInto("main", p.inputs, {o, lse});
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_TRUE(toBytes(o) == toBytes(want[0].view()));
    int64_t gaps = 0;
    for (double x : toDoubles(storage.back()->view()))
      gaps += std::isnan(x);
    EXPECT_EQ(gaps, storage.back()->numElements() - want[0].numElements());
  }
}

/// Every result of `ir` in memory with gaps behind its rows: the bits of usual
/// memory, and gaps that nobody writes.
void expectSameInGaps(const Target &target, const std::string &ir,
                      const std::vector<Value> &inputs) {
  std::vector<Tensor> want = run(target, ir, inputs);
  ASSERT_FALSE(want.empty()) << ir;
  std::vector<std::shared_ptr<Tensor>> memory;
  std::vector<TensorView> views;
  for (const Tensor &result : want) {
    std::vector<int64_t> pitched = result.sizes();
    pitched.back() += 3;
    memory.push_back(makeTensor(result.dtype(), pitched, {}));
    std::memset(memory.back()->raw(), 0xff, memory.back()->numBytes());
    TensorView view = memory.back()->view();
    view.strides = contiguousStrides(pitched);
    view.sizes = result.sizes();
    views.push_back(view);
  }
  Result<void> done = compile(target, ir)->callInto("main", inputs, views);
  ASSERT_TRUE(done.ok()) << done.error().message;
  for (size_t n = 0; n < want.size(); ++n) {
    EXPECT_TRUE(toBytes(views[n]) == toBytes(want[n].view()))
        << "result " << n << " of\n"
        << ir;
    int64_t columns = want[n].sizes().back();
    std::vector<double> all = toDoubles(memory[n]->view());
    for (size_t at = 0; at < all.size(); ++at)
      if (int64_t(at) % (columns + 3) >= columns)
        ASSERT_TRUE(std::isnan(all[at])) << "gap of result " << n << " of\n"
                                         << ir;
  }
}

TEST_P(Strides, OutputsOfOtherOpsIntoStridedMemory) {
  for (const char *name :
       {"state", "decay_vector_state_lengths", "bidirectional_state_lengths",
        "block_state_lengths", "elu1_token_decay_state_lengths"})
    for (DType dtype : {DType::f32, DType::bf16}) {
      const LinearVariant &variant = linearVariantNamed(name);
      const LinearSizes small = {2, 4, 2, 2, 37, 37, 9, 20};
      LinearProblem p = makeLinearProblem(variant, dtype, small);
      expectSameInGaps(GetParam(), linearIr(variant, dtype, small),
                       argumentsOf(variant, p).values);
    }
  const std::string rows = "tensor<?x?x?x?xf32>", lse = "tensor<?x?x?xf32>";
  Arguments merged;
  for (uint64_t part : {1, 2}) {
    merged.add(DType::f32, {2, 3, 5, 20}, randomValues(2 * 3 * 5 * 20, part));
    merged.add(DType::f32, {2, 3, 5}, randomValues(2 * 3 * 5, part + 2));
  }
  std::string types = rows + ", " + lse;
  expectSameInGaps(GetParam(),
                   "func.func @main(%o1: " + rows + ", %l1: " + lse +
                       ", %o2: " + rows + ", %l2: " + lse + ") -> (" + types +
                       ") {\n  %o, %l = attn.merge %o1, %l1, %o2, %l2 : (" +
                       types + ", " + types + ") -> (" + types +
                       ")\n  return %o, %l : " + types + "\n}\n",
                   merged.values);
  for (const char *kind : {"positive", "trigonometric"})
    for (const char *causal : {"", " causal"}) {
      Arguments a;
      for (uint64_t n : {1, 2, 3})
        a.add(DType::f32, {2, 2, 19, 8}, randomValues(2 * 2 * 19 * 8, n));
      a.add(DType::f32, {33, 8}, randomValues(33 * 8, 4));
      std::string w = "tensor<?x?xf32>";
      expectSameInGaps(GetParam(),
                       "func.func @main(%q: " + rows + ", %k: " + rows +
                           ", %v: " + rows + ", %w: " + w + ") -> " + rows +
                           " {\n  %o = attn.favor %q, %k, %v, %w kind(" + kind +
                           ")" + causal + " : (" + rows + ", " + rows + ", " +
                           rows + ", " + w + ") -> " + rows +
                           "\n  return %o : " + rows + "\n}\n",
                       a.values);
    }
}

TEST_P(Strides, AnOutputOverAnInputIsRefused) {
  Packed p = makePacked(DType::f32, {2, 6, 6, 37, 37, 40, 40}, "none");
  std::shared_ptr<Program> program = compile(GetParam(), p.ir);
  ASSERT_TRUE(program);
  std::shared_ptr<Tensor> lse =
      makeTensor(DType::f32, {2, 6, 37}, std::vector<double>(2 * 6 * 37));
  for (size_t n = 0; n < 3; ++n) {
    Result<void> result =
        program->callInto("main", p.inputs, {p.view(n), lse->view()});
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.error().message.find("overlap"), std::string::npos)
        << result.error().message;
  }
}

TEST_P(Strides, A24_EmptyDimensions) {
  const Sizes shapes[] = {
      {0, 6, 2, 37, 70, 40, 24}, {2, 6, 2, 0, 70, 40, 24},
      {2, 6, 2, 37, 0, 40, 24},  {2, 6, 2, 37, 70, 40, 0},
      {2, 0, 0, 37, 70, 40, 24}, {2, 6, 2, 0, 0, 40, 0},
      {2, 0, 2, 37, 70, 40, 24},
  };
  for (DType dtype : {DType::f32, DType::bf16})
    for (const char *name :
         {"none", "causal_bottom_right", "lengths", "documents", "alibi_f32"})
      for (const Sizes &empty : shapes) {
        // A captured tensor that is read may not be empty.
        if (name == std::string("alibi_f32") && empty.hq == 0)
          continue;
        if (name == std::string("documents") && empty.b == 0)
          continue;
        const Variant &variant = variantNamed(name);
        Problem p = makeProblem(empty, dtype, variant);
        std::vector<Tensor> got =
            run(GetParam(), irFor("gqa", dtype, variant), p);
        oracle::Result want = oracle::attend(p.attention, p.q, p.k, p.v);
        EXPECT_EQ(checkAgainst(want, dtype, got), "") << name << ", " << empty;
      }
}

TEST_P(Strides, A24_EmptyDimensionsOfStaticSize) {
  for (const Sizes &empty :
       {Sizes{0, 6, 2, 3, 70, 40, 24}, Sizes{2, 6, 2, 0, 70, 40, 24},
        Sizes{2, 6, 2, 3, 0, 40, 24}, Sizes{2, 6, 2, 3, 70, 40, 0},
        Sizes{2, 0, 0, 3, 70, 40, 24}}) {
    const Variant &variant = variantNamed("causal_bottom_right");
    Problem p = makeProblem(empty, DType::f32, variant);
    std::vector<Tensor> got =
        run(GetParam(), irFor("gqa", DType::f32, variant, empty), p);
    oracle::Result want = oracle::attend(p.attention, p.q, p.k, p.v);
    EXPECT_EQ(checkAgainst(want, DType::f32, got), "") << empty;
  }
  // The default scale would be infinite.
  std::string message =
      errorOf(GetParam(), irFor("gqa", DType::f32, variantNamed("none"),
                                {2, 6, 2, 3, 70, 0, 24}));
  EXPECT_NE(message.find("expected head dim"), std::string::npos) << message;
}

TEST_P(Strides, A22_A24_RefusedSizesNameWhatIsWrong) {
  struct {
    Sizes sizes;
    const char *message;
  } cases[] = {
      {{2, 3, 2, 4, 5, 8, 8},
       "'attn.gqa' op query: expected heads to be a multiple of key heads "
       "(from key) 2, got 3"},
      {{2, 33, 2, 4, 5, 8, 8},
       "'attn.gqa' op query: expected heads to be a multiple of key heads "
       "(from key) 2, got 33"},
      {{2, 4, 0, 4, 5, 8, 8},
       "'attn.gqa' op query: expected heads to be a multiple of key heads "
       "(from key) 0, got 4"},
      {{2, 4, 2, 4, 5, 0, 8},
       "'attn.gqa' op query: expected head dim of at least 1, got 0"},
  };
  for (const auto &c : cases) {
    Packed p = makePacked(DType::f32, c.sizes, "none");
    std::string message = errorOf(GetParam(), p.ir, p.inputs);
    EXPECT_NE(message.find(c.message), std::string::npos) << message;
  }
}
} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, Strides, testing::ValuesIn(allTargets()),
                         [](const testing::TestParamInfo<Target> &info) {
                           return info.param.name;
                         });
