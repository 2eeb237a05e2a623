// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Bind.h.

#include "Bind.h"

#include <algorithm>

namespace attn::run {

static std::string listNames(const std::vector<Parameter> &parameters) {
  std::string names;
  for (size_t i = 0; i < parameters.size(); ++i) {
    names += i == 0 ? "" : ", ";
    names +=
        parameters[i].name.empty() ? std::to_string(i) : parameters[i].name;
  }
  return names.empty() ? "none" : names;
}

Result<std::vector<size_t>> bindNames(const std::vector<std::string> &names,
                                      const std::vector<Parameter> &parameters,
                                      const char *option) {
  auto error = [&](const std::string &what) {
    return Error{ErrorCode::invalidArgument,
                 std::string("option ") + option + ": " + what};
  };
  if (names.size() > parameters.size())
    return error("expected at most " + std::to_string(parameters.size()) +
                 " (" + listNames(parameters) + "), got " +
                 std::to_string(names.size()));
  constexpr size_t none = SIZE_MAX;
  std::vector<size_t> bound(names.size(), none);
  std::vector<bool> taken(parameters.size(), false);
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty())
      continue;
    for (size_t p = 0; p < parameters.size() && bound[i] == none; ++p)
      if (names[i] == parameters[p].name || names[i] == std::to_string(p))
        bound[i] = p;
    if (bound[i] == none)
      return error("expected one of " + listNames(parameters) + ", got '" +
                   names[i] + "'");
    if (taken[bound[i]])
      return error("expected '" + names[i] + "' once, got it twice");
    taken[bound[i]] = true;
  }
  for (size_t &slot : bound) {
    if (slot != none)
      continue;
    slot = std::find(taken.begin(), taken.end(), false) - taken.begin();
    taken[slot] = true;
  }
  return bound;
}

static std::string argumentName(const Signature &signature, size_t index) {
  const Parameter &argument = signature.arguments[index];
  std::string text =
      "function '" + signature.function + "' argument " + std::to_string(index);
  if (!argument.name.empty())
    text += " (" + argument.name + ")";
  return text + ": " + formatType(argument);
}

/// What an argument is without a specification.
static Result<InputSpec> defaultInput(const Signature &signature,
                                      size_t index) {
  const Parameter &argument = signature.arguments[index];
  bool isStatic = std::find(argument.sizes.begin(), argument.sizes.end(), -1) ==
                  argument.sizes.end();
  if (argument.kind != Parameter::Kind::tensor || !isStatic)
    return Error{ErrorCode::invalidArgument,
                 argumentName(signature, index) + ": expected an --input" +
                     (isStatic ? "" : ", as its shape is dynamic")};
  InputSpec spec;
  spec.type = argument;
  if (!isFloat(argument.dtype)) {
    spec.source = InputSpec::Source::list;
    spec.integers = {argument.dtype == DType::i1 ? 1 : 0};
  }
  return spec;
}

Result<std::vector<OwnedValue>> makeInputs(const Signature &signature,
                                           const std::vector<InputSpec> &specs,
                                           uint64_t seed) {
  Result<std::vector<size_t>> bound =
      bindSpecs(specs, signature.arguments, "--input");
  if (!bound)
    return bound.error();
  std::vector<OwnedValue> values;
  for (size_t i = 0; i < signature.arguments.size(); ++i) {
    size_t given = std::find(bound->begin(), bound->end(), i) - bound->begin();
    Result<InputSpec> spec = given < specs.size()
                                 ? Result<InputSpec>(specs[given])
                                 : defaultInput(signature, i);
    if (!spec)
      return spec.error();
    // Before memory is filled that nobody will want; a file says what it has.
    if (spec->source != InputSpec::Source::file && spec->type)
      if (Result<void> done = checkArgumentType(signature, i, *spec->type);
          !done)
        return done.error();
    Result<OwnedValue> value = evaluate(*spec, seed, i);
    if (!value)
      return value.error();
    values.push_back(std::move(*value));
  }
  return values;
}

std::string resultName(const Signature &signature, size_t index) {
  const std::string &name = signature.results[index].name;
  return name.empty() ? "result " + std::to_string(index) : name;
}

} // namespace attn::run
