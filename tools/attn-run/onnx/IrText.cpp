// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See IrText.h.

#include "IrText.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>

namespace attn::importer {

std::string join(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string type(const IrValue &value) {
  return "tensor<" + formatType(value.dtype, value.sizes) + ">";
}

/// The bytes of `size` bytes as 0x..., in the order of memory or, for one
/// number, the most significant first.
static std::string hex(const void *data, size_t size, bool isNumber) {
  static const char digits[] = "0123456789ABCDEF";
  const auto *bytes = static_cast<const unsigned char *>(data);
  std::string text = "0x";
  for (size_t i = 0; i < size; ++i) {
    unsigned char byte = bytes[isNumber ? size - 1 - i : i];
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::string spell(DType dtype, double value) {
  if (dtype == DType::i1)
    return value != 0 ? "true" : "false";
  char text[64];
  if (!isFloat(dtype)) {
    auto end =
        std::to_chars(text, text + sizeof text, static_cast<int64_t>(value));
    return std::string(text, end.ptr);
  }
  if (!std::isfinite(value)) {
    unsigned char bits[8];
    storeFromDouble(dtype, value, bits);
    return hex(bits, byteSize(dtype), /*isNumber=*/true);
  }
  auto end = std::to_chars(text, text + sizeof text, value);
  std::string number(text, end.ptr);
  // A float has a point.
  if (number.find('.') == std::string::npos)
    number.insert(std::min(number.find('e'), number.size()), ".0");
  return number;
}

std::string IrText::freshName(const std::string &hint) {
  std::string base = "%";
  for (char c : hint)
    base += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  // A number alone would be a value without a name.
  if (base.size() == 1 || std::isdigit(static_cast<unsigned char>(base[1])))
    base.insert(1, "v");
  // Where the last name of this base ended, so that many take no longer each.
  int64_t &number = numbers[base];
  std::string name = number == 0 ? base : base + "_" + std::to_string(number);
  while (!taken.insert(name).second)
    name = base + "_" + std::to_string(++number);
  return name;
}

IrValue IrText::addArgument(const std::string &hint, DType dtype,
                            const std::vector<int64_t> &sizes) {
  arguments.push_back({freshName(hint), dtype, sizes});
  return arguments.back();
}

void IrText::addLine(const std::string &text) {
  body += std::string(2 * depth, ' ') + text + "\n";
}

std::string IrText::addOp(const std::string &hint, const std::string &text) {
  std::string name = freshName(hint);
  addLine(name + " = " + text);
  return name;
}

IrValue IrText::addTensorOp(const std::string &hint, const std::string &text,
                            DType dtype, const std::vector<int64_t> &sizes) {
  return {addOp(hint, text), dtype, sizes};
}

std::string IrText::index(int64_t value) {
  std::string &known = indices[value];
  if (known.empty())
    known = addOp("c" + std::to_string(value),
                  "arith.constant " + std::to_string(value) + " : index");
  return known;
}

IrSize IrText::size(const IrValue &value, int64_t dim) {
  if (value.sizes[dim] >= 0)
    return {value.sizes[dim], ""};
  IrSize &known = knownSizes[{value.name, dim}];
  if (known.name.empty()) {
    std::string dimIndex = index(dim);
    known.name = addOp(value.name.substr(1) + "_dim" + std::to_string(dim),
                       "tensor.dim " + value.name + ", " + dimIndex + " : " +
                           type(value));
  }
  return known;
}

std::vector<IrSize> IrText::sizes(const IrValue &value) {
  std::vector<IrSize> all;
  for (int64_t dim = 0; dim < value.rank(); ++dim)
    all.push_back(size(value, dim));
  return all;
}

std::string IrText::name(const IrSize &size) {
  return size.isDynamic() ? size.name : index(size.fixed);
}

std::string IrText::constant(DType dtype, double value) {
  // true and false have their type in their name.
  std::string type =
      dtype == DType::i1 ? "" : std::string(" : ") + attn::name(dtype);
  return addOp("cst", "arith.constant " + spell(dtype, value) + type);
}

/// The elements from `first` on, in brackets by dimension.
static std::string nestElements(const Tensor &tensor, size_t dim,
                                int64_t &first) {
  if (dim == tensor.sizes().size())
    return spell(tensor.dtype(), tensor.at(first++));
  std::vector<std::string> parts;
  for (int64_t i = 0; i < tensor.sizes()[dim]; ++i)
    parts.push_back(nestElements(tensor, dim + 1, first));
  return "[" + join(parts) + "]";
}

IrValue IrText::constantTensor(const std::string &hint, const Tensor &tensor) {
  IrValue value{"", tensor.dtype(), tensor.sizes()};
  std::string elements;
  int64_t first = 0;
  if (tensor.numElements() > 0)
    // The text of bytes is exact for every float, and i1 has none.
    elements = tensor.dtype() == DType::i1
                   ? nestElements(tensor, 0, first)
                   : "\"" + hex(tensor.raw(), tensor.numBytes(), false) + "\"";
  value.name =
      addOp(hint, "arith.constant dense<" + elements + "> : " + type(value));
  return value;
}

static std::vector<int64_t> fixedSizes(const std::vector<IrSize> &sizes) {
  std::vector<int64_t> fixed;
  for (const IrSize &size : sizes)
    fixed.push_back(size.isDynamic() ? -1 : size.fixed);
  return fixed;
}

IrValue IrText::empty(DType dtype, const std::vector<IrSize> &sizes) {
  std::vector<std::string> dynamic;
  for (const IrSize &size : sizes)
    if (size.isDynamic())
      dynamic.push_back(size.name);
  IrValue value{"", dtype, fixedSizes(sizes)};
  value.name =
      addOp("empty", "tensor.empty(" + join(dynamic) + ") : " + type(value));
  return value;
}

IrValue IrText::filled(DType dtype, const std::vector<IrSize> &sizes,
                       double value) {
  IrValue init = empty(dtype, sizes);
  std::string scalar = constant(dtype, value);
  return addTensorOp("filled",
                     "linalg.fill ins(" + scalar + " : " + attn::name(dtype) +
                         ") outs(" + init.name + " : " + type(init) + ") -> " +
                         type(init),
                     dtype, init.sizes);
}

/// "[[0], [1, 2]]" for groups of 1 and 2 dimensions.
static std::string reassociation(const std::vector<int64_t> &groupSizes) {
  std::vector<std::string> groups;
  int64_t next = 0;
  for (int64_t count : groupSizes) {
    std::vector<std::string> dims;
    for (int64_t i = 0; i < count; ++i)
      dims.push_back(std::to_string(next++));
    groups.push_back("[" + join(dims) + "]");
  }
  return "[" + join(groups) + "]";
}

IrValue IrText::splitDim(const std::string &hint, const IrValue &value,
                         int64_t dim, const std::vector<int64_t> &factors) {
  std::vector<int64_t> groups(value.rank(), 1);
  groups[dim] = static_cast<int64_t>(factors.size());
  std::vector<IrSize> split = sizes(value);
  split.erase(split.begin() + dim);
  for (size_t i = 0; i < factors.size(); ++i)
    split.insert(split.begin() + dim + i, IrSize{factors[i], ""});
  std::vector<std::string> shape;
  for (const IrSize &size : split)
    shape.push_back(size.isDynamic() ? size.name : std::to_string(size.fixed));
  IrValue result{"", value.dtype, fixedSizes(split)};
  result.name =
      addOp(hint, "tensor.expand_shape " + value.name + " " +
                      reassociation(groups) + " output_shape [" + join(shape) +
                      "] : " + type(value) + " into " + type(result));
  return result;
}

IrValue IrText::mergeDims(const std::string &hint, const IrValue &value,
                          int64_t dim) {
  std::vector<int64_t> groups(value.rank() - 1, 1), merged = value.sizes;
  groups[dim] = 2;
  bool isDynamic = merged[dim] < 0 || merged[dim + 1] < 0;
  merged[dim] = isDynamic ? -1 : merged[dim] * merged[dim + 1];
  merged.erase(merged.begin() + dim + 1);
  IrValue result{"", value.dtype, merged};
  result.name = addOp(hint, "tensor.collapse_shape " + value.name + " " +
                                reassociation(groups) + " : " + type(value) +
                                " into " + type(result));
  return result;
}

IrValue IrText::dropUnitDims(const IrValue &value,
                             const std::vector<bool> &isKept) {
  IrValue result{"", value.dtype, {}};
  std::vector<int64_t> groups;
  int64_t dropped = 0;
  for (int64_t dim = 0; dim < value.rank(); ++dim) {
    if (!isKept[dim]) {
      // Those in front of the first that is kept wait for it.
      ++(groups.empty() ? dropped : groups.back());
      continue;
    }
    groups.push_back(groups.empty() ? dropped + 1 : 1);
    result.sizes.push_back(value.sizes[dim]);
  }
  if (result.rank() == value.rank())
    return value;
  result.name =
      addOp(value.name.substr(1), "tensor.collapse_shape " + value.name + " " +
                                      reassociation(groups) + " : " +
                                      type(value) + " into " + type(result));
  return result;
}

IrValue IrText::transpose(const std::string &hint, const IrValue &value,
                          const std::vector<int64_t> &permutation) {
  std::vector<IrSize> permuted;
  std::vector<std::string> order;
  for (int64_t dim : permutation) {
    permuted.push_back(size(value, dim));
    order.push_back(std::to_string(dim));
  }
  IrValue init = empty(value.dtype, permuted);
  return addTensorOp(hint,
                     "linalg.transpose ins(" + value.name + " : " +
                         type(value) + ") outs(" + init.name + " : " +
                         type(init) + ") permutation = [" + join(order) + "]",
                     value.dtype, init.sizes);
}

IrValue IrText::concat(const std::string &hint, int64_t dim,
                       const IrValue &first, const IrValue &second) {
  IrValue result{"", first.dtype, first.sizes};
  for (int64_t d = 0; d < first.rank(); ++d) {
    int64_t a = first.sizes[d], b = second.sizes[d];
    // What either knows of a size that both have is known.
    result.sizes[d] = d == dim ? (a < 0 || b < 0 ? -1 : a + b) : std::max(a, b);
  }
  result.name =
      addOp(hint, "tensor.concat dim(" + std::to_string(dim) + ") " +
                      first.name + ", " + second.name + " : (" + type(first) +
                      ", " + type(second) + ") -> " + type(result));
  return result;
}

IrValue IrText::generic(const std::string &hint, const std::string &loops,
                        const std::vector<LoopOperand> &inputs,
                        const LoopOperand &out, const Body &makeElement) {
  std::vector<LoopOperand> operands = inputs;
  operands.push_back(out);
  auto commas = [](const std::string &letters) {
    std::vector<std::string> parts;
    for (char c : letters)
      parts.push_back(std::string(1, c));
    return join(parts);
  };
  std::vector<std::string> maps, kinds, names, types, elements, arguments;
  for (const LoopOperand &operand : operands) {
    maps.push_back("affine_map<(" + commas(loops) + ") -> (" +
                   commas(operand.loops) + ")>");
    elements.push_back(freshName("e"));
    arguments.push_back(elements.back() + ": " +
                        attn::name(operand.value.dtype));
  }
  for (char loop : loops)
    kinds.push_back(out.loops.find(loop) == std::string::npos ? "\"reduction\""
                                                              : "\"parallel\"");
  for (const LoopOperand &input : inputs) {
    names.push_back(input.value.name);
    types.push_back(type(input.value));
  }
  std::string result = freshName(hint);
  addLine(result + " = linalg.generic {");
  indent(2);
  addLine("indexing_maps = [" + join(maps) + "],");
  addLine("iterator_types = [" + join(kinds) + "]}");
  if (!inputs.empty())
    addLine("ins(" + join(names) + " : " + join(types) + ")");
  addLine("outs(" + out.value.name + " : " + type(out.value) + ") {");
  addLine("^bb0(" + join(arguments) + "):");
  indent(1);
  std::string element = makeElement(elements);
  addLine("linalg.yield " + element + " : " + attn::name(out.value.dtype));
  indent(-1);
  addLine("} -> " + type(out.value));
  indent(-2);
  return {result, out.value.dtype, out.value.sizes};
}

std::string IrText::finish(const std::vector<IrValue> &results) const {
  std::vector<std::string> parameters, names, types;
  for (const IrValue &argument : arguments)
    parameters.push_back(argument.name + ": " + type(argument));
  for (const IrValue &result : results) {
    names.push_back(result.name);
    types.push_back(type(result));
  }
  std::string resultTypes =
      types.size() == 1 ? types.front() : "(" + join(types) + ")";
  return "func.func @main(" + join(parameters) + ")\n    -> " + resultTypes +
         " {\n" + body + "  return " + join(names) + " : " + join(types) +
         "\n}\n";
}

} // namespace attn::importer
