// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table of words, and the parser over it.

#include "CaseFile.h"

#include "runtime/Files.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace attn::bench {

static constexpr int64_t maxSize = int64_t(1) << 24;
static constexpr int maxThreads = 1024;
static constexpr uint64_t maxFileBytes = 1 << 20;

static Error expected(const std::string &what, std::string_view got) {
  return Error{ErrorCode::invalidArgument,
               "expected " + what + ", got '" + std::string(got) + "'"};
}

template <class T>
static Result<void> parseInteger(std::string_view text, T high, T &number) {
  const char *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < 1 || number > high)
    return expected("an integer from 1 to " + std::to_string(high), text);
  return {};
}

/// "8:2", or "8" for twice the same.
static Result<void> parsePair(std::string_view text, int64_t &first,
                              int64_t &second) {
  size_t colon = text.find(':');
  if (Result<void> done = parseInteger(text.substr(0, colon), maxSize, first);
      !done)
    return done;
  if (colon == std::string_view::npos) {
    second = first;
    return {};
  }
  return parseInteger(text.substr(colon + 1), maxSize, second);
}

namespace {
struct Word {
  const char *key;
  bool hasValue;
  Result<void> (*apply)(Case &, std::string_view value);
};
} // namespace

static Result<void> setDType(Case &problem, std::string_view value) {
  for (DType dtype : {DType::f32, DType::bf16, DType::f16})
    if (value == name(dtype)) {
      problem.dtype = dtype;
      return {};
    }
  return expected("f32, bf16 or f16", value);
}

/// One of the words.
static Result<void> setWord(std::string &field, std::string_view value,
                            const std::vector<std::string> &allowed) {
  field = value;
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end())
    return {};
  std::string list;
  for (size_t i = 0; i < allowed.size(); ++i)
    list += (i == 0                    ? ""
             : i + 1 == allowed.size() ? " or "
                                       : ", ") +
            allowed[i];
  return expected(list, value);
}

static Result<void> setOp(Case &problem, std::string_view value) {
  return setWord(problem.op, value, {"softmax", "gqa", "linear", "favor"});
}

/// "elu1:relu", or "elu1" for twice the same.
static Result<void> setFeature(Case &problem, std::string_view value) {
  const std::vector<std::string> maps = {
      "identity",          "elu1",     "relu",   "relu2", "softmax_features",
      "softmax_positions", "hedgehog", "taylor2"};
  size_t colon = value.find(':');
  std::string_view second =
      colon == std::string_view::npos ? value : value.substr(colon + 1);
  if (Result<void> done =
          setWord(problem.linear.queryFeature, value.substr(0, colon), maps);
      !done)
    return done;
  return setWord(problem.linear.keyFeature, second, maps);
}

static Result<void> parsePositive(std::string_view text, double &number) {
  const char *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, number);
  // Not "number <= 0": NaN must fail.
  if (error != std::errc() || stop != end || !(number > 0) || !(number <= 1e30))
    return expected("a positive number", text);
  return {};
}

template <bool LinearClauses::*flag>
static Result<void> setFlag(Case &problem, std::string_view) {
  problem.linear.*flag = true;
  return {};
}

static Result<void> setTarget(Case &problem, std::string_view value) {
  // Which targets there are is known to the compiler alone.
  if (value.empty())
    return expected("a target", value);
  problem.target = value;
  return {};
}

