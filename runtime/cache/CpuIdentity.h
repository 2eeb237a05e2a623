// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which CPU this is, as far as compiled code depends on it. Internal; no LLVM.

#ifndef ATTN_RUNTIME_CACHE_CPUIDENTITY_H
#define ATTN_RUNTIME_CACHE_CPUIDENTITY_H

#include <string>

namespace attn {

/// Maker, model and every feature of the running CPU: two CPUs for which LLVM
/// would compile differently differ in it. Empty where it isn't known.
std::string cpuIdentity();

} // namespace attn

#endif // ATTN_RUNTIME_CACHE_CPUIDENTITY_H
