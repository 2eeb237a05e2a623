// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Import.h. Nodes come in the order in which they compute.

#include "Import.h"

#include "Attention.h"
#include "Proto.h"

#include <map>
#include <set>

namespace attn::importer {

// Versions of ai.onnx whose attention is the one described in docs/onnx.md.
static constexpr int64_t minOpset = 23, maxOpset = 27;
// Far more than any memory, so that sums of sizes are integers of 64 bits.
static constexpr int64_t maxElements = int64_t(1) << 48;
static constexpr const char *preview = "ai.onnx.preview";

/// The empty name has a long form.
static std::string canonicalDomain(const std::string &domain) {
  return isDefaultDomain(domain) ? "" : domain;
}

namespace {

class GraphImporter {
public:
  explicit GraphImporter(const onnx::ModelProto &model) : model(model) {
    for (const onnx::TensorProto &initializer : model.graph().initializer())
      constants.insert(initializer.name());
    for (const onnx::OperatorSetIdProto &set : model.opset_import())
      opsets.emplace(canonicalDomain(set.domain()), set.version());
  }
  Result<ImportedFunction> run();

private:
  Result<void> addInitializers();
  Result<void> addInput(const onnx::ValueInfoProto &input);
  Result<void> addNode(const onnx::NodeProto &proto);
  Result<void> addConstant(const onnx::NodeProto &proto);
  Result<void> addOutput(const onnx::ValueInfoProto &output);
  Result<void> define(const std::string &name, const IrValue &value);
  /// The version of a set of operators that the model imports, or 0.
  int64_t getOpset(const std::string &domain) const;

