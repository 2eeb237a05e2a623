// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One node of a graph as the importers of operators see it: its attributes and
// the values at its inputs, with messages that name node and place.

#ifndef ATTN_TOOLS_ATTN_RUN_ONNX_NODE_H
#define ATTN_TOOLS_ATTN_RUN_ONNX_NODE_H

#include "IrText.h"

#include "onnx/onnx_pb.h"

#include <map>
#include <optional>
#include <set>

namespace attn::importer {

/// The values of a graph by their names.
using Values = std::map<std::string, IrValue>;

/// True for the domain of ONNX itself, which is written as nothing or by name.
bool isDefaultDomain(const std::string &domain);
/// The domain as messages have it.
std::string domainName(const std::string &domain);

/// What nodes of `graph` and of the graphs in it read, and its outputs.
std::set<std::string> getUsedNames(const onnx::GraphProto &graph);

class Node {
public:
  /// `opset` is the version of the operator's domain.
  Node(const onnx::NodeProto &proto, const Values &values, int64_t opset)
      : proto(proto), values(values), opset(opset) {}

  /// "node 'attention' (Attention): what".
  Error error(const std::string &what,
              ErrorCode code = ErrorCode::invalidArgument) const;

  /// Attributes. One of another type counts as absent and is reported by
  /// checkAttributes(), as are those that nobody asked for.
  std::optional<int64_t> integer(const char *name);
  std::optional<double> number(const char *name);
  const onnx::GraphProto *graph(const char *name);
  Result<void> checkAttributes() const;

  /// The value at input `index`, called `name` in messages; nothing where the
  /// node leaves it out.
  Result<std::optional<IrValue>> input(int index, const char *name) const;
  /// The same where the operator needs it.
  Result<IrValue> requiredInput(int index, const char *name) const;
  /// The name of output `index`, empty where the node leaves it out.
  std::string output(int index) const;
  /// Refuses inputs and outputs beyond what the operator has, and outputs of
  /// one name.
  Result<void> checkCounts(int inputs, int outputs) const;

  int64_t getOpset() const { return opset; }
  const Values &getValues() const { return values; }

private:
  const onnx::AttributeProto *find(const char *name,
                                   onnx::AttributeProto::AttributeType type);

  const onnx::NodeProto &proto;
  const Values &values;
  int64_t opset;
  std::set<std::string> known;
};

} // namespace attn::importer

#endif // ATTN_TOOLS_ATTN_RUN_ONNX_NODE_H
