// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers of the literal cases: faults that were reported against other
// attention systems, as minimal problems whose right answer is worked out from
// the definition. Unless a case says otherwise B = H = D = 1, f32, scale 1.

#ifndef ATTN_TEST_E2E_CASES_H
#define ATTN_TEST_E2E_CASES_H

#include "test/e2e/Variants.h"
#include "gtest/gtest.h"

#include <cmath>

namespace attn::test {

using Values = std::vector<double>;

struct Got {
  Values o, lse;
};

/// Every case runs on every target.
class CasesTest : public testing::TestWithParam<Target> {
protected:
  void SetUp() override { ATTN_SKIP_UNLESS_HERE(GetParam()); }

  /// The key tile of every target.
  static constexpr int64_t T = 64;

  /// Runs the op with the clauses on operands given in row-major order.
  Got attend(const Variant &variant, const Sizes &s, const Values &q,
             const Values &k, const Values &v, const Arguments &captured = {},
             DType dtype = DType::f32, const std::string &op = "gqa") {
    Arguments operands;
    operands.add(dtype, {s.b, s.hq, s.sq, s.dk}, q);
    operands.add(dtype, {s.b, s.hkv, s.skv, s.dk}, k);
    operands.add(dtype, {s.b, s.hkv, s.skv, s.dv}, v);
    std::vector<Value> inputs = operands.values;
    inputs.insert(inputs.end(), captured.values.begin(), captured.values.end());
    std::vector<Tensor> got =
        run(GetParam(), irFor(op, dtype, variant), inputs);
    if (got.size() != 2)
      return {};
    return {toDoubles(got[0].view()), toDoubles(got[1].view())};
  }

  /// One head, D = 1, scale 1: k is the logits where q is 1.
  Got attend(const std::string &clauses, const Values &q, const Values &k,
             const Values &v) {
    return attend({"case", "", "", clauses},
                  {1, 1, 1, int64_t(q.size()), int64_t(k.size()), 1, 1}, q, k,
                  v);
  }

  /// The uniform case: q = 0 and V[j] = j + 1, so the answer is the mean of
  /// j + 1 over the allowed keys.
  Got uniform(const Variant &variant, int64_t sq, int64_t skv,
              const Arguments &captured = {}, int64_t b = 1) {
    Values v;
    for (int64_t n = 0; n < b * skv; ++n)
      v.push_back(double(n % skv + 1));
    return attend(variant, {b, 1, 1, sq, skv, 1, 1}, Values(size_t(b * sq)),
                  Values(size_t(b * skv)), v, captured);
  }
  Got uniform(const std::string &clauses, int64_t sq, int64_t skv) {
    return uniform(Variant{"case", "", "", clauses}, sq, skv);
  }

  /// A boolean mask over (i, j), captured by a keep region.
  static Variant masked() {
    return {"masked", ", %m: tensor<?x?xi1>", "",
            "align(top_left) keep {\n" + keepArguments +
                "    %p = tensor.extract %m[%i, %j] : tensor<?x?xi1>\n"
                "    attn.yield %p : i1\n  }"};
  }
  /// A float mask over (i, j), captured by a score region.
  static Variant biased(const std::string &mask = "") {
    return {"biased", ", %m: tensor<?x?xf32>", "",
            "align(top_left) " + mask + " score {\n" + scoreArguments +
                "    %x = tensor.extract %m[%i, %j] : tensor<?x?xf32>\n"
                "    %t = arith.addf %s, %x : f32\n"
                "    attn.yield %t : f32\n  }"};
  }
  static Arguments capture(DType dtype, std::vector<int64_t> sizes,
                           const Values &values) {
    Arguments arguments;
    arguments.add(dtype, std::move(sizes), values);
    return arguments;
  }
};

/// Equal to 1e-6 (relative above 1), infinities and NaN in kind.
inline void expectValues(const Values &got, const Values &want,
                         double bound = 1e-6) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t n = 0; n < want.size(); ++n) {
    if (std::isnan(want[n]))
      EXPECT_TRUE(std::isnan(got[n])) << "entry " << n << " is " << got[n];
    else if (std::isinf(want[n]))
      EXPECT_EQ(got[n], want[n]) << "entry " << n;
    else
      EXPECT_NEAR(got[n], want[n], bound * std::fmax(1.0, std::fabs(want[n])))
          << "entry " << n;
  }
}

} // namespace attn::test

#endif // ATTN_TEST_E2E_CASES_H
