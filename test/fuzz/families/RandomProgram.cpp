// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RandomProgram.h.

#include "test/fuzz/families/RandomProgram.h"

#include <algorithm>
#include <cmath>

using namespace attn;
using namespace attn::fuzz;

DType attn::fuzz::drawType(Random &random) {
  return pick(random, {DType::f32, DType::f32, DType::bf16, DType::bf16,
                       DType::f16, DType::f64});
}

void attn::fuzz::orderClauses(Random &random,
                              std::vector<std::string> &clauses) {
  shuffle(random, clauses);
}

int64_t attn::fuzz::drawSize(Random &random, int64_t most, bool mayBeZero) {
  if (mayBeZero && random.oneIn(60))
    return 0;
  while (true) {
    int64_t size = pick<int64_t>(random, {1,  1,  1,  1,  1,  2,  2,  3,  4,
                                          5,  7,  8,  9,  11, 15, 16, 17, 24,
                                          31, 32, 33, 40, 63, 64, 65, 70, 130});
    if (size <= most)
      return size;
  }
}

void attn::fuzz::hideSizes(Random &random,
                           std::initializer_list<int64_t *> sizes) {
  size_t mode = random.below(4);
  for (int64_t *size : sizes)
    if (mode == 0 || (mode > 1 && random.oneIn(2)))
      *size = -1;
}

std::vector<int64_t> attn::fuzz::loosen(Random &random,
                                        std::vector<int64_t> sizes,
                                        std::initializer_list<size_t> dims) {
  for (size_t dim : dims)
    if (random.oneIn(8))
      sizes[dim] = -1;
  return sizes;
}

double attn::fuzz::drawBetween(Random &random, double from, double to) {
  return from + (to - from) * double(random.next() >> 11) * 0x1p-53;
}

std::vector<double> attn::fuzz::drawValues(Random &random, DType dtype,
                                           size_t count, double from,
                                           double to) {
  std::vector<double> values(count);
  for (double &value : values)
    value = test::roundTo(dtype, drawBetween(random, from, to));
  return values;
}

std::string attn::fuzz::typeText(const std::vector<int64_t> &sizes,
                                 DType dtype) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += (size < 0 ? "?" : std::to_string(size)) + "x";
  return text + name(dtype) + ">";
}

int64_t attn::fuzz::countOf(const std::vector<int64_t> &sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

std::vector<int64_t> attn::fuzz::drawStarts(Random &random, int64_t sequences,
                                            int64_t rows) {
  std::vector<int64_t> starts;
  for (int64_t n = 0; n <= sequences; ++n)
    starts.push_back(int64_t(random.below(size_t(rows + 1))));
  if (!random.oneIn(5))
    std::sort(starts.begin(), starts.end());
  if (random.oneIn(3))
    starts.front() = random.oneIn(2) ? 0 : -3;
  if (random.oneIn(3))
    starts.back() = random.oneIn(2) ? rows : rows + 5;
  return starts;
}

std::vector<int64_t> attn::fuzz::drawLengths(Random &random, int64_t count,
                                             int64_t rows, bool isOne) {
  std::vector<int64_t> lengths;
  for (int64_t n = 0; n < count; ++n)
    lengths.push_back(isOne && n > 0
                          ? lengths[0]
                          : int64_t(random.below(size_t(rows + 6))) - 2);
  return lengths;
}

double attn::fuzz::roundingOf(DType dtype) {
  switch (dtype) {
  case DType::f64:
    return 0x1p-53;
  case DType::f16:
    return 0x1p-11;
  case DType::bf16:
    return 0x1p-8;
  default:
    return 0x1p-24;
  }
}

void attn::fuzz::disturb(Random &random, std::vector<double> &values,
                         double relative) {
  for (double &value : values)
    value *= random.oneIn(2) ? 1.0 + relative : 1.0 - relative;
}

std::vector<double> attn::fuzz::wobbleOf(
    uint64_t seed, const std::vector<double> &values,
    const std::function<std::vector<double>(Random &)> &compute) {
  constexpr int samples = 6;
  Random random(seed);
  std::vector<double> wobble(values.size(), 0.0);
  for (int sample = 0; sample < samples; ++sample) {
    std::vector<double> moved = compute(random);
    for (size_t n = 0; n < values.size(); ++n) {
      // What is no number is either way compared by its kind.
      double change = std::isfinite(values[n]) ? moved[n] - values[n] : 0.0;
      wobble[n] += change * change / samples;
    }
  }
  for (double &change : wobble)
    change = std::sqrt(change);
  return wobble;
}
