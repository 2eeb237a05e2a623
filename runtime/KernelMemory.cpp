// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A list of live blocks per call, and a jump out of the kernel. Nothing but
// compiled code is between the two ends of the jump, and that has nothing to
// clean up except for the blocks.

#include "runtime/KernelMemory.h"

#include "runtime/PhysicalMemory.h"

#include <atomic>
#include <csetjmp>
#include <cstdlib>
#include <sys/mman.h>
#include <unordered_set>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace attn {

namespace {
struct Call {
  std::jmp_buf exit;
  std::unordered_set<void *> blocks;
};
} // namespace

static thread_local Call *current = nullptr;
static std::atomic<int (*)()> parallelProbe{nullptr};

void setParallelProbe(int (*isInParallel)()) { parallelProbe = isInParallel; }

/// The mode and the flags of floating-point numbers of a thread. A kernel that
/// ends restores them by itself; one that is left does not, nor does longjmp.
#if defined(__x86_64__)
static unsigned getFloatMode() { return _mm_getcsr(); }
static void setFloatMode(unsigned mode) { _mm_setcsr(mode); }
#else
static unsigned getFloatMode() { return 0; }
static void setFloatMode(unsigned) {}
#endif

/// Apart from runKernel, so that no variable there changes between setjmp and
/// longjmp.
static bool enter(Call &call, Kernel kernel, void **arguments) {
  if (setjmp(call.exit))
    return false;
  kernel(arguments);
  return true;
}

bool runKernel(Kernel kernel, void **arguments) {
  Call call;
  // Calls nest where a host function is called back.
  Call *outer = current;
  current = &call;
  unsigned mode = getFloatMode();
  bool isDone = enter(call, kernel, arguments);
  current = outer;
  if (isDone)
    return true;
  setFloatMode(mode);
  for (void *block : call.blocks)
    std::free(block);
  return false;
}

static void *keep(void *memory) {
  if (!current)
    return memory;
  if (memory) {
    current->blocks.insert(memory);
    return memory;
  }
  int (*isInParallel)() = parallelProbe;
  if (!isInParallel || !isInParallel())
    std::longjmp(current->exit, 1);
  return nullptr;
}

/// The size of a page that the kernel may give for many small ones.
static constexpr size_t hugePage = size_t(1) << 21;

/// Blocks of this size come from the system and go back to it, call after call.
/// In pages of 4 KB, touching them first would take longer than what is
/// computed in them.
static void *allocateLarge(size_t bytes) {
  size_t whole = (bytes + hugePage - 1) / hugePage * hugePage;
  void *memory = std::aligned_alloc(hugePage, whole);
  // A hint: without huge pages there are small ones.
  if (memory)
    (void)madvise(memory, whole, MADV_HUGEPAGE);
  return memory;
}

void *kernelAllocate(size_t bytes) {
  if (!fitsIntoMemory(bytes))
    return keep(nullptr);
  if (bytes >= 2 * hugePage)
    return keep(allocateLarge(bytes));
  // malloc(0) may return null without being out of memory.
  return keep(std::malloc(bytes ? bytes : 1));
}

void *kernelAllocateAligned(size_t alignment, size_t bytes) {
  if (!fitsIntoMemory(bytes))
    return keep(nullptr);
  return keep(
      std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment));
}

void kernelFree(void *memory) {
  if (current)
    current->blocks.erase(memory);
  std::free(memory);
}

} // namespace attn
