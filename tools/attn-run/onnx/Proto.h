// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ONNX files: models and tensors, read without trusting what is in them.

#ifndef ATTN_TOOLS_ATTN_RUN_ONNX_PROTO_H
#define ATTN_TOOLS_ATTN_RUN_ONNX_PROTO_H

#include "runtime/Tensor.h"

#include "onnx/onnx_pb.h"

namespace attn::importer {

Result<onnx::ModelProto> readModel(const std::string &path);

/// A tensor and the name it has in the model.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

Result<NamedTensor> readTensor(const std::string &path);

/// The elements in memory. Data of another size than the shape asks for, data
/// in other files and element types that attn doesn't have are errors.
Result<Tensor> toTensor(const onnx::TensorProto &proto);

/// Of a number of onnx::TensorProto::DataType.
Result<DType> toDType(int32_t type);

/// "FLOAT16", or "type 99".
std::string typeName(int32_t type);

} // namespace attn::importer

#endif // ATTN_TOOLS_ATTN_RUN_ONNX_PROTO_H
