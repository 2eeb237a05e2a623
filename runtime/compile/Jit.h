// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Object code in executable memory.

#ifndef ATTN_RUNTIME_COMPILE_JIT_H
#define ATTN_RUNTIME_COMPILE_JIT_H

#include "runtime/compile/HostTarget.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"

namespace attn {

class Jit {
public:
  /// Links `object` against the process and, with `needsOpenMp`, libomp.
  static Result<std::unique_ptr<Jit>>
  load(const HostTarget &target, llvm::StringRef object, bool needsOpenMp);

  /// The address of a function, or null if there is none of that name.
  void *lookup(llvm::StringRef name);

  /// Why the last lookup failed.
  const std::string &lookupFailure() const { return failure; }

private:
  // Outlives the session, which reports into it.
  std::string failure;
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace attn

#endif // ATTN_RUNTIME_COMPILE_JIT_H