static const Word words[] = {
    {"op", true, setOp},
    {"dtype", true, setDType},
    {"B", true,
     [](Case &c, std::string_view v) {
       return parseInteger(v, maxSize, c.batch);
     }},
    {"H", true,
     [](Case &c, std::string_view v) {
       return parsePair(v, c.queryHeads, c.keyHeads);
     }},
    {"S", true,
     [](Case &c, std::string_view v) {
       Result<void> done = parseInteger(v, maxSize, c.queries);
       c.keys = c.queries;
       return done;
     }},
    {"sq", true,
     [](Case &c, std::string_view v) {
       return parseInteger(v, maxSize, c.queries);
     }},
    {"sk", true,
     [](Case &c, std::string_view v) {
       return parseInteger(v, maxSize, c.keys);
     }},
    {"D", true,
     [](Case &c, std::string_view v) {
       return parsePair(v, c.keyDim, c.valueDim);
     }},
    {"causal", false,
     [](Case &c, std::string_view) {
       c.isCausal = true;
       return Result<void>();
     }},
    {"window", true,
     [](Case &c, std::string_view v) {
       return parseInteger(v, maxSize, c.window);
     }},
    {"softcap", true,
     [](Case &c, std::string_view v) { return parsePositive(v, c.softcap); }},
    {"deviation", true,
     [](Case &c, std::string_view v) { return parsePositive(v, c.deviation); }},
    {"score", true,
     [](Case &c, std::string_view v) {
       return setWord(c.score, v, {"alibi", "bias"});
     }},
    {"keep", true,
     [](Case &c, std::string_view v) {
       return setWord(c.keep, v, {"select", "xor"});
     }},
    {"decay", true,
     [](Case &c, std::string_view v) {
       return setWord(c.linear.decay, v, {"head", "token", "feature"});
     }},
    {"gate", true,
     [](Case &c, std::string_view v) {
       return parsePositive(v, c.linear.gate);
     }},
    {"delta", false, setFlag<&LinearClauses::hasDelta>},
    {"transition", false, setFlag<&LinearClauses::hasTransition>},
    {"bonus", false, setFlag<&LinearClauses::hasBonus>},
    {"feature", true, setFeature},
    {"normalize", true,
     [](Case &c, std::string_view v) {
       return setWord(c.linear.normalize, v, {"token", "feature"});
     }},
    {"state", false, setFlag<&LinearClauses::hasState>},
    {"form", true,
     [](Case &c, std::string_view v) {
       return setWord(c.linear.form, v,
                      {"auto", "quadratic", "chunk", "recurrent"});
     }},
    {"chunk", true,
     [](Case &c, std::string_view v) {
       return parseInteger(v, maxSize, c.linear.chunk);
     }},
    {"M", true,
     [](Case &c, std::string_view v) {
       return parseInteger(v, maxSize, c.linear.rows);
     }},
    {"kind", true,
     [](Case &c, std::string_view v) {
       return setWord(c.linear.kind, v,
                      {"positive", "hyperbolic", "trigonometric", "relu"});
     }},
    {"target", true, setTarget},
    {"threads", true,
     [](Case &c, std::string_view v) {
       return parseInteger(v, maxThreads, c.threads);
     }},
};

static std::string allWords() {
  std::string names;
  for (const Word &word : words)
    names += std::string(names.empty() ? "" : ", ") + word.key;
  return names;
}

static Result<void> applyWord(std::string_view text,
                              std::set<std::string_view> &seen, Case &problem) {
  size_t equals = text.find('=');
  std::string_view key = text.substr(0, equals);
  bool hasValue = equals != std::string_view::npos;
  const Word *word =
      std::find_if(std::begin(words), std::end(words),
                   [&](const Word &candidate) { return key == candidate.key; });
  if (word == std::end(words))
    return expected("one of " + allWords(), text);
  if (word->hasValue != hasValue)
    return expected(std::string(key) + (word->hasValue ? "=..." : " alone"),
                    text);
  if (!seen.insert(key).second)
    return expected(std::string(key) + " once", text);
  Result<void> done =
      word->apply(problem, hasValue ? text.substr(equals + 1) : "");
  if (!done)
    return Error{done.error().code,
                 std::string(key) + ": " + done.error().message};
  return {};
}

/// Which words go with the op.
static Result<void> checkOp(const std::set<std::string_view> &seen,
                            const Case &problem) {
  struct {
    std::vector<const char *> ops;
    std::vector<const char *> words;
  } const only[] = {
      {{"softmax", "gqa"}, {"window", "softcap", "score", "keep"}},
      {{"linear"},
       {"decay", "gate", "delta", "transition", "bonus", "feature", "normalize",
        "state"}},
      {{"linear", "favor"}, {"form", "chunk"}},
      {{"favor"}, {"M", "kind"}}};
  for (const auto &[ops, names] : only)
    for (const char *word : names)
      if (seen.count(word) &&
          std::find(ops.begin(), ops.end(), problem.op) == ops.end())
        return expected("no " + std::string(word) + " with op=" + problem.op,
                        word);
  if (!problem.isLinear())
    return {};
  if (problem.op == "favor" && !seen.count("M"))
    return Error{ErrorCode::invalidArgument, "expected M=..., got none"};
  const LinearClauses &linear = problem.linear;
  if (problem.isCausal && problem.queries != problem.keys)
    return expected("as many keys as queries for causal op=" + problem.op,
                    std::to_string(problem.queries) + ":" +
                        std::to_string(problem.keys));
  for (const char *word : {"decay", "delta", "transition", "bonus"})
    if (seen.count(word) && !problem.isCausal)
      return expected("causal beside " + std::string(word), word);
  if (seen.count("gate") && !seen.count("decay"))
    return expected("decay beside gate", "gate");
  if (linear.hasDelta && linear.hasTransition)
    return expected("delta or transition", "both");
  if (linear.queryFeature != linear.keyFeature)
    for (const std::string &map : {linear.queryFeature, linear.keyFeature})
      if (map == "hedgehog" || map == "taylor2")
        return expected("maps of as many features",
                        linear.queryFeature + ":" + linear.keyFeature);
  return {};
}

