// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph of ONNX that maps a tensor of scores elementwise, as a function of
// one score and its indices. Shapes, ranges and reshapes, from which such
// graphs make their masks, become arithmetic on the indices.

#ifndef ATTN_TOOLS_ATTN_RUN_ONNX_POINTWISE_H
#define ATTN_TOOLS_ATTN_RUN_ONNX_POINTWISE_H

#include "Node.h"
#include "Problem.h"

namespace attn::importer {

struct Pointwise {
  /// The new score; absent where it is the old one.
  ScoreMap score;
  /// Absent where all keys are kept.
  ScoreMap keep;
  /// Whether either reads tensors other than the scores.
  bool readsTensors = false;
};

/// Reads `graph`, a function of one tensor with the sizes of `scores`, whose
/// floats are computed in the type of `scores`. It may read the values of the
/// graph around it. `text` takes the constants that are no scalars.
Result<Pointwise> readPointwise(const onnx::GraphProto &graph,
                                const IrValue &scores, const Values &outer,
                                int64_t opset, IrText &text);

} // namespace attn::importer

#endif // ATTN_TOOLS_ATTN_RUN_ONNX_POINTWISE_H
