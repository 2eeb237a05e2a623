// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether this process can use the tile registers of AMX. The CPU must have
// them, the kernel must save them, and the process must have asked for them.
// Internal; no LLVM.

#ifndef ATTN_RUNTIME_CPU_TILES_H
#define ATTN_RUNTIME_CPU_TILES_H

#include <string>

namespace attn {

/// Why this process can't use tiles of bf16; empty if it can. Asks the kernel
/// for the permission, once: it holds for all threads, and makes the frames of
/// signal handlers 8 KiB larger.
const std::string &whyNoTiles();

/// Makes whyNoTiles() empty. For a process that emulates the instructions.
void assumeTiles();

} // namespace attn

#endif // ATTN_RUNTIME_CPU_TILES_H
