// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one list of what attn's tools and its runtime load.

#ifndef ATTN_PASSES_REGISTRATION_H
#define ATTN_PASSES_REGISTRATION_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::attn {

/// Registers the dialects, bufferization models and translations to LLVM IR
/// that compiling attention needs.
void registerAttn(DialectRegistry &registry);

/// Registers attn's passes and pipelines for textual pipelines.
void registerAttnPasses();

} // namespace mlir::attn

#endif // ATTN_PASSES_REGISTRATION_H
