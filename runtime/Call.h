// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of compiled functions with arguments that are not trusted: everything
// the machine code relies on is checked here. Internal; no LLVM.

#ifndef ATTN_RUNTIME_CALL_H
#define ATTN_RUNTIME_CALL_H

#include "runtime/CompiledFunction.h"

namespace attn {

/// Checks the inputs and gives the sizes of each result.
Result<std::vector<std::vector<int64_t>>>
planFunction(const CompiledFunction &function,
             const std::vector<Value> &inputs);

/// Checks the inputs, plans, allocates the results and runs the kernel.
Result<std::vector<Tensor>> callFunction(const CompiledFunction &function,
                                         const std::vector<Value> &inputs);

/// The same into memory of the caller.
Result<void> callFunctionInto(const CompiledFunction &function,
                              const std::vector<Value> &inputs,
                              const std::vector<TensorView> &outputs);

/// Checks the inputs, plans, and runs the tile counters.
Result<std::array<int64_t, 3>> countTiles(const CompiledFunction &function,
                                          const std::vector<Value> &inputs);

/// Checks the inputs, plans, and asks what a mask does.
Result<MaskMap> mapMask(const CompiledFunction &function,
                        const std::vector<Value> &inputs,
                        const MaskPlace &place, int64_t maxElements);

/// Checks the inputs and adds up 2 B Hq Sq Skv (Dk + Dv).
Result<double> countFlops(const CompiledFunction &function,
                          const std::vector<Value> &inputs);

} // namespace attn

#endif // ATTN_RUNTIME_CALL_H
