// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention of the softmax family computed from its definition, in f64, one
// score at a time. Numeric tests compare with this; it shares no code with the
// compiler or the runtime, and is meant to be believed by reading it once.

#ifndef ATTN_TEST_ORACLE_ORACLE_H
#define ATTN_TEST_ORACLE_ORACLE_H

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace attn::oracle {

/// A packed B x H x S x D array of f64.
struct Array {
  int64_t b = 0, h = 0, s = 0, d = 0;
  std::vector<double> data;

  Array() = default;
  Array(int64_t b, int64_t h, int64_t s, int64_t d, double fill = 0.0)
      : b(b), h(h), s(s), d(d), data(size_t(b * h * s * d), fill) {}

  double &at(int64_t ib, int64_t ih, int64_t is, int64_t id) {
    return data.at(size_t(((ib * h + ih) * s + is) * d + id));
  }
  double at(int64_t ib, int64_t ih, int64_t is, int64_t id) const {
    return data.at(size_t(((ib * h + ih) * s + is) * d + id));
  }
};

/// Where query row 0 stands.
enum class Align {
  None,        // nothing in the problem depends on a position
  TopLeft,     // at 0
  BottomRight, // at key length - Sq of its batch entry, negative allowed
  Offset,      // at Attention::offset
};

/// Keeps i - left <= j <= i + right; an absent bound is unbounded. The token
/// itself is not counted.
struct Window {
  std::optional<int64_t> left, right;
};

/// Everything that may stand on the op beside Q, K and V.
struct Attention {
  std::optional<double> scale; // default 1 / sqrt(Dk)
  std::optional<double> softcap;
  Align align = Align::None;
  std::vector<int64_t> offset; // one, or one per batch entry
  int64_t keyOffset = 0;
  bool causal = false;
  std::optional<Window> window;
  std::vector<int64_t> prefix; // empty: none; else j < prefix or j <= i
  std::vector<double> slopes;  // empty: none; else slopes[h] (j - i) is added
  /// Added last to the logit of row r and key row t.
  std::function<double(int64_t b, int64_t h, int64_t r, int64_t t)> bias;
  /// Whether row r may see key row t.
  std::function<bool(int64_t b, int64_t h, int64_t r, int64_t t)> select;
  std::vector<int64_t> lengths; // empty: all keys; clamped to [0, Skv]
  std::vector<double> sinks;    // empty: none; else a logit without a value
  std::function<double(double s, int64_t b, int64_t h, int64_t i, int64_t j)>
      score;
  std::function<bool(int64_t b, int64_t h, int64_t i, int64_t j)> keep;
};

struct Result {
  Array o;   // B x Hq x Sq x Dv
  Array lse; // B x Hq x Sq x 1
};

/// O[b,h,r,:] = sum_t p[t] V[b,h/G,t,:] with p = softmax over the allowed keys
/// of the final logits, and LSE[b,h,r] = ln sum_t exp(logit[t]).
Result attend(const Attention &attention, const Array &q, const Array &k,
              const Array &v);

/// Whether row r of batch entry b and head h may use key row t of `skv`.
bool isAllowed(const Attention &attention, int64_t sq, int64_t skv, int64_t b,
               int64_t h, int64_t r, int64_t t);

} // namespace attn::oracle

#endif // ATTN_TEST_ORACLE_ORACLE_H
