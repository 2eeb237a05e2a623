// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes, ranges and reshapes of a pointwise graph: lists of integers that the
// graph fixes, and index arithmetic. See PointwiseValue.h.

#include "PointwiseValue.h"

namespace attn::importer {

/// The integers of a list that the graph fixes.
static Result<std::vector<int64_t>>
knownList(const Node &node, const PointwiseRef &value, const char *what) {
  if (!value->known)
    return node.error(std::string("expected ") + what +
                          " that the graph itself fixes",
                      ErrorCode::unsupported);
  return *value->known;
}

PointwiseRef makeIntegers(std::vector<int64_t> sizes,
                          std::vector<int64_t> elements, IrText &text) {
  auto value = std::make_shared<PointwiseValue>();
  value->dtype = DType::i64;
  value->sizes = std::move(sizes);
  value->known = elements;
  if (elements.size() == 1)
    value->splat = static_cast<double>(elements[0]);
  value->element = once([&text, elements](const Place &place) {
    auto constant = [&](int64_t number, const char *type) {
      return text.addOp("n", "arith.constant " + std::to_string(number) +
                                 " : " + type);
    };
    // Nothing is asked for an element of none.
    std::string element =
        constant(elements.empty() ? 0 : elements.front(), "i64");
    for (size_t i = 1; i < elements.size(); ++i) {
      std::string isHere = text.addOp(
          "here", "arith.cmpi eq, " + place.indices[0] + ", " +
                      constant(static_cast<int64_t>(i), "index") + " : index");
      element = text.addOp("n", "arith.select " + isHere + ", " +
                                    constant(elements[i], "i64") + ", " +
                                    element + " : i64");
    }
    return element;
  });
  return value;
}

static Result<PointwiseRef>
makeShape(Node &node, const std::vector<PointwiseRef> &operands, IrText &text) {
  if (operands.size() != 1)
    return node.error("expected one input");
  for (int64_t size : operands[0]->sizes)
    if (size < 0)
      return node.error("expected a shape that is known to the model",
                        ErrorCode::unsupported);
  return makeIntegers({operands[0]->rank()}, operands[0]->sizes, text);
}

static Result<PointwiseRef>
makeGather(Node &node, const std::vector<PointwiseRef> &operands,
           IrText &text) {
  if (operands.size() != 2 || node.integer("axis").value_or(0) != 0 ||
      operands[0]->rank() != 1 || operands[1]->rank() > 1)
    return node.error("expected a list and indices of it, along axis 0",
                      ErrorCode::unsupported);
  Result<std::vector<int64_t>> list = knownList(node, operands[0], "a list");
  Result<std::vector<int64_t>> indices =
      knownList(node, operands[1], "indices");
  if (!list)
    return list.error();
  if (!indices)
    return indices.error();
  std::vector<int64_t> elements;
  int64_t size = static_cast<int64_t>(list->size());
  for (int64_t index : *indices) {
    if (index < -size || index >= size)
      return node.error("expected indices below " + std::to_string(size) +
                        ", got " + std::to_string(index));
    elements.push_back((*list)[index < 0 ? index + size : index]);
  }
  return makeIntegers(operands[1]->sizes, elements, text);
}

static Result<PointwiseRef> makeRange(const Node &node,
                                      const std::vector<PointwiseRef> &operands,
                                      IrText &text) {
  int64_t bounds[3];
  for (int i = 0; i < 3; ++i) {
    if (operands.size() != 3 || operands[i]->dtype != DType::i64)
      return node.error("expected three integers; others are not supported",
                        ErrorCode::unsupported);
    Result<std::vector<int64_t>> bound = knownList(node, operands[i], "bounds");
    if (!bound)
      return bound.error();
    if (bound->size() != 1)
      return node.error("expected three integers, got a list");
    bounds[i] = (*bound)[0];
  }
  int64_t start = bounds[0], limit = bounds[1], delta = bounds[2];
  // Sums and products with indices stay integers of 64 bits.
  constexpr int64_t most = int64_t(1) << 40;
  for (int64_t bound : bounds)
    if (bound < -most || bound > most)
      return node.error("expected bounds of at most 2^40, got " +
                        std::to_string(bound));
  if (delta == 0)
    return node.error("expected a step that is not 0");
  int64_t span = limit - start;
  int64_t count =
      span / delta + (span % delta != 0 && (span > 0) == (delta > 0));
  auto value = std::make_shared<PointwiseValue>();
  value->dtype = DType::i64;
  value->sizes = {std::max<int64_t>(count, 0)};
  value->element = [&text, start, delta](const Place &place) {
    auto number = [&](int64_t n) {
      return text.addOp("n", "arith.constant " + std::to_string(n) + " : i64");
    };
    // An index of a size of 1 is 0.
    if (place.indices[0].empty())
      return number(start);
    std::string element = text.addOp(
        "x", "arith.index_cast " + place.indices[0] + " : index to i64");
    if (delta != 1)
      element = text.addOp("x", "arith.muli " + element + ", " + number(delta) +
                                    " : i64");
    if (start != 0)
      element = text.addOp("x", "arith.addi " + element + ", " + number(start) +
                                    " : i64");
    return element;
  };
  return PointwiseRef(value);
}

/// `value` with dimensions of size 1 put in or left out.
static Result<PointwiseRef> withSizes(const Node &node,
                                      const PointwiseRef &value,
                                      const std::vector<int64_t> &sizes) {
  auto withoutOnes = [](const std::vector<int64_t> &all) {
    std::vector<int64_t> some;
    for (int64_t size : all)
      if (size != 1)
        some.push_back(size);
    return some;
  };
  if (withoutOnes(value->sizes) != withoutOnes(sizes))
    return node.error("expected a reshape that puts in or leaves out "
                      "dimensions of size 1, got " +
                          formatSizes(value->sizes) + " to " +
                          formatSizes(sizes),
                      ErrorCode::unsupported);
  auto result = std::make_shared<PointwiseValue>(*value);
  result->sizes = sizes;
  result->isScore = false;
  result->condition = result->kept = nullptr;
  result->element = [value, sizes](const Place &place) {
    std::vector<std::string> used;
    for (size_t dim = 0; dim < sizes.size(); ++dim)
      if (sizes[dim] != 1)
        used.push_back(place.indices[dim]);
    Place own{place.score, {}};
    size_t next = 0;
    for (int64_t size : value->sizes)
      own.indices.push_back(size == 1 ? "" : used[next++]);
    return value->element(own);
  };
  return PointwiseRef(result);
}

static Result<PointwiseRef>
makeReshape(Node &node, const std::vector<PointwiseRef> &operands) {
  if (operands.size() != 2 || node.integer("allowzero").value_or(0) != 0)
    return node.error("expected two inputs and allowzero = 0",
                      ErrorCode::unsupported);
  Result<std::vector<int64_t>> shape = knownList(node, operands[1], "a shape");
  if (!shape)
    return shape.error();
  std::vector<int64_t> counted;
  for (size_t dim = 0; dim < shape->size(); ++dim) {
    int64_t &size = (*shape)[dim];
    if (size == 0 && dim < operands[0]->sizes.size())
      size = operands[0]->sizes[dim];
    counted.push_back(size == -1 ? 1 : size);
  }
  std::optional<int64_t> have = numElements(operands[0]->sizes);
  std::optional<int64_t> fixed = numElements(counted);
  for (int64_t &size : *shape)
    if (size == -1 && have && fixed && *fixed > 0)
      size = *have / *fixed;
  return withSizes(node, operands[0], *shape);
}

static Result<PointwiseRef>
makeUnsqueeze(const Node &node, const std::vector<PointwiseRef> &operands) {
  if (operands.size() != 2)
    return node.error("expected two inputs");
  Result<std::vector<int64_t>> axes = knownList(node, operands[1], "axes");
  if (!axes)
    return axes.error();
  int64_t rank = operands[0]->rank() + static_cast<int64_t>(axes->size());
  std::vector<bool> isNew(rank, false);
  for (int64_t axis : *axes) {
    if (axis < -rank || axis >= rank || isNew[axis < 0 ? axis + rank : axis])
      return node.error("expected axes of rank " + std::to_string(rank) +
                        ", each once, got " + std::to_string(axis));
    isNew[axis < 0 ? axis + rank : axis] = true;
  }
  std::vector<int64_t> sizes;
  auto old = operands[0]->sizes.begin();
  for (bool one : isNew)
    sizes.push_back(one ? 1 : *old++);
  return withSizes(node, operands[0], sizes);
}

bool isShapeOperator(const std::string &op) {
  return op == "Shape" || op == "Gather" || op == "Range" || op == "Reshape" ||
         op == "Unsqueeze";
}

Result<PointwiseRef> makeShaped(Node &node, const std::string &op,
                                const std::vector<PointwiseRef> &operands,
                                IrText &text) {
  if (op == "Shape")
    return makeShape(node, operands, text);
  if (op == "Gather")
    return makeGather(node, operands, text);
  if (op == "Range")
    return makeRange(node, operands, text);
  if (op == "Reshape")
    return makeReshape(node, operands);
  return makeUnsqueeze(node, operands);
}

} // namespace attn::importer
