// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a node test of ONNX: a model, and tensors for its inputs and outputs.

#ifndef ATTN_TOOLS_ATTN_RUN_NODETEST_H
#define ATTN_TOOLS_ATTN_RUN_NODETEST_H

#include "runtime/Engine.h"

namespace attn::run {

struct NodeTestOptions {
  EngineOptions engine;
  CallOptions call;
  /// An element is fine if |got - expected| <= atol + rtol * |expected|;
  /// absent: 1e-7 and 1e-3 (bf16: 2^-6), as in ONNX's own runner.
  std::optional<double> atol, rtol;
};

/// Runs FOLDER/model.onnx on every FOLDER/test_data_set_N and prints a line for
/// each output. Tensors go to the inputs and outputs of their names. False if
/// an element is not as expected; what can't be run is an error.
Result<bool> runNodeTest(const std::string &folder,
                         const NodeTestOptions &options);

/// The IR of a model.
Result<std::string> importFile(const std::string &path);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_NODETEST_H
