// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A batch entry has the same bits alone as among others, through views into the
// batch's own memory.

#include "test/e2e/Variants.h"
#include "gtest/gtest.h"

using namespace attn;
using namespace attn::test;

/// Batch entry b of a packed tensor.
static TensorView entry(const TensorView &batch, int64_t b) {
  TensorView view = batch;
  view.sizes[0] = 1;
  int64_t stride = batch.sizes[1] * batch.sizes[2] * batch.sizes[3];
  view.data = static_cast<char *>(batch.data) +
              b * stride * int64_t(byteSize(batch.dtype));
  return view;
}

static std::vector<uint8_t> bytesOfEntry(const TensorView &batch, int64_t b) {
  std::vector<uint8_t> bytes = toBytes(batch);
  size_t width = bytes.size() / size_t(batch.sizes[0]);
  return {bytes.begin() + b * width, bytes.begin() + (b + 1) * width};
}

class Batch : public testing::TestWithParam<Target> {};

TEST_P(Batch, EntriesAloneHaveTheSameBits) {
  ATTN_SKIP_UNLESS_HERE(GetParam());
  const Sizes shapes[] = {{3, 6, 2, 61, 150, 40, 24},
                          {4, 6, 2, 1, 700, 64, 64},
                          {33, 6, 2, 1, 70, 16, 8}};
  for (DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64})
    for (const std::string &name : {"none", "causal_bottom_right", "documents"})
      for (const Sizes &sizes : shapes) {
        if ((dtype == DType::f16 || dtype == DType::f64) && name != "documents")
          continue;
        const Variant &variant = variantNamed(name);
        std::string ir = irFor("gqa", dtype, variant);
        Problem p = makeProblem(sizes, dtype, variant);
        Arguments all;
        for (const oracle::Array *a : {&p.q, &p.k, &p.v})
          all.add(dtype, {a->b, a->h, a->s, a->d}, a->data);
        std::vector<Value> inputs = all.values;
        inputs.insert(inputs.end(), p.captured.values.begin(),
                      p.captured.values.end());
        std::vector<Tensor> together = run(GetParam(), ir, inputs);
        ASSERT_EQ(together.size(), 2u);

        for (int64_t b = 0; b < sizes.b; ++b) {
          std::vector<Value> one;
          for (size_t n = 0; n < 3; ++n)
            one.push_back(entry(std::get<TensorView>(inputs[n]), b));
          if (inputs.size() == 4) { // document ids, a row per batch entry
            TensorView ids = std::get<TensorView>(inputs[3]);
            ids.data = static_cast<int32_t *>(ids.data) + b * ids.sizes[1];
            ids.sizes[0] = 1;
            one.push_back(ids);
          }
          std::vector<Tensor> alone = run(GetParam(), ir, one, 1);
          ASSERT_EQ(alone.size(), 2u);
          for (size_t n = 0; n < 2; ++n)
            EXPECT_TRUE(toBytes(alone[n].view()) ==
                        bytesOfEntry(together[n].view(), b))
                << (n == 0 ? "O" : "LSE") << " of entry " << b << ", " << name
                << ", " << sizes;
        }
      }
}

INSTANTIATE_TEST_SUITE_P(Targets, Batch, testing::ValuesIn(allTargets()),
                         [](const testing::TestParamInfo<Target> &info) {
                           return info.param.name;
                         });
