// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of every test program: turns the disk cache off, so that tests compile
// what they test and leave the cache of who runs them alone, also by hand.

#include <cstdlib>

[[maybe_unused]] static const int isOff =
    setenv("ATTN_CACHE_DIR", "", /*replace=*/1);
