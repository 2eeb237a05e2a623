// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise operators of ONNX as scalar arithmetic; their names and rules are
// those of the operators' pages. See PointwiseValue.h.

#include "PointwiseValue.h"

#include "Problem.h"
#include "Proto.h"

#include <cmath>

namespace attn::importer {

namespace {

/// How an operator is written: on floats, on integers (i64) and on booleans;
/// null where it isn't defined. "{a}" and "{b}" stand for the operands.
struct Spelling {
  const char *op;
  size_t operands;
  const char *onFloats, *onIntegers, *onBooleans;
  bool isPredicate;
};

} // namespace

static const Spelling spellings[] = {
    {"Neg", 1, "arith.negf {a}", nullptr, nullptr, false},
    {"Abs", 1, "math.absf {a}", "math.absi {a}", nullptr, false},
    {"Exp", 1, "math.exp {a}", nullptr, nullptr, false},
    {"Log", 1, "math.log {a}", nullptr, nullptr, false},
    {"Sqrt", 1, "math.sqrt {a}", nullptr, nullptr, false},
    {"Tanh", 1, "math.tanh {a}", nullptr, nullptr, false},
    {"Add", 2, "arith.addf {a}, {b}", "arith.addi {a}, {b}", nullptr, false},
    {"Sub", 2, "arith.subf {a}, {b}", "arith.subi {a}, {b}", nullptr, false},
    {"Mul", 2, "arith.mulf {a}, {b}", "arith.muli {a}, {b}", nullptr, false},
    {"Div", 2, "arith.divf {a}, {b}", "arith.divsi {a}, {b}", nullptr, false},
    {"Max", 2, "arith.maximumf {a}, {b}", "arith.maxsi {a}, {b}", nullptr,
     false},
    {"Min", 2, "arith.minimumf {a}, {b}", "arith.minsi {a}, {b}", nullptr,
     false},
    {"And", 2, nullptr, nullptr, "arith.andi {a}, {b}", false},
    {"Or", 2, nullptr, nullptr, "arith.ori {a}, {b}", false},
    {"Xor", 2, nullptr, nullptr, "arith.xori {a}, {b}", false},
    {"Equal", 2, "arith.cmpf oeq, {a}, {b}", "arith.cmpi eq, {a}, {b}",
     "arith.cmpi eq, {a}, {b}", true},
    {"Less", 2, "arith.cmpf olt, {a}, {b}", "arith.cmpi slt, {a}, {b}", nullptr,
     true},
    {"LessOrEqual", 2, "arith.cmpf ole, {a}, {b}", "arith.cmpi sle, {a}, {b}",
     nullptr, true},
    {"Greater", 2, "arith.cmpf ogt, {a}, {b}", "arith.cmpi sgt, {a}, {b}",
     nullptr, true},
    {"GreaterOrEqual", 2, "arith.cmpf oge, {a}, {b}",
     "arith.cmpi sge, {a}, {b}", nullptr, true},
};

static const Spelling *findSpelling(const std::string &op) {
  for (const Spelling &spelling : spellings)
    if (op == spelling.op)
      return &spelling;
  return nullptr;
}

bool isElementwise(const std::string &op) {
  return findSpelling(op) || op == "Not" || op == "Where" || op == "Cast" ||
         op == "Mod";
}

std::string elementAt(const PointwiseValue &value, const Place &place) {
  Place own{place.score, {}};
  size_t missing = place.indices.size() - value.sizes.size();
  for (size_t dim = 0; dim < value.sizes.size(); ++dim)
    own.indices.push_back(value.sizes[dim] == 1 ? ""
                                                : place.indices[missing + dim]);
  return value.element(own);
}

std::function<std::string(const Place &)>
once(std::function<std::string(const Place &)> element) {
  auto known = std::make_shared<std::map<std::string, std::string>>();
  return [element = std::move(element), known](const Place &place) {
    std::string key = place.score + ": " + join(place.indices);
    auto found = known->find(key);
    if (found == known->end())
      found = known->emplace(key, element(place)).first;
    return found->second;
  };
}

/// The sizes of what several values broadcast to.
static Result<std::vector<int64_t>>
broadcastSizes(const Node &node, const std::vector<PointwiseRef> &operands) {
  std::vector<int64_t> sizes;
  for (const PointwiseRef &operand : operands) {
    size_t rank = std::max(sizes.size(), operand->sizes.size());
    sizes.insert(sizes.begin(), rank - sizes.size(), 1);
    size_t missing = rank - operand->sizes.size();
    for (size_t dim = 0; dim < operand->sizes.size(); ++dim) {
      int64_t &size = sizes[missing + dim];
      int64_t other = operand->sizes[dim];
      if (size == 1 || size < 0)
        size = other == 1 ? size : other;
      else if (other >= 0 && other != 1 && other != size)
        return node.error("expected sizes that broadcast, got " +
                          std::to_string(size) + " and " +
                          std::to_string(other));
    }
  }
  return sizes;
}

static std::string replaced(std::string text, const std::string &a,
                            const std::string &b) {
  for (const auto &[from, to] :
       {std::pair{std::string("{a}"), a}, std::pair{std::string("{b}"), b}})
    if (size_t at = text.find(from); at != std::string::npos)
      text.replace(at, from.size(), to);
  return text;
}

/// A value whose elements `combine` makes of those of its operands.
static Result<std::shared_ptr<PointwiseValue>> combineElements(
    const Node &node, const std::vector<PointwiseRef> &operands, DType dtype,
    std::function<std::string(const std::vector<std::string> &)> combine) {
  Result<std::vector<int64_t>> sizes = broadcastSizes(node, operands);
  if (!sizes)
    return sizes.error();
  auto value = std::make_shared<PointwiseValue>();
  value->dtype = dtype;
  value->sizes = *sizes;
  for (const PointwiseRef &operand : operands)
    value->usesScore |= operand->usesScore;
  value->element = once([operands, combine](const Place &place) {
    std::vector<std::string> elements;
    for (const PointwiseRef &operand : operands)
      elements.push_back(elementAt(*operand, place));
    return combine(elements);
  });
  return value;
}

static Result<PointwiseRef>
makeSpelled(const Node &node, const Spelling &spelling,
            const std::vector<PointwiseRef> &operands, IrText &text) {
  // Max and Min take any number, of which each pair is one.
  bool isFolded = operands.size() > 2 && (spelling.op[0] == 'M') &&
                  (spelling.op[1] == 'a' || spelling.op[1] == 'i');
  if (operands.size() != spelling.operands && !isFolded)
    return node.error("expected " + std::to_string(spelling.operands) +
                      " inputs, got " + std::to_string(operands.size()));
  DType dtype = operands.front()->dtype;
  for (const PointwiseRef &operand : operands)
    if (operand->dtype != dtype)
      return node.error(std::string("expected inputs of one type, got ") +
                        name(dtype) + " and " + name(operand->dtype));
  const char *form = isFloat(dtype)       ? spelling.onFloats
                     : dtype == DType::i1 ? spelling.onBooleans
                                          : spelling.onIntegers;
  if (!form)
    return node.error(std::string("not supported on ") + name(dtype),
                      ErrorCode::unsupported);
  auto value =
      combineElements(node, operands, spelling.isPredicate ? DType::i1 : dtype,
                      [&text, form, dtype](const std::vector<std::string> &e) {
                        std::string result = e[0];
                        size_t next = std::min<size_t>(1, e.size() - 1);
                        do
                          result =
                              text.addOp("x", replaced(form, result, e[next]) +
                                                  " : " + name(dtype));
                        while (++next < e.size());
                        return result;
                      });
  if (!value)
    return value.error();
  return PointwiseRef(*value);
}

/// a - floor(a / b) * b, the sign being that of b.
static Result<PointwiseRef>
makeMod(Node &node, const std::vector<PointwiseRef> &operands, IrText &text) {
  int64_t fmod = node.integer("fmod").value_or(0);
  if (fmod != 0 || operands.size() != 2 || operands[0]->dtype != DType::i64 ||
      operands[1]->dtype != DType::i64)
    return node.error("expected two integers and fmod = 0; others are not "
                      "supported",
                      ErrorCode::unsupported);
  auto value = combineElements(
      node, operands, DType::i64, [&text](const std::vector<std::string> &e) {
        auto op = [&](const char *name, const std::string &a,
                      const std::string &b) {
          return text.addOp("x", std::string("arith.") + name + " " + a + ", " +
                                     b + " : i64");
        };
        return op("subi", e[0], op("muli", op("floordivsi", e[0], e[1]), e[1]));
      });
  if (!value)
    return value.error();
  return PointwiseRef(*value);
}

static Result<PointwiseRef> makeNot(const Node &node,
                                    const std::vector<PointwiseRef> &operands,
                                    IrText &text) {
  if (operands.size() != 1 || operands[0]->dtype != DType::i1)
    return node.error("expected one input of booleans");
  auto value = combineElements(
      node, operands, DType::i1, [&text](const std::vector<std::string> &e) {
        std::string yes = text.constant(DType::i1, 1);
        return text.addOp("x", "arith.xori " + e[0] + ", " + yes + " : i1");
      });
  if (!value)
    return value.error();
  return PointwiseRef(*value);
}

static Result<PointwiseRef> makeWhere(const Node &node,
                                      const std::vector<PointwiseRef> &operands,
                                      IrText &text) {
  if (operands.size() != 3 || operands[0]->dtype != DType::i1 ||
      operands[1]->dtype != operands[2]->dtype)
    return node.error("expected booleans and two inputs of one type");
  DType dtype = operands[1]->dtype;
  auto value = combineElements(
      node, operands, dtype, [&text, dtype](const std::vector<std::string> &e) {
        return text.addOp("x", "arith.select " + e[0] + ", " + e[1] + ", " +
                                   e[2] + " : " + name(dtype));
      });
  if (!value)
    return value.error();
  auto isLowest = [](const PointwiseRef &operand) {
    return operand->splat && std::isinf(*operand->splat) && *operand->splat < 0;
  };
  for (int kept : {1, 2})
    if (isLowest(operands[3 - kept]) && !operands[0]->usesScore) {
      (*value)->condition = operands[0];
      (*value)->kept = operands[kept];
      (*value)->keepsWhereFalse = kept == 2;
    }
  return PointwiseRef(*value);
}

/// All floats are scores and all integers i64: only the kind changes.
static Result<PointwiseRef> makeCast(Node &node,
                                     const std::vector<PointwiseRef> &operands,
                                     DType scoreType, IrText &text) {
  std::optional<int64_t> to = node.integer("to");
  node.integer("saturate");
  bool isKnown = to && *to > 0 && *to < 64;
  Result<DType> asked = toDType(isKnown ? static_cast<int32_t>(*to) : 0);
  if (!asked || operands.size() != 1)
    return node.error("expected one input and a type of floats, integers or "
                      "booleans as 'to'");
  DType from = operands[0]->dtype;
  DType dtype = isFloat(*asked)       ? scoreType
                : *asked == DType::i1 ? DType::i1
                                      : DType::i64;
  if (from == dtype)
    return operands[0];
  auto value = combineElements(
      node, operands, dtype,
      [&text, from, dtype](const std::vector<std::string> &e) {
        if (dtype != DType::i1)
          return convertScalar(text, e[0], from, dtype);
        std::string zero = text.constant(from, 0);
        return text.addOp("x", std::string(isFloat(from) ? "arith.cmpf une, "
                                                         : "arith.cmpi ne, ") +
                                   e[0] + ", " + zero + " : " + name(from));
      });
  if (!value)
    return value.error();
  if (operands[0]->splat && isFloat(dtype))
    (*value)->splat = operands[0]->splat;
  return PointwiseRef(*value);
}

Result<PointwiseRef> makeElementwise(Node &node, const std::string &op,
                                     const std::vector<PointwiseRef> &operands,
                                     DType scoreType, IrText &text) {
  if (operands.empty())
    return node.error("expected an input, got none");
  if (op == "Cast")
    return makeCast(node, operands, scoreType, text);
  if (op == "Mod")
    return makeMod(node, operands, text);
  if (op == "Not")
    return makeNot(node, operands, text);
  if (op == "Where")
    return makeWhere(node, operands, text);
  return makeSpelled(node, *findSpelling(op), operands, text);
}

} // namespace attn::importer
