// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every pass of attn, stage by stage in the order in which the pipelines run
// them.

#ifndef ATTN_PASSES_TD
#define ATTN_PASSES_TD

include "passes/convention/Convention.td"
include "passes/rewrite/Rewrite.td"
include "passes/tile/Tile.td"
include "passes/cpu/Cpu.td"
include "passes/decompose/Decompose.td"

#endif // ATTN_PASSES_TD
