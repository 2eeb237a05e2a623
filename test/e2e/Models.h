// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tests of the models in examples/ir/models share. A model is tested
// against a scalar loop in f64 written from the equations of its paper, not
// from those of the ops that the example is made of; the same loop with a fault
// must be seen to be wrong.

#ifndef ATTN_TEST_E2E_MODELS_H
#define ATTN_TEST_E2E_MODELS_H

#include "test/e2e/Harness.h"
#include "gtest/gtest.h"

#include <functional>
#include <tuple>

namespace attn::test {

/// A call of a model: its operands, and what its results must be.
struct ModelCall {
  Arguments operands;
  std::vector<oracle::Array> want;
  /// What each result would be with a fault, and which.
  std::vector<oracle::Array> wrong;
  std::vector<std::string> faults;

  /// Adds an operand of uniform values in [low, high), rounded to f32.
  oracle::Array addRows(int64_t b, int64_t h, int64_t t, int64_t d,
                        double low = -1, double high = 1);
  /// The same without a head dim; d = 1 in the array.
  oracle::Array addTokens(int64_t b, int64_t h, int64_t t, double low,
                          double high);
  /// The same of any shape.
  std::vector<double> add(std::vector<int64_t> sizes, double low, double high);

  /// Adds a result, which `loop` computes, also in its faulty form.
  void addResult(const std::function<oracle::Array(bool isFaulty)> &loop,
                 std::string fault);

private:
  uint64_t seed = 0;
};

/// A model, named like its file, with a batch of `b` sequences of `t` tokens.
struct Model {
  std::string name;
  ModelCall (*make)(int64_t b, int64_t t);
};
inline void PrintTo(const Model &model, std::ostream *os) { *os << model.name; }

/// The text of the model's file.
std::string readModel(const std::string &name);
/// The targets that the models, which are of f32, run on.
std::vector<Target> modelTargets();

/// One test for each model and target.
using ModelTest = testing::TestWithParam<std::tuple<Model, Target>>;
/// "gated_deltanet_avx2"
std::string
modelTestName(const testing::TestParamInfo<std::tuple<Model, Target>> &info);

/// For delta rules and transitions, where errors go through many products.
inline constexpr oracle::Tolerance transitionTolerance{1e-4, 5e-4, 0};

/// Checks results for batches and lengths that divide nothing.
void checkModel(const std::tuple<Model, Target> &param,
                oracle::Tolerance tolerance);
/// Checks that the fault of each result is seen.
void checkFaults(const Model &model, oracle::Tolerance tolerance);

double sigmoid(double x);
double softplus(double x);

} // namespace attn::test

#endif // ATTN_TEST_E2E_MODELS_H
