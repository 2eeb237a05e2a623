// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Proto.h. The format is onnx.proto of the ONNX project; the fields that
// hold elements are described at its TensorProto.

#include "Proto.h"

#include "runtime/Files.h"

#include <cstring>
#include <limits>

namespace attn::importer {

// What a message of protobuf can be.
static constexpr uint64_t maxFileBytes = std::numeric_limits<int32_t>::max();

static Error malformed(const std::string &what) {
  return Error{ErrorCode::ioFailure, what};
}

std::string typeName(int32_t type) {
  const std::string &name = onnx::TensorProto::DataType_Name(
      static_cast<onnx::TensorProto::DataType>(type));
  return name.empty() ? "type " + std::to_string(type) : name;
}

Result<DType> toDType(int32_t type) {
  switch (type) {
  case onnx::TensorProto::FLOAT:
    return DType::f32;
  case onnx::TensorProto::DOUBLE:
    return DType::f64;
  case onnx::TensorProto::FLOAT16:
    return DType::f16;
  case onnx::TensorProto::BFLOAT16:
    return DType::bf16;
  case onnx::TensorProto::BOOL:
    return DType::i1;
  case onnx::TensorProto::INT8:
    return DType::i8;
  case onnx::TensorProto::INT32:
    return DType::i32;
  case onnx::TensorProto::INT64:
    return DType::i64;
  default:
    return Error{ErrorCode::unsupported,
                 "element type: expected FLOAT, DOUBLE, FLOAT16, BFLOAT16, "
                 "BOOL, INT8, INT32 or INT64, got " +
                     typeName(type)};
  }
}

/// Reads the message in a file.
template <class Message>
static Result<Message> readMessage(const std::string &path, const char *what) {
  Result<std::string> bytes = readFile(path, maxFileBytes);
  if (!bytes)
    return bytes.error();
  Message message;
  if (!message.ParseFromString(*bytes))
    return malformed(path + ": expected " + what + " of ONNX, got " +
                     std::to_string(bytes->size()) + " bytes that are none");
  return message;
}

Result<onnx::ModelProto> readModel(const std::string &path) {
  Result<onnx::ModelProto> model =
      readMessage<onnx::ModelProto>(path, "a model");
  if (model && !model->has_graph())
    return malformed(path + ": expected a model of ONNX, got no graph");
  return model;
}

Result<NamedTensor> readTensor(const std::string &path) {
  Result<onnx::TensorProto> proto =
      readMessage<onnx::TensorProto>(path, "a tensor");
  if (!proto)
    return proto.error();
  Result<Tensor> tensor = toTensor(*proto);
  if (!tensor)
    return Error{tensor.error().code, path + ": " + tensor.error().message};
  return NamedTensor{proto->name(), std::move(*tensor)};
}

/// Stores the elements of a repeated field, which may be wider than those of
/// the tensor: float16 bits are integers, and so are booleans.
template <class Element, class Field>
static Result<Tensor> fromField(Tensor tensor, const Field &field,
                                const char *name) {
  if (field.size() != tensor.numElements())
    return malformed("expected " + std::to_string(tensor.numElements()) +
                     " elements in " + name + ", got " +
                     std::to_string(field.size()));
  Element *elements = tensor.data<Element>();
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    elements[i] = static_cast<Element>(field.Get(static_cast<int>(i)));
  return tensor;
}

static Result<Tensor> fromRawData(Tensor tensor, const std::string &bytes) {
  if (bytes.size() != tensor.numBytes())
    return malformed("expected " + std::to_string(tensor.numBytes()) +
                     " bytes of raw_data, got " + std::to_string(bytes.size()));
  if (!bytes.empty())
    std::memcpy(tensor.raw(), bytes.data(), bytes.size());
  return tensor;
}

static Result<Tensor> readElements(Tensor tensor,
                                   const onnx::TensorProto &proto) {
  if (proto.has_raw_data())
    return fromRawData(std::move(tensor), proto.raw_data());
  switch (tensor.dtype()) {
  case DType::f32:
    return fromField<float>(std::move(tensor), proto.float_data(),
                            "float_data");
  case DType::f64:
    return fromField<double>(std::move(tensor), proto.double_data(),
                             "double_data");
  case DType::i64:
    return fromField<int64_t>(std::move(tensor), proto.int64_data(),
                              "int64_data");
  case DType::i32:
    return fromField<int32_t>(std::move(tensor), proto.int32_data(),
                              "int32_data");
  case DType::f16:
  case DType::bf16:
    return fromField<uint16_t>(std::move(tensor), proto.int32_data(),
                               "int32_data");
  case DType::i1:
  case DType::i8:
  case DType::u8:
    return fromField<uint8_t>(std::move(tensor), proto.int32_data(),
                              "int32_data");
  }
  return malformed("element type: expected one that attn has");
}

/// Bytes or values that `proto` holds, at most: what may be allocated.
static size_t heldBytes(const onnx::TensorProto &proto) {
  size_t values = static_cast<size_t>(proto.float_data_size()) +
                  proto.double_data_size() + proto.int32_data_size() +
                  proto.int64_data_size();
  return proto.raw_data().size() + 8 * values;
}

Result<Tensor> toTensor(const onnx::TensorProto &proto) {
  if (proto.data_location() == onnx::TensorProto::EXTERNAL ||
      proto.external_data_size() > 0)
    return Error{ErrorCode::unsupported,
                 "expected the elements in the file itself, got external data"};
  if (proto.has_segment())
    return Error{ErrorCode::unsupported,
                 "expected a whole tensor, got a segment of one"};
  Result<DType> dtype = toDType(proto.data_type());
  if (!dtype)
    return dtype.error();
  std::vector<int64_t> sizes(proto.dims().begin(), proto.dims().end());
  std::optional<int64_t> count = numElements(sizes);
  if (!count)
    return malformed("shape: expected sizes that fit into memory, got " +
                     formatType(*dtype, sizes));
  // Before a size that nothing stands behind is allocated.
  if (static_cast<uint64_t>(*count) > heldBytes(proto))
    return malformed("expected " + std::to_string(*count) + " elements (" +
                     formatType(*dtype, sizes) + "), got " +
                     std::to_string(heldBytes(proto)) + " bytes");
  Result<Tensor> empty = Tensor::empty(*dtype, sizes);
  if (!empty)
    return empty.error();
  Result<Tensor> tensor = readElements(std::move(*empty), proto);
  if (tensor && *dtype == DType::i1)
    for (int64_t i = 0; i < tensor->numElements(); ++i)
      tensor->data<uint8_t>()[i] = tensor->data<uint8_t>()[i] != 0;
  return tensor;
}

} // namespace attn::importer
