// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a graph of ONNX to a function in attn's language.

#ifndef ATTN_TOOLS_ATTN_RUN_ONNX_IMPORT_H
#define ATTN_TOOLS_ATTN_RUN_ONNX_IMPORT_H

#include "runtime/Result.h"

#include "onnx/onnx_pb.h"

#include <string>
#include <vector>

namespace attn::importer {

struct ImportedFunction {
  /// A module with one public function, main.
  std::string text;
  /// The names that its arguments and results have in the graph, in order.
  std::vector<std::string> inputs, outputs;
};

/// Imports a graph whose nodes are attention (docs/onnx.md lists them) or
/// constants. Whatever else it holds is an error that names it.
Result<ImportedFunction> importModel(const onnx::ModelProto &model);

} // namespace attn::importer

#endif // ATTN_TOOLS_ATTN_RUN_ONNX_IMPORT_H
