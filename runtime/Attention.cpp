// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A check for each field, and one clause of attn.gqa for each that is set.

#include "runtime/Attention.h"

#include "runtime/TensorView.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <tuple>

namespace attn {

static Error fieldError(const std::string &field, const std::string &expected,
                        const std::string &got) {
  return Error{ErrorCode::invalidArgument, "attention " + field +
                                               ": expected " + expected +
                                               ", got " + got};
}

static std::string formatSize(int64_t size) {
  return size == anySize ? "any size" : std::to_string(size);
}

namespace {
/// The sizes of the problem, without defaults.
struct Sizes {
  explicit Sizes(const AttentionSpec &spec)
      : batch(spec.batch), queryHeads(spec.queryHeads), queries(spec.queries),
        keys(spec.keys), keyHeads(spec.keyHeads.value_or(spec.queryHeads)),
        keyDim(spec.keyDim), valueDim(spec.valueDim.value_or(spec.keyDim)) {}

  Result<void> check() const;

  int64_t batch, queryHeads, queries, keys, keyHeads, keyDim, valueDim;
};

/// Checks a spec.
class SpecCheck {
public:
  explicit SpecCheck(const AttentionSpec &spec) : spec(spec), sizes(spec) {}
  Result<void> run() const;

private:
  Result<void> checkName() const;
  Result<void> checkTypes() const;
  Result<void> checkNumbers() const;
  Result<void> checkMasks() const;
  Result<void> checkBroadcast(const std::string &field,
                              const std::vector<int64_t> &given) const;
  /// The fields that go by positions, or nothing.
  std::string positionUsers() const;

  const AttentionSpec &spec;
  Sizes sizes;
};

/// Writes a checked spec.
class SpecWriter {
public:
  explicit SpecWriter(const AttentionSpec &spec) : spec(spec), sizes(spec) {}
  std::string write();

private:
  void addClause(const std::string &name, const std::string &inside) {
    clauses += " " + name + "(" + inside + ")";
  }
  /// A clause whose value is an argument of the same name.
  void addArgument(const std::string &name, const std::string &type);
  void addSetting(const std::string &name, const Setting &setting);
  void addPosition();
  void addMasks();

