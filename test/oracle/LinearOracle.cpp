// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.linear and attn.favor as loops. See LinearOracle.h.

#include "test/oracle/LinearOracle.h"

#include <algorithm>
#include <cmath>

using namespace attn::oracle;

using Vector = std::vector<double>;

static int64_t clampLength(const std::vector<int64_t> &lengths, int64_t rows,
                           int64_t b) {
  if (lengths.empty())
    return rows;
  return std::clamp<int64_t>(lengths.at(size_t(b)), 0, rows);
}

static Vector rowOf(const Array &array, int64_t b, int64_t h, int64_t s) {
  Vector row;
  for (int64_t d = 0; d < array.d; ++d)
    row.push_back(array.at(b, h, s, d));
  return row;
}

//===- attn.linear --------------------------------------------------------===//

namespace {
/// What one token brings to a state, by the names of the definition.
struct Token {
  Vector decay, a, b, k, v;
};
} // namespace

/// Token t of state head h, whose key is that of head hk. Its value has a last
/// entry of 1 where there is a divisor.
static Token readToken(const Linear &l, const Array &k, const Array &v,
                       int64_t b, int64_t h, int64_t hk, int64_t t) {
  Token token;
  token.k = rowOf(k, b, hk, t);
  token.v = rowOf(v, b, h, t);
  if (l.divisor != Divisor::None)
    token.v.push_back(1.0);
  token.decay.assign(size_t(k.d), 1.0);
  token.a.assign(size_t(k.d), 0.0);
  token.b.assign(size_t(k.d), 0.0);
  for (size_t r = 0; r < token.k.size(); ++r) {
    if (!l.headDecay.empty())
      token.decay[r] = std::exp(l.headDecay.at(size_t(h)));
    if (!l.decay.data.empty())
      token.decay[r] = std::exp(l.decay.at(b, h, t, l.decay.d == 1 ? 0 : r));
  }
  if (!l.read.data.empty()) {
    token.a = rowOf(l.read, b, h, t);
    token.b = rowOf(l.write, b, h, t);
  }
  if (!l.beta.data.empty()) {
    double beta = l.beta.at(b, h, t, 0);
    for (size_t r = 0; r < token.k.size(); ++r) {
      token.a[r] = token.decay[r] * token.k[r];
      token.b[r] = -beta * token.k[r];
    }
    for (double &x : token.v)
      x *= beta;
  }
  return token;
}

/// S_t = (diag(decay) + b^T a) S_{t-1} + k^T v; S is rows of features.
static std::vector<Vector> step(const Token &token,
                                const std::vector<Vector> &before) {
  std::vector<Vector> after = before;
  for (size_t c = 0; c < token.v.size(); ++c) {
    double read = 0.0;
    for (size_t r = 0; r < before.size(); ++r)
      read += token.a[r] * before[r][c];
    for (size_t r = 0; r < before.size(); ++r)
      after[r][c] = token.decay[r] * before[r][c] + token.b[r] * read +
                    token.k[r] * token.v[c];
  }
  return after;
}

/// The row of the output of query row q, which reads `state`.
static Vector readOut(const Linear &l, const Vector &q,
                      const std::vector<Vector> &state, int64_t columns) {
  Vector o(size_t(columns), 0.0);
  double divisor = 0.0;
  for (size_t r = 0; r < q.size(); ++r) {
    double weight = l.scale * q[r];
    if (l.divisor == Divisor::Feature)
      weight = state[r].back() == 0.0 ? 0.0 : weight / state[r].back();
    for (size_t c = 0; c < o.size(); ++c)
      o[c] += weight * state[r][c];
    if (l.divisor == Divisor::Token)
      divisor += weight * state[r].back();
  }
  if (l.divisor == Divisor::Token)
    for (double &x : o)
      x = divisor == 0.0 ? 0.0 : x / divisor;
  return o;
}

/// The state that row t reads; `states` has that before each token and the
/// last.
static std::vector<Vector>
stateFor(const Linear &l, const std::vector<std::vector<Vector>> &states,
         const Token *token, int64_t t, const Vector &bonus) {
  // Beyond the length nothing changes any more.
  auto before = [&](int64_t n) {
    return states.at(size_t(std::min<int64_t>(n, int64_t(states.size()) - 1)));
  };
  if (!l.causal)
    return states.back();
  if (l.block)
    return before(t / *l.block * *l.block);
  if (bonus.empty() || !token)
    return before(t + 1);
  std::vector<Vector> state = before(t);
  for (size_t r = 0; r < state.size(); ++r)
    for (size_t c = 0; c < token->v.size(); ++c)
      state[r][c] += bonus[r] * token->k[r] * token->v[c];
  return state;
}

