// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A parser for the small subset of Python literals that NumPy writes into
// headers. It looks at each byte once, so hostile text costs nothing.

#include "runtime/NpyHeader.h"

#include <cctype>

namespace attn {

// NumPy itself allows 64 dimensions.
static constexpr size_t maxRank = 64;

namespace {
class Parser {
public:
  explicit Parser(std::string_view text) : text(text) {}
  Result<NpyHeader> parse();

private:
  Error expected(const std::string &what);
  void skipSpace();
  bool consume(char c);
  Result<std::string> parseString();
  Result<bool> parseBool();
  Result<int64_t> parseInteger();
  Result<std::vector<int64_t>> parseTuple();
  Result<void> parseEntry(NpyHeader &header);

  std::string_view text;
  size_t position = 0;
  bool hasDescr = false, hasOrder = false, hasShape = false;
};
} // namespace

Error Parser::expected(const std::string &what) {
  std::string got = "the end";
  if (position < text.size()) {
    unsigned char c = text[position];
    got = std::isprint(c) ? std::string("'") + text[position] + "'"
                          : "byte " + std::to_string(c);
  }
  return Error{ErrorCode::ioFailure, "header position " +
                                         std::to_string(position) +
                                         ": expected " + what + ", got " + got};
}

void Parser::skipSpace() {
  while (position < text.size() &&
         (text[position] == ' ' || text[position] == '\t' ||
          text[position] == '\n'))
    ++position;
}

bool Parser::consume(char c) {
  skipSpace();
  if (position == text.size() || text[position] != c)
    return false;
  ++position;
  return true;
}

Result<std::string> Parser::parseString() {
  skipSpace();
  if (position == text.size() ||
      (text[position] != '\'' && text[position] != '"'))
    return expected("a quoted string");
  char quote = text[position++];
  size_t begin = position;
  // Names and type strings are printable ASCII without escapes.
  while (position < text.size() && text[position] != quote) {
    unsigned char c = text[position];
    if (!std::isprint(c) || c == '\\')
      return expected("printable ASCII in a string");
    ++position;
  }
  if (position == text.size())
    return expected("a closing quote");
  return std::string(text.substr(begin, position++ - begin));
}

Result<bool> Parser::parseBool() {
  skipSpace();
  for (bool value : {false, true}) {
    std::string_view word = value ? "True" : "False";
    if (text.substr(position, word.size()) == word) {
      position += word.size();
      return value;
    }
  }
  return expected("True or False");
}

Result<int64_t> Parser::parseInteger() {
  skipSpace();
  size_t begin = position;
  int64_t value = 0;
  while (position < text.size() &&
         std::isdigit((unsigned char)text[position])) {
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, text[position] - '0', &value))
      return expected("a size below 2^63");
    ++position;
  }
  if (position == begin)
    return expected("a non-negative size");
  // Python 2 wrote long integers as 3L.
  if (position < text.size() && text[position] == 'L')
    ++position;
  return value;
}

Result<std::vector<int64_t>> Parser::parseTuple() {
  if (!consume('('))
    return expected("'(' of the shape");
  std::vector<int64_t> sizes;
  while (!consume(')')) {
    if (sizes.size() == maxRank)
      return expected("at most " + std::to_string(maxRank) + " dimensions");
    Result<int64_t> size = parseInteger();
    if (!size)
      return size.error();
    sizes.push_back(*size);
    bool hasComma = consume(',');
    skipSpace();
    bool isLast = position < text.size() && text[position] == ')';
    // (3) is a number in Python; one dimension is (3,).
    if (!hasComma && (!isLast || sizes.size() == 1))
      return expected("',' after a size");
  }
  return sizes;
}

