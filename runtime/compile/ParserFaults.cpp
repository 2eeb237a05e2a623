// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texts that crash MLIR's own parser, found before it sees them. A dense array
// of `index` is cast to an array of floats. A value that is used above its
// definition, or behind the region that defines it and above another that
// defines the same name, refers to memory that is freed if the op with the
// defining region then fails to parse; without branches between blocks, no
// valid text refers forward. Lists of dimensions of linalg.transpose, broadcast
// and reduce that fail to parse become attributes all the same, which are null.

#include "runtime/compile/Source.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace attn {

static constexpr StringLiteral kNameChars =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$-";

namespace {
class ParserFaultFinder {
public:
  ParserFaultFinder(StringRef text, Branches branches)
      : text(text), branches(branches) {}
  std::optional<ParserFault> run();

private:
  /// Where a name that is defined may be used.
  enum class Scope { function, braces, nextBraces };

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
  bool isInHeader() const;
  std::optional<Scope> getArgumentScope(size_t end) const;
  void define(StringRef name, Scope scope);
  void visitBrace();
  bool isInduction() const;
  bool startFunction();
  bool isInBranchingFunction() const;
  std::optional<ParserFault> visitValue();
  std::optional<ParserFault> visitWord();
  ParserFault fault(const Twine &what) const {
    size_t line = text.take_front(position).count('\n') + 1;
    return {position, ("line " + Twine(line) + ": expected " + what).str()};
  }

  StringRef text;
  Branches branches;
  size_t position = 0;
  size_t function = 0; ///< where the function begins that is being read
  char last = '\0';    ///< in front of `position`, but spaces and comments
  std::optional<Scope> lastArgument; ///< the scope, if it was one
  bool lastWasInduction = false;
  StringSet<> defined, usedBefore;
  /// Names that go at the end of each pair of braces that is open, and those
  /// of the pair that is opened next.
  SmallVector<SmallVector<StringRef>> braces;
  SmallVector<StringRef> nextBraces;
};
} // namespace