  const onnx::ModelProto &model;
  std::set<std::string_view> constants;  ///< names of initializers
  std::map<std::string, int64_t> opsets; ///< versions by domain
  IrText text;
  Values values;
  ImportedFunction function;
  std::vector<IrValue> results;
};

} // namespace

static Error malformed(const std::string &what) {
  return Error{ErrorCode::invalidArgument, what};
}

int64_t GraphImporter::getOpset(const std::string &domain) const {
  auto found = opsets.find(canonicalDomain(domain));
  return found == opsets.end() ? 0 : found->second;
}

Result<void> GraphImporter::define(const std::string &name,
                                   const IrValue &value) {
  if (name.empty())
    return malformed("value of the graph: expected a name, got none");
  if (!values.emplace(name, value).second)
    return malformed("value '" + name + "': expected one, got it twice");
  return {};
}

/// The tensor type of a value; dimensions without a number, or with -1, which
/// some exporters write, are dynamic.
static Result<IrValue> readType(const onnx::ValueInfoProto &info,
                                const char *kind) {
  std::string where = std::string(kind) + " '" + info.name() + "': ";
  if (!info.type().has_tensor_type() || !info.type().tensor_type().has_shape())
    return malformed(where + "expected a tensor type with a shape");
  const onnx::TypeProto::Tensor &tensor = info.type().tensor_type();
  Result<DType> dtype = toDType(tensor.elem_type());
  if (!dtype)
    return Error{dtype.error().code, where + dtype.error().message};
  IrValue value{"", *dtype, {}};
  std::vector<int64_t> counted;
  for (const auto &dim : tensor.shape().dim()) {
    int64_t size = dim.has_dim_value() ? dim.dim_value() : -1;
    if (size < -1)
      return malformed(where +
                       "expected sizes of at least 0, or -1 for one that is "
                       "not known, got " +
                       std::to_string(size));
    value.sizes.push_back(size);
    counted.push_back(size < 0 ? 1 : size);
  }
  if (numElements(counted).value_or(maxElements + 1) > maxElements)
    return malformed(where + "expected sizes that fit into memory, got " +
                     formatSizes(value.sizes));
  return value;
}

Result<void> GraphImporter::addInput(const onnx::ValueInfoProto &input) {
  if (constants.count(input.name()))
    return {}; // It can't be passed another value.
  Result<IrValue> type = readType(input, "input");
  if (!type)
    return type.error();
  function.inputs.push_back(input.name());
  return define(input.name(),
                text.addArgument(input.name(), type->dtype, type->sizes));
}

Result<void> GraphImporter::addInitializers() {
  // What nothing uses may be of any kind.
  std::set<std::string> used = getUsedNames(model.graph());
  for (const onnx::SparseTensorProto &sparse :
       model.graph().sparse_initializer())
    if (used.count(sparse.values().name()))
      return Error{ErrorCode::unsupported,
                   "initializer '" + sparse.values().name() +
                       "': expected a dense tensor, got a sparse one"};
  for (const onnx::TensorProto &initializer : model.graph().initializer()) {
    if (!used.count(initializer.name()))
      continue;
    Result<Tensor> tensor = toTensor(initializer);
    if (!tensor)
      return Error{tensor.error().code, "initializer '" + initializer.name() +
                                            "': " + tensor.error().message};
    if (Result<void> done =
            define(initializer.name(),
                   text.constantTensor(initializer.name(), *tensor));
        !done)
      return done;
  }
  return {};
}

Result<void> GraphImporter::addConstant(const onnx::NodeProto &proto) {
  Node node(proto, values, 0);
  if (proto.attribute_size() != 1 || proto.output_size() != 1 ||
      proto.attribute(0).name() != "value" || !proto.attribute(0).has_t())
    return node.error("expected one output and one attribute, 'value', a "
                      "tensor",
                      ErrorCode::unsupported);
  Result<Tensor> tensor = toTensor(proto.attribute(0).t());
  if (!tensor)
    return node.error(tensor.error().message, tensor.error().code);
  return define(proto.output(0), text.constantTensor(proto.output(0), *tensor));
}

Result<void> GraphImporter::addNode(const onnx::NodeProto &proto) {
  const std::string &op = proto.op_type();
  if (isDefaultDomain(proto.domain()) && op == "Constant")
    return addConstant(proto);
  int64_t opset = getOpset(proto.domain());
  Node node(proto, values, opset);
  bool isAttention = isDefaultDomain(proto.domain()) && op == "Attention";
  bool isFlex = proto.domain() == preview && op == "FlexAttention";
  if (!isAttention && !isFlex)
    return node.error("operator '" + op + "' of domain '" +
                          domainName(proto.domain()) +
                          "': expected Attention of ai.onnx, FlexAttention "
                          "of ai.onnx.preview or Constant",
                      ErrorCode::unsupported);
  if (isAttention ? opset < minOpset || opset > maxOpset : opset != 1)
    return node.error(
        std::string("operator set ") + (isAttention ? "ai.onnx" : preview) +
            ": expected version " + (isAttention ? "23 to 27" : "1") +
            ", got " + std::to_string(opset),
        ErrorCode::unsupported);
  Values outputs;
  Result<void> done = isAttention ? importAttention(node, text, outputs)
                                  : importFlexAttention(node, text, outputs);
  if (!done)
    return done;
  for (const auto &[name, value] : outputs)
    if (done = define(name, value); !done)
      return done;
  return {};
}

Result<void> GraphImporter::addOutput(const onnx::ValueInfoProto &output) {
  auto found = values.find(output.name());
  if (found == values.end())
    return malformed("output '" + output.name() +
                     "': expected a value of the graph");
  // A graph may leave types of outputs to be inferred.
  if (output.type().has_tensor_type() &&
      output.type().tensor_type().has_shape()) {
    Result<IrValue> type = readType(output, "output");
    if (!type)
      return type.error();
    const IrValue &value = found->second;
    bool isEqual = type->dtype == value.dtype && type->rank() == value.rank();
    for (int64_t dim = 0; isEqual && dim < value.rank(); ++dim)
      isEqual = type->sizes[dim] < 0 || value.sizes[dim] < 0 ||
                type->sizes[dim] == value.sizes[dim];
    if (!isEqual)
      return malformed("output '" + output.name() + "': expected " +
                       formatType(value.dtype, value.sizes) + ", got " +
                       formatType(type->dtype, type->sizes));
  }
  function.outputs.push_back(output.name());
  results.push_back(found->second);
  return {};
}

Result<ImportedFunction> GraphImporter::run() {
  const onnx::GraphProto &graph = model.graph();
  for (const onnx::ValueInfoProto &input : graph.input())
    if (Result<void> done = addInput(input); !done)
      return done.error();
  if (Result<void> done = addInitializers(); !done)
    return done.error();
  for (const onnx::NodeProto &node : graph.node())
    if (Result<void> done = addNode(node); !done)
      return done.error();
  if (graph.output_size() == 0)
    return malformed("graph: expected an output, got none");
  for (const onnx::ValueInfoProto &output : graph.output())
    if (Result<void> done = addOutput(output); !done)
      return done.error();
  function.text = text.finish(results);
  return std::move(function);
}

Result<ImportedFunction> importModel(const onnx::ModelProto &model) {
  return GraphImporter(model).run();
}

} // namespace attn::importer
