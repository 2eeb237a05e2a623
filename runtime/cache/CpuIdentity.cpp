// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registers of CPUID that LLVM reads for the name and the features of the
// host, without the fields that tell one core from another.

#include "runtime/cache/CpuIdentity.h"

#include <cstdio>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace attn {

namespace {
/// A leaf of CPUID and the registers of it that matter.
struct Leaf {
  uint32_t number, subleaf;
  bool isUsed[4];
};
} // namespace

static constexpr Leaf leaves[] = {
    // Maker; EBX of the next one holds the number of the core.
    {0x0, 0, {false, true, true, true}},
    {0x1, 0, {true, false, true, true}},
    {0x7, 0, {false, true, true, true}},
    {0x7, 1, {true, true, true, true}},
    {0xd, 1, {true, false, false, false}},
    {0x14, 0, {false, true, false, false}},
    {0x19, 0, {false, true, false, false}},
    {0x1e, 1, {true, false, false, false}},
    {0x24, 0, {false, true, false, false}},
    {0x80000001, 0, {false, false, true, true}},
    {0x80000008, 0, {false, true, false, false}},
};

// Of ECX of leaf 1.
static constexpr uint32_t savesStates = uint32_t(1) << 27;

std::string cpuIdentity(const CpuReader &reader) {
  std::string identity = "x86-64";
  auto append = [&](uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof text, " %llx",
                  static_cast<unsigned long long>(value));
    identity += text;
  };
  for (const Leaf &leaf : leaves) {
    std::array<uint32_t, 4> registers = reader.cpuid(leaf.number, leaf.subleaf);
    for (size_t i = 0; i < registers.size(); ++i)
      if (leaf.isUsed[i])
        append(registers[i]);
  }
  append(reader.cpuid(1, 0)[2] & savesStates ? reader.xgetbv() : 0);
  return identity;
}

#if defined(__x86_64__)

namespace {
class ThisCpu : public CpuReader {
public:
  std::array<uint32_t, 4> cpuid(uint32_t leaf,
                                uint32_t subleaf) const override {
    unsigned a, b, c, d;
    if (!__get_cpuid_count(leaf, subleaf, &a, &b, &c, &d))
      return {};
    return {a, b, c, d};
  }
  uint64_t xgetbv() const override {
    uint32_t low, high;
    asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return uint64_t(high) << 32 | low;
  }
};
} // namespace

std::string cpuIdentity() { return cpuIdentity(ThisCpu()); }

#else

std::string cpuIdentity() { return ""; }

#endif

} // namespace attn
