// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise code and reductions of linalg against plain loops in f64: rows of
// any length, operands that lack dimensions or have them in another order,
// results in place, and the same bits on any number of threads.

#include "test/e2e/Harness.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>

using namespace attn;
using namespace attn::test;

namespace {

/// One linalg.generic over rows i and columns j of x.
struct Case {
  std::string name;

  std::string iterators; ///< of i and j
  std::string body;      ///< from %x, %a (per row), %b (per column), %y
  bool isRowResult = false;
  double init = 0.5; ///< what the result starts from
  /// The result's element at row i and column j; j is -1 for that of a row.
  std::function<double(const struct Data &, int64_t i, int64_t j)> want;
};

struct Data {
  int64_t rows, columns;
  std::vector<double> x, a, b, y;
  double at(int64_t i, int64_t j) const { return x[i * columns + j]; }
};

constexpr const char *kParallel = "\"parallel\", \"parallel\"";
constexpr const char *kReduced = "\"parallel\", \"reduction\"";

std::vector<Case> allCases() {
  std::vector<Case> cases;
  cases.push_back({"broadcast", kParallel, R"(
    %e = math.exp %x : !t
    %m = arith.mulf %e, %a : !t
    %r = arith.addf %m, %b : !t)",
                   false, 0.5, [](const Data &d, int64_t i, int64_t j) {
                     return std::exp(d.at(i, j)) * d.a[i] + d.b[j];
                   }});
  cases.push_back({"in_place", kParallel, R"(
    %m = arith.mulf %y, %y : !t
    %r = arith.subf %m, %x : !t)",
                   false, 0.5, [](const Data &d, int64_t i, int64_t j) {
                     return 0.25 - d.at(i, j);
                   }});
  cases.push_back({"positions", kParallel, R"(
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %two = arith.constant 2 : index
    %i2 = arith.muli %i, %two : index
    %less = arith.cmpi slt, %i2, %j : index
    %ji = arith.index_cast %j : index to i64
    %jf = arith.sitofp %ji : i64 to !t
    %s = arith.addf %x, %jf : !t
    %r = arith.select %less, %s, %b : !t)",
                   false, 0.5, [](const Data &d, int64_t i, int64_t j) {
                     return 2 * i < j ? d.at(i, j) + double(j) : d.b[j];
                   }});
  cases.push_back({"one_condition_per_row", kParallel, R"(
    %zero = arith.constant 0.0 : !t
    %positive = arith.cmpf ogt, %a, %zero : !t
    %r = arith.select %positive, %x, %b : !t)",
                   false, 0.5, [](const Data &d, int64_t i, int64_t j) {
                     return d.a[i] > 0 ? d.at(i, j) : d.b[j];
                   }});
  cases.push_back({"sum", kReduced, R"(
    %m = arith.mulf %x, %b : !t
    %r = arith.addf %m, %y : !t)",
                   true, 0.5, [](const Data &d, int64_t i, int64_t) {
                     double sum = 0.5;
                     for (int64_t j = 0; j < d.columns; ++j)
                       sum += d.at(i, j) * d.b[j];
                     return sum;
                   }});
  cases.push_back({"maximum", kReduced, R"(
    %m = arith.mulf %x, %a : !t
    %r = arith.maximumf %y, %m : !t)",
                   true, -INFINITY, [](const Data &d, int64_t i, int64_t) {
                     double max = -INFINITY;
                     for (int64_t j = 0; j < d.columns; ++j)
                       max = std::max(max, d.at(i, j) * d.a[i]);
                     return max;
                   }});
  cases.push_back({"minimum", kReduced, R"(
    %r = arith.minnumf %x, %y : !t)",
                   true, 100.0, [](const Data &d, int64_t i, int64_t) {
                     double min = 100.0;
                     for (int64_t j = 0; j < d.columns; ++j)
                       min = std::min(min, d.at(i, j));
                     return min;
                   }});
  // Has no vector form, as what is added depends on the sum.
  cases.push_back({"horner", kReduced, R"(
    %half = arith.constant 0.5 : !t
    %m = arith.mulf %y, %half : !t
    %r = arith.addf %m, %x : !t)",
                   true, 0.5, [](const Data &d, int64_t i, int64_t) {
                     double sum = 0.5;
                     for (int64_t j = 0; j < d.columns; ++j)
                       sum = sum / 2 + d.at(i, j);
                     return sum;
                   }});
  // The same with the sum as an operand of the addition, too.
  cases.push_back({"horner_by_difference", kReduced, R"(
    %half = arith.constant 0.5 : !t
    %m = arith.mulf %y, %half : !t
    %e = arith.subf %x, %m : !t
    %r = arith.addf %y, %e : !t)",
                   true, 0.5, cases.back().want});
  return cases;
}

