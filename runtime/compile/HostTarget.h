// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the name of a target to LLVM's description of the machine.

#ifndef ATTN_RUNTIME_COMPILE_HOSTTARGET_H
#define ATTN_RUNTIME_COMPILE_HOSTTARGET_H

#include "runtime/Result.h"

#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"

namespace attn {

struct HostTarget {
  /// The name without "host", for the pipelines.
  std::string name;
  llvm::orc::JITTargetMachineBuilder builder;
  /// For the function attribute prefer-vector-width, in bits.
  unsigned vectorBits;
};

/// A target that this CPU can run: "host" uses everything the CPU has, other
/// names exactly what they promise. Names the features that are missing.
Result<HostTarget> resolveHostTarget(const std::string &name);

} // namespace attn

#endif // ATTN_RUNTIME_COMPILE_HOSTTARGET_H
