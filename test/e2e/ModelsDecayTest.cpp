// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Examples of models whose states forget, against the equations of their papers
// in f64.

#include "test/e2e/Models.h"

#include <cmath>

using namespace attn;
using namespace attn::test;
using oracle::Array;

namespace {

/// sum_{j <= t} gamma_h^(t - j) (q_t . k_j) v_j: the parallel form of retention
/// (Sun et al. 2023, equation 5).
Array retain(const Array &q, const Array &k, const Array &v,
             const std::vector<double> &gamma) {
  Array o(q.b, q.h, q.s, v.d);
  for (int64_t b = 0; b < q.b; ++b)
    for (int64_t h = 0; h < q.h; ++h)
      for (int64_t t = 0; t < q.s; ++t)
        for (int64_t j = 0; j <= t; ++j) {
          double score = 0;
          for (int64_t d = 0; d < q.d; ++d)
            score += q.at(b, h, t, d) * k.at(b, h, j, d);
          score *= std::pow(gamma[size_t(h)], double(t - j));
          for (int64_t c = 0; c < v.d; ++c)
            o.at(b, h, t, c) += score * v.at(b, h, j, c);
        }
  return o;
}

ModelCall makeRetNet(int64_t b, int64_t t) {
  const int64_t heads = 8;
  ModelCall call;
  Array q = call.addRows(b, heads, t, 32), k = call.addRows(b, heads, t, 32),
        v = call.addRows(b, heads, t, 64);
  auto loop = [&](bool isFaulty) {
    std::vector<double> gamma;
    for (int64_t h = 0; h < heads; ++h)
      gamma.push_back(1 - std::pow(2, double(isFaulty ? -4 - h : -5 - h)));
    Array o = retain(q, k, v, gamma);
    for (size_t row = 0; row < o.data.size(); row += size_t(o.d)) {
      double mean = 0, variance = 0;
      for (size_t c = 0; c < size_t(o.d); ++c)
        mean += o.data[row + c] / double(o.d);
      for (size_t c = 0; c < size_t(o.d); ++c)
        variance += std::pow(o.data[row + c] - mean, 2) / double(o.d);
      for (size_t c = 0; c < size_t(o.d); ++c)
        o.data[row + c] = (o.data[row + c] - mean) / std::sqrt(variance + 1e-5);
    }
    return o;
  };
  call.addResult(loop, "heads that are counted from 1");
  return call;
}

ModelCall makeLightning(int64_t b, int64_t t) {
  const int64_t heads = 8, dim = 64;
  ModelCall call;
  Array q = call.addRows(b, heads, t, dim, -2, 2),
        k = call.addRows(b, heads, t, dim, -2, 2),
        v = call.addRows(b, heads, t, dim), u = call.addRows(b, heads, t, dim);
  const double layer = 6, layers = 24;
  call.operands.addFloat(layer / layers);
  for (Array *array : {&q, &k})
    for (double &x : array->data)
      x *= sigmoid(x);
  auto loop = [&](bool isFaulty) {
    std::vector<double> lambda;
    for (int64_t h = 0; h < heads; ++h)
      lambda.push_back(std::exp((isFaulty ? 8.0 : -8.0) * double(h) /
                                double(heads) * (1 - layer / layers)));
    Array o = retain(q, k, v, lambda);
    for (int64_t ib = 0; ib < b; ++ib)
      for (int64_t it = 0; it < t; ++it) {
        double square = 0;
        for (int64_t h = 0; h < heads; ++h)
          for (int64_t d = 0; d < dim; ++d)
            square += std::pow(o.at(ib, h, it, d), 2);
        double factor = 1 / std::sqrt(square / double(heads * dim) + 1e-6);
        for (int64_t h = 0; h < heads; ++h)
          for (int64_t d = 0; d < dim; ++d)
            o.at(ib, h, it, d) *= factor * u.at(ib, h, it, d);
      }
    return o;
  };
  call.addResult(loop, "a decay of the wrong sign");
  return call;
}

ModelCall makeGla(int64_t b, int64_t t) {
  const int64_t heads = 3, dk = 32, dv = 21;
  ModelCall call;
  Array q = call.addRows(b, heads, t, dk), k = call.addRows(b, heads, t, dk),
        v = call.addRows(b, heads, t, dv),
        a = call.addRows(b, heads, t, dk, -40, 10);
  auto loop = [&](bool isFaulty) {
    Array o(b, heads, t, dv);
    for (int64_t ib = 0; ib < b; ++ib)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t c = 0; c < dv; ++c) {
          std::vector<double> state(dk);
          for (int64_t it = 0; it < t; ++it)
            for (int64_t d = 0; d < dk; ++d) {
              // The faulty form has one gate for all features.
              double alpha = std::pow(
                  sigmoid(a.at(ib, h, it, isFaulty ? 0 : d)), 1.0 / 16);
              double &s = state[size_t(d)];
              s = alpha * s + k.at(ib, h, it, d) * v.at(ib, h, it, c);
              o.at(ib, h, it, c) +=
                  q.at(ib, h, it, d) * s / std::sqrt(double(dk));
            }
        }
    return o;
  };
  call.addResult(loop, "one gate for all features");
  return call;
}

