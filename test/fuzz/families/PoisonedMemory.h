// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What memory holds before anybody wrote it: malloc and aligned_alloc of the
// whole process fill what they give, so that a kernel that reads it is seen.

#ifndef ATTN_TEST_FUZZ_FAMILIES_POISONEDMEMORY_H
#define ATTN_TEST_FUZZ_FAMILIES_POISONEDMEMORY_H

namespace attn::fuzz {

/// While one of these lives, new memory is full of `byte`.
class PoisonedMemory {
public:
  explicit PoisonedMemory(unsigned char byte);
  ~PoisonedMemory();
  PoisonedMemory(const PoisonedMemory &) = delete;
  PoisonedMemory &operator=(const PoisonedMemory &) = delete;
};

} // namespace attn::fuzz

#endif // ATTN_TEST_FUZZ_FAMILIES_POISONEDMEMORY_H