/// Rows `first` to below `end` of the one batch entry; absent arrays have none.
static Array rowsOf(const Array &array, int64_t first, int64_t end) {
  if (array.b == 0)
    return {};
  Array part(1, array.h, end - first, array.d);
  for (int64_t h = 0; h < array.h; ++h)
    for (int64_t s = first; s < end; ++s)
      for (int64_t d = 0; d < array.d; ++d)
        part.at(0, h, s - first, d) = array.at(0, h, s, d);
  return part;
}

/// Starts within the rows, ascending.
static std::vector<int64_t> sortOut(const std::vector<int64_t> &starts,
                                    int64_t rows) {
  std::vector<int64_t> result;
  int64_t least = 0;
  for (int64_t start : starts)
    result.push_back(least = std::max(least, std::min(start, rows)));
  return result;
}

static LinearResult attendPacked(const Linear &l, const Array &q,
                                 const Array &k, const Array &v) {
  std::vector<int64_t> queries = sortOut(l.queryStarts, q.s);
  std::vector<int64_t> keys =
      sortOut(l.keyStarts.empty() ? l.queryStarts : l.keyStarts, k.s);
  int64_t count = int64_t(queries.size()) - 1;
  LinearResult all{Array(1, std::max(q.h, v.h), q.s, v.d), Array()};
  for (int64_t n = 0; n < count; ++n) {
    int64_t first = queries[size_t(n)], end = queries[size_t(n) + 1];
    int64_t firstKey = keys[size_t(n)], lastKey = keys[size_t(n) + 1];
    Linear one = l;
    one.queryStarts.clear();
    one.keyStarts.clear();
    for (Array *array : {&one.decay, &one.beta, &one.read, &one.write})
      *array = rowsOf(*array, firstKey, lastKey);
    if (!l.lengths.empty())
      one.lengths = {l.lengths.at(size_t(n))};
    if (!l.state.data.empty()) {
      one.state = Array(1, l.state.h, l.state.s, l.state.d);
      size_t size = one.state.data.size();
      std::copy_n(l.state.data.begin() + ptrdiff_t(size) * n, size,
                  one.state.data.begin());
    }
    LinearResult part =
        attendLinear(one, rowsOf(q, first, end), rowsOf(k, firstKey, lastKey),
                     rowsOf(v, firstKey, lastKey));
    for (int64_t h = 0; h < part.o.h; ++h)
      for (int64_t s = first; s < end; ++s)
        for (int64_t d = 0; d < v.d; ++d)
          all.o.at(0, h, s, d) = part.o.at(0, h, s - first, d);
    all.state.b = n + 1;
    all.state.h = part.state.h;
    all.state.s = part.state.s;
    all.state.d = part.state.d;
    all.state.data.insert(all.state.data.end(), part.state.data.begin(),
                          part.state.data.end());
  }
  return all;
}

LinearResult attn::oracle::attendLinear(const Linear &l, const Array &query,
                                        const Array &key, const Array &v) {
  if (!l.queryStarts.empty())
    return attendPacked(l, query, key, v);
  Feature keyFeature = l.keyFeature, queryFeature = l.queryFeature;
  keyFeature.lengths = l.lengths;
  for (Feature *feature : {&queryFeature, &keyFeature})
    if (feature->length == 0)
      feature->length = std::max<int64_t>({query.s, key.s, 1});
  Array q = applyFeature(queryFeature, query);
  Array k = applyFeature(keyFeature, key);
  int64_t outHeads = std::max(q.h, v.h);
  int64_t columns = v.d + (l.divisor == Divisor::None ? 0 : 1);
  LinearResult result{Array(q.b, outHeads, q.s, v.d),
                      Array(q.b, v.h, k.d, columns)};
  for (int64_t b = 0; b < q.b; ++b)
    for (int64_t h = 0; h < v.h; ++h) {
      // States before each token that is in use, and after the last.
      std::vector<std::vector<Vector>> states(1);
      for (int64_t r = 0; r < k.d; ++r)
        states[0].push_back(l.state.data.empty() ? Vector(size_t(columns), 0.0)
                                                 : rowOf(l.state, b, h, r));
      std::vector<Token> tokens;
      int64_t length = clampLength(l.lengths, k.s, b);
      for (int64_t t = 0; t < length; ++t) {
        tokens.push_back(readToken(l, k, v, b, h, h / (v.h / k.h), t));
        states.push_back(step(tokens.back(), states.back()));
      }
      for (int64_t r = 0; r < k.d; ++r)
        for (int64_t c = 0; c < columns; ++c)
          result.state.at(b, h, r, c) = states.back()[size_t(r)][size_t(c)];

      Vector bonus;
      if (!l.bonus.data.empty())
        bonus = rowOf(l.bonus, 0, h, 0);
      int64_t group = outHeads / v.h;
      for (int64_t ho = h * group; ho < (h + 1) * group; ++ho)
        for (int64_t t = 0; t < q.s; ++t) {
          const Token *token = t < length ? &tokens[size_t(t)] : nullptr;
          Vector row = rowOf(q, b, ho / (outHeads / q.h), t);
          Vector o = readOut(l, row, stateFor(l, states, token, t, bonus), v.d);
          for (int64_t c = 0; c < v.d; ++c)
            result.o.at(b, ho, t, c) = o[size_t(c)];
        }
    }
  return result;
}

