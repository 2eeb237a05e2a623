// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler is asked for and what it replies. Internal; no LLVM.

#ifndef ATTN_RUNTIME_CODE_COMPILEREQUEST_H
#define ATTN_RUNTIME_CODE_COMPILEREQUEST_H

#include "runtime/Engine.h"

namespace attn {

struct CompileRequest {
  std::string text;
  /// Stands for the text in messages.
  std::string name;
  EngineOptions options;
  /// "llvm", "asm" or "obj" for the whole module in that form; empty for the
  /// image of a module; "ahead" for one whose object is for linkers.
  std::string output;
  /// What symbols start with, ahead of time.
  std::string prefix = {};
  /// Why the process that runs the code can't use tiles of AMX; empty if it
  /// can, or if the options rule them out.
  std::string whyNoTiles = {};

  /// Asks for what of this process matters to the options.
  static CompileRequest forOptions(EngineOptions options);
};

/// Everything the compiler gets to see, and so everything that can make a
/// difference to what comes out.
std::string encode(const CompileRequest &request);
Result<CompileRequest> decodeRequest(std::string_view bytes);

/// A reply is the bytes that were asked for, or an error.
std::string encodeReply(const Result<std::string> &reply);
Result<std::string> decodeReply(std::string_view bytes);

} // namespace attn

#endif // ATTN_RUNTIME_CODE_COMPILEREQUEST_H
