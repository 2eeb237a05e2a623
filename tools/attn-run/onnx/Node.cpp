// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Node.h.

#include "Node.h"

namespace attn::importer {

static constexpr const char *defaultDomain = "ai.onnx";

bool isDefaultDomain(const std::string &domain) {
  return domain.empty() || domain == defaultDomain;
}

std::string domainName(const std::string &domain) {
  return domain.empty() ? defaultDomain : domain;
}

static void addUsedNames(const onnx::GraphProto &graph,
                         std::set<std::string> &names) {
  for (const onnx::ValueInfoProto &output : graph.output())
    names.insert(output.name());
  for (const onnx::NodeProto &node : graph.node()) {
    names.insert(node.input().begin(), node.input().end());
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.has_g())
        addUsedNames(attribute.g(), names);
      for (const onnx::GraphProto &inner : attribute.graphs())
        addUsedNames(inner, names);
    }
  }
}

std::set<std::string> getUsedNames(const onnx::GraphProto &graph) {
  std::set<std::string> names;
  addUsedNames(graph, names);
  return names;
}

Error Node::error(const std::string &what, ErrorCode code) const {
  std::string name = proto.name().empty() ? "" : "'" + proto.name() + "' ";
  return Error{code, "node " + name + "(" + proto.op_type() + "): " + what};
}

const onnx::AttributeProto *
Node::find(const char *name, onnx::AttributeProto::AttributeType type) {
  for (const onnx::AttributeProto &attribute : proto.attribute()) {
    if (attribute.name() != name || attribute.type() != type)
      continue;
    known.insert(name);
    return &attribute;
  }
  return nullptr;
}

std::optional<int64_t> Node::integer(const char *name) {
  const onnx::AttributeProto *found = find(name, onnx::AttributeProto::INT);
  return found ? std::optional<int64_t>(found->i()) : std::nullopt;
}

std::optional<double> Node::number(const char *name) {
  const onnx::AttributeProto *found = find(name, onnx::AttributeProto::FLOAT);
  return found ? std::optional<double>(found->f()) : std::nullopt;
}

const onnx::GraphProto *Node::graph(const char *name) {
  const onnx::AttributeProto *found = find(name, onnx::AttributeProto::GRAPH);
  return found ? &found->g() : nullptr;
}

Result<void> Node::checkAttributes() const {
  std::set<std::string> seen;
  for (const onnx::AttributeProto &attribute : proto.attribute()) {
    if (!seen.insert(attribute.name()).second)
      return error("attribute '" + attribute.name() +
                   "': expected once, got it twice");
    if (!known.count(attribute.name()))
      return error("attribute '" + attribute.name() +
                       "': not supported (opset " + std::to_string(opset) +
                       "), or of another type than the operator's",
                   ErrorCode::unsupported);
  }
  return {};
}

Result<std::optional<IrValue>> Node::input(int index, const char *name) const {
  if (index >= proto.input_size() || proto.input(index).empty())
    return std::optional<IrValue>();
  auto found = values.find(proto.input(index));
  if (found == values.end())
    return error(std::string("input ") + name +
                 ": expected an input of the graph, an initializer or the "
                 "output of an earlier node, got '" +
                 proto.input(index) + "'");
  return std::optional<IrValue>(found->second);
}

Result<IrValue> Node::requiredInput(int index, const char *name) const {
  Result<std::optional<IrValue>> value = input(index, name);
  if (!value)
    return value.error();
  if (!*value)
    return error(std::string("input ") + name + ": expected one, got none");
  return **value;
}

std::string Node::output(int index) const {
  return index < proto.output_size() ? proto.output(index) : "";
}

Result<void> Node::checkCounts(int inputs, int outputs) const {
  std::set<std::string> seen;
  for (const std::string &name : proto.output())
    if (!name.empty() && !seen.insert(name).second)
      return error("output '" + name + "': expected once, got it twice");
  auto check = [&](const char *what, int most, int count) -> Result<void> {
    if (count > most)
      return error(std::string("expected at most ") + std::to_string(most) +
                   " " + what + ", got " + std::to_string(count));
    return {};
  };
  if (Result<void> done = check("inputs", inputs, proto.input_size()); !done)
    return done;
  return check("outputs", outputs, proto.output_size());
}

} // namespace attn::importer
