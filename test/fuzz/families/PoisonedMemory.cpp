// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PoisonedMemory.h. The program's own malloc stands before that of glibc,
// whose M_PERTURB leaves out small blocks that were free. The address sanitizer
// has a malloc that fills by itself.

#include "test/fuzz/families/PoisonedMemory.h"

#include <atomic>
#include <cstddef>
#include <cstring>

static std::atomic<int> filling{-1}; // -1: memory is left as it is

attn::fuzz::PoisonedMemory::PoisonedMemory(unsigned char byte) {
  filling = byte;
}
attn::fuzz::PoisonedMemory::~PoisonedMemory() { filling = -1; }

#if defined(__GLIBC__) && !__has_feature(address_sanitizer)
extern "C" {
void *__libc_malloc(size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static void *fill(void *memory, size_t bytes) {
  int byte = filling.load(std::memory_order_relaxed);
  if (memory && byte >= 0)
    std::memset(memory, byte, bytes);
  return memory;
}

void *malloc(size_t bytes) { return fill(__libc_malloc(bytes), bytes); }
void *aligned_alloc(size_t alignment, size_t bytes) {
  return fill(__libc_memalign(alignment, bytes), bytes);
}
}
#endif
