// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiled module without addresses: what the compiler makes, and what can be
// kept and loaded again. Internal; no LLVM.

#ifndef ATTN_RUNTIME_CODE_MODULEIMAGE_H
#define ATTN_RUNTIME_CODE_MODULEIMAGE_H

#include "runtime/CompiledFunction.h"

namespace attn {

struct ModuleImage {
  /// Build ids of the libraries that made the object, as Maker has them; empty
  /// if they have none.
  std::string compiler;
  /// The target that "host" stood for.
  std::string target;
  /// What the passes remarked, if they were asked to.
  std::string remarks;
  bool usesOpenMp = false;
  /// The public functions; the pointers are null.
  std::vector<CompiledFunction> functions;
  /// Relocatable object code with NAME.call and NAME.plan of each function.
  std::string object;
};

std::string encode(const ModuleImage &image);

/// Refuses what encode() does not write. Sizes refer only to arguments that
/// the function has.
Result<ModuleImage> decodeImage(std::string_view bytes);

} // namespace attn

#endif // ATTN_RUNTIME_CODE_MODULEIMAGE_H
