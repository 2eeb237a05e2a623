// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A check for each field, in words of the fields; the compiler's own rules say
// the same of the IR.

#include "runtime/AttentionCheck.h"

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
  Result<void> checkBigBird() const;
  Result<void> checkSequences() const;
  /// The fields that go by positions, or nothing.
  std::string positionUsers() const;

  const AttentionSpec &spec;
  SpecSizes sizes;
};
} // namespace

Result<void> SpecSizes::check() const {
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

static bool isNormalIn(DType dtype, double number) {
  return dtype == DType::f64 ? std::isnormal(number)
                             : std::isnormal(static_cast<float>(number));
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
  if (!(softcap > 0) || !isNormalIn(spec.dtype, softcap) ||
      !isNormalIn(spec.dtype, 1 / softcap))
    return fieldError("softcap",
                      "a number > 0 that is normal in " + type +
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
  add(spec.bigBird.has_value(), "bigBird");
  add(spec.prefix != CallInteger::none, "prefix");
  add(spec.alibi.has_value(), "alibi");
  return users;
}

Result<void> SpecCheck::checkBigBird() const {
  if (!spec.bigBird)
    return {};
  const BigBirdSpec &mask = *spec.bigBird;
  constexpr int64_t most = INT32_MAX;
  for (auto [field, number, low, high] :
       {std::tuple{"block", mask.block, 1, most},
        {"window", mask.window, 0, most},
        {"global", mask.global, 0, most},
        {"random", mask.random, 0, 64},
        {"blocks", mask.blocks,
         mask.random > 0 || (mask.last > 0 && !mask.table) ? 1 : 0, 65536},
        {"seed", mask.seed, 0, UINT32_MAX},
        {"last", mask.last, 0, most},
        {"table", mask.table.value_or(0), 0, 64}})
    if (number < low || number > high)
      return fieldError(std::string("bigBird.") + field,
                        "a number from " + std::to_string(low) + " to " +
                            std::to_string(high),
                        std::to_string(number));
  for (auto [field, number] :
       {std::pair{"random", mask.random}, {"blocks", mask.blocks}})
    if (mask.table && number != 0)
      return fieldError(std::string("bigBird.") + field, "0 beside a table",
                        std::to_string(number));
  return {};
}

Result<void> SpecCheck::checkSequences() const {
  if (!spec.sequences)
    return {};
  if (*spec.sequences != anySize && *spec.sequences < 0)
    return fieldError("sequences", "a number of at least 0, or anySize",
                      std::to_string(*spec.sequences));
  if (sizes.batch != 1)
    return fieldError("batch", "1 beside sequences",
                      std::to_string(sizes.batch));
  for (auto [field, isSet] : {std::pair{"bias", spec.bias.has_value()},
                              {"select", spec.select.has_value()}})
    if (isSet)
      return fieldError(field, "none beside sequences", "both");
  return {};
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
                     &SpecCheck::checkNumbers, &SpecCheck::checkBigBird,
                     &SpecCheck::checkMasks, &SpecCheck::checkSequences})
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

Result<void> checkAttention(const AttentionSpec &spec) {
  return SpecCheck(spec).run();
}

} // namespace attn
