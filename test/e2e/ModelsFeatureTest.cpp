// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Examples of models that replace the exponential of softmax by a product of
// features, and of FLASH, against the equations of their papers in f64.

#include "test/e2e/Models.h"

#include <cmath>

using namespace attn;
using namespace attn::test;
using oracle::Array;

namespace {

/// The weight of key j for query t of a batch entry and head.
using Weight =
    std::function<double(int64_t b, int64_t h, int64_t t, int64_t j)>;

/// sum_{j <= t} weight v_j / sum_{j <= t} weight
Array average(const Array &v, const Weight &weight) {
  Array o(v.b, v.h, v.s, v.d);
  for (int64_t b = 0; b < v.b; ++b)
    for (int64_t h = 0; h < v.h; ++h)
      for (int64_t t = 0; t < v.s; ++t) {
        double sum = 0;
        for (int64_t j = 0; j <= t; ++j) {
          double w = weight(b, h, t, j);
          sum += w;
          for (int64_t c = 0; c < v.d; ++c)
            o.at(b, h, t, c) += w * v.at(b, h, j, c);
        }
        for (int64_t c = 0; c < v.d; ++c)
          o.at(b, h, t, c) /= sum;
      }
  return o;
}

double dot(const Array &x, const Array &y, int64_t b, int64_t h, int64_t t,
           int64_t j) {
  double sum = 0;
  for (int64_t d = 0; d < x.d; ++d)
    sum += x.at(b, h, t, d) * y.at(b, h, j, d);
  return sum;
}

void apply(double (*f)(double), Array &array) {
  for (double &x : array.data)
    x = f(x);
}
double elu1(double x) { return x > 0 ? x + 1 : std::exp(x); }
double relu(double x) { return std::max(x, 0.0); }

/// The parallel form of section 3.2.1, and the state of section 3.4, which
/// begins as zeros.
ModelCall makeKatharopoulos(int64_t b, int64_t t) {
  const int64_t heads = 3, dk = 13, dv = 11;
  ModelCall call;
  Array q = call.addRows(b, heads, t, dk, -2, 2),
        k = call.addRows(b, heads, t, dk, -2, 2),
        v = call.addRows(b, heads, t, dv);
  call.addRows(b, heads, dk, dv + 1, 0, 0);
  apply(elu1, q);
  apply(elu1, k);
  call.addResult(
      [&](bool isFaulty) {
        return average(v, [&](int64_t ib, int64_t h, int64_t it, int64_t j) {
          return isFaulty && j == it ? 0.5 * dot(q, k, ib, h, it, j)
                                     : dot(q, k, ib, h, it, j);
        });
      },
      "half the weight of the token itself");
  call.addResult(
      [&](bool isFaulty) {
        Array state(b, heads, dk, dv + 1);
        for (int64_t ib = 0; ib < b; ++ib)
          for (int64_t h = 0; h < heads; ++h)
            for (int64_t it = isFaulty; it < t; ++it)
              for (int64_t d = 0; d < dk; ++d)
                for (int64_t c = 0; c <= dv; ++c)
                  state.at(ib, h, d, c) +=
                      k.at(ib, h, it, d) * (c < dv ? v.at(ib, h, it, c) : 1);
        return state;
      },
      "a state without the first token");
  return call;
}

ModelCall makeEfficient(int64_t b, int64_t t) {
  const int64_t heads = 3, dk = 13, dv = 11;
  ModelCall call;
  Array q = call.addRows(b, heads, t, dk, -3, 3),
        k = call.addRows(b, heads, t, dk, -3, 3),
        v = call.addRows(b, heads, t, dv);
  // Softmax over the entries of a query, and over those of a feature of keys;
  // the faulty form has that of a query for keys, too.
  auto weight = [&](int64_t ib, int64_t h, int64_t it, int64_t j,
                    bool isFaulty) {
    double sum = 0, total = 0;
    for (int64_t d = 0; d < dk; ++d) {
      double keys = 0;
      for (int64_t e = 0; e < (isFaulty ? dk : t); ++e)
        keys += std::exp(isFaulty ? k.at(ib, h, j, e) : k.at(ib, h, e, d));
      double feature = std::exp(q.at(ib, h, it, d));
      total += feature;
      sum += feature * std::exp(k.at(ib, h, j, d)) / keys;
    }
    return sum / total;
  };
  auto loop = [&](bool isFaulty) {
    Array o(b, heads, t, dv);
    for (int64_t ib = 0; ib < b; ++ib)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t it = 0; it < t; ++it)
          for (int64_t j = 0; j < t; ++j) {
            double w = weight(ib, h, it, j, isFaulty);
            for (int64_t c = 0; c < dv; ++c)
              o.at(ib, h, it, c) += w * v.at(ib, h, j, c);
          }
    return o;
  };
  call.addResult(loop, "a softmax over the features of a key");
  return call;
}