  const AttentionSpec &spec;
  Sizes sizes;
  std::string arguments, clauses;
};
} // namespace

Result<void> Sizes::check() const {
  for (auto [field, size, least] : {std::tuple{"batch", batch, 0},
                                    {"queryHeads", queryHeads, 0},
                                    {"queries", queries, 0},
                                    {"keys", keys, 0},
                                    {"keyHeads", keyHeads, 0},
                                    {"keyDim", keyDim, 1},
                                    {"valueDim", valueDim, 0}})
    if (size != anySize && size < least)
      return fieldError(
          field, "a size of at least " + std::to_string(least) + ", or anySize",
          std::to_string(size));
  if (queryHeads == anySize || keyHeads == anySize)
    return {};
  if (keyHeads == 0 ? queryHeads != 0 : queryHeads % keyHeads != 0)
    return fieldError("keyHeads",
                      "a number of which queryHeads " +
                          std::to_string(queryHeads) + " is a multiple",
                      std::to_string(keyHeads));
  return {};
}

Result<void> SpecCheck::checkName() const {
  auto isWord = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  if (spec.name.empty() ||
      std::isdigit(static_cast<unsigned char>(spec.name[0])) ||
      !std::all_of(spec.name.begin(), spec.name.end(), isWord))
    return fieldError("name", "letters, digits and _, and no digit first",
                      "'" + spec.name + "'");
  return {};
}

Result<void> SpecCheck::checkTypes() const {
  if (!isFloat(spec.dtype))
    return fieldError("dtype", "f16, bf16, f32 or f64", attn::name(spec.dtype));
  auto check = [&](const char *field, DType dtype) -> Result<void> {
    if (dtype == DType::f32 || dtype == spec.dtype)
      return {};
    return fieldError(field,
                      spec.dtype == DType::f32
                          ? std::string("f32")
                          : std::string("f32 or ") + attn::name(spec.dtype),
                      attn::name(dtype));
  };
  if (spec.alibi)
    if (Result<void> done = check("alibi", *spec.alibi); !done)
      return done;
  if (spec.bias)
    if (Result<void> done = check("bias.dtype", spec.bias->dtype); !done)
      return done;
  if (spec.sinks)
    return check("sinks", *spec.sinks);
  return {};
}

/// True for numbers that the compiled code can compute with.
static bool isFiniteIn(DType dtype, double number) {
  return dtype == DType::f64 ? std::isfinite(number)
                             : std::isfinite(static_cast<float>(number));
}

static std::string formatNumber(double number) {
  char text[40];
  std::snprintf(text, sizeof text, "%g", number);
  return text;
}

Result<void> SpecCheck::checkNumbers() const {
  std::string type = spec.dtype == DType::f64 ? "f64" : "f32";
  auto isNumber = [](const Setting &setting) {
    return setting.isSet() && !setting.isAtCall();
  };
  if (isNumber(spec.scale) && !isFiniteIn(spec.dtype, spec.scale.number()))
    return fieldError("scale", "a number that is finite in " + type,
                      formatNumber(spec.scale.number()));
  if (!isNumber(spec.softcap))
    return {};
  double softcap = spec.softcap.number();
  if (!(softcap > 0) || !isFiniteIn(spec.dtype, softcap) ||
      !isFiniteIn(spec.dtype, 1 / softcap))
    return fieldError("softcap",
                      "a number > 0 that is finite in " + type +
                          " with its reciprocal",
                      formatNumber(softcap));
  return {};
}

std::string SpecCheck::positionUsers() const {
  std::string users;
  auto add = [&](bool isUsed, const char *field) {
    if (isUsed)
      users += (users.empty() ? "" : ", ") + std::string(field);
  };
  add(spec.causal, "causal");
  add(spec.windowLeft.has_value(), "windowLeft");
  add(spec.windowRight.has_value(), "windowRight");
  add(spec.prefix != CallInteger::none, "prefix");
  add(spec.alibi.has_value(), "alibi");
  return users;
}

Result<void> SpecCheck::checkMasks() const {
  for (auto [field, bound] : {std::pair{"windowLeft", spec.windowLeft},
                              {"windowRight", spec.windowRight}})
    if (bound && *bound < 0)
      return fieldError(field, "a bound of at least 0, or none",
                        std::to_string(*bound));
  if (spec.causal && spec.prefix != CallInteger::none)
    return fieldError("prefix", "none beside causal, which it contains",
                      "both");
  std::string users = positionUsers();
  if (!users.empty() && spec.position == Position::none)
    return fieldError("position",
                      "one of topLeft, bottomRight, offset and "
                      "offsetPerBatch for " +
                          users,
                      "none");
  return {};
}

Result<void>
SpecCheck::checkBroadcast(const std::string &field,
                          const std::vector<int64_t> &given) const {
  if (given.empty() || given.size() > 4)
    return fieldError(field, "1 to 4 sizes", std::to_string(given.size()));
  const std::pair<const char *, int64_t> targets[] = {
      {"batch", sizes.batch},
      {"queryHeads", sizes.queryHeads},
      {"queries", sizes.queries},
      {"keys", sizes.keys}};
  for (size_t i = 0; i < given.size(); ++i) {
    auto [name, target] = targets[4 - given.size() + i];
    bool fits = given[i] == anySize || given[i] == 1 || given[i] == target ||
                (target == anySize && given[i] >= 0);
    if (!fits)
      return fieldError(field + "[" + std::to_string(i) + "]",
                        "1, anySize or " + std::string(name) + " (" +
                            formatSize(target) + ")",
                        std::to_string(given[i]));
  }
  return {};
}

Result<void> SpecCheck::run() const {
  for (auto check : {&SpecCheck::checkName, &SpecCheck::checkTypes,
                     &SpecCheck::checkNumbers, &SpecCheck::checkMasks})
    if (Result<void> done = (this->*check)(); !done)
      return done;
  if (Result<void> done = sizes.check(); !done)
    return done;
  if (spec.bias)
    if (Result<void> done = checkBroadcast("bias.sizes", spec.bias->sizes);
        !done)
      return done;
  if (spec.select)
    return checkBroadcast("select", *spec.select);
  return {};
}

static std::string tensorType(DType dtype, const std::vector<int64_t> &sizes) {
  return "tensor<" + formatType(dtype, sizes) + ">";
}

void SpecWriter::addArgument(const std::string &name, const std::string &type) {
  arguments += ", %" + name + ": " + type;
  addClause(name, "%" + name + " : " + type);
}

void SpecWriter::addSetting(const std::string &name, const Setting &setting) {
  if (setting.isAtCall())
    return addArgument(name, "f32");
  if (!setting.isSet())
    return;
  // As many digits as tell any two doubles apart; MLIR wants a point.
  char text[64];
  std::snprintf(text, sizeof text, "%.16e", setting.number());
  addClause(name, text);
}

void SpecWriter::addPosition() {
  switch (spec.position) {
  case Position::none:
    return;
  case Position::topLeft:
    return addClause("align", "top_left");
  case Position::bottomRight:
    return addClause("align", "bottom_right");
  case Position::offset:
    return addArgument("offset", "index");
  case Position::offsetPerBatch:
    return addArgument("offset", tensorType(DType::i64, {sizes.batch}));
  }
}

void SpecWriter::addMasks() {
  std::string masks;
  auto add = [&](const std::string &mask) {
    masks += (masks.empty() ? "" : ", ") + mask;
  };
  if (spec.causal)
    add("#attn.causal");
  if (spec.windowLeft || spec.windowRight) {
    std::string left, right;
    if (spec.windowLeft)
      left = "left = " + std::to_string(*spec.windowLeft);
    if (spec.windowRight)
      right = "right = " + std::to_string(*spec.windowRight);
    add("#attn.window<" + left + (left.empty() || right.empty() ? "" : ", ") +
        right + ">");
  }
  if (spec.prefix != CallInteger::none)
    add("#attn.prefix");
  if (!masks.empty())
    addClause("mask", masks);
  if (spec.prefix == CallInteger::index)
    addArgument("prefix", "index");
  if (spec.prefix == CallInteger::perBatch)
    addArgument("prefix", tensorType(DType::i64, {sizes.batch}));
}

std::string SpecWriter::write() {
  std::string q = tensorType(
      spec.dtype, {sizes.batch, sizes.queryHeads, sizes.queries, sizes.keyDim});
  std::string k = tensorType(
      spec.dtype, {sizes.batch, sizes.keyHeads, sizes.keys, sizes.keyDim});
  std::string v = tensorType(
      spec.dtype, {sizes.batch, sizes.keyHeads, sizes.keys, sizes.valueDim});
  std::string o = tensorType(spec.dtype, {sizes.batch, sizes.queryHeads,
                                          sizes.queries, sizes.valueDim});
  arguments = "%q: " + q + ", %k: " + k + ", %v: " + v;
  addSetting("scale", spec.scale);
  addSetting("softcap", spec.softcap);
  addPosition();
  addMasks();
  if (spec.alibi)
    addArgument("alibi", tensorType(*spec.alibi, {sizes.queryHeads}));
  if (spec.bias)
    addArgument("bias", tensorType(spec.bias->dtype, spec.bias->sizes));
  if (spec.select)
    addArgument("select", tensorType(DType::i1, *spec.select));
  if (spec.lengths)
    addArgument("lengths", tensorType(DType::i64, {sizes.batch}));
  if (spec.keyOffset)
    addArgument("key_offset", "index");
  if (spec.sinks)
    addArgument("sinks", tensorType(*spec.sinks, {sizes.queryHeads}));
  std::string results = "%o", types = o;
  if (spec.logSumExp) {
    results += ", %lse";
    types +=
        ", " + tensorType(spec.dtype == DType::f64 ? DType::f64 : DType::f32,
                          {sizes.batch, sizes.queryHeads, sizes.queries});
  }
  return "func.func @" + spec.name + "(" + arguments + ") -> (" + types +
         ") {\n  " + results + " = attn.gqa %q, %k, %v" + clauses +
         "\n      : (" + q + ", " + k + ", " + v + ") -> (" + types +
         ")\n  return " + results + " : " + types + "\n}\n";
}

Result<std::string> buildAttention(const AttentionSpec &spec) {
  if (Result<void> done = SpecCheck(spec).run(); !done)
    return done.error();
  return SpecWriter(spec).write();
}

} // namespace attn
