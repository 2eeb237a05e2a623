// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that attn-reduce adds to those of mlir-reduce.

#ifndef ATTN_TOOLS_ATTN_REDUCE_REDUCTION_H
#define ATTN_TOOLS_ATTN_REDUCE_REDUCTION_H

namespace attn {

/// Registers `--attn-reduction`.
void registerReduction();

} // namespace attn

#endif // ATTN_TOOLS_ATTN_REDUCE_REDUCTION_H