ModelCall makeMamba2(int64_t b, int64_t t) {
  const int64_t heads = 6, groups = 2, size = 16, dim = 24;
  ModelCall call;
  Array x = call.addRows(b, heads, t, dim),
        dt = call.addTokens(b, heads, t, 0.01, 0.6);
  std::vector<double> aLog = call.add({heads}, -1, 2);
  Array in = call.addRows(b, groups, t, size),
        out = call.addRows(b, groups, t, size);
  std::vector<double> skip = call.add({heads}, -1, 1);
  // Each head p of dim is a state space model of its own, with one input and
  // one output.
  auto loop = [&](bool isFaulty) {
    Array y(b, heads, t, dim);
    for (int64_t ib = 0; ib < b; ++ib)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t p = 0; p < dim; ++p) {
          int64_t group = isFaulty ? h % groups : h / (heads / groups);
          std::vector<double> state(size);
          for (int64_t it = 0; it < t; ++it) {
            double step = dt.at(ib, h, it, 0), input = x.at(ib, h, it, p);
            double decay = std::exp(-step * std::exp(aLog[size_t(h)]));
            double &output = y.at(ib, h, it, p);
            output = skip[size_t(h)] * input;
            for (int64_t n = 0; n < size; ++n) {
              double &s = state[size_t(n)];
              s = decay * s + step * in.at(ib, group, it, n) * input;
              output += out.at(ib, group, it, n) * s;
            }
          }
        }
    return y;
  };
  call.addResult(loop, "groups that are interleaved");
  return call;
}

ModelCall makeRwkv6(int64_t b, int64_t t) {
  const int64_t heads = 5, dim = 13, dv = 11;
  ModelCall call;
  Array r = call.addRows(b, heads, t, dim), k = call.addRows(b, heads, t, dim),
        v = call.addRows(b, heads, t, dv),
        d = call.addRows(b, heads, t, dim, -6, 2);
  std::vector<double> u = call.add({heads, dim}, -1, 1);
  auto loop = [&](bool isFaulty) {
    Array o(b, heads, t, dv);
    for (int64_t ib = 0; ib < b; ++ib)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t c = 0; c < dv; ++c) {
          std::vector<double> state(dim);
          for (int64_t it = 0; it < t; ++it)
            for (int64_t n = 0; n < dim; ++n) {
              double &s = state[size_t(n)];
              double added = k.at(ib, h, it, n) * v.at(ib, h, it, c);
              double next = std::exp(-std::exp(d.at(ib, h, it, n))) * s + added;
              double bonus = u[size_t(h * dim + n)] * added;
              o.at(ib, h, it, c) +=
                  r.at(ib, h, it, n) * ((isFaulty ? next : s) + bonus);
              s = next;
            }
        }
    return o;
  };
  call.addResult(loop, "a readout after the token instead of before it");
  return call;
}

/// The WKV operator of Peng et al. 2023 as its two sums of weights. The faulty
/// form has the bonus above, but not below the line.
ModelCall makeRwkv4(int64_t b, int64_t t) {
  const int64_t channels = 21;
  ModelCall call;
  Array k = call.addRows(b, channels, t, 1, -2, 2),
        v = call.addRows(b, channels, t, 1);
  std::vector<double> w = call.add({channels}, 0.01, 2),
                      u = call.add({channels}, -1, 1);
  Array before(b, channels, 1, 2);
  before.data = call.add({b, channels, 1, 2}, 0.25, 1);
  // o_t is a quotient of sums over all tokens before t, and of what calls
  // before this one left.
  auto weight = [&](int64_t ib, int64_t c, int64_t it, int64_t j) {
    return std::exp(-double(it - 1 - j) * w[size_t(c)] + k.at(ib, c, j, 0));
  };
  auto loop = [&](bool isFaulty) {
    Array o(b, channels, t, 1);
    for (int64_t ib = 0; ib < b; ++ib)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t it = 0; it < t; ++it) {
          double left = std::exp(-double(it) * w[size_t(c)]);
          double above = left * before.at(ib, c, 0, 0);
          double below = left * before.at(ib, c, 0, 1);
          for (int64_t j = 0; j < it; ++j) {
            above += weight(ib, c, it, j) * v.at(ib, c, j, 0);
            below += weight(ib, c, it, j);
          }
          double own = std::exp(k.at(ib, c, it, 0));
          double bonus = std::exp(u[size_t(c)]) * own;
          o.at(ib, c, it, 0) = (above + bonus * v.at(ib, c, it, 0)) /
                               (below + (isFaulty ? own : bonus));
        }
    return o;
  };
  call.addResult(loop, "a divisor without the bonus");
  auto after = [&](bool isFaulty) {
    Array state(b, channels, 1, 2);
    for (int64_t ib = 0; ib < b; ++ib)
      for (int64_t c = 0; c < channels; ++c) {
        double left = std::exp(-double(t) * w[size_t(c)]);
        for (int64_t n = 0; n < 2; ++n)
          state.at(ib, c, 0, n) = left * before.at(ib, c, 0, n);
        for (int64_t j = 0; j < t; ++j) {
          double added = weight(ib, c, isFaulty ? t + 1 : t, j);
          state.at(ib, c, 0, 0) += added * v.at(ib, c, j, 0);
          state.at(ib, c, 0, 1) += added;
        }
      }
    return state;
  };
  call.addResult(after, "a token that fades as it comes");
  return call;
}

