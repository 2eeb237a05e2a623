// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of a pointwise graph: functions of the score and of indices.

#ifndef ATTN_TOOLS_ATTN_RUN_ONNX_POINTWISEVALUE_H
#define ATTN_TOOLS_ATTN_RUN_ONNX_POINTWISEVALUE_H

#include "Node.h"

#include <memory>

namespace attn::importer {

/// Where an element is asked for: the score there, and for each dimension the
/// name of an index, empty for one of size 1.
struct Place {
  std::string score;
  std::vector<std::string> indices;
};

struct PointwiseValue;
using PointwiseRef = std::shared_ptr<const PointwiseValue>;

struct PointwiseValue {
  /// The type of scores for floats, i64 for integers, or i1.
  DType dtype;
  /// -1 where only a call knows.
  std::vector<int64_t> sizes;
  /// Adds the lines for one element and returns its name.
  std::function<std::string(const Place &)> element;
  /// The elements of integers that the graph fixes, such as a shape.
  std::optional<std::vector<int64_t>> known;
  /// The value of all elements, where there is one.
  std::optional<double> splat;
  /// Whether an element depends on the score.
  bool usesScore = false;
  /// Whether it is the score itself.
  bool isScore = false;
  /// For a value that is `kept` where `condition` holds (or where it doesn't),
  /// and -inf elsewhere.
  PointwiseRef condition, kept;
  bool keepsWhereFalse = false;

  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
};

/// The element of `value` that is broadcast to a place of more dimensions.
std::string elementAt(const PointwiseValue &value, const Place &place);

/// `element`, whose lines are written once for each place: places have scores
/// or indices of their own in every region.
std::function<std::string(const Place &)>
once(std::function<std::string(const Place &)> element);

/// Integers that the graph fixes.
PointwiseRef makeIntegers(std::vector<int64_t> sizes,
                          std::vector<int64_t> elements, IrText &text);

bool isShapeOperator(const std::string &op);

/// The value of an operator on shapes and indices.
Result<PointwiseRef> makeShaped(Node &node, const std::string &op,
                                const std::vector<PointwiseRef> &operands,
                                IrText &text);

bool isElementwise(const std::string &op);

/// The value of an elementwise operator; floats are of type `scoreType`. `node`
/// is the one that it belongs to.
Result<PointwiseRef> makeElementwise(Node &node, const std::string &op,
                                     const std::vector<PointwiseRef> &operands,
                                     DType scoreType, IrText &text);

} // namespace attn::importer

#endif // ATTN_TOOLS_ATTN_RUN_ONNX_POINTWISEVALUE_H
