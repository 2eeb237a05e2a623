// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiled module in memory, ready to be called. Internal; no LLVM.

#ifndef ATTN_RUNTIME_CODE_COMPILEDMODULE_H
#define ATTN_RUNTIME_CODE_COMPILEDMODULE_H

#include "runtime/code/LoadedCode.h"
#include "runtime/code/ModuleImage.h"

namespace attn {

struct CompiledModule {
  std::vector<CompiledFunction> functions;
  std::string target;
  std::string remarks;
  double compileMillis = 0;
  CacheUse cacheUse;
  bool usesOpenMp = false;
  /// Holds the machine code.
  std::unique_ptr<LoadedCode> code;
};

/// Loads the image's code, links it against the process and, where it needs
/// that, libomp.
Result<CompiledModule> linkModule(ModuleImage image);

} // namespace attn

#endif // ATTN_RUNTIME_CODE_COMPILEDMODULE_H
