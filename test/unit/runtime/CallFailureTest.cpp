// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that fail in the plan or in the kernel: rules, scores beyond any
// memory, and memory that runs out.

#include "CallFixture.h"

#include "runtime/KernelMemory.h"

#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

using namespace attn;
using testing::HasSubstr;

namespace {

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

TEST_F(Call, blocks_that_a_kernel_leaves_are_freed) {
  function.kernel = [](void **) {
    for (int i = 0; i < 8; ++i)
      std::memset(kernelAllocate(100000), 1, 100000);
    std::memset(kernelAllocateAligned(64, 100000), 1, 100000);
    kernelAllocate(SIZE_MAX / 2);
  };
  auto used = [] {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  EXPECT_THAT(errorOf(inputs()), HasSubstr("can't allocate"));
  size_t before = used();
  for (int i = 0; i < 20; ++i)
    EXPECT_THAT(errorOf(inputs()), HasSubstr("can't allocate"));
  // Less than one of the 180 blocks.
  EXPECT_LT(used(), before + 50000);
}

#if defined(__x86_64__)
TEST_F(Call, the_float_mode_of_a_kernel_that_runs_out_of_memory_ends_with_it) {
  function.kernel = [](void **) {
    _mm_setcsr(0x9fc0);
    kernelAllocate(SIZE_MAX / 2);
  };
  unsigned before = _mm_getcsr();
  // Rounding up, and the flag of an inexact result.
  constexpr unsigned mode = 0x1f80 | 0x4000 | 0x20;
  _mm_setcsr(mode);
  std::string error = errorOf(inputs());
  unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_THAT(error, HasSubstr("can't allocate"));
  EXPECT_EQ(after, mode);
}
#endif

TEST_F(Call, more_scores_than_any_memory) {
  auto constant = [](int64_t value) {
    return SizeSource{SizeSource::Kind::constant, value, 0, 0};
  };
  SizeSource one = constant(1), most = constant(int64_t(1) << 56),
             more = constant(int64_t(1) << 57);
  // Each size by itself; those of a head have no part in it.
  for (SizeSource AttentionSizes::*size :
       {&AttentionSizes::batch, &AttentionSizes::queryHeads,
        &AttentionSizes::queries, &AttentionSizes::keys}) {
    AttentionSizes sizes{one, one, one, one, more, more};
    sizes.*size = more;
    function.attentions = {sizes};
    EXPECT_THAT(errorOf(inputs()), HasSubstr("at most 2^56 scores"));
    sizes.*size = most;
    function.attentions = {sizes};
    EXPECT_TRUE(callFunction(function, inputs()).ok());
    kernelRuns = 0;
  }
}

/// The plan gets the bits of floats, as the kernel sees them.
TEST_F(Call, rules_of_numbers) {
  function.rules = {"first", "'scaled' s: expected a number > 0"};
  function.plan = [](int64_t *in, int64_t *out) {
    float s;
    std::memcpy(&s, &in[5], sizeof s);
    double got = s;
    out[0] = in[0];
    out[1] = in[1];
    if (s > 0)
      return int64_t(0);
    std::memcpy(&out[1], &got, sizeof got);
    return int64_t(-2);
  };
  auto errorWith = [&](Value s) {
    std::vector<Value> values = inputs();
    values[3] = s;
    return errorOf(values);
  };
  EXPECT_EQ(errorWith(-0.75), "'scaled' s: expected a number > 0, got -0.75");
  EXPECT_EQ(errorWith(int64_t(0)), "'scaled' s: expected a number > 0, got 0");
  EXPECT_EQ(errorWith(-std::nan("")),
            "'scaled' s: expected a number > 0, got nan");
  EXPECT_EQ(errorWith(-INFINITY),
            "'scaled' s: expected a number > 0, got -inf");
  // As f32 has it.
  EXPECT_EQ(errorWith(-0.1),
            "'scaled' s: expected a number > 0, got -0.100000001");
  EXPECT_EQ(errorWith(1e-60), "'scaled' s: expected a number > 0, got 0");
  EXPECT_TRUE(callFunction(function, inputs()).ok());
  function.rules.pop_back();
  kernelRuns = 0;
  EXPECT_EQ(errorWith(-0.5), "function 'scaled': rule 2, got -0.5");
}

} // namespace
