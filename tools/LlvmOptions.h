// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options that LLVM's libraries register when they are loaded, of code
// generators for other machines above all: hundreds that stand before those of
// MLIR and of attn in the alphabet.

#ifndef ATTN_TOOLS_LLVMOPTIONS_H
#define ATTN_TOOLS_LLVMOPTIONS_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"

namespace attn {

/// Leaves the options that are there so far to `--help-hidden`. Called first in
/// a main function: MLIR registers its options, and tools theirs, later.
inline void hideLlvmOptions() {
  for (auto &entry : llvm::cl::getRegisteredOptions()) {
    llvm::cl::Option &option = *entry.second;
    // --help, --version and --color are in categories of their own.
    if (option.getOptionHiddenFlag() == llvm::cl::NotHidden &&
        llvm::is_contained(option.Categories, &llvm::cl::getGeneralCategory()))
      option.setHiddenFlag(llvm::cl::Hidden);
  }
}

} // namespace attn

#endif // ATTN_TOOLS_LLVMOPTIONS_H
