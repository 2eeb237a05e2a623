// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registers of CPUID that LLVM reads for the name and the features of the
// host, without the fields that tell one core from another.

#include "runtime/cache/CpuIdentity.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <cstdint>
#include <cstdio>
#endif

namespace attn {

#if defined(__x86_64__)

namespace {
/// A leaf of CPUID and the registers of it that matter.
struct Leaf {
  unsigned number, subleaf;
  bool a, b, c, d;
};
} // namespace

static constexpr Leaf leaves[] = {
    // Maker; EBX of the next one holds the number of the core.
    {0x0, 0, false, true, true, true},
    {0x1, 0, true, false, true, true},
    {0x7, 0, false, true, true, true},
    {0x7, 1, true, true, true, true},
    {0xd, 1, true, false, false, false},
    {0x14, 0, false, true, false, false},
    {0x19, 0, false, true, false, false},
    {0x1e, 1, true, false, false, false},
    {0x24, 0, false, true, false, false},
    {0x80000001, 0, false, false, true, true},
    {0x80000008, 0, false, true, false, false},
};

/// The register states that the operating system saves.
static uint64_t savedStates() {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
    return 0;
  uint32_t low, high;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

std::string cpuIdentity() {
  std::string identity = "x86-64";
  auto append = [&](bool isUsed, uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof text, " %llx",
                  static_cast<unsigned long long>(value));
    if (isUsed)
      identity += text;
  };
  for (const Leaf &leaf : leaves) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(leaf.number, leaf.subleaf, &a, &b, &c, &d))
      a = b = c = d = 0;
    append(leaf.a, a);
    append(leaf.b, b);
    append(leaf.c, c);
    append(leaf.d, d);
  }
  append(true, savedStates());
  return identity;
}

#else

std::string cpuIdentity() { return ""; }

#endif

} // namespace attn
