// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Pointwise.h. Values are functions, built node by node; text is written
// when the score of a place is asked for.

#include "Pointwise.h"

#include "PointwiseValue.h"
#include "Proto.h"

namespace attn::importer {

// Longer lists of integers are no shapes.
static constexpr int64_t maxKnown = 16;
// Text is written by recursion over nodes.
static constexpr int maxNodes = 1000;

namespace {

class PointwiseReader {
public:
  PointwiseReader(const onnx::GraphProto &graph, const IrValue &scores,
                  const Values &outer, int64_t opset, IrText &text)
      : graph(graph), scores(scores), outer(outer), opset(opset), text(text) {}
  Result<Pointwise> run();

private:
  Error error(const std::string &what) const {
    return Error{ErrorCode::invalidArgument,
                 "graph '" + graph.name() + "': " + what};
  }
  Result<void> addInput();
  Result<void> addConstant(const std::string &name,
                           const onnx::TensorProto &proto);
  Result<void> addNode(const onnx::NodeProto &proto);
  Result<PointwiseRef> makeValue(Node &node, const std::string &op,
                                 const std::vector<PointwiseRef> &operands);
  Result<PointwiseRef> find(const Node &node, const std::string &name);
  PointwiseRef captured(const IrValue &value);
  PointwiseRef constantOf(const std::string &name, const Tensor &tensor);

