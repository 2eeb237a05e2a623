// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a tool whose driver is MLIR's ends where its output can't be written.
// Streams of LLVM say so when they are destroyed, standard output after main.

#ifndef ATTN_TOOLS_LLVMOUTPUT_H
#define ATTN_TOOLS_LLVMOUTPUT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"

#include <cstdio>
#include <unistd.h>

namespace attn {

/// Has the tool exit with 2 and a message where LLVM would report an error that
/// is fatal, such as output that can't be written. `tool` is a literal.
inline void exitWhereOutputFails(const char *tool) {
  llvm::install_fatal_error_handler(
      [](void *tool, const char *reason, bool) {
        llvm::StringRef error = reason;
        bool isOutput = error.consume_front("IO failure on output stream: ");
        std::fprintf(stderr, "%s: %s%s\n", static_cast<const char *>(tool),
                     isOutput ? "output: can't write: " : "",
                     error.str().c_str());
        // What else is destroyed at the end may fail as well.
        _exit(2);
      },
      const_cast<char *>(tool));
}

} // namespace attn

#endif // ATTN_TOOLS_LLVMOUTPUT_H
