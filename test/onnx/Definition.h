// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ONNX Attention as its operator's page defines it, element by element in
// double, sharing nothing with the importer.

#ifndef ATTN_TEST_ONNX_DEFINITION_H
#define ATTN_TEST_ONNX_DEFINITION_H

#include "test/onnx/ModelBuilder.h"

#include <optional>
#include <random>

namespace attn::onnxtest {

/// A node of Attention: its attributes, and what its inputs look like.
struct AttentionCase {
  int64_t opset = 25;
  /// Rank 3.
  bool isPacked = false;
  int64_t batch = 1, queryHeads = 1, keyHeads = 1, queries = 1, keys = 1,
          headSize = 1, valueSize = 1;
  DType dtype = DType::f32;
  std::optional<double> scale;
  double softcap = 0;
  bool isCausal = false;
  int64_t left = -1, right = -1;
  std::optional<DType> precision;
  int mode = 0;
  /// Length of the cache, whose present outputs are then asked for.
  std::optional<int64_t> past;
  bool hasLengths = false;
  std::optional<DType> maskType;
  std::vector<int64_t> maskSizes;
  bool wantsScores = false;
  /// Sizes are left to the call.
  bool isDynamic = false;

  int64_t total() const { return past.value_or(0) + keys; }
  std::string describe() const;
};

onnx::ModelProto makeModel(const AttentionCase &c);

/// Random inputs by their names, rounded to their types.
Tensors makeInputs(const AttentionCase &c, std::mt19937 &random);

/// The outputs of the definition, of types f64.
Tensors define(const AttentionCase &c, const Tensors &inputs);

} // namespace attn::onnxtest

#endif // ATTN_TEST_ONNX_DEFINITION_H
