// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The linear family computed from its definition, in f64: attn.linear token by
// token, feature maps vector by vector, attn.favor pair by pair. Shares no code
// with the compiler or the runtime, and is meant to be believed by reading it
// once.

#ifndef ATTN_TEST_ORACLE_LINEARORACLE_H
#define ATTN_TEST_ORACLE_LINEARORACLE_H

#include "test/oracle/Oracle.h"

namespace attn::oracle {

enum class FeatureKind {
  Identity,
  Elu1,
  Relu,
  Relu2,
  SoftmaxFeatures,
  SoftmaxPositions,
  Hedgehog,
  Cosformer,
  Taylor2,
  Positive,
  Hyperbolic,
  Trigonometric,
};

/// A feature map with what may stand beside it.
struct Feature {
  FeatureKind kind = FeatureKind::Identity;
  double eps = 0.0;             // of Relu
  int64_t length = 1;           // of Cosformer; 0: that of the call
  std::vector<double> w;        // M x D, empty for none
  double scale = 1.0;           // of the vectors
  int64_t offset = 0;           // position of row 0
  std::vector<int64_t> lengths; // rows in use, empty for all
  bool log = false;
  std::function<double(double)> map; // in place of a kind
};

/// phi(W (scale x)) of each vector of x.
Array applyFeature(const Feature &feature, const Array &x);

enum class Divisor { None, Token, Feature };

/// Everything that may stand on attn.linear beside Q, K and V. Arrays without
/// elements are absent.
struct Linear {
  double scale = 1.0;
  std::vector<double> headDecay; // a logarithm per head of the state
  Array decay;                   // or B x Hv x S x 1, or B x Hv x S x Dk
  Array beta;                    // B x Hv x S x 1
  Array read, write;             // B x Hv x S x Dk
  Array bonus;                   // 1 x Hv x 1 x Dk
  Array state;                   // B x Hv x Dk x Dv, or Dv + 1
  std::vector<int64_t> lengths;  // empty: all keys; clamped to [0, Skv]
  /// First rows of packed sequences and their end; no keyStarts for the same.
  std::vector<int64_t> queryStarts, keyStarts;
  Feature queryFeature, keyFeature;
  Divisor divisor = Divisor::None;
  std::optional<int64_t> block;
  bool causal = false;
};

struct LinearResult {
  Array o;     // B x Ho x Sq x Dv
  Array state; // after the last token
};

/// With starts each sequence is computed alone, from its rows and its entry of
/// `state` and `lengths`.
LinearResult attendLinear(const Linear &linear, const Array &q, const Array &k,
                          const Array &v);

enum class FavorKind { Positive, Hyperbolic, Trigonometric, Relu };

struct Favor {
  FavorKind kind = FavorKind::Positive;
  std::vector<double> w;       // M x D
  std::optional<double> scale; // default 1 / sqrt(D)
  double eps = 0.0;            // added to features, see attendFavor
  std::vector<int64_t> lengths;
  bool causal = false;
};

/// O[b,h,t,:] = sum_j w[j] V[b,h/G,j,:] / sum_j w[j] over the keys that row t
/// sees, w[j] being the product of the features of the row and the key. With
/// eps these are, but for Relu, exponentials divided by the largest of a
/// query's w_r.x, or of those of all keys in use, so that eps is added to
/// something of a known size.
Array attendFavor(const Favor &favor, const Array &q, const Array &k,
                  const Array &v);

} // namespace attn::oracle

#endif // ATTN_TEST_ORACLE_LINEARORACLE_H
