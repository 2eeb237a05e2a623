// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The definitions, as loops. See Oracle.h.

#include "test/oracle/Oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace attn::oracle;

static int64_t keyLength(const Attention &a, int64_t skv, int64_t b) {
  if (a.lengths.empty())
    return skv;
  return std::clamp<int64_t>(a.lengths.at(size_t(b)), 0, skv);
}

/// The entry of batch entry b of a list that has one for all or one for each.
static int64_t perBatch(const std::vector<int64_t> &list, int64_t b) {
  return list.at(list.size() == 1 ? 0 : size_t(b));
}

/// The position i of row r.
static int64_t position(const Attention &a, int64_t sq, int64_t skv, int64_t b,
                        int64_t r) {
  switch (a.align) {
  case Align::None:
  case Align::TopLeft:
    return r;
  case Align::BottomRight:
    return r + keyLength(a, skv, b) - sq;
  case Align::Offset:
    return r + perBatch(a.offset, b);
  }
  return r;
}

bool attn::oracle::isAllowed(const Attention &a, int64_t sq, int64_t skv,
                             int64_t b, int64_t h, int64_t r, int64_t t) {
  if (t >= keyLength(a, skv, b))
    return false;
  int64_t i = position(a, sq, skv, b, r);
  int64_t j = t + a.keyOffset;
  if (a.causal && j > i)
    return false;
  // Bounds are as large as they like: i - left need not fit 64 bits.
  if (a.window && a.window->left && __int128(i) - j > *a.window->left)
    return false;
  if (a.window && a.window->right && __int128(j) - i > *a.window->right)
    return false;
  if (!a.prefix.empty() && j >= perBatch(a.prefix, b) && j > i)
    return false;
  if (a.select && !a.select(b, h, r, t))
    return false;
  return !a.keep || a.keep(b, h, i, j);
}

/// The final logit of row r and key row t. The masks are not in it.
static double logit(const Attention &a, const Array &q, const Array &k,
                    int64_t b, int64_t h, int64_t r, int64_t t) {
  double dot = 0.0;
  for (int64_t c = 0; c < q.d; ++c)
    dot += q.at(b, h, r, c) * k.at(b, h / (q.h / k.h), t, c);
  double s = a.scale.value_or(1.0 / std::sqrt(double(q.d))) * dot;
  if (a.softcap)
    s = *a.softcap * std::tanh(s / *a.softcap);
  int64_t i = position(a, q.s, k.s, b, r), j = t + a.keyOffset;
  if (a.score)
    s = a.score(s, b, h, i, j);
  if (!a.slopes.empty())
    s += a.slopes.at(size_t(h)) * double(j - i);
  if (a.bias)
    s += a.bias(b, h, r, t);
  return s;
}

Result attn::oracle::attend(const Attention &a, const Array &q, const Array &k,
                            const Array &v) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Result result{Array(q.b, q.h, q.s, v.d), Array(q.b, q.h, q.s, 1, -inf)};

  for (int64_t b = 0; b < q.b; ++b)
    for (int64_t h = 0; h < q.h; ++h)
      for (int64_t r = 0; r < q.s; ++r) {
        // A masked key, or one whose logit is -inf, is not looked at again.
        std::vector<int64_t> keys;
        std::vector<double> logits;
        bool undefined = false;
        for (int64_t t = 0; t < k.s; ++t) {
          if (!isAllowed(a, q.s, k.s, b, h, r, t))
            continue;
          double s = logit(a, q, k, b, h, r, t);
          if (s == -inf)
            continue;
          undefined |= std::isnan(s) || s == inf;
          keys.push_back(t);
          logits.push_back(s);
        }
        // A sink is a weight without a value.
        double sink = a.sinks.empty() ? -inf : a.sinks.at(size_t(h));
        undefined |= std::isnan(sink) || sink == inf;
        if (keys.empty() && sink == -inf)
          continue; // O = 0, LSE = -inf
        if (undefined) {
          result.lse.at(b, h, r, 0) = nan;
          for (int64_t c = 0; c < v.d; ++c)
            result.o.at(b, h, r, c) = nan;
          continue;
        }

        double max = sink;
        for (double s : logits)
          max = std::max(max, s);
        double sum = std::exp(sink - max);
        for (double s : logits)
          sum += std::exp(s - max);
        result.lse.at(b, h, r, 0) = max + std::log(sum);
        for (int64_t c = 0; c < v.d; ++c) {
          double o = 0.0;
          for (size_t n = 0; n < keys.size(); ++n)
            o += std::exp(logits[n] - max) / sum *
                 v.at(b, h / (q.h / v.h), keys[n], c);
          result.o.at(b, h, r, c) = o;
        }
      }
  return result;
}
