// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ModelBuilder.h.

#include "test/onnx/ModelBuilder.h"

#include "runtime/Engine.h"
#include "test/e2e/PoisonedCall.h"
#include "tools/attn-run/onnx/Import.h"
#include "tools/attn-run/onnx/Proto.h"

#include <cstring>

namespace attn::onnxtest {

ModelBuilder::ModelBuilder(int64_t opset, const std::string &domain)
    : domain(domain) {
  model.set_ir_version(10);
  model.mutable_graph()->set_name("test");
  onnx::OperatorSetIdProto *set = model.add_opset_import();
  set->set_domain(domain);
  set->set_version(opset);
}

void ModelBuilder::addInput(const std::string &name, int type,
                            const std::vector<int64_t> &sizes) {
  onnx::ValueInfoProto *info = model.mutable_graph()->add_input();
  info->set_name(name);
  onnx::TypeProto::Tensor *tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  onnx::TensorShapeProto *shape = tensor->mutable_shape();
  for (int64_t size : sizes) {
    auto *dim = shape->add_dim();
    if (size < 0)
      dim->set_dim_param("n");
    else
      dim->set_dim_value(size);
  }
}

void ModelBuilder::addOutput(const std::string &name) {
  model.mutable_graph()->add_output()->set_name(name);
}

onnx::NodeProto &
ModelBuilder::addNode(const std::string &op,
                      const std::vector<std::string> &inputs,
                      const std::vector<std::string> &outputs) {
  onnx::NodeProto *node = model.mutable_graph()->add_node();
  node->set_op_type(op);
  node->set_domain(domain);
  for (const std::string &input : inputs)
    node->add_input(input);
  for (const std::string &output : outputs)
    node->add_output(output);
  return *node;
}

static onnx::AttributeProto &
addAttribute(onnx::NodeProto &node, const std::string &name,
             onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto *attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(type);
  return *attribute;
}

void setInteger(onnx::NodeProto &node, const std::string &name, int64_t value) {
  addAttribute(node, name, onnx::AttributeProto::INT).set_i(value);
}

void setFloat(onnx::NodeProto &node, const std::string &name, float value) {
  addAttribute(node, name, onnx::AttributeProto::FLOAT).set_f(value);
}

onnx::GraphProto &setGraph(onnx::NodeProto &node, const std::string &name) {
  return *addAttribute(node, name, onnx::AttributeProto::GRAPH).mutable_g();
}

int typeNumber(DType dtype) {
  switch (dtype) {
  case DType::f32:
    return onnx::TensorProto::FLOAT;
  case DType::f64:
    return onnx::TensorProto::DOUBLE;
  case DType::f16:
    return onnx::TensorProto::FLOAT16;
  case DType::bf16:
    return onnx::TensorProto::BFLOAT16;
  case DType::i1:
    return onnx::TensorProto::BOOL;
  case DType::i8:
    return onnx::TensorProto::INT8;
  case DType::u8:
    return onnx::TensorProto::UINT8;
  case DType::i32:
    return onnx::TensorProto::INT32;
  case DType::i64:
    return onnx::TensorProto::INT64;
  }
  return onnx::TensorProto::UNDEFINED;
}

onnx::TensorProto makeTensor(const std::string &name, int type,
                             const std::vector<int64_t> &sizes,
                             const std::vector<double> &elements) {
  onnx::TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(type);
  for (int64_t size : sizes)
    proto.add_dims(size);
  Result<DType> dtype = importer::toDType(type);
  std::string bytes;
  for (double element : elements) {
    char buffer[8];
    storeFromDouble(*dtype, element, buffer);
    bytes.append(buffer, byteSize(*dtype));
  }
  proto.set_raw_data(bytes);
  return proto;
}

Tensor tensorOf(DType dtype, const std::vector<int64_t> &sizes,
                const std::vector<double> &elements) {
  Result<Tensor> tensor = Tensor::empty(dtype, sizes);
  for (int64_t i = 0; i < tensor->numElements(); ++i)
    tensor->set(i, elements[elements.size() == 1 ? 0 : i]);
  return std::move(*tensor);
}

std::vector<double> elementsOf(const Tensor &tensor) {
  std::vector<double> elements;
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    elements.push_back(tensor.at(i));
  return elements;
}

Result<Tensors> callModel(const onnx::ModelProto &model, const Tensors &inputs,
                          const std::string &device) {
  Result<importer::ImportedFunction> function = importer::importModel(model);
  if (!function)
    return function.error();
  EngineOptions options;
  options.device = device;
  Result<Program> program = Engine(options).compileText(function->text);
  if (!program)
    return Error{program.error().code,
                 program.error().message + "\n" + function->text};
  std::vector<Value> arguments;
  for (const std::string &name : function->inputs) {
    auto found = inputs.find(name);
    if (found == inputs.end())
      return Error{ErrorCode::invalidArgument, "no input " + name};
    arguments.push_back(found->second.view());
  }
  Result<std::vector<Tensor>> results =
      test::callPoisoned(*program, "main", arguments);
  if (!results)
    return results.error();
  Tensors named;
  for (size_t i = 0; i < results->size(); ++i)
    named.emplace(function->outputs[i], std::move((*results)[i]));
  return named;
}

} // namespace attn::onnxtest
