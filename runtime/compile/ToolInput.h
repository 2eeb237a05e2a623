// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tools that hand a file to MLIR's own drivers.

#ifndef ATTN_RUNTIME_COMPILE_TOOLINPUT_H
#define ATTN_RUNTIME_COMPILE_TOOLINPUT_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/MemoryBuffer.h"

namespace attn {

/// Refuses a text that would crash MLIR's parser, with a message on standard
/// error that names the file. Bytecode passes.
mlir::LogicalResult checkToolInput(const llvm::MemoryBuffer &input);

} // namespace attn

#endif // ATTN_RUNTIME_COMPILE_TOOLINPUT_H