Result<void> Parser::parseEntry(NpyHeader &header) {
  size_t keyPosition = position;
  Result<std::string> key = parseString();
  if (!key)
    return key.error();
  if (!consume(':'))
    return expected("':' after '" + *key + "'");
  bool *seen = *key == "descr"           ? &hasDescr
               : *key == "fortran_order" ? &hasOrder
               : *key == "shape"         ? &hasShape
                                         : nullptr;
  if (!seen || *seen) {
    position = keyPosition;
    return expected("each of 'descr', 'fortran_order', 'shape' once");
  }
  *seen = true;
  if (seen == &hasDescr) {
    skipSpace();
    if (position < text.size() && text[position] == '[')
      return expected("a simple type string (no structured types)");
    Result<std::string> descr = parseString();
    if (!descr)
      return descr.error();
    header.descr = *descr;
  } else if (seen == &hasOrder) {
    Result<bool> order = parseBool();
    if (!order)
      return order.error();
    header.isFortranOrder = *order;
  } else {
    Result<std::vector<int64_t>> shape = parseTuple();
    if (!shape)
      return shape.error();
    header.shape = *shape;
  }
  return {};
}

Result<NpyHeader> Parser::parse() {
  NpyHeader header;
  if (!consume('{'))
    return expected("'{'");
  while (!consume('}')) {
    if (Result<void> entry = parseEntry(header); !entry)
      return entry.error();
    bool hasComma = consume(',');
    skipSpace();
    if (!hasComma && (position == text.size() || text[position] != '}'))
      return expected("',' or '}'");
  }
  skipSpace();
  if (position != text.size())
    return expected("nothing after '}'");
  if (!hasDescr || !hasOrder || !hasShape)
    return expected(!hasDescr   ? "a key 'descr'"
                    : !hasOrder ? "a key 'fortran_order'"
                                : "a key 'shape'");
  return header;
}

Result<NpyHeader> parseNpyHeader(std::string_view text) {
  return Parser(text).parse();
}

namespace {
struct Code {
  const char *code;
  DType dtype;
};
} // namespace

static constexpr Code codes[] = {
    {"f8", DType::f64},  {"f4", DType::f32}, {"f2", DType::f16},
    {"V2", DType::bf16}, {"b1", DType::i1},  {"i1", DType::i8},
    {"u1", DType::u8},   {"i4", DType::i32}, {"i8", DType::i64},
};

Result<NpyElement> parseNpyDescr(std::string_view descr,
                                 std::optional<DType> expected) {
  if (descr == "bfloat16")
    return NpyElement{DType::bf16};
  if (descr.size() == 3 &&
      std::string_view("<>|=").find(descr[0]) != std::string_view::npos) {
    std::string_view code = descr.substr(1);
    bool isBigEndian = descr[0] == '>';
    if (code == "u2" && expected == DType::bf16)
      return NpyElement{DType::bf16, isBigEndian};
    for (const Code &candidate : codes) {
      // '|' says that byte order does not matter: single bytes, raw V2.
      bool allowed = descr[0] != '|' || byteSize(candidate.dtype) == 1 ||
                     candidate.dtype == DType::bf16;
      if (code == candidate.code && allowed)
        return NpyElement{candidate.dtype, isBigEndian};
    }
  }
  return Error{ErrorCode::unsupported,
               "element type: expected one of f8, f4, f2, V2 (bf16), b1, i1, "
               "u1, i4, i8 after one of <>|=, got '" +
                   std::string(descr) + "'"};
}

std::string formatNpyHeader(DType dtype, const std::vector<int64_t> &shape) {
  std::string descr;
  for (const Code &candidate : codes)
    if (candidate.dtype == dtype)
      descr = (byteSize(dtype) == 1 ? "|" : "<") + std::string(candidate.code);
  std::string sizes;
  for (int64_t size : shape)
    sizes += std::to_string(size) + ", ";
  if (shape.size() > 1)
    sizes.resize(sizes.size() - 2);
  else if (shape.size() == 1)
    sizes.pop_back();
  return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" +
         sizes + "), }";
}

} // namespace attn
