// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two C functions for each function of the source, with an argument for each of
// its arguments and results.

#include "runtime/ahead/Header.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace attn {

/// Of C23 and C++23; those of C that start with _ are reserved anyway.
static const std::set<std::string_view> &keywords() {
  static const std::set<std::string_view> words = {"alignas",
                                                   "alignof",
                                                   "and",
                                                   "and_eq",
                                                   "asm",
                                                   "auto",
                                                   "bitand",
                                                   "bitor",
                                                   "bool",
                                                   "break",
                                                   "case",
                                                   "catch",
                                                   "char",
                                                   "char16_t",
                                                   "char32_t",
                                                   "char8_t",
                                                   "class",
                                                   "co_await",
                                                   "co_return",
                                                   "co_yield",
                                                   "compl",
                                                   "concept",
                                                   "const",
                                                   "const_cast",
                                                   "consteval",
                                                   "constexpr",
                                                   "constinit",
                                                   "continue",
                                                   "decltype",
                                                   "default",
                                                   "delete",
                                                   "do",
                                                   "double",
                                                   "dynamic_cast",
                                                   "else",
                                                   "enum",
                                                   "explicit",
                                                   "export",
                                                   "extern",
                                                   "false",
                                                   "float",
                                                   "for",
                                                   "friend",
                                                   "goto",
                                                   "if",
                                                   "inline",
                                                   "int",
                                                   "long",
                                                   "mutable",
                                                   "namespace",
                                                   "new",
                                                   "noexcept",
                                                   "not",
                                                   "not_eq",
                                                   "nullptr",
                                                   "operator",
                                                   "or",
                                                   "or_eq",
                                                   "private",
                                                   "protected",
                                                   "public",
                                                   "register",
                                                   "reinterpret_cast",
                                                   "requires",
                                                   "restrict",
                                                   "return",
                                                   "short",
                                                   "signed",
                                                   "sizeof",
                                                   "static",
                                                   "static_assert",
                                                   "static_cast",
                                                   "struct",
                                                   "switch",
                                                   "template",
                                                   "this",
                                                   "thread_local",
                                                   "throw",
                                                   "true",
                                                   "try",
                                                   "typedef",
                                                   "typeid",
                                                   "typename",
                                                   "typeof",
                                                   "typeof_unqual",
                                                   "union",
                                                   "unsigned",
                                                   "using",
                                                   "virtual",
                                                   "void",
                                                   "volatile",
                                                   "wchar_t",
                                                   "while",
                                                   "xor",
                                                   "xor_eq"};
  return words;
}

static bool isWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

bool isIdentifier(std::string_view text) {
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), isWordCharacter) &&
         !keywords().count(text);
}

std::string aheadName(const std::string &prefix, const std::string &function) {
  if (function == "main")
    return prefix;
  std::string name = prefix + "_";
  for (char c : function)
    name += isWordCharacter(c) ? c : '_';
  return name;
}

std::string aheadSymbol(const std::string &prefix,
                        const std::string &function) {
  return aheadName(prefix, function) + "_function";
}

namespace {
using Words = std::vector<std::string>;

/// One function of the header.
class HeaderFunction {
public:
  HeaderFunction(const std::string &prefix, const Signature &signature);
  std::string text() const;

private:
  Words chooseNames(const std::vector<Parameter> &parameters,
                    const std::string &fallback);
  std::string define(const std::string &suffix, const Words &own,
                     const std::string &array, const std::string &call) const;
  std::string listArguments() const;

  const Signature &signature;
  std::string name, symbol;
  /// What no further parameter may be called.
  std::set<std::string> taken;
  /// Of parameters.
  Words arguments, results;
};
} // namespace

static std::string join(const Words &words, const std::string &between) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : between) + word;
  return text;
}

static Words addTo(const std::string &before, const Words &words,
                   const std::string &after) {
  Words result;
  for (const std::string &word : words)
    result.push_back(before + word + after);
  return result;
}

HeaderFunction::HeaderFunction(const std::string &prefix,
                               const Signature &signature)
    : signature(signature), name(aheadName(prefix, signature.function)),
      symbol(aheadSymbol(prefix, signature.function)),
      taken{"arguments", "results", "sizes", "threads", symbol} {
  arguments = chooseNames(signature.arguments, "argument");
  results = chooseNames(signature.results, "result");
}

