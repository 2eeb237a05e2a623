// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Mutator.h.

#include "test/fuzz/Mutator.h"

#include <algorithm>
#include <cctype>

using namespace attn::fuzz;

uint64_t Random::next() {
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static const std::vector<std::string> oddNumbers = {
    "0",
    "1",
    "2",
    "-1",
    "7",
    "64",
    "2147483647",
    "2147483648",
    "4294967296",
    "-2147483649",
    "1000000",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "18446744073709551616",
    "99999999999999999999999999",
    "0.0",
    "-0.0",
    "1.0e38",
    "1.0e309",
    "1.0e-45",
    "0x7FC00000",
    "0xFF800000",
    "0x7FF0000000000000",
};

static bool isWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' ||
         c == '%' || c == '#' || c == '@' || c == '^' || c == '!';
}

std::vector<std::string> attn::fuzz::tokenize(const std::string &text) {
  std::vector<std::string> tokens;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin + 1;
    // A dimension list is several tokens: "4", "x", "?", "x", "f32".
    bool number = std::isdigit(static_cast<unsigned char>(text[begin]));
    if (text[begin] != 'x' && isWord(text[begin]))
      while (end < text.size() && isWord(text[end]) &&
             !(number && text[end] == 'x'))
        ++end;
    tokens.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return tokens;
}

static std::string join(const std::vector<std::string> &tokens) {
  std::string text;
  for (const std::string &token : tokens)
    text += token;
  return text;
}

std::string attn::fuzz::mutateBytes(std::string bytes, Random &random) {
  if (bytes.empty())
    return std::string(1, char(random.next()));
  size_t at = random.below(bytes.size());
  size_t length = 1 + random.below(std::min<size_t>(bytes.size() - at, 16));
  switch (random.below(8)) {
  case 0:
    bytes[at] ^= char(1 << random.below(8));
    break;
  case 1:
    bytes[at] = char(random.next());
    break;
  case 2:
    bytes.insert(at, 1, char(random.next()));
    break;
  case 3:
    bytes.erase(at, length);
    break;
  case 4:
    bytes.insert(random.below(bytes.size()), bytes.substr(at, length));
    break;
  case 5:
    bytes.resize(at);
    break;
  case 6:
    bytes[at] = "\0\x7f\x80\xff\n\"'{"[random.below(8)];
    break;
  case 7:
    bytes[at] = char(bytes[at] + (random.oneIn(2) ? 1 : -1));
    break;
  }
  return bytes;
}

/// Tokens of one class often stand in for each other.
static char classOf(const std::string &token) {
  static const std::vector<std::string> types = {
      "f16", "bf16", "f32", "f64", "i1", "i8", "i32", "i64", "index"};
  static const std::vector<std::string> predicates = {
      "eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"};
  auto isIn = [&](const std::vector<std::string> &list) {
    return std::find(list.begin(), list.end(), token) != list.end();
  };
  if (isIn(types))
    return 't';
  if (isIn(predicates))
    return 'p';
  if (std::isdigit(static_cast<unsigned char>(token[0])) || token == "?")
    return '0';
  if (token == "tensor" || token == "vector" || token == "memref")
    return 's';
  if (token == "x" || token[0] == '%' || !isWord(token[0]))
    return token[0];
  return token.find('.') != std::string::npos ? 'o' : 'w';
}

static std::string replacement(const std::string &token,
                               const std::vector<std::string> &tokens,
                               const Corpus &corpus, Random &random) {
  bool sameClass = !random.oneIn(8);
  // Tries until a token of the class turns up, which it need not.
  for (int n = 0; n < 30; ++n) {
    const std::vector<std::string> &from =
        random.oneIn(2) || corpus.dictionary.empty() ? tokens
        : random.oneIn(4)                            ? oddNumbers
                                                     : corpus.dictionary;
    const std::string &other = from[random.below(from.size())];
    if (other != token && (!sameClass || classOf(other) == classOf(token)))
      return other;
  }
  return token;
}

static std::vector<std::string> lines(const std::string &text) {
  std::vector<std::string> result(1);
  for (char c : text) {
    result.back() += c;
    if (c == '\n')
      result.emplace_back();
  }
  return result;
}

/// A place, rarely one of the blanks and punctuation that most tokens are.
static size_t somePlace(const std::vector<std::string> &tokens,
                        Random &random) {
  size_t at = random.below(tokens.size());
  for (int n = 0; n < 8; ++n) {
    char kind = classOf(tokens[at]);
    if (kind != 'x' &&
        (std::isalnum(static_cast<unsigned char>(kind)) || kind == '%'))
      break;
    at = random.below(tokens.size());
  }
  return at;
}

std::string attn::fuzz::mutateTokens(const std::string &text,
                                     const Corpus &corpus, Random &random) {
  if (text.empty())
    return text;
  if (random.oneIn(10)) {
    std::vector<std::string> parts = lines(text);
    size_t a = random.below(parts.size()), b = random.below(parts.size());
    switch (random.below(3)) {
    case 0:
      parts.erase(parts.begin() + a);
      break;
    case 1:
      parts.insert(parts.begin() + b, std::string(parts[a]));
      break;
    default:
      std::swap(parts[a], parts[b]);
    }
    return join(parts);
  }
  std::vector<std::string> tokens = tokenize(text);
  size_t at = somePlace(tokens, random);
  switch (random.below(12)) {
  case 0:
    tokens.erase(tokens.begin() + at);
    break;
  case 1:
    tokens.insert(tokens.begin() + at, std::string(tokens[at]));
    break;
  case 2:
    std::swap(tokens[at], tokens[somePlace(tokens, random)]);
    break;
  case 3:
  case 4:
  case 5:
    tokens[at] = replacement(tokens[at], tokens, corpus, random);
    break;
  default: {
    std::string from = tokens[at];
    std::string to = replacement(from, tokens, corpus, random);
    std::replace(tokens.begin(), tokens.end(), from, to);
  }
  }
  return join(tokens);
}

std::string attn::fuzz::mutateText(const Corpus &corpus, uint64_t seed) {
  Random random(seed);
  std::string text = corpus.inputs[random.below(corpus.inputs.size())];
  // One change survives the parser far more often than several.
  for (size_t n = random.oneIn(2) ? 1 : 2 + random.below(3); n > 0; --n)
    text = random.oneIn(8) ? mutateBytes(text, random)
                           : mutateTokens(text, corpus, random);
  return text;
}

std::string attn::fuzz::mutateBinary(const Corpus &corpus, uint64_t seed) {
  Random random(seed);
  std::string bytes = corpus.inputs[random.below(corpus.inputs.size())];
  for (size_t n = 1 + random.below(4); n > 0; --n)
    // Headers of files are text.
    bytes = random.oneIn(3) ? mutateTokens(bytes, corpus, random)
                            : mutateBytes(bytes, random);
  return bytes;
}