/// `order` is "i, j" or, for x transposed, "j, i".
std::string irFor(const Case &c, DType dtype, int64_t rows, int64_t columns,
                  const std::string &order) {
  auto dim = [](int64_t size) {
    return size < 0 ? std::string("?") : std::to_string(size);
  };
  bool isTransposed = order == "j, i";
  std::string t = name(dtype), r = dim(rows), k = dim(columns);
  std::string x =
      "tensor<" + (isTransposed ? k + "x" + r : r + "x" + k) + "x" + t + ">";
  std::string y = c.isRowResult ? "tensor<" + r + "x" + t + ">"
                                : "tensor<" + r + "x" + k + "x" + t + ">";
  std::string a = "tensor<" + r + "x" + t + ">";
  std::string b = "tensor<" + k + "x" + t + ">";
  auto map = [](const std::string &results) {
    return "affine_map<(i, j) -> (" + results + ")>";
  };
  // Sums of f16 and bf16 are those of the type of sums.
  char init[40];
  std::snprintf(init, sizeof init, "%.1f", c.init);
  std::string number = std::isinf(c.init)
                           ? (dtype == DType::f64   ? "0xFFF0000000000000"
                              : dtype == DType::f32 ? "0xFF800000"
                              : dtype == DType::f16 ? "0xFC00"
                                                    : "0xFF80")
                           : init;
  std::string rowsOf = rows < 0 ? "%r" : "",
              columnsOf = columns < 0 ? "%k" : "";
  std::string sizes = rowsOf;
  if (!c.isRowResult && !columnsOf.empty())
    sizes += (sizes.empty() ? "" : ", ") + columnsOf;
  std::string text =
      "!t = " + t + "\nfunc.func @main(%px: " + x + ", %pa: " + a +
      ", %pb: " + b + ") -> " + y + " {\n" +
      "  %c0 = arith.constant 0 : index\n" +
      "  %r = tensor.dim %pa, %c0 : " + a + "\n" +
      "  %k = tensor.dim %pb, %c0 : " + b + "\n" + "  %init = arith.constant " +
      number + " : !t\n" + "  %empty = tensor.empty(" + sizes + ") : " + y +
      "\n" + "  %filled = linalg.fill ins(%init : !t) outs(%empty : " + y +
      ") -> " + y + "\n";
  text += "  %o = linalg.generic {indexing_maps = [" + map(order) + ", " +
          map("i") + ", " + map("j") + ", " +
          map(c.isRowResult ? "i" : "i, j") + "], iterator_types = [" +
          c.iterators + "]} ins(%px, %pa, %pb : " + x + ", " + a + ", " + b +
          ") outs(%filled : " + y + ") {\n  ^bb0(%x: !t, %a: !t, %b: !t, " +
          "%y: !t):" + c.body + "\n    linalg.yield %r_ : !t\n  } -> " + y +
          "\n  return %o : " + y + "\n}\n";
  size_t at = text.find("%r = ", text.find("^bb0"));
  text.replace(at, 2, "%r_");
  return text;
}

Data makeData(DType dtype, int64_t rows, int64_t columns) {
  auto draw = [&](int64_t count, uint64_t seed) {
    std::vector<double> values = randomValues(count, seed);
    for (double &x : values)
      x = roundTo(dtype, x);
    return values;
  };
  return {rows,          columns,          draw(rows * columns, 1),
          draw(rows, 2), draw(columns, 3), {}};
}

class Elementwise : public testing::TestWithParam<Target> {
protected:
  void SetUp() override { ATTN_SKIP_UNLESS_HERE(GetParam()); }

  /// Runs with x as it is or transposed.
  std::vector<Tensor> compute(const Case &c, DType dtype, const Data &d,
                              bool isStatic, bool isTransposed, int threads) {
    std::vector<double> x(d.x.size());
    for (int64_t i = 0; i < d.rows; ++i)
      for (int64_t j = 0; j < d.columns; ++j)
        x[isTransposed ? j * d.rows + i : i * d.columns + j] = d.at(i, j);
    Arguments arguments;
    arguments.add(dtype,
                  isTransposed ? std::vector<int64_t>{d.columns, d.rows}
                               : std::vector<int64_t>{d.rows, d.columns},
                  x);
    arguments.add(dtype, {d.rows}, d.a);
    arguments.add(dtype, {d.columns}, d.b);
    std::string ir =
        irFor(c, dtype, isStatic ? d.rows : -1, isStatic ? d.columns : -1,
              isTransposed ? "j, i" : "i, j");
    return run(GetParam(), ir, arguments.values, threads);
  }

