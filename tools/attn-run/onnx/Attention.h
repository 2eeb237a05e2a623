// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operators that compute attention, as text of attn's dialect. Each
// function adds the node's lines to `text` and its outputs to `outputs`.

#ifndef ATTN_TOOLS_ATTN_RUN_ONNX_ATTENTION_H
#define ATTN_TOOLS_ATTN_RUN_ONNX_ATTENTION_H

#include "Node.h"

namespace attn::importer {

/// ai.onnx Attention, versions 23 to 25.
Result<void> importAttention(Node &node, IrText &text, Values &outputs);

/// ai.onnx.preview FlexAttention, version 1.
Result<void> importFlexAttention(Node &node, IrText &text, Values &outputs);

} // namespace attn::importer

#endif // ATTN_TOOLS_ATTN_RUN_ONNX_ATTENTION_H
