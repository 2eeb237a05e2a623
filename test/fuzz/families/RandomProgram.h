// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs with the operands of some calls and what those must give by
// definition. A family makes one of each seed.

#ifndef ATTN_TEST_FUZZ_FAMILIES_RANDOMPROGRAM_H
#define ATTN_TEST_FUZZ_FAMILIES_RANDOMPROGRAM_H

#include "test/e2e/Harness.h"
#include "test/fuzz/Mutator.h"

#include <initializer_list>
#include <utility>

namespace attn::fuzz {

/// What a result must be.
struct Wanted {
  std::string name;
  DType dtype = DType::f32; // of the result
  std::vector<int64_t> sizes;
  std::vector<double> values; // of the definition, in f64
  /// How far each value moves where operands are off by a rounding, by the
  /// definition. Asked for where the plain comparison fails, or always where
  /// values that mean nothing could hide others (`isUnsteady`).
  std::function<std::vector<double>()> wobble;
  bool isUnsteady = false;
  /// The type in which it was computed, which sets the tolerance.
  DType precision = DType::f32;
  bool isLse = false; // compared by its absolute error
};

struct RandomCall {
  std::string sizes; // in words
  test::Arguments arguments;
  std::vector<Wanted> wanted;
};

struct RandomProgram {
  std::string text;
  /// Options of device cpu, and the same in words.
  std::function<void(EngineOptions &)> configure;
  std::string options;
  /// Targets with code for this type run it.
  DType dtype = DType::f32;
  std::vector<RandomCall> calls;
};

RandomProgram makeLinear(uint64_t seed);
RandomProgram makeSoftmax(uint64_t seed);
RandomProgram makeProducts(uint64_t seed);

//===- what families are made with ----------------------------------------===//

template <class T> T pick(Random &random, std::initializer_list<T> from) {
  return from.begin()[random.below(from.size())];
}
template <class T> void shuffle(Random &random, std::vector<T> &list) {
  for (size_t n = list.size(); n > 1; --n)
    std::swap(list[n - 1], list[random.below(n)]);
}

/// Clauses stand in any order.
void orderClauses(Random &random, std::vector<std::string> &clauses);

DType drawType(Random &random);
/// Many sizes of 1, odd ones and those beside the width of vectors; at most
/// `most`, and rarely 0 where `mayBeZero`.
int64_t drawSize(Random &random, int64_t most, bool mayBeZero = false);
/// Hides sizes from the compiler: none, all or some.
void hideSizes(Random &random, std::initializer_list<int64_t *> sizes);
/// Hides some more sizes of one operand, which others still tell.
std::vector<int64_t> loosen(Random &random, std::vector<int64_t> sizes,
                            std::initializer_list<size_t> dims);
/// In [from, to).
double drawBetween(Random &random, double from, double to);
/// Numbers of the type in [from, to).
std::vector<double> drawValues(Random &random, DType dtype, size_t count,
                               double from, double to);
/// Sizes of -1 are dynamic.
std::string typeText(const std::vector<int64_t> &sizes, DType dtype);
int64_t countOf(const std::vector<int64_t> &sizes);

/// First rows of packed sequences and their end: mostly they go up, and now and
/// then they reach beyond both ends.
std::vector<int64_t> drawStarts(Random &random, int64_t sequences,
                                int64_t rows);
/// Numbers of rows in use, some below 0 and some beyond the end; one for all
/// where `isOne`.
std::vector<int64_t> drawLengths(Random &random, int64_t count, int64_t rows,
                                 bool isOne = false);

/// The largest relative error of a rounding to the type.
double roundingOf(DType dtype);
/// Each value off by the relative error, up or down.
void disturb(Random &random, std::vector<double> &values, double relative);
/// The mean size of the change of each value where `compute` is called with
/// operands that it disturbs.
std::vector<double>
wobbleOf(uint64_t seed, const std::vector<double> &values,
         const std::function<std::vector<double>(Random &)> &compute);

} // namespace attn::fuzz

#endif // ATTN_TEST_FUZZ_FAMILIES_RANDOMPROGRAM_H
