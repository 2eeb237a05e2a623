// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of kernels where no other memory is left. The operators new of this
// program fail when they are told to.

#include "runtime/KernelMemory.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <new>

using namespace attn;

static thread_local bool isOut = false;

void *operator new(size_t bytes) {
  void *memory = isOut ? nullptr : std::malloc(bytes ? bytes : 1);
  if (!memory)
    throw std::bad_alloc();
  return memory;
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

/// Blocks of all kinds, freed from the ends of the list and from between.
static void useBlocks(void **) {
  void *blocks[12];
  for (size_t n = 0; n < 12; ++n) {
    size_t bytes = n == 5 ? (size_t(1) << 22) + 5 : 1000 * n;
    size_t alignment = size_t(16) << n % 5;
    blocks[n] =
        n % 2 ? kernelAllocate(bytes) : kernelAllocateAligned(alignment, bytes);
    if (n % 2 == 0 && reinterpret_cast<uintptr_t>(blocks[n]) % alignment != 0)
      std::abort();
    std::memset(blocks[n], int(n), bytes);
  }
  for (size_t n : {11, 0, 6, 5, 3, 4, 1, 10, 2, 9, 7, 8})
    kernelFree(blocks[n]);
  kernelFree(nullptr);
}

TEST(KernelMemory, needs_no_other) {
  isOut = true;
  bool isDone = runKernel(useBlocks, nullptr);
  isOut = false;
  EXPECT_TRUE(isDone);
}

TEST(KernelMemory, runs_out_where_there_is_no_other) {
  isOut = true;
  bool isDone = runKernel(
      [](void **arguments) {
        useBlocks(arguments);
        kernelAllocate(1000);
        kernelFree(kernelAllocate(10));
        kernelAllocateAligned(64, 1000);
        kernelAllocate(SIZE_MAX / 2);
      },
      nullptr);
  isOut = false;
  EXPECT_FALSE(isDone);
}

TEST(KernelMemory, nests) {
  static void *outer;
  EXPECT_TRUE(runKernel(
      [](void **) {
        outer = kernelAllocate(10);
        if (runKernel(
                [](void **) {
                  kernelAllocate(10);
                  kernelAllocate(SIZE_MAX / 2);
                },
                nullptr))
          std::abort();
        // A block of the outer call, which the inner one left alone.
        std::memset(outer, 1, 10);
        kernelFree(outer);
      },
      nullptr));
}
