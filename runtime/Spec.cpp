// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parser of value specifications; SpecValue.cpp computes the values.

#include "runtime/Spec.h"

#include <algorithm>
#include <charconv>

namespace attn {

static Error specError(std::string_view text, const std::string &what) {
  return Error{ErrorCode::invalidArgument,
               "value '" + std::string(text) + "': " + what};
}

static std::vector<std::string_view> split(std::string_view text, char c) {
  std::vector<std::string_view> pieces;
  for (size_t begin = 0;;) {
    size_t end = text.find(c, begin);
    pieces.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos)
      return pieces;
    begin = end + 1;
  }
}

static std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  return text;
}

/// The whole of `text` as a number.
template <class T> static bool parseNumber(std::string_view text, T &number) {
  text = trim(text);
  // from_chars knows no plus sign.
  if (text.size() > 1 && text[0] == '+' && text[1] != '-')
    text.remove_prefix(1);
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

Result<Parameter> parseType(std::string_view text) {
  Parameter type;
  std::vector<std::string_view> pieces = split(text, 'x');
  // "index" has an x in it.
  if (text == "index") {
    type.kind = Parameter::Kind::index;
    type.dtype = DType::i64;
    return type;
  }
  Result<DType> dtype = parseDType(pieces.back());
  if (!dtype)
    return dtype.error();
  type.dtype = *dtype;
  pieces.pop_back();
  type.kind =
      pieces.empty() ? Parameter::Kind::scalar : Parameter::Kind::tensor;
  for (std::string_view piece : pieces) {
    int64_t size = -1;
    if (!parseNumber(piece, size) || size < 0)
      return Error{ErrorCode::invalidArgument,
                   "type '" + std::string(text) +
                       "': expected a size from 0 to 2^63 - 1, got '" +
                       std::string(piece) + "'"};
    type.sizes.push_back(size);
  }
  return type;
}

static bool isName(std::string_view text) {
  auto isNameChar = [](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') ||
           ('0' <= c && c <= '9') || c == '_' || c == '.' || c == '$' ||
           c == '-' || c == '#';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), isNameChar);
}

/// Takes "name=" off the front of `text` unless it is a type. A first word
/// that starts with a digit and holds an x is a type, perhaps a wrong one.
static std::string takeName(std::string_view &text) {
  size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    return "";
  std::string_view word = text.substr(0, equals);
  bool looksLikeType =
      parseType(word).ok() || ('0' <= word[0] && word[0] <= '9' &&
                               word.find('x') != std::string_view::npos);
  if (!isName(word) || looksLikeType)
    return "";
  text.remove_prefix(equals + 1);
  return std::string(word);
}

/// normal(a,b), uniform(a,b), iota(a,b) or iota.
static Result<bool> parseFunction(std::string_view whole, std::string_view text,
                                  InputSpec &spec) {
  struct Function {
    std::string_view name;
    InputSpec::Source source;
  };
  for (auto [name, source] : {Function{"normal", InputSpec::Source::normal},
                              Function{"uniform", InputSpec::Source::uniform},
                              Function{"iota", InputSpec::Source::iota}}) {
    if (text.substr(0, name.size()) != name)
      continue;
    spec.source = source;
    std::string_view rest = text.substr(name.size());
    if (rest.empty() && source == InputSpec::Source::iota)
      return true;
    bool hasParentheses =
        rest.size() > 2 && rest.front() == '(' && rest.back() == ')';
    std::vector<std::string_view> pieces;
    if (hasParentheses)
      pieces = split(rest.substr(1, rest.size() - 2), ',');
    if (pieces.size() != 2 || !parseNumber(pieces[0], spec.parameters[0]) ||
        !parseNumber(pieces[1], spec.parameters[1]))
      return specError(whole, "expected " + std::string(name) +
                                  " with two numbers in parentheses, got '" +
                                  std::string(text) + "'");
    return true;
  }
  return false;
}

