// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two texts that crash MLIR's own parser, whatever the dialect, found before it
// sees them. A dense array of `index` is cast to an array of floats. A value
// that is used above its definition refers to memory that is freed if the op
// with the defining region then fails to parse. Without branches between
// blocks, no valid text refers forward.

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
  ValueOrderCheck(StringRef text, Branches branches)
      : text(text), branches(branches) {}
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
  bool isInduction() const;
  bool startFunction();
  bool isInBranchingFunction() const;
  std::optional<std::string> visitValue();
  std::string problem(const Twine &what) const {
    size_t line = text.take_front(position).count('\n') + 1;
    return ("line " + Twine(line) + ": expected " + what).str();
  }

  StringRef text;
  Branches branches;
  size_t position = 0;
  size_t function = 0; ///< where the function begins that is being read
  bool lastWasArgument = false;
  bool lastWasInduction = false;
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

/// The word at the end of `before`, which it is taken from; may be empty.
static StringRef takeWord(StringRef &before) {
  size_t begin = before.find_last_not_of(kNameChars) + 1;
  StringRef word = before.drop_front(begin);
  before = before.take_front(begin);
  return word;
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
  return takeWord(before).empty() || before.ends_with("@") ||
         before.ends_with("^");
}

/// True for the names in front of the bounds of a loop over several variables,
/// as in `scf.forall (%i, %j) in (%m, %n)`.
bool ValueOrderCheck::isInduction() const {
  StringRef before = text.take_front(position).rtrim();
  if (before.ends_with(","))
    return lastWasInduction;
  if (!before.consume_back("("))
    return false;
  before = before.rtrim();
  return llvm::is_contained({"scf.forall", "scf.parallel", "omp.loop_nest"},
                            takeWord(before));
}

/// Steps over the keyword of a function, if there is one here. No value is
/// visible in the next function.
bool ValueOrderCheck::startFunction() {
  StringRef rest = text.substr(position);
  bool mayBranch = branches == Branches::allowed;
  if (!rest.starts_with("func.func") &&
      !(mayBranch && rest.starts_with("llvm.func")))
    return false;
  defined.clear();
  // In a source, what was used without a definition stays so.
  if (mayBranch)
    usedBefore.clear();
  function = position;
  position += strlen("func.func");
  return true;
}

/// True if the function has a branch: a block that is named elsewhere than at
/// the start of a line.
bool ValueOrderCheck::isInBranchingFunction() const {
  StringRef body = text.substr(function);
  body = body.take_front(
      std::min(body.find("func.func", 1), body.find("llvm.func", 1)));
  for (size_t at = body.find('^'); at != StringRef::npos;
       at = body.find('^', at + 1)) {
    StringRef line = body.take_front(at);
    line = line.drop_front(line.rfind('\n') + 1);
    if (!line.trim().empty())
      return true;
  }
  return false;
}

std::optional<std::string> ValueOrderCheck::visitValue() {
  size_t end = skipName(position + 1);
  StringRef name = text.slice(position, end);
  lastWasArgument = isArgument(end);
  lastWasInduction = isInduction();
  if (lastWasArgument || lastWasInduction || isResult(end)) {
    if (usedBefore.contains(name) &&
        !(branches == Branches::allowed && isInBranchingFunction()))
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
    } else if (startFunction()) {
      continue;
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

std::optional<std::string> checkValueOrder(StringRef text, Branches branches) {
  return ValueOrderCheck(text, branches).run();
}

} // namespace attn
