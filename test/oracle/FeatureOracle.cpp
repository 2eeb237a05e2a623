// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Feature maps, formula by formula. See LinearOracle.h.

#include "test/oracle/LinearOracle.h"

#include <algorithm>
#include <cmath>

using namespace attn::oracle;

using Vector = std::vector<double>;

static const double pi = std::acos(-1.0);

static Vector softmax(const Vector &x) {
  Vector y;
  double sum = 0.0, max = *std::max_element(x.begin(), x.end());
  for (double entry : x) {
    y.push_back(std::exp(entry - max));
    sum += y.back();
  }
  for (double &entry : y)
    entry /= sum;
  return y;
}

static Vector withNegated(const Vector &x) {
  Vector y = x;
  for (double entry : x)
    y.push_back(-entry);
  return y;
}

template <class Function> static Vector each(Vector x, Function f) {
  for (double &entry : x)
    entry = f(entry);
  return x;
}

static Vector taylor2(const Vector &x) {
  double d = double(x.size());
  Vector y = {1.0};
  for (double entry : x)
    y.push_back(entry / std::pow(d, 0.25));
  for (double entry : x)
    y.push_back(entry * entry / std::sqrt(2.0 * d));
  for (size_t i = 0; i < x.size(); ++i)
    for (size_t j = i + 1; j < x.size(); ++j)
      y.push_back(x[i] * x[j] / std::sqrt(d));
  return y;
}

/// The cosines or sines at position i, times `factor`.
static Vector cosformer(const Vector &x, double angle) {
  Vector y;
  for (double entry : x)
    y.push_back(std::max(entry, 0.0) * std::cos(angle));
  for (double entry : x)
    y.push_back(std::max(entry, 0.0) * std::sin(angle));
  return y;
}

/// exp(u - |x|^2 / 2) / sqrt(count), or its logarithm.
static Vector exponential(const Feature &f, const Vector &u, double norm) {
  return each(u, [&](double entry) {
    double log = entry - norm / 2.0 - std::log(double(u.size())) / 2.0;
    return f.log ? log : std::exp(log);
  });
}

static Vector trigonometric(const Vector &u, double norm) {
  double factor = std::exp(norm / 2.0) / std::sqrt(double(u.size()));
  Vector y;
  for (double entry : u)
    y.push_back(factor * std::cos(entry));
  for (double entry : u)
    y.push_back(factor * std::sin(entry));
  return y;
}

/// phi of u = W x at position i; `norm` is |x|^2.
static Vector phi(const Feature &f, const Vector &u, double norm, int64_t i) {
  if (f.map)
    return each(u, f.map);
  switch (f.kind) {
  case FeatureKind::Identity:
  case FeatureKind::SoftmaxPositions: // of whole columns, later
    return u;
  case FeatureKind::Elu1:
    return each(u, [](double x) { return x > 0 ? x + 1.0 : std::exp(x); });
  case FeatureKind::Relu:
    return each(u, [&](double x) { return std::max(x, 0.0) + f.eps; });
  case FeatureKind::Relu2:
    return each(u, [](double x) { return x > 0 ? x * x : 0.0; });
  case FeatureKind::SoftmaxFeatures:
    return softmax(u);
  case FeatureKind::Hedgehog:
    return softmax(withNegated(u));
  case FeatureKind::Cosformer:
    return cosformer(u, pi * double(i) / (2.0 * double(f.length)));
  case FeatureKind::Taylor2:
    return taylor2(u);
  case FeatureKind::Positive:
    return exponential(f, u, norm);
  case FeatureKind::Hyperbolic:
    return exponential(f, withNegated(u), norm);
  case FeatureKind::Trigonometric:
    return trigonometric(u, norm);
  }
  return u;
}

/// Each column of rows in use becomes its softmax, other rows 0.
static void softmaxOfPositions(const Feature &f, Array &x) {
  for (int64_t b = 0; b < x.b; ++b)
    for (int64_t h = 0; h < x.h; ++h)
      for (int64_t d = 0; d < x.d; ++d) {
        int64_t rows =
            f.lengths.empty()
                ? x.s
                : std::clamp<int64_t>(f.lengths.at(size_t(b)), 0, x.s);
        Vector column;
        for (int64_t s = 0; s < rows; ++s)
          column.push_back(x.at(b, h, s, d));
        if (!column.empty())
          column = softmax(column);
        for (int64_t s = 0; s < x.s; ++s)
          x.at(b, h, s, d) = s < rows ? column[size_t(s)] : 0.0;
      }
}

Array attn::oracle::applyFeature(const Feature &f, const Array &x) {
  int64_t entries = f.w.empty() ? x.d : int64_t(f.w.size()) / x.d;
  int64_t features = int64_t(phi(f, Vector(size_t(entries)), 0.0, 0).size());
  Array result(x.b, x.h, x.s, features);
  for (int64_t b = 0; b < x.b; ++b)
    for (int64_t h = 0; h < x.h; ++h)
      for (int64_t s = 0; s < x.s; ++s) {
        Vector u(size_t(entries), 0.0);
        double norm = 0.0;
        for (int64_t d = 0; d < x.d; ++d) {
          double entry = f.scale * x.at(b, h, s, d);
          norm += entry * entry;
          if (f.w.empty())
            u[size_t(d)] = entry;
          else
            for (int64_t r = 0; r < entries; ++r)
              u[size_t(r)] += f.w[size_t(r * x.d + d)] * entry;
        }
        Vector y = phi(f, u, norm, f.offset + s);
        for (int64_t r = 0; r < features; ++r)
          result.at(b, h, s, r) = y[size_t(r)];
      }
  if (f.kind == FeatureKind::SoftmaxPositions)
    softmaxOfPositions(f, result);
  return result;
}