  const onnx::GraphProto &graph;
  const IrValue &scores;
  const Values &outer;
  int64_t opset;
  IrText &text;
  std::map<std::string, PointwiseRef> values;
  bool readsTensors = false;
};

} // namespace

PointwiseRef PointwiseReader::captured(const IrValue &value) {
  readsTensors = true;
  auto result = std::make_shared<PointwiseValue>();
  DType from = value.dtype;
  result->dtype = from == DType::i1 || isFloat(from) ? from : DType::i64;
  result->sizes = value.sizes;
  result->element =
      once([&text = text, value, from, to = result->dtype](const Place &place) {
        std::vector<std::string> indices = place.indices;
        for (std::string &index : indices)
          if (index.empty())
            index = text.addOp("zero", "arith.constant 0 : index");
        std::string element =
            text.addOp("x", "tensor.extract " + value.name + "[" +
                                join(indices) + "] : " + type(value));
        return convertScalar(text, element, from, to);
      });
  return result;
}

/// An element of a tensor of integers, exactly.
static int64_t integerAt(const Tensor &tensor, int64_t index) {
  switch (tensor.dtype()) {
  case DType::i8:
    return tensor.data<int8_t>()[index];
  case DType::i32:
    return tensor.data<int32_t>()[index];
  default:
    return tensor.data<int64_t>()[index];
  }
}

PointwiseRef PointwiseReader::constantOf(const std::string &name,
                                         const Tensor &tensor) {
  bool isNumber = isFloat(tensor.dtype());
  if (!isNumber && tensor.dtype() != DType::i1 &&
      tensor.numElements() <= maxKnown &&
      (tensor.numElements() == 1 || tensor.sizes().size() == 1)) {
    std::vector<int64_t> elements;
    for (int64_t i = 0; i < tensor.numElements(); ++i)
      elements.push_back(integerAt(tensor, i));
    return makeIntegers(tensor.sizes(), elements, text);
  }
  if (tensor.numElements() != 1) {
    IrValue value = text.constantTensor(name, tensor);
    return captured(isNumber ? convert(text, value, scores.dtype, name)
                             : value);
  }
  auto value = std::make_shared<PointwiseValue>();
  value->dtype = isNumber ? scores.dtype : DType::i1;
  value->sizes = tensor.sizes();
  value->splat = tensor.at(0);
  value->element = [&text = text, dtype = value->dtype, number = tensor.at(0)](
                       const Place &) { return text.constant(dtype, number); };
  return value;
}

Result<void> PointwiseReader::addConstant(const std::string &name,
                                          const onnx::TensorProto &proto) {
  Result<Tensor> tensor = toTensor(proto);
  if (!tensor)
    return error("constant '" + name + "': " + tensor.error().message);
  values[name] = constantOf(name, *tensor);
  return {};
}

Result<void> PointwiseReader::addInput() {
  if (graph.input_size() != 1 || graph.output_size() != 1)
    return error("expected one input and one output, got " +
                 std::to_string(graph.input_size()) + " and " +
                 std::to_string(graph.output_size()));
  auto value = std::make_shared<PointwiseValue>();
  value->dtype = scores.dtype;
  value->sizes = scores.sizes;
  value->usesScore = value->isScore = true;
  value->element = [](const Place &place) { return place.score; };
  values[graph.input(0).name()] = value;
  return {};
}

Result<PointwiseRef> PointwiseReader::find(const Node &node,
                                           const std::string &name) {
  if (auto found = values.find(name); found != values.end())
    return found->second;
  auto around = outer.find(name);
  if (around == outer.end())
    return node.error("expected a value of graph '" + graph.name() +
                      "' or of the one around it, got '" + name + "'");
  const IrValue &value = around->second;
  if (value.rank() > 4)
    return node.error("expected a rank of at most 4, got " +
                      std::to_string(value.rank()) + " of '" + name + "'");
  PointwiseRef result = captured(
      isFloat(value.dtype) ? convert(text, value, scores.dtype, name) : value);
  values[name] = result;
  return result;
}

Result<PointwiseRef>
PointwiseReader::makeValue(Node &node, const std::string &op,
                           const std::vector<PointwiseRef> &operands) {
  if (isElementwise(op))
    return makeElementwise(node, op, operands, scores.dtype, text);
  if (op == "Identity" && operands.size() == 1)
    return operands[0];
  if (isShapeOperator(op))
    return makeShaped(node, op, operands, text);
  return node.error("operator '" + op +
                        "' is not supported in a graph of "
                        "scores",
                    ErrorCode::unsupported);
}

Result<void> PointwiseReader::addNode(const onnx::NodeProto &proto) {
  Node node(proto, outer, opset);
  if (!isDefaultDomain(proto.domain()))
    return node.error("domain '" + proto.domain() +
                          "': expected operators of ai.onnx",
                      ErrorCode::unsupported);
  if (proto.op_type() == "Constant" && proto.attribute_size() == 1 &&
      proto.output_size() == 1 && proto.attribute(0).has_t())
    return addConstant(proto.output(0), proto.attribute(0).t());
  if (proto.output_size() != 1)
    return node.error("expected one output, got " +
                      std::to_string(proto.output_size()));
  std::vector<PointwiseRef> operands;
  for (const std::string &name : proto.input()) {
    Result<PointwiseRef> operand = find(node, name);
    if (!operand)
      return operand.error();
    operands.push_back(*operand);
  }
  Result<PointwiseRef> value = makeValue(node, proto.op_type(), operands);
  if (!value)
    return value.error();
  if (Result<void> done = node.checkAttributes(); !done)
    return done;
  if (!values.emplace(proto.output(0), *value).second)
    return node.error("value '" + proto.output(0) +
                      "': expected one, got it twice");
  return {};
}

/// The element of `value` at a score and its four indices.
static ScoreMap toMap(PointwiseRef value) {
  return [value](const std::string &score,
                 const std::vector<std::string> &indices) {
    return elementAt(*value, Place{score, indices});
  };
}

Result<Pointwise> PointwiseReader::run() {
  if (graph.node_size() > maxNodes)
    return error("expected at most " + std::to_string(maxNodes) +
                 " nodes, got " + std::to_string(graph.node_size()));
  if (Result<void> done = addInput(); !done)
    return done.error();
  std::set<std::string> used = getUsedNames(graph);
  for (const onnx::TensorProto &initializer : graph.initializer()) {
    if (!used.count(initializer.name()))
      continue;
    if (Result<void> done = addConstant(initializer.name(), initializer); !done)
      return done.error();
  }
  for (const onnx::NodeProto &node : graph.node())
    if (Result<void> done = addNode(node); !done)
      return done.error();
  auto found = values.find(graph.output(0).name());
  if (found == values.end() || found->second->dtype != scores.dtype ||
      found->second->rank() != 4)
    return error("expected an output of floats of rank 4, '" +
                 graph.output(0).name() + "'");
  PointwiseRef output = found->second;
  for (int dim = 0; dim < 4; ++dim)
    if (output->sizes[dim] != scores.sizes[dim] && output->sizes[dim] >= 0 &&
        scores.sizes[dim] >= 0)
      return error("output '" + graph.output(0).name() + "': expected sizes " +
                   formatSizes(scores.sizes) + ", got " +
                   formatSizes(output->sizes));
  Pointwise result;
  result.readsTensors = readsTensors;
  if (PointwiseRef condition = output->condition) {
    result.keep = toMap(condition);
    if (output->keepsWhereFalse)
      result.keep = [&text = text, map = result.keep](
                        const std::string &score,
                        const std::vector<std::string> &indices) {
        std::string masked = map(score, indices);
        std::string yes = text.constant(DType::i1, 1);
        return text.addOp("kept",
                          "arith.xori " + masked + ", " + yes + " : i1");
      };
    output = output->kept;
  }
  if (!output->isScore)
    result.score = toMap(output);
  return result;
}

Result<Pointwise> readPointwise(const onnx::GraphProto &graph,
                                const IrValue &scores, const Values &outer,
                                int64_t opset, IrText &text) {
  return PointwiseReader(graph, scores, outer, opset, text).run();
}

} // namespace attn::importer
