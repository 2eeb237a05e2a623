// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What attn-opt and its twin for tests share: mlir-opt's command line, with
// attn's dialects, passes and pipelines.

#ifndef ATTN_TOOLS_ATTN_OPT_OPTMAIN_H
#define ATTN_TOOLS_ATTN_OPT_OPTMAIN_H

#include "mlir/IR/DialectRegistry.h"

namespace attn {

/// The main function of the tool `name`; further passes are registered before.
/// Texts that would crash MLIR's parser are refused.
int optMain(int argc, char **argv, llvm::StringRef name);

} // namespace attn

#endif // ATTN_TOOLS_ATTN_OPT_OPTMAIN_H