static Result<void> checkFunction(std::string_view whole,
                                  const InputSpec &spec) {
  const Parameter &type = *spec.type;
  double low = spec.parameters[0], high = spec.parameters[1];
  if (spec.source == InputSpec::Source::normal && !isFloat(type.dtype))
    return specError(whole, std::string("normal: expected a float type, got ") +
                                name(type.dtype));
  bool isInteger = !isFloat(type.dtype);
  auto fits = [](double value) { return value >= -0x1p53 && value <= 0x1p53; };
  if (isInteger && (!fits(low) || !fits(high)))
    return specError(whole, "expected parameters of at most 2^53");
  if (spec.source == InputSpec::Source::uniform && !(low < high))
    return specError(whole, "uniform: expected low < high");
  return {};
}

static Result<void> parseList(std::string_view whole, std::string_view text,
                              InputSpec &spec) {
  spec.source = InputSpec::Source::list;
  const Parameter &type = *spec.type;
  std::vector<std::string_view> pieces = split(text, ',');
  int64_t count = numElements(type.sizes).value_or(-1);
  if (pieces.size() != 1 && static_cast<int64_t>(pieces.size()) != count)
    return specError(whole, "expected " + std::to_string(count) +
                                " numbers (or one for all), got " +
                                std::to_string(pieces.size()));
  for (std::string_view piece : pieces) {
    if (isFloat(type.dtype)) {
      double number;
      if (!parseNumber(piece, number))
        return specError(whole,
                         "expected a number, got '" + std::string(piece) + "'");
      spec.floats.push_back(number);
      continue;
    }
    piece = trim(piece);
    int64_t number = piece == "true";
    bool isWord = type.dtype == DType::i1 && (number || piece == "false");
    if (!isWord && !parseNumber(piece, number))
      return specError(whole, "expected an integer of at most 64 bits, got '" +
                                  std::string(piece) + "'");
    int64_t back = number;
    if (type.dtype != DType::i64) {
      char stored[8];
      storeFromDouble(type.dtype, number, stored);
      back = static_cast<int64_t>(loadAsDouble(type.dtype, stored));
    }
    if (back != number)
      return specError(whole, "expected numbers that fit into " +
                                  std::string(name(type.dtype)) + ", got " +
                                  std::to_string(number));
    spec.integers.push_back(number);
  }
  return {};
}

static Result<void> parseValues(std::string_view whole, std::string_view text,
                                InputSpec &spec) {
  if (text.empty())
    return specError(whole, "expected values after '='");
  bool isTensor = spec.type->kind == Parameter::Kind::tensor;
  if (text[0] == '@') {
    spec.source = InputSpec::Source::file;
    spec.path = text.substr(1);
    if (!isTensor)
      return specError(whole, "expected a number, got a file");
    return {};
  }
  Result<bool> isFunction = parseFunction(whole, text, spec);
  if (!isFunction)
    return isFunction.error();
  if (!*isFunction)
    return parseList(whole, text, spec);
  if (!isTensor)
    return specError(whole,
                     "expected a number, got '" + std::string(text) + "'");
  return checkFunction(whole, spec);
}

Result<InputSpec> parseInputSpec(std::string_view text) {
  std::string_view rest = text;
  InputSpec spec;
  spec.name = takeName(rest);
  if (!rest.empty() && rest[0] == '@') {
    spec.source = InputSpec::Source::file;
    spec.path = rest.substr(1);
    return spec;
  }
  size_t equals = rest.find('=');
  Result<Parameter> type = parseType(rest.substr(0, equals));
  if (!type)
    return specError(text, "expected @file.npy or a type such as 4x8xf32 or "
                           "index, with =values (" +
                               type.error().message + ")");
  spec.type = *type;
  if (equals == std::string_view::npos) {
    if (type->kind != Parameter::Kind::tensor)
      return specError(text, "expected '=' and a number");
    if (!isFloat(type->dtype)) {
      spec.source = InputSpec::Source::list;
      spec.integers = {0};
    }
    return spec;
  }
  if (Result<void> done = parseValues(text, rest.substr(equals + 1), spec);
      !done)
    return done.error();
  return spec;
}

Result<OutputSpec> parseOutputSpec(std::string_view text) {
  std::string_view rest = text;
  OutputSpec spec;
  spec.name = takeName(rest);
  if (rest == "-")
    return spec;
  if (rest.size() < 2 || rest[0] != '@')
    return specError(text, "expected [name=]- or [name=]@file.npy");
  spec.path = rest.substr(1);
  return spec;
}

} // namespace attn
