// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPU against what code was compiled for. Internal; no LLVM.

#ifndef ATTN_RUNTIME_AHEAD_CPUFEATURES_H
#define ATTN_RUNTIME_AHEAD_CPUFEATURES_H

#include <string>
#include <string_view>

namespace attn {

/// Why this process can't run code that uses `features`, LLVM's names separated
/// by commas, as in "x86-64-v4,avx512bf16"; empty if it can.
std::string whyNotFeatures(std::string_view features);

} // namespace attn

#endif // ATTN_RUNTIME_AHEAD_CPUFEATURES_H
