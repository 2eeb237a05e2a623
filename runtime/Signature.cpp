// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signatures as text.

#include "runtime/Signature.h"

namespace attn {

std::string formatType(const Parameter &parameter) {
  if (parameter.kind == Parameter::Kind::index)
    return "index";
  if (parameter.kind == Parameter::Kind::scalar)
    return name(parameter.dtype);
  return formatType(parameter.dtype, parameter.sizes);
}

static std::string formatList(const std::vector<Parameter> &parameters) {
  std::string text;
  for (const Parameter &parameter : parameters) {
    if (!text.empty())
      text += ", ";
    if (!parameter.name.empty())
      text += parameter.name + ": ";
    text += formatType(parameter);
  }
  return "(" + text + ")";
}

std::string format(const Signature &signature) {
  return signature.function + formatList(signature.arguments) + " -> " +
         formatList(signature.results);
}

} // namespace attn
