// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two texts that crash MLIR's own parser, whatever the dialect, found before it
// sees them. A dense array of `index` is cast to an array of floats. A value
// that is used above its definition refers to memory that is freed if the op
// with the defining region then fails to parse; a source has no control flow,
// so no valid one refers forward.

#include "runtime/compile/Source.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace attn {

static constexpr StringLiteral kNameChars =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$-";

namespace {
class ValueOrderCheck {
public:
  explicit ValueOrderCheck(StringRef text) : text(text) {}
  std::optional<std::string> run();

private:
  char at(size_t k) const { return k < text.size() ? text[k] : '\0'; }
  size_t skipSpaces(size_t k) const {
    while (at(k) == ' ' || at(k) == '\t')
      ++k;
    return k;
  }
  size_t skipName(size_t k) const {
    return std::min(text.find_first_not_of(kNameChars, k), text.size());
  }
  bool isResult(size_t end) const;
  bool isArgument(size_t end) const;
  std::optional<std::string> visitValue();
  std::string problem(const Twine &what) const {
    size_t line = text.take_front(position).count('\n') + 1;
    return ("line " + Twine(line) + ": expected " + what).str();
  }

  StringRef text;
  size_t position = 0;
  bool lastWasArgument = false;
  StringSet<> defined, usedBefore;
};
} // namespace

/// True for `%a = `, `%a:2 = ` and the names of `%a, %b = `, where `end` is the
/// end of the name.
bool ValueOrderCheck::isResult(size_t end) const {
  while (true) {
    if (at(end) == ':' && isDigit(at(end + 1)))
      end = skipName(end + 1);
    end = skipSpaces(end);
    if (at(end) == '=')
      return at(end + 1) != '=';
    if (at(end) != ',')
      return false;
    end = skipSpaces(end + 1);
    if (at(end) != '%')
      return false;
    end = skipName(end + 1);
  }
}

/// True for the names of `(%a: type, %b: type)` behind `@f` or `^bb`, or on its
/// own. Behind another word, as in `offset(%a : index)`, it is a use.
bool ValueOrderCheck::isArgument(size_t end) const {
  if (at(skipSpaces(end)) != ':')
    return false;
  StringRef before = text.take_front(position).rtrim();
  if (before.ends_with(","))
    return lastWasArgument;
  if (!before.consume_back("("))
    return false;
  StringRef word =
      before.take_back(before.size() - before.find_last_not_of(kNameChars) - 1);
  StringRef sigil = before.drop_back(word.size());
  return word.empty() || sigil.ends_with("@") || sigil.ends_with("^");
}

std::optional<std::string> ValueOrderCheck::visitValue() {
  size_t end = skipName(position + 1);
  StringRef name = text.slice(position, end);
  lastWasArgument = isArgument(end);
  if (lastWasArgument || isResult(end)) {
    if (usedBefore.contains(name))
      return problem("'" + name.take_front(60) +
                     "' to be defined above its use");
    defined.insert(name);
  } else if (!defined.contains(name)) {
    usedBefore.insert(name);
  }
  position = end;
  return std::nullopt;
}

std::optional<std::string> ValueOrderCheck::run() {
  while (position < text.size()) {
    StringRef rest = text.substr(position);
    if (rest.starts_with("\"")) {
      for (++position; position < text.size() && text[position] != '"';
           ++position)
        position += text[position] == '\\';
      ++position;
    } else if (rest.starts_with("//")) {
      position = std::min(text.find('\n', position), text.size());
    } else if (rest.starts_with("func.func")) {
      // No value is visible in the next function. What was used without a
      // definition stays so.
      defined.clear();
      position += strlen("func.func");
    } else if (rest.consume_front("array<") &&
               rest.ltrim().starts_with("index")) {
      return problem("no array of index");
    } else if (text[position] == '%') {
      if (std::optional<std::string> found = visitValue())
        return found;
    } else {
      ++position;
    }
  }
  return std::nullopt;
}

std::optional<std::string> checkValueOrder(StringRef text) {
  return ValueOrderCheck(text).run();
}

} // namespace attn
