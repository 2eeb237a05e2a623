// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The features that attn's targets are made of.

#include "runtime/ahead/CpuFeatures.h"

#include "runtime/cpu/Tiles.h"

namespace attn {

/// Why one feature can't be used; empty if it can.
static std::string whyNotFeature(std::string_view feature) {
  std::string lacking = "this CPU lacks " + std::string(feature);
#if defined(__x86_64__)
  // The names must be literals.
  if (feature == "x86-64-v2")
    return __builtin_cpu_supports("x86-64-v2") ? "" : lacking;
  if (feature == "x86-64-v3")
    return __builtin_cpu_supports("x86-64-v3") ? "" : lacking;
  if (feature == "x86-64-v4")
    return __builtin_cpu_supports("x86-64-v4") ? "" : lacking;
  if (feature == "avx512bf16")
    return __builtin_cpu_supports("avx512bf16") ? "" : lacking;
  if (feature == "amx-tile" || feature == "amx-bf16")
    return whyNoTiles();
#endif
  return lacking;
}

std::string whyNotFeatures(std::string_view features) {
  while (!features.empty()) {
    size_t comma = features.find(',');
    std::string reason = whyNotFeature(features.substr(0, comma));
    if (!reason.empty())
      return reason;
    features.remove_prefix(comma == std::string_view::npos ? features.size()
                                                           : comma + 1);
  }
  return {};
}

} // namespace attn
