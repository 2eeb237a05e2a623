// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a cached module depends on. Internal; no LLVM.

#ifndef ATTN_RUNTIME_CACHE_CACHEKEY_H
#define ATTN_RUNTIME_CACHE_CACHEKEY_H

#include "runtime/code/CompileRequest.h"

namespace attn {

/// What makes the code, beside what it is asked for.
struct Maker {
  /// Build ids of the compiler's library, of LLVM and of MLIR.
  std::string compiler;
  std::string cpu;

  /// The maker of this process, or what of it isn't known.
  static const Result<Maker> &get();
};

/// Everything that can make a difference to the image, in full: the version of
/// attn, the maker and the whole request. The name of the source only counts
/// where messages are kept.
std::string cacheKey(const CompileRequest &request, const Maker &maker);

} // namespace attn

#endif // ATTN_RUNTIME_CACHE_CACHEKEY_H
