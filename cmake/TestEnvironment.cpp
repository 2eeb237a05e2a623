// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of every test program, also where it is run by hand: turns the disk
// cache off, so that tests compile what they test and leave the cache of who
// runs them alone, and fills memory that is allocated or freed with bytes, so
// that reading what nobody wrote does not read zeros.

#include <cstdlib>
#include <malloc.h>

[[maybe_unused]] static const int isOff =
    setenv("ATTN_CACHE_DIR", "", /*replace=*/1);

/// For this program, and by its environment for those that it starts.
static int poisonMemory() {
#ifdef M_PERTURB
  mallopt(M_PERTURB, 165);
#endif
  return setenv("MALLOC_PERTURB_", "165", /*replace=*/0);
}
[[maybe_unused]] static const int isPoisoned = poisonMemory();