//===- attn.favor ---------------------------------------------------------===//

/// Features with eps: exp(w.x - |x|^2 / 2 - c) + eps, c being the largest w.x
/// of the row or of all rows in use; or, trigonometric, the cosines and sines
/// of w.x times exp(|x|^2 / 2 - n) for keys, n the largest of those, plus eps.
static Array featuresWithEps(const Favor &f, const Feature &feature,
                             const Array &x, bool isKey) {
  Feature plain = feature;
  plain.kind = FeatureKind::Identity;
  Array u = applyFeature(plain, x);
  bool isPositive = f.kind == FavorKind::Positive;
  Array result(x.b, x.h, x.s, isPositive ? u.d : 2 * u.d);
  for (int64_t b = 0; b < x.b; ++b)
    for (int64_t h = 0; h < x.h; ++h) {
      int64_t used = isKey ? clampLength(f.lengths, x.s, b) : x.s;
      auto halfNorm = [&](int64_t s) {
        double sum = 0.0;
        for (double entry : rowOf(x, b, h, s))
          sum += feature.scale * feature.scale * entry * entry / 2.0;
        return sum;
      };
      auto largest = [&](int64_t s) {
        if (f.kind == FavorKind::Trigonometric)
          return halfNorm(s);
        double most = -HUGE_VAL;
        for (double entry : rowOf(u, b, h, s))
          most = std::max(most, isPositive ? entry : std::fabs(entry));
        return most;
      };
      double ofAll = -HUGE_VAL;
      for (int64_t s = 0; s < used; ++s)
        ofAll = std::max(ofAll, largest(s));
      for (int64_t s = 0; s < used; ++s)
        for (int64_t r = 0; r < u.d; ++r) {
          double entry = u.at(b, h, s, r), norm = halfNorm(s);
          double most = isKey ? ofAll : largest(s);
          double first, second;
          if (f.kind == FavorKind::Trigonometric) {
            first = std::exp(norm - most) * std::cos(entry);
            second = std::exp(norm - most) * std::sin(entry);
          } else {
            first = std::exp(entry - norm - most);
            second = std::exp(-entry - norm - most);
          }
          result.at(b, h, s, r) = first + f.eps;
          if (!isPositive)
            result.at(b, h, s, u.d + r) = second + f.eps;
        }
    }
  return result;
}

Array attn::oracle::attendFavor(const Favor &f, const Array &q, const Array &k,
                                const Array &v) {
  Feature feature;
  feature.w = f.w;
  feature.scale = std::sqrt(f.scale.value_or(1.0 / std::sqrt(double(q.d))));
  switch (f.kind) {
  case FavorKind::Positive:
    feature.kind = FeatureKind::Positive;
    break;
  case FavorKind::Hyperbolic:
    feature.kind = FeatureKind::Hyperbolic;
    break;
  case FavorKind::Trigonometric:
    feature.kind = FeatureKind::Trigonometric;
    break;
  case FavorKind::Relu:
    feature.kind = FeatureKind::Relu;
    feature.eps = f.eps;
    break;
  }
  bool hasEps = f.eps != 0.0 && f.kind != FavorKind::Relu;
  Array x = hasEps ? featuresWithEps(f, feature, q, /*isKey=*/false)
                   : applyFeature(feature, q);
  Array y = hasEps ? featuresWithEps(f, feature, k, /*isKey=*/true)
                   : applyFeature(feature, k);
  Array result(q.b, q.h, q.s, v.d);
  for (int64_t b = 0; b < q.b; ++b)
    for (int64_t h = 0; h < q.h; ++h)
      for (int64_t t = 0; t < q.s; ++t) {
        int64_t hk = h / (q.h / k.h);
        int64_t end = clampLength(f.lengths, k.s, b);
        if (f.causal)
          end = std::min(end, t + 1);
        Vector total(size_t(v.d), 0.0);
        double sum = 0.0;
        for (int64_t j = 0; j < end; ++j) {
          double weight = 0.0;
          for (int64_t r = 0; r < x.d; ++r)
            weight += x.at(b, h, t, r) * y.at(b, hk, j, r);
          sum += weight;
          for (int64_t c = 0; c < v.d; ++c)
            total[size_t(c)] += weight * v.at(b, hk, j, c);
        }
        for (int64_t c = 0; c < v.d; ++c)
          result.at(b, h, t, c) = sum == 0.0 ? 0.0 : total[size_t(c)] / sum;
      }
  return result;
}
