// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which build of a library a file is. Internal; no LLVM.

#ifndef ATTN_RUNTIME_CODE_BUILDID_H
#define ATTN_RUNTIME_CODE_BUILDID_H

#include "runtime/Result.h"

#include <string>
#include <vector>

namespace attn {

/// The GNU build id of an ELF file in hexadecimal: a hash that the linker makes
/// of its content.
Result<std::string> readBuildId(const std::string &path);

/// The build ids of several files, separated by blanks.
Result<std::string> readBuildIds(const std::vector<std::string> &paths);

} // namespace attn

#endif // ATTN_RUNTIME_CODE_BUILDID_H
