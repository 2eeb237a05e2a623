// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all operators of attention ask of their operands.

#ifndef ATTN_TOOLS_ATTN_RUN_ONNX_OPERANDS_H
#define ATTN_TOOLS_ATTN_RUN_ONNX_OPERANDS_H

#include "Node.h"
#include "Problem.h"

namespace attn::importer {

/// Reads Q, K and V: floats of one type, of rank 3 or 4 all alike.
Result<void> readQueryKeyValue(const Node &node, Problem &problem);

/// Checks their shapes as B x H x S x D, where they are known.
Result<void> checkShapes(const Node &node, const Problem &problem);

/// Whether attribute softmax_precision asks for f64. Scores are computed in f32
/// at least, so that no other type asks for more.
Result<bool> readsDouble(Node &node);

/// Checks a size that is known on both sides.
Result<void> expectSize(const Node &node, const char *name,
                        const IrValue &value, int64_t dim, int64_t expected,
                        const char *what);

} // namespace attn::importer

#endif // ATTN_TOOLS_ATTN_RUN_ONNX_OPERANDS_H
