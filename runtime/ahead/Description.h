// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an object file says about a function in it. Internal; no LLVM.

#ifndef ATTN_RUNTIME_AHEAD_DESCRIPTION_H
#define ATTN_RUNTIME_AHEAD_DESCRIPTION_H

#include "runtime/code/ModuleImage.h"

namespace attn {

struct Description {
  /// The target and one function, without code.
  ModuleImage image;
  /// What the code needs of the CPU, as whyNotFeatures() takes it.
  std::string features;
};

std::string encode(const Description &description);

/// Refuses what encode() does not write.
Result<Description> decodeDescription(std::string_view bytes);

} // namespace attn

#endif // ATTN_RUNTIME_AHEAD_DESCRIPTION_H
