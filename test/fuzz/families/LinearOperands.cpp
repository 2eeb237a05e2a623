// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands of attn.linear, and results of operands beside them. See
// LinearFamily.h.

#include "test/fuzz/families/LinearFamily.h"

#include <algorithm>
#include <cmath>

using namespace attn;
using namespace attn::fuzz;
using oracle::Array;
using oracle::Divisor;
using test::Decay;
using test::LinearProblem;
using test::LinearSizes;
using test::LinearVariant;

/// Operands as if all rows were in use.
static LinearProblem drawRows(Random &random, const LinearDraft &d,
                              const LinearSizes &s) {
  LinearVariant drawn = d.variant;
  drawn.lengths = drawn.oneLength = drawn.packed = drawn.keyStarts = false;
  uint64_t seed = random.next() >> 32;
  if (!d.variant.packed)
    return test::makeLinearProblem(drawn, d.dtype, s, seed);
  // All sequences lie in one batch entry, but each has a state.
  LinearSizes rows = s, states = s;
  rows.b = 1;
  states.sq = states.skv = 0;
  LinearProblem p = test::makeLinearProblem(drawn, d.dtype, rows, seed);
  p.linear.state =
      test::makeLinearProblem(drawn, d.dtype, states, seed).linear.state;
  p.sizes = s;
  return p;
}

LinearProblem attn::fuzz::drawLinearProblem(Random &random,
                                            const LinearDraft &d,
                                            const LinearSizes &s) {
  LinearProblem p = drawRows(random, d, s);
  oracle::Linear &l = p.linear;
  DType sums = test::logitType(d.dtype);
  // A divisor that lost all it had, where nothing comes to it, is 0 to f32. One
  // that is a difference of nearly equal numbers, such as exp(g) S - b (a S),
  // is a matter of how each of them is rounded.
  bool hasDivisor = d.variant.divisor != Divisor::None;
  bool isDifference = hasDivisor && (d.variant.beta || d.variant.transition);
  double least = isDifference                  ? -0.25
                 : hasDivisor && !d.isPositive ? -1.0
                                               : -INFINITY;
  if (isDifference)
    for (Array *array : {&l.beta, &l.write})
      for (double &x : array->data)
        x *= 0.5;
  for (std::vector<double> *decays : {&l.decay.data, &l.headDecay})
    for (double &g : *decays) {
      g = std::max(g, least);
      if (d.grows && random.oneIn(3))
        g = test::roundTo(sums, drawBetween(random, 0.0, 0.05));
    }
  if (d.startsHuge && s.skv > 0)
    for (int64_t b = 0; b < s.b; ++b)
      for (int64_t h = 0; h < s.hv; ++h)
        l.decay.at(b, h, 0, 0) = random.oneIn(2) ? 89.0 : 100.0;
  if (d.variant.lengths)
    l.lengths = drawLengths(random, s.b, s.skv, d.variant.oneLength);
  if (d.variant.packed) {
    l.queryStarts = drawStarts(random, s.b, s.sq);
    test::spoilUnused(p.q, {}, l.queryStarts);
  }
  if (d.variant.keyStarts)
    l.keyStarts = drawStarts(random, s.b, s.skv);
  for (Array *array : {&p.k, &p.v, &l.read, &l.write, &l.beta, &l.decay})
    test::spoilUnused(*array, l.lengths,
                      d.variant.keyStarts ? l.keyStarts : l.queryStarts);
  return p;
}

LinearProblem attn::fuzz::disturbed(Random &random, const LinearProblem &p) {
  LinearProblem moved = p;
  oracle::Linear &l = moved.linear;
  for (Array *array : {&moved.q, &moved.k, &moved.v, &l.read, &l.write, &l.beta,
                       &l.bonus, &l.state})
    disturb(random, array->data, roundingOf(p.dtype));
  double sums = roundingOf(test::logitType(p.dtype));
  disturb(random, l.decay.data, sums);
  disturb(random, l.headDecay, sums);
  return moved;
}

std::vector<double> attn::fuzz::movedOutput(Random &random,
                                            const LinearProblem &p) {
  LinearProblem moved = disturbed(random, p);
  if (p.linear.divisor != Divisor::Token)
    return test::expectedOf(moved).o.data;
  // A last column of ones gives the divisor, without which there is none.
  auto sums = [](LinearProblem p) {
    const Array v = p.v;
    p.v = Array(v.b, v.h, v.s, v.d + 1, 1.0);
    for (size_t n = 0; n < v.data.size(); ++n)
      p.v.data[n / size_t(v.d) * size_t(v.d + 1) + n % size_t(v.d)] = v.data[n];
    ++p.sizes.dv;
    p.linear.divisor = Divisor::None;
    return test::expectedOf(p).o;
  };
  Array above = sums(std::move(moved)), below = sums(disturbed(random, p));
  std::vector<double> o;
  for (size_t n = 0; n < above.data.size(); ++n) {
    size_t last = n / size_t(above.d) * size_t(above.d) + size_t(above.d) - 1;
    if (n != last)
      o.push_back(below.data[last] == 0.0 ? 0.0
                                          : above.data[n] / below.data[last]);
  }
  return o;
}
