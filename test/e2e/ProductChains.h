// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chains of two products of matrices with something between them: their IR, and
// what they are by definition.

#ifndef ATTN_TEST_E2E_PRODUCTCHAINS_H
#define ATTN_TEST_E2E_PRODUCTCHAINS_H

#include "test/e2e/Harness.h"

#include <optional>

namespace attn::test {

/// What the scores become on their way to the second product: the body of an
/// elementwise operation that makes %y of %s, and the same here. c is read at
/// row and key, w once per pair.
struct Weights {
  std::string name, body;
  double (*apply)(double s, int64_t i, int64_t j, double ci, double cj,
                  double w);
  bool isLegal = true;
  bool isSquare = true; ///< wants as many keys as rows
};

inline void PrintTo(const Weights &weights, std::ostream *os) {
  *os << weights.name;
}

/// With and without a reason for the order that was written, those that have
/// none first.
const std::vector<Weights> &allWeights();
/// Those of this name.
const Weights &weightsOf(const std::string &name);

/// O[x.., i, d] = sum_j w(sum_k A[x.., i, k] B[x.., j, k]) V[x.., j, d].
struct Chain {
  Weights weights;
  DType operand = DType::f32, sum = DType::f32;
  /// Types of B, V and O where they are others than `operand` and `sum`, which
  /// are those of A and of what is between the products.
  std::optional<DType> right, value, out;
  DType rightType() const { return right.value_or(operand); }
  DType valueType() const { return value.value_or(operand); }
  DType outType() const { return out.value_or(sum); }
  std::vector<int64_t> batch;
  int64_t n = 1, p = 1, m = 1, dv = 1;
  /// Whether the last dimensions change places.
  bool a = false, b = false, v = false, scores = false, o = false;
};

std::string irFor(const Chain &c);

/// Operands of a chain and what it gives.
struct Operands {
  explicit Operands(const Chain &c);
  std::vector<Value> inputs() const;
  std::vector<double> expected() const;

  Chain c;
  std::vector<double> a, b, v, tokens, pairs;
  std::vector<std::shared_ptr<Tensor>> tensors;

private:
  void add(std::vector<double> &values, DType dtype,
           const std::vector<int64_t> &dims, uint64_t seed);
};

} // namespace attn::test

#endif // ATTN_TEST_E2E_PRODUCTCHAINS_H