  void check(const Case &c, DType dtype, int64_t rows, int64_t columns,
             bool isStatic, bool isTransposed = false) {
    Data d = makeData(dtype, rows, columns);
    std::vector<Tensor> got = compute(c, dtype, d, isStatic, isTransposed, 0);
    if (got.empty())
      return;
    std::vector<double> want;
    for (int64_t i = 0; i < rows; ++i) {
      if (c.isRowResult)
        want.push_back(c.want(d, i, -1));
      for (int64_t j = 0; !c.isRowResult && j < columns; ++j)
        want.push_back(c.want(d, i, j));
    }
    EXPECT_EQ(
        oracle::checkOutput(toDoubles(got[0].view()), want, toleranceOf(dtype)),
        "")
        << c.name << " " << rows << " x " << columns << " of " << name(dtype)
        << (isStatic ? " static" : "") << (isTransposed ? " transposed" : "");
  }
};

TEST_P(Elementwise, RowsOfAnyLength) {
  for (const Case &c : allCases())
    for (auto [rows, columns] : {std::pair<int64_t, int64_t>{1, 1},
                                 {3, 2},
                                 {5, 15},
                                 {4, 16},
                                 {7, 17},
                                 {37, 53},
                                 {0, 9},
                                 {9, 0},
                                 {130, 261}})
      check(c, DType::f32, rows, columns, /*isStatic=*/false);
}

TEST_P(Elementwise, KnownSizes) {
  for (const Case &c : allCases())
    for (auto [rows, columns] :
         {std::pair<int64_t, int64_t>{6, 1}, {5, 7}, {130, 261}})
      check(c, DType::f32, rows, columns, /*isStatic=*/true);
}

TEST_P(Elementwise, EveryType) {
  for (const Case &c : allCases()) {
    check(c, DType::f64, 9, 29, false);
    for (DType dtype : {DType::f16, DType::bf16})
      check(c, dtype, 9, 29, false);
  }
}

/// A sum that is rounded at every step is not the sum: 1000 terms of bf16 would
/// be off by a tenth.
TEST_P(Elementwise, SumsOfNarrowTypes) {
  for (const Case &c : allCases())
    if (c.isRowResult)
      for (DType dtype : {DType::f16, DType::bf16})
        for (bool isStatic : {false, true})
          check(c, dtype, 3, 1031, isStatic);
}

TEST_P(Elementwise, TransposedOperands) {
  for (const Case &c : allCases())
    check(c, DType::f32, 37, 53, false, /*isTransposed=*/true);
}

TEST_P(Elementwise, ThreadsChangeNoBit) {
  for (const Case &c : allCases()) {
    Data d = makeData(DType::f32, 517, 129);
    std::vector<Tensor> one = compute(c, DType::f32, d, false, false, 1);
    std::vector<Tensor> more = compute(c, DType::f32, d, false, false, 3);
    ASSERT_EQ(one.size(), more.size());
    for (size_t n = 0; n < one.size(); ++n)
      EXPECT_EQ(toBytes(one[n].view()), toBytes(more[n].view())) << c.name;
  }
}

/// One loop over %x with two results, of which `types` has the types and
/// `inits` the numbers that they start from.
std::string irOfTwo(const std::string &iterators, const std::string &map,
                    const std::string &shape, const std::string (&types)[2],
                    const std::string (&inits)[2], const std::string &body) {
  std::string first = "tensor<" + shape + "x" + types[0] + ">",
              second = "tensor<" + shape + "x" + types[1] + ">";
  std::string sizes = shape == "?" ? "%r" : "%r, %k";
  auto filled = [&](int n, const std::string &type) {
    std::string id = std::to_string(n), element = types[n];
    return "  %i" + id + " = arith.constant " + inits[n] + " : " + element +
           "\n  %e" + id + " = tensor.empty(" + sizes + ") : " + type +
           "\n  %f" + id + " = linalg.fill ins(%i" + id + " : " + element +
           ") outs(%e" + id + " : " + type + ") -> " + type + "\n";
  };
  return "func.func @main(%px: tensor<?x?xf32>) -> (" + first + ", " + second +
         ") {\n  %c0 = arith.constant 0 : index\n"
         "  %c1 = arith.constant 1 : index\n"
         "  %r = tensor.dim %px, %c0 : tensor<?x?xf32>\n"
         "  %k = tensor.dim %px, %c1 : tensor<?x?xf32>\n" +
         filled(0, first) + filled(1, second) +
         "  %o:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, "
         "j)>, affine_map<(i, j) -> (" +
         map + ")>, affine_map<(i, j) -> (" + map + ")>], iterator_types = [" +
         iterators + "]} ins(%px : tensor<?x?xf32>) outs(%f0, %f1 : " + first +
         ", " + second + ") {\n  ^bb0(%x: f32, %y0: " + types[0] +
         ", %y1: " + types[1] + "):" + body +
         "    linalg.yield %r0, %r1 : " + types[0] + ", " + types[1] +
         "\n  } -> (" + first + ", " + second +
         ")\n  return %o#0, %o#1 : " + first + ", " + second + "\n}\n";
}