/// True for `%a = `, `%a:2 = ` and the names of `%a, %b = `, where `end` is the
/// end of the name.
bool ParserFaultFinder::isResult(size_t end) const {
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

/// True for a name in front of `=` that is an operation's for its region, as in
/// `scf.for %i = %a to %b iter_args(%x = %y, %z = %w)`.
bool ParserFaultFinder::isInHeader() const {
  if (last == '(')
    return true;
  StringRef before = text.take_front(position).rtrim();
  if (last != ',')
    return takeWord(before).ends_with(".for");
  // A list of results has no `=` within it.
  before = before.take_front(before.rfind('%')).rtrim();
  return before.ends_with("=");
}

/// The scope of the names of `(%a: type, %b: type)` behind `@f` or `^bb`, or on
/// its own. Behind another word, as in `offset(%a : index)`, it is a use.
std::optional<ParserFaultFinder::Scope>
ParserFaultFinder::getArgumentScope(size_t end) const {
  if (at(skipSpaces(end)) != ':')
    return std::nullopt;
  StringRef before = text.take_front(position).rtrim();
  if (before.ends_with(","))
    return lastArgument;
  if (!before.consume_back("("))
    return std::nullopt;
  if (takeWord(before).empty())
    return Scope::nextBraces;
  if (before.ends_with("@"))
    return Scope::function;
  if (before.ends_with("^"))
    return Scope::braces;
  return std::nullopt;
}

void ParserFaultFinder::define(StringRef name, Scope scope) {
  if (!defined.insert(name).second)
    return;
  if (scope == Scope::nextBraces)
    nextBraces.push_back(name);
  else if (scope == Scope::braces && !braces.empty())
    braces.back().push_back(name);
}

/// Opens or closes a scope.
void ParserFaultFinder::visitBrace() {
  if (text[position] == '{') {
    braces.push_back(std::move(nextBraces));
    nextBraces.clear();
  } else if (!braces.empty()) {
    for (StringRef name : braces.pop_back_val())
      defined.erase(name);
  }
}

/// True for the names in front of the bounds of a loop over several variables,
/// as in `scf.forall (%i, %j) in (%m, %n)`.
bool ParserFaultFinder::isInduction() const {
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
bool ParserFaultFinder::startFunction() {
  StringRef rest = text.substr(position);
  bool mayBranch = branches == Branches::allowed;
  if (!rest.starts_with("func.func") &&
      !(mayBranch && rest.starts_with("llvm.func")))
    return false;
  defined.clear();
  nextBraces.clear();
  // In a source, what was used without a definition stays so.
  if (mayBranch)
    usedBefore.clear();
  function = position;
  position += strlen("func.func");
  return true;
}

/// True if the function has a branch: a block that is named elsewhere than at
/// the start of a line.
bool ParserFaultFinder::isInBranchingFunction() const {
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

std::optional<ParserFault> ParserFaultFinder::visitValue() {
  size_t end = skipName(position + 1);
  StringRef name = text.slice(position, end);
  lastArgument = getArgumentScope(end);
  lastWasInduction = isInduction();
  if (lastArgument || lastWasInduction || isResult(end)) {
    if (usedBefore.contains(name) &&
        !(branches == Branches::allowed && isInBranchingFunction()))
      return fault("'" + name.take_front(60) + "' to be defined above its use");
    define(name, lastArgument                       ? *lastArgument
                 : lastWasInduction || isInHeader() ? Scope::nextBraces
                                                    : Scope::braces);
  } else if (!defined.contains(name)) {
    usedBefore.insert(name);
  }
  position = end;
  return std::nullopt;
}

/// `text` from its first token on. A null character is a space to MLIR.
static StringRef skipToToken(StringRef text) {
  StringRef spaces(" \t\n\r\0", 5);
  text = text.ltrim(spaces);
  while (text.starts_with("//"))
    text = text.drop_until([](char c) { return c == '\n'; }).ltrim(spaces);
  return text;
}

/// True if `text` begins with a list of integers of 64 bits in brackets, which
/// may be empty.
static bool isIntegerList(StringRef text) {
  text = skipToToken(text);
  if (!text.consume_front("["))
    return false;
  text = skipToToken(text);
  if (text.starts_with("]"))
    return true;
  while (true) {
    text = skipToToken(text);
    StringRef number =
        text.take_while([](char c) { return isAlnum(c) || c == '-'; });
    bool isHex = number.starts_with("0x");
    int64_t value;
    if (number.drop_front(isHex ? 2 : 0).getAsInteger(isHex ? 16 : 10, value))
      return false;
    text = skipToToken(text.drop_front(number.size()));
    if (text.starts_with("]"))
      return true;
    if (!text.consume_front(","))
      return false;
  }
}

/// A word outside of strings and comments. In a dictionary of attributes,
/// `dimensions = ` may be in front of any of them.
std::optional<ParserFault> ParserFaultFinder::visitWord() {
  size_t end = skipName(position);
  StringRef word = text.slice(position, end);
  StringRef rest = skipToToken(text.substr(end));
  bool isInDictionary = last == '{' || last == ',';
  if ((word == "permutation" || word == "dimensions") && !isInDictionary &&
      rest.consume_front("=") && !isIntegerList(rest))
    return fault("a list of integers in brackets behind '" + word + " ='");
  last = text[end - 1];
  position = end;
  return std::nullopt;
}

std::optional<ParserFault> ParserFaultFinder::run() {
  while (position < text.size()) {
    StringRef rest = text.substr(position);
    if (rest.starts_with("\"")) {
      for (++position; position < text.size() && text[position] != '"';
           ++position)
        position += text[position] == '\\';
      ++position;
      last = '"';
    } else if (rest.starts_with("//")) {
      position = std::min(text.find('\n', position), text.size());
    } else if (startFunction()) {
      last = 'c';
    } else if (rest.consume_front("array<") &&
               rest.ltrim().starts_with("index")) {
      return fault("no array of index");
    } else if (text[position] == '%') {
      if (std::optional<ParserFault> found = visitValue())
        return found;
      last = text[position - 1];
    } else if (isAlpha(text[position]) || text[position] == '_') {
      if (std::optional<ParserFault> found = visitWord())
        return found;
    } else {
      if (text[position] == '{' || text[position] == '}')
        visitBrace();
      if (!isSpace(text[position]))
        last = text[position];
      ++position;
    }
  }
  return std::nullopt;
}

std::optional<ParserFault> findParserFault(StringRef text, Branches branches) {
  return ParserFaultFinder(text, branches).run();
}

} // namespace attn
