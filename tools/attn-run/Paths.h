// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files that a run reads and writes.

#ifndef ATTN_TOOLS_ATTN_RUN_PATHS_H
#define ATTN_TOOLS_ATTN_RUN_PATHS_H

#include "Options.h"

namespace attn::run {

/// "a/net" of "a/net.o".
std::string stemOf(const std::string &path);

/// Refuses a file that would be written although it is read, or twice.
Result<void> checkPaths(const Options &options);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_PATHS_H