/// W as the model draws it; tests of attn.random_features say what it is.
std::vector<double> drawProjection() {
  std::vector<Tensor> w = run(modelTargets()[0], R"(
    func.func @main() -> tensor<256x64xf32> {
      %w = attn.random_features seed(7) orthogonal norms(chi) : tensor<256x64xf32>
      return %w : tensor<256x64xf32>
    })",
                              std::vector<Value>());
  return w.size() == 1 ? toDoubles(w[0].view()) : std::vector<double>(256 * 64);
}

ModelCall makePerformer(int64_t b, int64_t t) {
  const int64_t heads = 3, dim = 64, features = 256;
  static const std::vector<double> w = drawProjection();
  ModelCall call;
  Array q = call.addRows(b, heads, t, dim, -2, 2),
        k = call.addRows(b, heads, t, dim, -2, 2),
        v = call.addRows(b, heads, t, dim);
  auto map = [&](const Array &x, bool hasNorm) {
    Array phi(b, heads, t, features);
    for (int64_t ib = 0; ib < b; ++ib)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t it = 0; it < t; ++it)
          for (int64_t m = 0; m < features; ++m) {
            double log = 0;
            for (int64_t d = 0; d < dim; ++d) {
              double entry = x.at(ib, h, it, d) / std::pow(dim, 0.25);
              log += w[size_t(m * dim + d)] * entry;
              log -= hasNorm ? entry * entry / 2 : 0;
            }
            phi.at(ib, h, it, m) = std::exp(log) / std::sqrt(features);
          }
    return phi;
  };
  auto loop = [&](bool isFaulty) {
    Array x = map(q, true), y = map(k, !isFaulty);
    return average(v, [&](int64_t ib, int64_t h, int64_t it, int64_t j) {
      return dot(x, y, ib, h, it, j);
    });
  };
  call.addResult(loop, "keys without the square of their length");
  return call;
}

ModelCall makeCosformer(int64_t b, int64_t t) {
  const int64_t heads = 3, dk = 48, dv = 11, length = 128;
  ModelCall call;
  Array q = call.addRows(b, heads, t, dk), k = call.addRows(b, heads, t, dk),
        v = call.addRows(b, heads, t, dv);
  apply(relu, q);
  apply(relu, k);
  auto loop = [&](bool isFaulty) {
    return average(v, [&](int64_t ib, int64_t h, int64_t it, int64_t j) {
      double distance = M_PI * double(it - j) / double(2 * length);
      return dot(q, k, ib, h, it, j) * (isFaulty ? 1 : std::cos(distance));
    });
  };
  call.addResult(loop, "a missing cosine");
  return call;
}

ModelCall makeBased(int64_t b, int64_t t) {
  const int64_t heads = 3, dk = 16, dim = 21;
  ModelCall call;
  Array q = call.addRows(b, heads, t, dk, -2, 2),
        k = call.addRows(b, heads, t, dk, -2, 2),
        v = call.addRows(b, heads, t, dim),
        qw = call.addRows(b, heads, t, dim, -2, 2),
        kw = call.addRows(b, heads, t, dim, -2, 2),
        vw = call.addRows(b, heads, t, dim);
  call.addResult(
      [&](bool isFaulty) {
        return average(v, [&](int64_t ib, int64_t h, int64_t it, int64_t j) {
          double x = dot(q, k, ib, h, it, j) / std::sqrt(double(dk));
          return 1 + x + x * x / (isFaulty ? 1 : 2);
        });
      },
      "a square that is not halved");
  call.addResult(
      [&](bool isFaulty) {
        return average(vw, [&](int64_t ib, int64_t h, int64_t it, int64_t j) {
          double x = dot(qw, kw, ib, h, it, j) / std::sqrt(double(dim));
          return it - j < (isFaulty ? 32 : 64) ? std::exp(x) : 0;
        });
      },
      "half of the window");
  return call;
}

