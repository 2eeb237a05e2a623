// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Object code in executable memory. It is linked here and not by LLVM, so that
// code that comes from a cache needs nothing of LLVM, whose libraries take
// longer to open than all the rest. Internal; no LLVM.

#ifndef ATTN_RUNTIME_CODE_LOADEDCODE_H
#define ATTN_RUNTIME_CODE_LOADEDCODE_H

#include "runtime/Result.h"

#include <functional>
#include <map>
#include <memory>
#include <string_view>

namespace attn {

class LoadedCode {
public:
  /// The address of a function that the code calls but does not hold, or null.
  using Resolver = std::function<void *(const std::string &name)>;

  /// Links an object file for x86-64. The error names what it calls and
  /// `resolve` does not know.
  static Result<std::unique_ptr<LoadedCode>> load(std::string_view object,
                                                  const Resolver &resolve);
  ~LoadedCode();
  LoadedCode(const LoadedCode &) = delete;
  LoadedCode &operator=(const LoadedCode &) = delete;

  /// The address of a global symbol, or null if there is none of that name.
  void *lookup(std::string_view name) const;

private:
  friend class CodeLoader;
  LoadedCode() = default;

  char *memory = nullptr;
  size_t numBytes = 0;
  std::map<std::string, void *, std::less<>> symbols;
};

} // namespace attn

#endif // ATTN_RUNTIME_CODE_LOADEDCODE_H