/// The names of the source where C takes them and they are free.
Words HeaderFunction::chooseNames(const std::vector<Parameter> &parameters,
                                  const std::string &fallback) {
  Words names;
  for (size_t i = 0; i < parameters.size(); ++i) {
    std::string own = parameters[i].name;
    bool isOurs = own.rfind("attn_", 0) == 0 || own.rfind("ATTN_", 0) == 0;
    if (!isIdentifier(own) || isOurs || taken.count(own) ||
        taken.count(own + "_sizes"))
      own = fallback + std::to_string(i);
    while (taken.count(own) || taken.count(own + "_sizes"))
      own += "_";
    taken.insert({own, own + "_sizes"});
    names.push_back(own);
  }
  return names;
}

/// The array of what the function passes on. C has no empty arrays.
std::string HeaderFunction::listArguments() const {
  Words values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Parameter &parameter = signature.arguments[i];
    if (parameter.kind == Parameter::Kind::tensor)
      values.push_back("{ATTN_TENSOR, " + arguments[i] + ", 0, 0}");
    else if (isFloat(parameter.dtype))
      values.push_back("{ATTN_NUMBER, 0, 0, " + arguments[i] + "}");
    else
      values.push_back("{ATTN_INTEGER, 0, " + arguments[i] + ", 0}");
  }
  if (values.empty())
    values.push_back("{ATTN_INTEGER, 0, 0, 0}");
  return "  const attn_argument arguments[] = {\n      " +
         join(values, ",\n      ") + "};\n";
}

/// One of the two functions: its own parameters after the arguments, the array
/// of results that it passes on, and where to.
std::string HeaderFunction::define(const std::string &suffix, const Words &own,
                                   const std::string &array,
                                   const std::string &call) const {
  Words parameters;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Parameter &parameter = signature.arguments[i];
    const char *type = isFloat(parameter.dtype) ? "double " : "int64_t ";
    if (parameter.kind == Parameter::Kind::tensor)
      type = "const attn_tensor *";
    parameters.push_back(type + arguments[i]);
  }
  parameters.insert(parameters.end(), own.begin(), own.end());
  return "static inline attn_status " + name + suffix + "(" +
         (parameters.empty() ? "void"
                             : "\n    " + join(parameters, ",\n    ")) +
         ") {\n" + listArguments() + "  " + array + ";\n  return " + call +
         ";\n}\n\n";
}

std::string HeaderFunction::text() const {
  Words sizes;
  for (size_t i = 0; i < results.size(); ++i) {
    size_t rank = std::max<size_t>(signature.results[i].sizes.size(), 1);
    sizes.push_back("int64_t " + results[i] + "_sizes[" + std::to_string(rank) +
                    "]");
  }
  Words tensors = addTo("const attn_tensor *", results, "");
  tensors.push_back("int threads");
  auto listed = [](const Words &words) {
    return " = {" + (words.empty() ? "0" : join(words, ", ")) + "}";
  };
  std::string passed =
      "(&" + symbol + ", arguments, " + std::to_string(arguments.size()) + ", ";
  std::string count = std::to_string(results.size());
  return "/* " + format(signature) + "\n *\n * " + name +
         "_plan() gives the sizes of the results, or says what is wrong with "
         "the\n * arguments; " +
         name +
         "() runs, into results of these sizes. `threads` 0 is what\n"
         " * OMP_NUM_THREADS says, or one per CPU that may be used. */\nextern "
         "const attn_function " +
         symbol + ";\n\n" +
         define("_plan", sizes,
                "int64_t *const sizes[]" + listed(addTo("", results, "_sizes")),
                "attn_plan" + passed + "sizes, " + count + ")") +
         define("", tensors,
                "const attn_tensor *const results[]" + listed(results),
                "attn_call" + passed + "results, " + count + ", threads)");
}

Result<std::string> aheadHeader(const std::string &prefix,
                                const ModuleImage &image) {
  std::string guard = prefix + "_h";
  std::string text =
      "/* Compiled by attn for " + image.target +
      ". Generated; attn/runtime/Ahead.h says what the types are "
      "and how\n * errors are told. */\n\n#ifndef " +
      guard + "\n#define " + guard +
      "\n\n#include \"attn/runtime/Ahead.h\"\n\n"
      "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  std::set<std::string> taken;
  for (const CompiledFunction &function : image.functions) {
    const std::string &source = function.signature.function;
    for (const char *suffix : {"", "_plan", "_function"})
      if (!taken.insert(aheadName(prefix, source) + suffix).second)
        return Error{ErrorCode::invalidArgument,
                     "function '" + source +
                         "': expected a name of its own in C, got '" +
                         aheadName(prefix, source) + suffix + "' again"};
    text += HeaderFunction(prefix, function.signature).text();
  }
  return text + "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

} // namespace attn
