// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CPUID, the state that the kernel saves, and its permission.

#include "runtime/cpu/Tiles.h"

#include <atomic>
#include <cerrno>
#include <cstring>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace attn {

static std::atomic<bool> isAssumed = false;

static std::string askForTiles() {
#if defined(__x86_64__) && defined(__linux__)
  constexpr unsigned amxBf16 = 1u << 22, amxTile = 1u << 24; // leaf 7, edx
  constexpr unsigned tileState = 3u << 17;  // XCR0: TILECFG and TILEDATA
  constexpr int requestPermission = 0x1023; // ARCH_REQ_XCOMP_PERM
  constexpr int tileData = 18;              // XFEATURE_XTILEDATA
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  bool hasXgetbv = __get_cpuid(1, &eax, &ebx, &ecx, &edx) && ecx & bit_OSXSAVE;
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx))
    edx = 0;
  std::string lacking = edx & amxTile ? "" : "amx-tile";
  if (!(edx & amxBf16))
    lacking += lacking.empty() ? "amx-bf16" : ", amx-bf16";
  if (!lacking.empty())
    return "this CPU lacks " + lacking;
  // Not _xgetbv(), which wants the whole file compiled for xsave.
  unsigned low = 0, high = 0;
  if (hasXgetbv)
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & tileState) != tileState)
    return "the kernel does not save AMX tiles";
  if (syscall(SYS_arch_prctl, requestPermission, tileData) != 0)
    return std::string("the kernel does not permit AMX tiles: ") +
           std::strerror(errno);
  return {};
#else
  return "AMX tiles need x86-64 and Linux";
#endif
}

const std::string &whyNoTiles() {
  static const std::string reason = askForTiles(), none;
  return isAssumed ? none : reason;
}

void assumeTiles() { isAssumed = true; }

} // namespace attn
