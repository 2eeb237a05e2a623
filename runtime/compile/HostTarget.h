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

/// What the target is for: to run here, or to look at its code.
enum class TargetUse { run, emit };

/// The target of that name: "host" uses everything the CPU has, other names
/// exactly what they promise. To run, it needs a CPU that has it, and a process
/// that may use tiles if it is one with AMX; says what is missing. `whyNoTiles`
/// is empty if the process may.
Result<HostTarget> resolveHostTarget(const std::string &name,
                                     const std::string &whyNoTiles = {},
                                     TargetUse use = TargetUse::run);

} // namespace attn

#endif // ATTN_RUNTIME_COMPILE_HOSTTARGET_H
