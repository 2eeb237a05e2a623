// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A list of live blocks per call, and a jump out of the kernel. Nothing but
// compiled code is between the two ends of the jump, and that has nothing to
// clean up except for the blocks. The list lies in front of the blocks: memory
// of its own could run out as well, and no exception passes compiled code.

#include "runtime/KernelMemory.h"

#include "runtime/PhysicalMemory.h"

#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <cstdlib>
#include <new>
#include <sys/mman.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace attn {

namespace {
struct Call;

/// What lies in front of a block.
struct alignas(16) Header {
  Call *call; ///< null where the block is in no list
  Header *previous, *next;
  void *memory; ///< what is to be freed
};

struct Call {
  std::jmp_buf exit;
  Header *blocks = nullptr;
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
  for (Header *block = call.blocks; block;) {
    Header *next = block->next;
    std::free(block->memory);
    block = next;
  }
  return false;
}

/// Leaves the kernel, unless it is in a parallel region.
static void *runOut() {
  int (*isInParallel)() = parallelProbe;
  if (current && (!isInParallel || !isInParallel()))
    std::longjmp(current->exit, 1);
  return nullptr;
}

/// The block that begins `offset` bytes behind `memory`, in the list of the
/// call.
static void *keep(void *memory, size_t offset) {
  if (!memory)
    return runOut();
  char *block = static_cast<char *>(memory) + offset;
  auto *header = new (block - sizeof(Header)) Header{};
  header->memory = memory;
  header->call = current;
  if (current) {
    header->next = current->blocks;
    if (header->next)
      header->next->previous = header;
    current->blocks = header;
  }
  return block;
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
    return runOut();
  size_t all = bytes + sizeof(Header);
  return keep(bytes >= 2 * hugePage ? allocateLarge(all) : std::malloc(all),
              sizeof(Header));
}

void *kernelAllocateAligned(size_t alignment, size_t bytes) {
  if (!fitsIntoMemory(bytes))
    return runOut();
  // Both are powers of 2.
  size_t offset = std::max(alignment, sizeof(Header));
  size_t whole = (bytes + offset + alignment - 1) / alignment * alignment;
  return keep(std::aligned_alloc(alignment, whole), offset);
}

void kernelFree(void *block) {
  if (!block)
    return;
  auto *header =
      reinterpret_cast<Header *>(static_cast<char *>(block) - sizeof(Header));
  if (header->call) {
    (header->previous ? header->previous->next : header->call->blocks) =
        header->next;
    if (header->next)
      header->next->previous = header->previous;
  }
  std::free(header->memory);
}

} // namespace attn
