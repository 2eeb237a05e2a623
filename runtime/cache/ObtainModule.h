// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a request to a module in memory. Internal; no LLVM.

#ifndef ATTN_RUNTIME_CACHE_OBTAINMODULE_H
#define ATTN_RUNTIME_CACHE_OBTAINMODULE_H

#include "runtime/code/CompileRequest.h"
#include "runtime/code/CompiledModule.h"

namespace attn {

using ModuleResult = Result<std::shared_ptr<const CompiledModule>>;

/// Loads the module from the disk cache, or compiles and stores it.
ModuleResult obtainModule(const CompileRequest &request);

} // namespace attn

#endif // ATTN_RUNTIME_CACHE_OBTAINMODULE_H
