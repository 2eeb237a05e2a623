// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which CPU this is, as far as compiled code depends on it. Internal; no LLVM.

#ifndef ATTN_RUNTIME_CACHE_CPUIDENTITY_H
#define ATTN_RUNTIME_CACHE_CPUIDENTITY_H

#include <array>
#include <cstdint>
#include <string>

namespace attn {

/// The registers of a CPU.
class CpuReader {
public:
  virtual ~CpuReader() = default;
  /// EAX, EBX, ECX and EDX of CPUID; 0 where the CPU has no such leaf.
  virtual std::array<uint32_t, 4> cpuid(uint32_t leaf,
                                        uint32_t subleaf) const = 0;
  /// Which register states the operating system saves. Asked for where CPUID
  /// says that it saves any.
  virtual uint64_t xgetbv() const = 0;
};

/// The identity of the CPU behind `reader`.
std::string cpuIdentity(const CpuReader &reader);

/// Maker, model and every feature of the running CPU: two CPUs for which LLVM
/// would compile differently differ in it. Empty where it isn't known.
std::string cpuIdentity();

} // namespace attn

#endif // ATTN_RUNTIME_CACHE_CPUIDENTITY_H