/// What must be there, and what goes together.
static Result<void> checkWords(const std::set<std::string_view> &seen,
                               Case &problem) {
  auto has = [&](std::string_view key) { return seen.count(key) > 0; };
  for (const char *key : {"dtype", "H", "D"})
    if (!has(key))
      return Error{ErrorCode::invalidArgument,
                   std::string("expected ") + key + "=..., got none"};
  if (has("S") ? has("sq") || has("sk") : !has("sq") || !has("sk")) {
    std::string got;
    for (const char *key : {"S", "sq", "sk"})
      if (has(key))
        got += std::string(got.empty() ? "" : " and ") + key;
    return Error{ErrorCode::invalidArgument,
                 "expected either S=... or both sq=... and sk=..., got " +
                     (got.empty() ? "none" : got)};
  }
  bool isGrouped = problem.queryHeads != problem.keyHeads;
  if (!has("op"))
    problem.op = isGrouped ? "gqa" : "softmax";
  std::string heads = std::to_string(problem.queryHeads) + ":" +
                      std::to_string(problem.keyHeads);
  if (problem.op == "softmax" && isGrouped)
    return expected("as many key heads as query heads for op=softmax", heads);
  if (problem.queryHeads % problem.keyHeads != 0)
    return expected("a multiple of the key heads as query heads", heads);
  return checkOp(seen, problem);
}

static std::string_view nextWord(std::string_view &rest) {
  constexpr std::string_view blanks = " \t\r";
  rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
  std::string_view word = rest.substr(0, rest.find_first_of(blanks));
  rest.remove_prefix(word.size());
  return word;
}

Result<Case> parseCase(std::string_view line) {
  Case problem;
  std::set<std::string_view> seen;
  std::string_view rest = line;
  problem.name = nextWord(rest);
  if (problem.name.empty() || problem.name.find('=') != std::string::npos)
    return expected("the name of a case first", problem.name);
  for (std::string_view word = nextWord(rest); !word.empty();
       word = nextWord(rest))
    if (Result<void> done = applyWord(word, seen, problem); !done)
      return done.error();
  if (Result<void> done = checkWords(seen, problem); !done)
    return done.error();
  return problem;
}

Result<void> parseCases(std::string_view text, const std::string &path,
                        std::vector<Case> &cases) {
  std::string group;
  int64_t number = 0;
  while (!text.empty()) {
    size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    std::string where = path + ":" + std::to_string(++number);

    std::string_view rest = line.substr(0, line.find('#'));
    std::string_view first = nextWord(rest);
    if (first.empty())
      continue;
    if (first.front() == '[') {
      if (first.size() < 3 || first.back() != ']' || !nextWord(rest).empty())
        return Error{ErrorCode::invalidArgument,
                     where + ": " +
                         expected("[group], one word", line).message};
      group = first.substr(1, first.size() - 2);
      continue;
    }
    Result<Case> parsed = parseCase(line.substr(0, line.find('#')));
    if (!parsed)
      return Error{parsed.error().code, where + ": " + parsed.error().message};
    for (const Case &other : cases)
      if (other.name == parsed->name)
        return Error{ErrorCode::invalidArgument,
                     where + ": expected a name that is not taken, got '" +
                         parsed->name + "', which is at " + other.where};
    parsed->group = group;
    parsed->where = where;
    cases.push_back(std::move(*parsed));
  }
  return {};
}

Result<void> readCases(const std::string &path, std::vector<Case> &cases) {
  Result<std::string> text = readFile(path, maxFileBytes);
  if (!text)
    return text.error();
  size_t before = cases.size();
  if (Result<void> done = parseCases(*text, path, cases); !done)
    return done;
  if (cases.size() == before)
    return Error{ErrorCode::invalidArgument, path + ": expected a case, got "
                                                    "none"};
  return {};
}

} // namespace attn::bench
