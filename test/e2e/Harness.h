// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the end-to-end tests share: the devices, problems made of an op with
// its clauses and random signed operands, and the run of a problem on a device.

#ifndef ATTN_TEST_E2E_HARNESS_H
#define ATTN_TEST_E2E_HARNESS_H

#include "runtime/Engine.h"
#include "runtime/Tensor.h"
#include "test/oracle/Compare.h"
#include "test/oracle/Oracle.h"

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace attn::test {

/// A device with a target. `name` is fit for a test's name; no two engines have
/// the same.
struct Target {
  std::string name, device, target;
  std::function<void(EngineOptions &)> configure = {}; // sets what else differs
};
inline void PrintTo(const Target &t, std::ostream *os) { *os << t.name; }

/// The reference device and the CPU with each of its code paths forced.
const std::vector<Target> &allTargets();
/// Those that have code of their own for operands of the type: the targets that
/// add products of pairs of bf16 have that of AVX-512 for others.
std::vector<Target> targetsFor(DType dtype);
/// Why this machine can't run the target's code; empty if it can.
std::string whyNotHere(const Target &target);
/// Skips the running test, with a message, where the target can't run.
#define ATTN_SKIP_UNLESS_HERE(target)                                          \
  if (std::string why = whyNotHere(target); !why.empty())                      \
  GTEST_SKIP() << why

/// What `make` returns for `key`, made again where the key is another than in
/// the call before: cells of one problem on several targets follow each other.
template <class Make>
const auto &keepLast(const std::string &key, const Make &make) {
  static std::string last;
  static std::optional<decltype(make())> kept;
  if (!kept || key != last)
    kept = make();
  last = key;
  return *kept;
}

struct Sizes {
  int64_t b, hq, hkv, sq, skv, dk, dv;
};
std::ostream &operator<<(std::ostream &os, const Sizes &s);

/// Values on their way into a call, in order, with the tensors they view.
struct Arguments {
  std::vector<std::shared_ptr<Tensor>> owned;
  std::vector<Value> values;

  void add(DType dtype, std::vector<int64_t> sizes,
           const std::vector<double> &elements);
  void add(int64_t scalar) { values.push_back(scalar); }
  void addFloat(double scalar) { values.push_back(scalar); }
};

/// Operands and the oracle's view of the op. Element values are already
/// rounded to `dtype`, so the oracle sees what the device sees.
struct Problem {
  Sizes sizes{};
  DType dtype = DType::f32;
  oracle::Array q, k, v;
  oracle::Attention attention;
  Arguments captured; // what the clauses read
};

/// An op with some clauses, compiled once for every size. f32 in its texts
/// stands for the type of logits, which is f64 for operands of f64.
struct Variant {
  std::string name;
  std::string
      arguments;       // of the function beyond Q, K, V: ", %n: tensor<?xi64>"
  std::string prelude; // operations before the op
  std::string clauses;
  /// Adds the values of `arguments` and tells the oracle what the clauses say.
  std::function<void(Problem &)> bind = [](Problem &) {};
};

/// The type of logits, LSE and score regions for operands of type `dtype`.
DType logitType(DType dtype);

inline constexpr Sizes allDynamic{-1, -1, -1, -1, -1, -1, -1};
/// func.func @main(%q, %k, %v ...) -> (O, LSE); sizes of -1 are dynamic.
std::string irFor(const std::string &op, DType dtype, const Variant &variant,
                  const Sizes &known = allDynamic);

/// Uniform in [-1, 1), the same on every machine.
std::vector<double> randomValues(size_t count, uint64_t seed);
/// Random Q, K and V, bound to the variant.
Problem makeProblem(const Sizes &sizes, DType dtype, const Variant &variant,
                    uint64_t seed = 1);

/// Rounds to the type, as its nearest f64.
double roundTo(DType dtype, double value);
/// A packed tensor of the values, which are rounded to `dtype`.
std::shared_ptr<Tensor> makeTensor(DType dtype, std::vector<int64_t> sizes,
                                   const std::vector<double> &values);
/// The elements in row-major order.
std::vector<double> toDoubles(const TensorView &view);
std::vector<uint8_t> toBytes(const TensorView &view);

/// The compiled text on a target; engines are shared, so programs are compiled
/// once per process. Fails the running test if it does not compile.
std::shared_ptr<Program> compile(const Target &target, const std::string &ir);

/// Runs @main; fails the running test on an error and returns no tensors.
std::vector<Tensor> run(const Target &target, const std::string &ir,
                        const std::vector<Value> &inputs, int threads = 0);
/// Q, K, V and what is captured.
std::vector<Tensor> run(const Target &target, const std::string &ir,
                        const Problem &problem, int threads = 0);

/// Message of the failure of a compile or a call, or empty if there was none.
std::string errorOf(const Target &target, const std::string &ir,
                    const std::vector<Value> &inputs = {});

/// Empty if O and LSE agree with the oracle's, rows without a key exactly.
std::string checkAgainst(const oracle::Result &want, DType dtype,
                         const std::vector<Tensor> &got);

oracle::Tolerance toleranceOf(DType dtype);

} // namespace attn::test

#endif // ATTN_TEST_E2E_HARNESS_H
