// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Models of ONNX for tests, and their calls.

#ifndef ATTN_TEST_ONNX_MODELBUILDER_H
#define ATTN_TEST_ONNX_MODELBUILDER_H

#include "runtime/Tensor.h"

#include "onnx/onnx_pb.h"

#include <map>

namespace attn::onnxtest {

/// An ONNX model in the making. Types are those of onnx::TensorProto.
class ModelBuilder {
public:
  explicit ModelBuilder(int64_t opset, const std::string &domain = "");

  /// An input of the graph; -1 is a size that only a call knows.
  void addInput(const std::string &name, int type,
                const std::vector<int64_t> &sizes);
  /// An output of the graph, whose type is left to be inferred.
  void addOutput(const std::string &name);
  /// A node; empty names are inputs and outputs that it leaves out.
  onnx::NodeProto &addNode(const std::string &op,
                           const std::vector<std::string> &inputs,
                           const std::vector<std::string> &outputs);

  onnx::ModelProto model;

private:
  std::string domain;
};

void setInteger(onnx::NodeProto &node, const std::string &name, int64_t value);
void setFloat(onnx::NodeProto &node, const std::string &name, float value);
onnx::GraphProto &setGraph(onnx::NodeProto &node, const std::string &name);

/// A tensor of `type` with these elements, in raw_data.
onnx::TensorProto makeTensor(const std::string &name, int type,
                             const std::vector<int64_t> &sizes,
                             const std::vector<double> &elements);

using Tensors = std::map<std::string, Tensor>;

/// Imports, compiles and calls the model on `device`.
Result<Tensors> callModel(const onnx::ModelProto &model, const Tensors &inputs,
                          const std::string &device);

/// A tensor of attn with these elements; one stands for all.
Tensor tensorOf(DType dtype, const std::vector<int64_t> &sizes,
                const std::vector<double> &elements);

std::vector<double> elementsOf(const Tensor &tensor);

/// The number of a type in onnx::TensorProto.
int typeNumber(DType dtype);

} // namespace attn::onnxtest

#endif // ATTN_TEST_ONNX_MODELBUILDER_H
