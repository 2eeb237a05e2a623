// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocations against the memory of the machine: with overcommit an impossible
// allocation succeeds, and the process is killed when it is written to.

#ifndef ATTN_RUNTIME_PHYSICALMEMORY_H
#define ATTN_RUNTIME_PHYSICALMEMORY_H

#include <cstddef>

namespace attn {

/// False for more bytes than the machine has.
bool fitsIntoMemory(size_t bytes);

} // namespace attn

#endif // ATTN_RUNTIME_PHYSICALMEMORY_H
