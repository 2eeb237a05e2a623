// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops that PeakMeter times, and which of them this CPU has.

#ifndef ATTN_RUNTIME_CPU_PEAKLOOPS_H
#define ATTN_RUNTIME_CPU_PEAKLOOPS_H

#include "runtime/DType.h"

#include <cstdint>
#include <string>
#include <vector>

namespace attn {

/// An instruction that multiplies and adds, on data in registers.
struct MultiplyLoop {
  const char *instruction;
  /// Runs `rounds` of it; returns the number of operations, where a multiply
  /// and an add are two.
  double (*run)(int64_t rounds);
};

/// Reads `lines` lines of 64 bytes.
using ReadLoop = void (*)(const char *data, int64_t lines);

/// What code for `target` on operands of `dtype` can be made of on this CPU,
/// never empty: multiply-adds of the target's width, and for bf16 also the
/// instructions that take bf16, unless the target is one that lacks them.
std::vector<MultiplyLoop> findMultiplyLoops(const std::string &target,
                                            DType dtype);

/// Reads with the vectors of `target`, or narrower ones that this CPU has.
ReadLoop findReadLoop(const std::string &target);

} // namespace attn

#endif // ATTN_RUNTIME_CPU_PEAKLOOPS_H