TEST_P(Elementwise, SeveralResultsOfOneLoop) {
  struct Pair {
    std::string ir;
    DType types[2];
    bool isRowResult;
    std::function<double(const Data &, int64_t, int64_t)> want[2];
  };
  auto reduce = [](double init, double (*step)(double, double)) {
    return [=](const Data &d, int64_t i, int64_t) {
      double value = init;
      for (int64_t j = 0; j < d.columns; ++j)
        value = step(value, d.at(i, j));
      return value;
    };
  };
  const Pair pairs[] = {
      {irOfTwo(kReduced, "i", "?", {"f32", "f32"}, {"0.5", "0xFF800000"}, R"(
    %r0 = arith.addf %y0, %x : f32
    %r1 = arith.maximumf %x, %y1 : f32
)"),
       {DType::f32, DType::f32},
       true,
       {reduce(0.5, [](double s, double x) { return s + x; }),
        reduce(-INFINITY, [](double s, double x) { return std::max(s, x); })}},
      {irOfTwo(kReduced, "i", "?", {"f32", "f64"}, {"100.0", "0.25"}, R"(
    %w = arith.extf %x : f32 to f64
    %q = arith.mulf %w, %w : f64
    %r0 = arith.minnumf %y0, %x : f32
    %r1 = arith.addf %q, %y1 : f64
)"),
       {DType::f32, DType::f64},
       true,
       {reduce(100.0, [](double s, double x) { return std::min(s, x); }),
        reduce(0.25, [](double s, double x) { return s + x * x; })}},
      {irOfTwo(kParallel, "i, j", "?x?", {"bf16", "f64"}, {"2.0", "0.5"}, R"(
    %w = arith.extf %x : f32 to f64
    %n = arith.truncf %x : f32 to bf16
    %r0 = arith.mulf %n, %y0 : bf16
    %r1 = arith.subf %w, %y1 : f64
)"),
       {DType::bf16, DType::f64},
       false,
       {[](const Data &d, int64_t i, int64_t j) { return 2 * d.at(i, j); },
        [](const Data &d, int64_t i, int64_t j) { return d.at(i, j) - 0.5; }}},
  };
  for (const Pair &pair : pairs)
    for (auto [rows, columns] :
         {std::pair<int64_t, int64_t>{1, 1}, {5, 15}, {7, 17}, {37, 53}}) {
      Data d = makeData(DType::f32, rows, columns);
      Arguments arguments;
      arguments.add(DType::f32, {rows, columns}, d.x);
      std::vector<Tensor> got = run(GetParam(), pair.ir, arguments.values);
      ASSERT_EQ(got.size(), 2u);
      for (int n = 0; n < 2; ++n) {
        std::vector<double> want;
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < (pair.isRowResult ? 1 : columns); ++j)
            want.push_back(pair.want[n](d, i, j));
        // What is f64 throughout is as good as that.
        EXPECT_EQ(oracle::checkOutput(toDoubles(got[n].view()), want,
                                      toleranceOf(pair.types[n])),
                  "")
            << "result " << n << ", " << rows << " x " << columns << "\n"
            << pair.ir;
      }
    }
}

TEST_P(Elementwise, MustFailWithAnotherElement) {
  Data d = makeData(DType::f32, 37, 53);
  Case c = allCases().front();
  std::vector<Tensor> got =
      compute(c, DType::f32, d, false, /*isTransposed=*/false, 0);
  ASSERT_EQ(got.size(), 1u);
  std::vector<double> want;
  for (int64_t i = 0; i < d.rows; ++i)
    for (int64_t j = 0; j < d.columns; ++j)
      want.push_back(c.want(d, i, j));
  want[36 * 53 + 52] += 0.01;
  EXPECT_NE(oracle::checkOutput(toDoubles(got[0].view()), want,
                                toleranceOf(DType::f32)),
            "");
}

INSTANTIATE_TEST_SUITE_P(Targets, Elementwise, testing::ValuesIn(allTargets()),
                         [](const testing::TestParamInfo<Target> &info) {
                           return info.param.name;
                         });

} // namespace