/// By chunks of 64 tokens, one for 16 of `t` so that there are several.
ModelCall makeFlash(int64_t b, int64_t t) {
  const int64_t heads = 2, chunk = 64, size = 24, dim = 40;
  int64_t chunks = (t + 15) / 16;
  ModelCall call;
  auto add = [&](int64_t d) {
    Array rows(b, heads, chunks * chunk, d);
    rows.data = call.add({b, heads, chunks, chunk, d}, -2, 2);
    return rows;
  };
  Array q = add(size), k = add(size), ql = add(size), kl = add(size),
        v = add(dim), u = add(dim);
  std::vector<double> bias = call.add({chunk, chunk}, -0.5, 0.5);
  auto weight = [&](int64_t ib, int64_t h, int64_t it, int64_t j,
                    bool isFaulty) {
    if (it / chunk != j / chunk)
      return dot(ql, kl, ib, h, it, j) / chunk;
    double own = relu(dot(q, k, ib, h, it, j) / chunk +
                      bias[size_t(it % chunk * chunk + j % chunk)]);
    return own * own + (isFaulty ? dot(ql, kl, ib, h, it, j) / chunk : 0.0);
  };
  auto loop = [&](bool isFaulty) {
    Array o(b, heads, chunks * chunk, dim);
    for (int64_t ib = 0; ib < b; ++ib)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t it = 0; it < o.s; ++it)
          for (int64_t j = 0; j <= it; ++j) {
            double w = weight(ib, h, it, j, isFaulty);
            for (int64_t c = 0; c < dim; ++c)
              o.at(ib, h, it, c) += u.at(ib, h, it, c) * w * v.at(ib, h, j, c);
          }
    return o;
  };
  call.addResult(loop, "the own chunk in the linear part");
  return call;
}

const std::vector<Model> models = {{"katharopoulos", makeKatharopoulos},
                                   {"efficient-attention", makeEfficient},
                                   {"performer", makePerformer},
                                   {"cosformer", makeCosformer},
                                   {"based", makeBased},
                                   {"flash", makeFlash}};

class ModelsFeature : public ModelTest {};
class ModelsState : public testing::TestWithParam<Target> {};

TEST_P(ModelsFeature, MatchesThePaper) {
  checkModel(GetParam(), toleranceOf(DType::f32));
}

/// A prompt, a chunk and a token, each from the state of the one before it.
TEST_P(ModelsState, GoesOnFromTheLast) {
  ATTN_SKIP_UNLESS_HERE(GetParam());
  const int64_t heads = 3, dk = 13, dv = 11;
  ModelCall whole = makeKatharopoulos(1, 37);
  std::vector<double> state(size_t(heads * dk * (dv + 1)));
  Array o(1, heads, 37, dv);
  int64_t begin = 0;
  for (int64_t count : {20, 16, 1}) {
    Arguments operands;
    for (size_t n = 0; n < 3; ++n) {
      const std::vector<double> all =
          toDoubles(whole.operands.owned[n]->view());
      int64_t dim = n < 2 ? dk : dv;
      std::vector<double> part;
      for (int64_t h = 0; h < heads; ++h)
        part.insert(part.end(), all.begin() + (h * 37 + begin) * dim,
                    all.begin() + (h * 37 + begin + count) * dim);
      operands.add(DType::f32, {1, heads, count, dim}, part);
    }
    operands.add(DType::f32, {1, heads, dk, dv + 1}, state);
    std::vector<Tensor> got =
        run(GetParam(), readModel("katharopoulos"), operands.values);
    ASSERT_EQ(got.size(), 2u);
    std::vector<double> rows = toDoubles(got[0].view());
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t n = 0; n < count * dv; ++n)
        o.at(0, h, begin + n / dv, n % dv) = rows[size_t(h * count * dv + n)];
    state = toDoubles(got[1].view());
    begin += count;
  }
  oracle::Tolerance tolerance = toleranceOf(DType::f32);
  EXPECT_EQ(oracle::checkOutput(o.data, whole.want[0].data, tolerance), "");
  EXPECT_EQ(oracle::checkOutput(state, whole.want[1].data, tolerance), "");
}

TEST(ModelsFeatureMustFail, OnEachFault) {
  for (const Model &model : models)
    checkFaults(model, toleranceOf(DType::f32));
}

} // namespace

INSTANTIATE_TEST_SUITE_P(Models, ModelsFeature,
                         testing::Combine(testing::ValuesIn(models),
                                          testing::ValuesIn(modelTargets())),
                         modelTestName);
INSTANTIATE_TEST_SUITE_P(Targets, ModelsState,
                         testing::ValuesIn(modelTargets()),
                         [](const testing::TestParamInfo<Target> &info) {
                           return info.param.name;
                         });
