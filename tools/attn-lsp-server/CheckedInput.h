// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an editor sends to the language server, made harmless.

#ifndef ATTN_TOOLS_ATTN_LSP_SERVER_CHECKEDINPUT_H
#define ATTN_TOOLS_ATTN_LSP_SERVER_CHECKEDINPUT_H

#include "llvm/Support/LSP/Transport.h"

#include <string>

namespace attn {

/// Replaces standard input by what `relayMessages` makes of it. The thread that
/// does that ends with standard input. Returns an error message where there is
/// no pipe.
std::string checkStandardInput(llvm::lsp::JSONStreamStyle style);

/// Copies messages of the language server protocol from `in` to `out`, until
/// either ends. A text that would crash MLIR's parser loses the words that do:
/// each becomes as many underscores, so that the parser says what it misses
/// there, and all else is where it was.
void relayMessages(std::FILE *in, std::FILE *out,
                   llvm::lsp::JSONStreamStyle style);

} // namespace attn

#endif // ATTN_TOOLS_ATTN_LSP_SERVER_CHECKEDINPUT_H