/// The recurrence with the stabiliser m of Beck et al. 2024, section 2.3:
/// states are scaled by exp(-m). Queries and keys are more often positive than
/// not, as the quotient by a sum q.n whose terms cancel is ill-conditioned.
/// What is wrong with the faulty form.
enum class MlstmFault { bound, cap };

ModelCall makeMlstm(int64_t b, int64_t t, MlstmFault fault) {
  const int64_t heads = 3, dk = 29, dv = 21;
  ModelCall call;
  Array q = call.addRows(b, heads, t, dk, -0.2, 1),
        k = call.addRows(b, heads, t, dk, -0.2, 1),
        v = call.addRows(b, heads, t, dv),
        i = call.addTokens(b, heads, t, -20, 20),
        f = call.addTokens(b, heads, t, -30, 30);
  // The soft cap of xLSTM 7B (Beck et al. 2025, section 3), on both gates.
  auto cap = [](double x) { return 15 * std::tanh(x / 15); };
  auto loop = [&](bool isFaulty) {
    Array o(b, heads, t, dv);
    for (int64_t ib = 0; ib < b; ++ib)
      for (int64_t h = 0; h < heads; ++h) {
        std::vector<double> state(size_t(dk * dv)), normaliser(dk);
        double m = -HUGE_VAL;
        for (int64_t it = 0; it < t; ++it) {
          double gate = f.at(ib, h, it, 0);
          bool isCapped = !isFaulty || fault != MlstmFault::cap;
          double logInput = cap(i.at(ib, h, it, 0));
          double logForget = -softplus(-(isCapped ? cap(gate) : gate));
          double last = m;
          m = std::max(logForget + last, logInput);
          double input = std::exp(logInput - m);
          double forget = std::exp(logForget + last - m);
          double sum = 0;
          for (int64_t d = 0; d < dk; ++d) {
            double key = input * k.at(ib, h, it, d);
            normaliser[size_t(d)] = forget * normaliser[size_t(d)] + key;
            sum += q.at(ib, h, it, d) * normaliser[size_t(d)];
            for (int64_t c = 0; c < dv; ++c) {
              double &s = state[size_t(d * dv + c)];
              s = forget * s + key * v.at(ib, h, it, c);
              o.at(ib, h, it, c) += q.at(ib, h, it, d) * s;
            }
          }
          bool isScaled = !isFaulty || fault != MlstmFault::bound;
          double bound = isScaled ? std::exp(-m) : 1;
          for (int64_t c = 0; c < dv; ++c)
            o.at(ib, h, it, c) /= std::max(std::fabs(sum), bound);
        }
      }
    return o;
  };
  call.addResult(loop, fault == MlstmFault::bound
                           ? "a bound that the stabiliser does not scale"
                           : "a forget gate without its cap");
  return call;
}
ModelCall makeMlstm(int64_t b, int64_t t) {
  return makeMlstm(b, t, MlstmFault::bound);
}
ModelCall makeMlstmWithoutCap(int64_t b, int64_t t) {
  return makeMlstm(b, t, MlstmFault::cap);
}

const std::vector<Model> models = {
    {"retnet", makeRetNet},
    {"lightning", makeLightning},
    {"gla", makeGla},
    {"mamba2", makeMamba2},
    {"rwkv6", makeRwkv6},
    {"mlstm", [](int64_t b, int64_t t) { return makeMlstm(b, t); }},
    {"rwkv4", makeRwkv4}};

class ModelsDecay : public ModelTest {};

TEST_P(ModelsDecay, MatchesThePaper) {
  checkModel(GetParam(), toleranceOf(DType::f32));
}

TEST(ModelsDecayMustFail, OnEachFault) {
  for (const Model &model : models)
    checkFaults(model, toleranceOf(DType::f32));
  checkFaults({"mlstm", makeMlstmWithoutCap}, toleranceOf(DType::f32));
}

} // namespace

INSTANTIATE_TEST_SUITE_P(Models, ModelsDecay,
                         testing::Combine(testing::ValuesIn(models),
                                          testing::ValuesIn(modelTargets())),
                         modelTestName);
