// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Examples of models that replace what their states hold, against the equations
// of their papers in f64.

#include "test/e2e/Models.h"

#include <cmath>

using namespace attn;
using namespace attn::test;
using oracle::Array;

namespace {

/// Divides each row by its length.
void normalize(Array &rows) {
  for (size_t row = 0; row < rows.data.size(); row += size_t(rows.d)) {
    double square = 0;
    for (size_t d = 0; d < size_t(rows.d); ++d)
      square += rows.data[row + d] * rows.data[row + d];
    for (size_t d = 0; d < size_t(rows.d); ++d)
      rows.data[row + d] /= std::sqrt(square);
  }
}

/// Rows of length 1, rounded to f32.
Array addUnitRows(ModelCall &call, int64_t b, int64_t h, int64_t t, int64_t d) {
  Array rows(b, h, t, d);
  rows.data = randomValues(rows.data.size(), call.operands.values.size() + 77);
  normalize(rows);
  for (double &x : rows.data)
    x = roundTo(DType::f32, x);
  call.operands.add(DType::f32, {b, h, t, d}, rows.data);
  return rows;
}

/// What a token makes of the state of its batch entry and head, a matrix of
/// values x keys as in the papers.
using Step = std::function<void(std::vector<double> &state, int64_t b,
                                int64_t h, int64_t t)>;

/// o_t = S_t q_t after each step.
Array scan(const Array &q, int64_t dv, const Step &step) {
  Array o(q.b, q.h, q.s, dv);
  for (int64_t b = 0; b < q.b; ++b)
    for (int64_t h = 0; h < q.h; ++h) {
      std::vector<double> state(size_t(dv * q.d));
      for (int64_t t = 0; t < q.s; ++t) {
        step(state, b, h, t);
        for (int64_t c = 0; c < dv; ++c)
          for (int64_t d = 0; d < q.d; ++d)
            o.at(b, h, t, c) += state[size_t(c * q.d + d)] * q.at(b, h, t, d);
      }
    }
  return o;
}

ModelCall makeDeltaNet(int64_t b, int64_t t) {
  const int64_t heads = 4, dk = 32, dv = 64;
  ModelCall call;
  Array q = call.addRows(b, heads, t, dk), k = call.addRows(b, heads, t, dk),
        v = call.addRows(b, heads, t, dv),
        beta = call.addTokens(b, heads, t, 0, 1);
  normalize(q);
  normalize(k);
  // The value at the key is taken out, a mix of it and the new one put in.
  auto loop = [&](bool isFaulty) {
    return scan(
        q, dv,
        [&](std::vector<double> &state, int64_t ib, int64_t h, int64_t it) {
          double rate = isFaulty ? 1 : beta.at(ib, h, it, 0);
          for (int64_t c = 0; c < dv; ++c) {
            double old = 0;
            for (int64_t d = 0; d < dk; ++d)
              old += state[size_t(c * dk + d)] * k.at(ib, h, it, d);
            double mixed = rate * v.at(ib, h, it, c) + (1 - rate) * old;
            for (int64_t d = 0; d < dk; ++d)
              state[size_t(c * dk + d)] += (mixed - old) * k.at(ib, h, it, d);
          }
        });
  };
  call.addResult(loop, "a missing beta");
  return call;
}

/// S_t = S_{t-1} diag(alpha) (I - beta k^T k) + beta v^T k, the matrix in
/// parentheses in full.
void applyDelta(std::vector<double> &state, const std::vector<double> &alpha,
                double beta, const double *k, const double *v, int64_t dv) {
  size_t dk = alpha.size();
  std::vector<double> next(state.size());
  for (size_t c = 0; c < size_t(dv); ++c)
    for (size_t d = 0; d < dk; ++d) {
      double &s = next[c * dk + d];
      s = beta * v[c] * k[d];
      for (size_t e = 0; e < dk; ++e)
        s += state[c * dk + e] * alpha[e] *
             ((d == e ? 1.0 : 0.0) - beta * k[e] * k[d]);
    }
  state = std::move(next);
}

const double *rowOf(const Array &a, int64_t b, int64_t h, int64_t t) {
  return &a.data[size_t(((b * a.h + h) * a.s + t) * a.d)];
}

ModelCall makeGatedDeltaNet(int64_t b, int64_t t) {
  const int64_t heads = 3, dk = 13, dv = 21;
  ModelCall call;
  Array q = addUnitRows(call, b, heads, t, dk),
        k = addUnitRows(call, b, heads, t, dk),
        v = call.addRows(b, heads, t, dv),
        a = call.addTokens(b, heads, t, -3, 3),
        beta = call.addTokens(b, heads, t, 0, 1);
  std::vector<double> aLog = call.add({heads}, -3, 1),
                      shift = call.add({heads}, -1, 1);
  auto loop = [&](bool isFaulty) {
    return scan(
        q, dv,
        [&](std::vector<double> &state, int64_t ib, int64_t h, int64_t it) {
          double log = -std::exp(aLog[size_t(h)]) *
                       softplus(a.at(ib, h, it, 0) + shift[size_t(h)]);
          std::vector<double> alpha(dk, isFaulty ? 1 : std::exp(log));
          applyDelta(state, alpha, beta.at(ib, h, it, 0), rowOf(k, ib, h, it),
                     rowOf(v, ib, h, it), dv);
        });
  };
  call.addResult(loop, "a missing gate");
  return call;
}

ModelCall makeKda(int64_t b, int64_t t) {
  const int64_t heads = 3, dk = 13, dv = 21;
  ModelCall call;
  Array q = addUnitRows(call, b, heads, t, dk),
        k = addUnitRows(call, b, heads, t, dk),
        v = call.addRows(b, heads, t, dv),
        a = call.addRows(b, heads, t, dk, -3, 3),
        beta = call.addTokens(b, heads, t, 0, 1);
  std::vector<double> aLog = call.add({heads}, -3, 1);
  auto loop = [&](bool isFaulty) {
    return scan(
        q, dv,
        [&](std::vector<double> &state, int64_t ib, int64_t h, int64_t it) {
          std::vector<double> alpha;
          for (int64_t d = 0; d < dk; ++d)
            alpha.push_back(std::exp(-std::exp(aLog[size_t(h)]) *
                                     softplus(a.at(ib, h, it, d))));
          if (isFaulty)
            alpha.assign(dk, alpha[0]);
          applyDelta(state, alpha, beta.at(ib, h, it, 0), rowOf(k, ib, h, it),
                     rowOf(v, ib, h, it), dv);
        });
  };
  call.addResult(loop, "one gate for all features");
  return call;
}

/// S_t = S_{t-1} (diag(w) - kappa^T (eta .* kappa)) + v^T k, S being values x
/// keys.
ModelCall makeRwkv7(int64_t b, int64_t t) {
  const int64_t heads = 5, dim = 13;
  ModelCall call;
  Array r = call.addRows(b, heads, t, dim), k = call.addRows(b, heads, t, dim),
        v = call.addRows(b, heads, t, dim),
        kappa = addUnitRows(call, b, heads, t, dim),
        eta = call.addRows(b, heads, t, dim, 0, 1),
        d = call.addRows(b, heads, t, dim, -6, 6);
  auto loop = [&](bool isFaulty) {
    return scan(
        r, dim,
        [&](std::vector<double> &state, int64_t ib, int64_t h, int64_t it) {
          const double *removed = rowOf(kappa, ib, h, it);
          for (int64_t c = 0; c < dim; ++c) {
            double *s = &state[size_t(c * dim)];
            double read = 0;
            for (int64_t n = 0; n < dim; ++n)
              read += s[n] * removed[n] * (isFaulty ? eta.at(ib, h, it, n) : 1);
            for (int64_t n = 0; n < dim; ++n) {
              double w =
                  std::exp(-std::exp(-0.5) * sigmoid(d.at(ib, h, it, n)));
              double rate = isFaulty ? 1 : eta.at(ib, h, it, n);
              s[n] = w * s[n] - read * rate * removed[n] +
                     v.at(ib, h, it, c) * k.at(ib, h, it, n);
            }
          }
        });
  };
  call.addResult(loop, "eta on the side that reads");
  return call;
}

const std::vector<Model> models = {{"deltanet", makeDeltaNet},
                                   {"gated-deltanet", makeGatedDeltaNet},
                                   {"kda", makeKda},
                                   {"rwkv7", makeRwkv7}};

class ModelsDelta : public ModelTest {};

TEST_P(ModelsDelta, MatchesThePaper) {
  checkModel(GetParam(), transitionTolerance);
}

TEST(ModelsDeltaMustFail, OnEachFault) {
  for (const Model &model : models)
    checkFaults(model, transitionTolerance);
}

} // namespace

INSTANTIATE_TEST_SUITE_P(Models, ModelsDelta,
                         testing::Combine(testing::ValuesIn(models),
                                          testing::ValuesIn(modelTargets())),
                         modelTestName);
