// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Broken inputs from good ones, the same for the same seed on every machine.

#ifndef ATTN_TEST_FUZZ_MUTATOR_H
#define ATTN_TEST_FUZZ_MUTATOR_H

#include <cstdint>
#include <string>
#include <vector>

namespace attn::fuzz {

/// splitmix64: every seed gives an independent stream.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next();
  /// Below `bound`, which is not 0.
  size_t below(size_t bound) { return size_t(next() % bound); }
  bool oneIn(size_t n) { return below(n) == 0; }

private:
  uint64_t state;
};

/// Good inputs, and tokens to put in the place of others.
struct Corpus {
  std::vector<std::string> inputs;
  std::vector<std::string> dictionary;
};

/// Words, numbers and single other characters; together they are the text.
std::vector<std::string> tokenize(const std::string &text);

/// Flips, inserts, deletes, overwrites and moves bytes.
std::string mutateBytes(std::string bytes, Random &random);

/// Deletes, doubles, swaps and replaces tokens and lines, the replacements
/// coming from the same text, the dictionary, or a list of odd numbers. Most
/// stand for a token of their own class (numbers, types, values, operations),
/// and many for all equal tokens at once, which keeps types consistent: such
/// mutants get past the parser.
std::string mutateTokens(const std::string &text, const Corpus &corpus,
                         Random &random);

/// One input from the corpus, changed in one to four places.
std::string mutateText(const Corpus &corpus, uint64_t seed);
std::string mutateBinary(const Corpus &corpus, uint64_t seed);

} // namespace attn::fuzz

#endif // ATTN_TEST_FUZZ_MUTATOR_H
