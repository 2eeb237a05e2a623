// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The form in which requests and compiled modules travel: between the runtime
// and the compiler's library, and to disk. Internal; no LLVM.

#ifndef ATTN_RUNTIME_CODE_BYTES_H
#define ATTN_RUNTIME_CODE_BYTES_H

#include <cstdint>
#include <string>
#include <string_view>

namespace attn {

/// Two lower-case hexadecimal digits for each byte.
inline std::string toHex(std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (char byte : bytes) {
    text += digits[static_cast<unsigned char>(byte) >> 4];
    text += digits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

/// Appends values: a number is eight bytes, a text its length and its bytes.
class ByteWriter {
public:
  void number(uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8)
      bytes += static_cast<char>(value >> shift);
  }
  void text(std::string_view value) {
    number(value.size());
    bytes += value;
  }
  std::string take() { return std::move(bytes); }

private:
  std::string bytes;
};

/// Takes the values out again. What does not fit gives zeros and empty texts,
/// and isComplete() is false from then on.
class ByteReader {
public:
  explicit ByteReader(std::string_view bytes) : rest(bytes) {}

  uint64_t number() {
    if (!has(8))
      return 0;
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i)
      value |= static_cast<uint64_t>(static_cast<unsigned char>(rest[i]))
               << (8 * i);
    rest.remove_prefix(8);
    return value;
  }

  /// A number of at most `last`.
  uint64_t number(uint64_t last) {
    uint64_t value = number();
    isGood &= value <= last;
    return isGood ? value : 0;
  }

  /// How many elements follow, each of which takes at least eight bytes.
  uint64_t count() { return number(rest.size() / 8); }

  std::string_view text() {
    uint64_t size = number();
    if (!has(size))
      return {};
    std::string_view value = rest.substr(0, size);
    rest.remove_prefix(size);
    return value;
  }

  /// True if everything fitted and nothing is left.
  bool isComplete() const { return isGood && rest.empty(); }

private:
  bool has(uint64_t size) {
    isGood &= size <= rest.size();
    return isGood;
  }

  std::string_view rest;
  bool isGood = true;
};

} // namespace attn

#endif // ATTN_RUNTIME_CODE_BYTES_H
