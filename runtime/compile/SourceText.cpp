// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's parser recurses over nested brackets, and aliases such as
// "!b = tuple<!a, !a>" double what printing them costs with every line. Both
// are bounded here, on the bare text.

#include "runtime/compile/Source.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace attn {

static constexpr size_t maxTextBytes = size_t(64) << 20;
static constexpr int64_t maxNesting = 200;
// Words and operators in one expression; affine expressions recurse over them.
static constexpr int64_t maxExpression = 4000;
static constexpr int64_t maxAliasBytes = int64_t(1) << 20;

namespace {
class TextCheck {
public:
  explicit TextCheck(StringRef text) : text(text) {}
  std::optional<std::string> run();

private:
  bool startsWith(StringRef token) const {
    return text.substr(position).starts_with(token);
  }
  std::string problem(const Twine &what, int64_t limit) const {
    size_t line = text.take_front(position).count('\n') + 1;
    return ("line " + Twine(line) + ": expected at most " + Twine(limit) + " " +
            what)
        .str();
  }
  void skipString();
  void skipComment();
  bool visitBracket(char c);
  void visitAlias();

  StringRef text;
  size_t position = 0;
  int64_t depth = 0;
  int64_t expression = 0;
  bool isInWord = false;
  bool isLineStart = true;
  /// Bytes that an alias expands to; the alias being defined, if any.
  StringMap<int64_t> aliasBytes;
  StringRef defining;
};
} // namespace

void TextCheck::skipString() {
  for (++position; position < text.size() && text[position] != '"'; ++position)
    if (text[position] == '\\')
      ++position;
  ++position;
}

void TextCheck::skipComment() {
  position = std::min(text.find('\n', position), text.size());
}

/// Returns false where brackets are nested too deep.
bool TextCheck::visitBracket(char c) {
  // Arrows and comparisons are no brackets.
  if (startsWith("->") || startsWith(">=") || startsWith("<=")) {
    position += 2;
    return true;
  }
  ++position;
  if (c == '(' || c == '[' || c == '{' || c == '<')
    return ++depth <= maxNesting;
  if (c != '-')
    depth = std::max<int64_t>(depth - 1, 0);
  return true;
}

/// At '!' or '#': a definition at the start of a line outside of brackets,
/// else a use.
void TextCheck::visitAlias() {
  size_t begin = position++;
  while (position < text.size() &&
         (isAlnum(text[position]) || text[position] == '_' ||
          text[position] == '.' || text[position] == '$'))
    ++position;
  StringRef name = text.slice(begin, position);
  if (isLineStart && depth == 0) {
    StringRef rest = text.substr(position).ltrim();
    if (rest.starts_with("=")) {
      defining = name;
      aliasBytes[name] = 1;
      return;
    }
  }
  auto used = aliasBytes.find(name);
  if (!defining.empty() && used != aliasBytes.end() && name != defining)
    aliasBytes[defining] =
        std::min(aliasBytes[defining] + used->second, maxAliasBytes + 1);
}

std::optional<std::string> TextCheck::run() {
  if (text.size() > maxTextBytes)
    return problem("bytes of text", maxTextBytes);
  if (text.contains('\0'))
    return "expected text, got a NUL byte";
  while (position < text.size()) {
    char c = text[position];
    if (c == '"') {
      skipString();
    } else if (startsWith("//")) {
      skipComment();
    } else if (StringRef("()[]{}<>-").contains(c)) {
      expression += c == '-';
      if (!visitBracket(c))
        return problem("brackets around each other", maxNesting);
    } else if (c == '!' || c == '#') {
      visitAlias();
      if (!defining.empty() && aliasBytes[defining] > maxAliasBytes)
        return problem("bytes in an expanded alias", maxAliasBytes);
    } else {
      if (c == '\n' && depth == 0)
        defining = StringRef();
      bool isWordChar = isAlnum(c) || c == '_';
      expression += c == '+' || c == '*' || (isWordChar && !isInWord);
      // None of these occurs within an affine expression.
      if (StringRef(",=%:").contains(c))
        expression = 0;
      isInWord = isWordChar;
      if (!defining.empty())
        ++aliasBytes[defining];
      ++position;
    }
    if (expression > maxExpression)
      return problem("words in an expression", maxExpression);
    isLineStart = c == '\n' || (isLineStart && c == ' ');
  }
  return std::nullopt;
}

std::optional<std::string> checkText(StringRef text) {
  // Bytecode has its own reader, which trusts what it reads.
  if (text.starts_with("ML\xefR"))
    return "expected text, got bytecode";
  if (std::optional<std::string> problem = TextCheck(text).run())
    return problem;
  if (std::optional<ParserFault> fault = findParserFault(text))
    return fault->message;
  return std::nullopt;
}

} // namespace attn
