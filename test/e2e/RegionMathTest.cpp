// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of the math dialect and casts in score and keep regions,
// against the oracle. Their accuracy is MathFunctionsTest's; here each is
// reached on every device, through the region's own lowering.

#include "test/e2e/Variants.h"
#include "gtest/gtest.h"

#include <cctype>
#include <cmath>
#include <set>

using namespace attn;
using namespace attn::test;

namespace {

/// A smooth function of the score %s, to %y.
struct Function {
  std::string name, text;
  std::function<double(double)> exact;
};

std::string call(const std::string &op, const std::string &argument) {
  return "    %y = math." + op + " " + argument + " : f32\n";
}

/// `op` of %u, which is s / 4 and so within (-1, 1).
Function ofSmall(const std::string &op, double (*exact)(double)) {
  return {op,
          "    %q = arith.constant 0.25 : f32\n"
          "    %u0 = arith.mulf %s, %q : f32\n"
          "    %u1 = math.tanh %u0 : f32\n"
          "    %u = arith.mulf %u1, %q : f32\n" +
              call(op, "%u"),
          [exact](double s) { return exact(0.25 * std::tanh(0.25 * s)); }};
}

/// `op` of 1 + s^2.
Function ofLarge(const std::string &op, double (*exact)(double)) {
  return {op,
          "    %one = arith.constant 1.0 : f32\n"
          "    %u = math.fma %s, %s, %one : f32\n" +
              call(op, "%u"),
          [exact](double s) { return exact(1 + s * s); }};
}

double rsqrt(double x) { return 1 / std::sqrt(x); }

std::vector<Function> allFunctions() {
  std::vector<Function> functions = {
      ofSmall("erf", std::erf),     ofSmall("erfc", std::erfc),
      ofSmall("cbrt", std::cbrt),   ofSmall("asinh", std::asinh),
      ofSmall("atanh", std::atanh), ofSmall("acos", std::acos),
      ofSmall("asin", std::asin),   ofSmall("atan", std::atan),
      ofSmall("cos", std::cos),     ofSmall("sin", std::sin),
      ofSmall("tan", std::tan),     ofSmall("sinh", std::sinh),
      ofSmall("cosh", std::cosh),   ofSmall("expm1", std::expm1),
      ofSmall("log1p", std::log1p), ofLarge("log2", std::log2),
      ofLarge("log10", std::log10), ofLarge("rsqrt", rsqrt),
  };
  functions.push_back({"acosh",
                       "    %two = arith.constant 2.0 : f32\n"
                       "    %u = math.fma %s, %s, %two : f32\n" +
                           call("acosh", "%u"),
                       [](double s) { return std::acosh(2 + s * s); }});
  functions.push_back({"powf",
                       "    %one = arith.constant 1.0 : f32\n"
                       "    %e = arith.constant 0.75 : f32\n"
                       "    %u = math.fma %s, %s, %one : f32\n" +
                           call("powf", "%u, %e"),
                       [](double s) { return std::pow(1 + s * s, 0.75); }});
  functions.push_back({"fpowi",
                       "    %n = arith.constant 3 : i32\n"
                       "    %q = arith.constant 0.5 : f32\n"
                       "    %u = arith.mulf %s, %q : f32\n"
                       "    %y = math.fpowi %u, %n : f32, i32\n",
                       [](double s) { return std::pow(0.5 * s, 3); }});
  functions.push_back(
      {"atan2",
       "    %two = arith.constant 2.0 : f32\n" + call("atan2", "%s, %two"),
       [](double s) { return std::atan2(s, 2.0); }});
  functions.push_back({"sincos",
                       "    %a, %c = math.sincos %s : f32\n"
                       "    %y = arith.subf %a, %c : f32\n",
                       [](double s) { return std::sin(s) - std::cos(s); }});
  functions.push_back({"clampf",
                       "    %l = arith.constant -0.25 : f32\n"
                       "    %h = arith.constant 0.5 : f32\n"
                       "    %y = math.clampf %s to [%l, %h] : f32\n",
                       [](double s) { return std::clamp(s, -0.25, 0.5); }});
  functions.push_back(
      {"copysign",
       "    %two = arith.constant 2.0 : f32\n"
       "    %a = math.absf %s : f32\n"
       "    %b = math.sqrt %a : f32\n" +
           call("copysign", "%b, %s"),
       [](double s) { return std::copysign(std::sqrt(std::abs(s)), s); }});
  return functions;
}

std::string score(const std::string &body) {
  return " score {\n  " + scoreArguments + body +
         "    attn.yield %t : f32\n  }";
}
std::string keep(const std::string &body) {
  return " keep {\n  " + keepArguments + body + "    attn.yield %p : i1\n  }";
}

/// `text` with values of its own: `suffix` behind each name but those of
/// `shared`.
std::string withSuffix(const std::string &text, const std::string &suffix,
                       const std::set<std::string> &shared) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    while (text[at] == '%' && end < text.size() && std::isalnum(text[end]))
      ++end;
    std::string piece = text.substr(at, end - at);
    result += piece;
    if (piece[0] == '%' && !shared.count(piece.substr(1)))
      result += suffix;
    at = end;
  }
  return result;
}

class RegionMath : public testing::TestWithParam<Target> {
protected:
  void SetUp() override { ATTN_SKIP_UNLESS_HERE(GetParam()); }

  void check(DType dtype, Variant variant) {
    variant.clauses = "align(bottom_right)" + variant.clauses;
    variant.bind = [bind = variant.bind](Problem &p) {
      p.attention.align = oracle::Align::BottomRight;
      bind(p);
    };
    // Sizes that nothing divides; a tile of several queries and a row alone.
    for (const Sizes &sizes :
         {Sizes{1, 2, 2, 21, 37, 6, 5}, Sizes{1, 2, 2, 1, 37, 6, 5}}) {
      Problem p = makeProblem(sizes, dtype, variant);
      std::vector<Tensor> got =
          run(GetParam(), irFor("softmax", dtype, variant), p);
      EXPECT_EQ(
          checkAgainst(oracle::attend(p.attention, p.q, p.k, p.v), dtype, got),
          "")
          << variant.name << " of " << name(dtype) << ", " << sizes;
    }
  }
};

TEST_P(RegionMath, FunctionsOfScores) {
  // A few to a region, as each is a program to compile.
  const std::vector<Function> all = allFunctions();
  constexpr size_t kPerRegion = 5;
  for (size_t from = 0; from < all.size(); from += kPerRegion) {
    std::vector<Function> some(all.begin() + from,
                               all.begin() +
                                   std::min(from + kPerRegion, all.size()));
    std::string names, body, sum = "%s";
    for (size_t k = 0; k < some.size(); ++k) {
      std::string id = "_" + std::to_string(k);
      names += some[k].name + " ";
      body += withSuffix(some[k].text, id, {"s"}) + "    %sum" + id +
              " = arith.addf " + sum + ", %y" + id + " : f32\n";
      sum = "%sum" + id;
    }
    std::string last = "    %t = math.absf " + sum + " : f32\n";
    for (DType dtype : {DType::f32, DType::f64, DType::bf16})
      check(dtype, {names, "", "", score(body + last), [&some](Problem &p) {
                      p.attention.score = [&some](double s, int64_t, int64_t,
                                                  int64_t, int64_t) {
                        double sum = s;
                        for (const Function &f : some)
                          sum += f.exact(s);
                        return std::abs(sum);
                      };
                    }});
  }
}

/// i 7919 - j 104729, a number of 23 bits that neither f16 nor bf16 holds.
int64_t mix(int64_t i, int64_t j) { return 7919 * i - 104729 * j; }
const std::string kMix = "    %ci = arith.constant 7919 : index\n"
                         "    %cj = arith.constant 104729 : index\n"
                         "    %mi = arith.muli %i, %ci : index\n"
                         "    %mj = arith.muli %j, %cj : index\n"
                         "    %m = arith.subi %mi, %mj : index\n";

/// From %m to a narrow %x, which `scale` makes a logit of about 1.
struct Cast {
  std::string name, type, text, scale;
  std::function<double(int64_t)> exact;
};

std::vector<Cast> allCasts() {
  std::vector<Cast> casts;
  for (DType dtype : {DType::f16, DType::bf16}) {
    std::string t = name(dtype);
    // f16 holds up to 65504.
    int64_t divisor = dtype == DType::f16 ? 100 : 1;
    const char *scale = dtype == DType::f16 ? "5.0e-5" : "5.0e-7";
    std::string divided = "    %cd = arith.constant " +
                          std::to_string(divisor) +
                          " : index\n"
                          "    %d = arith.divsi %m, %cd : index\n";
    auto add = [&](const std::string &what, const std::string &text,
                   std::function<double(int64_t)> exact) {
      casts.push_back({what + "_" + t, t, divided + text, scale, exact});
    };
    auto rounded = [=](double x) { return roundTo(dtype, x); };
    for (const char *width : {"i32", "i64"}) {
      std::string cast =
          std::string("    %n = arith.index_cast %d : index to ") + width +
          "\n";
      add(std::string("sitofp_") + width,
          cast + "    %x = arith.sitofp %n : " + width + " to " + t + "\n",
          [=](int64_t m) { return rounded(double(m / divisor)); });
      add(std::string("uitofp_") + width,
          cast + "    %a = math.absi %n : " + width +
              "\n    %x = arith.uitofp " + "%a : " + width + " to " + t + "\n",
          [=](int64_t m) { return rounded(double(std::abs(m / divisor))); });
    }
    // 1 + 2^-20 beyond a tie, which an f32 of it does not know.
    add("truncf_f64",
        "    %n = arith.index_cast %d : index to i64\n"
        "    %f = arith.sitofp %n : i64 to f64\n"
        "    %c = arith.constant 1.000000000001 : f64\n"
        "    %g = arith.mulf %f, %c : f64\n"
        "    %x = arith.truncf %g : f64 to " +
            t + "\n",
        [=](int64_t m) {
          return rounded(double(m / divisor) * 1.000000000001);
        });
    // Sums of narrow numbers are rounded, too, and selects are not.
    add("addf",
        "    %n = arith.index_cast %d : index to i32\n"
        "    %f = arith.sitofp %n : i32 to " +
            t + "\n    %c = arith.constant 3.0 : " + t +
            "\n    %g = arith.addf %f, %c : " + t +
            "\n    %b0 = arith.cmpf olt, %g, %c : " + t +
            "\n    %x = arith.select %b0, %g, %f : " + t + "\n",
        [=](int64_t m) {
          double f = rounded(double(m / divisor)), g = rounded(f + 3);
          return g < 3 ? g : f;
        });
    add("fptosi",
        "    %n = arith.index_cast %d : index to i32\n"
        "    %f = arith.sitofp %n : i32 to " +
            t + "\n    %k = arith.fptosi %f : " + t +
            " to i32\n    %x = arith.sitofp %k : i32 to " + t + "\n",
        [=](int64_t m) { return rounded(double(m / divisor)); });
  }
  return casts;
}

TEST_P(RegionMath, CastsToNarrowFloatsRoundOnce) {
  for (const char *type : {"f16", "bf16"}) {
    std::vector<Cast> casts;
    for (const Cast &cast : allCasts())
      if (cast.type == type)
        casts.push_back(cast);
    std::string body = kMix, sum = "%s";
    for (size_t k = 0; k < casts.size(); ++k) {
      std::string id = "_" + std::to_string(k);
      body += withSuffix(casts[k].text + "    %w = arith.extf %x : " + type +
                             " to f32\n    %c0 = arith.constant " +
                             casts[k].scale + " : f32\n",
                         id, {"m"}) +
              "    %sum" + id + " = math.fma %w" + id + ", %c0" + id + ", " +
              sum + " : f32\n";
      sum = "%sum" + id;
    }
    body += "    %zero = arith.constant 0.0 : f32\n    %t = arith.addf " + sum +
            ", %zero : f32\n";
    for (DType dtype : {DType::f32, DType::f64})
      check(dtype, {type, "", "", score(body), [&casts](Problem &p) {
                      p.attention.score = [&casts](double s, int64_t, int64_t,
                                                   int64_t i, int64_t j) {
                        for (const Cast &cast : casts)
                          s += std::stod(cast.scale) * cast.exact(mix(i, j));
                        return s;
                      };
                    }});
  }
}

TEST_P(RegionMath, FloatsInKeepRegions) {
  // Of -3 .. 3, made of i - j, the square root is no number for half.
  const std::string prepare = "    %c7 = arith.constant 7 : index\n"
                              "    %c3 = arith.constant 3 : index\n"
                              "    %d0 = arith.subi %i, %j : index\n"
                              "    %d1 = arith.remsi %d0, %c7 : index\n"
                              "    %n = arith.index_cast %d1 : index to i64\n"
                              "    %x = arith.sitofp %n : i64 to f64\n";
  auto at = [](int64_t i, int64_t j) { return double((i - j) % 7); };
  struct Rule {
    const char *name, *text;
    std::function<bool(double)> holds;
  };
  const Rule rules[] = {
      {"isnan", "    %r = math.sqrt %x : f64\n    %p = math.isnan %r : f64\n",
       [](double x) { return x < 0; }},
      {"isfinite",
       "    %r = math.log %x : f64\n    %p = math.isfinite %r : f64\n",
       [](double x) { return x > 0; }},
      {"isinf", "    %r = math.log %x : f64\n    %p = math.isinf %r : f64\n",
       [](double x) { return x == 0; }},
      {"isnormal", "    %p = math.isnormal %x : f64\n",
       [](double x) { return x != 0; }},
      {"round",
       "    %half = arith.constant 0.5 : f64\n    %m = arith.mulf %x, %half : "
       "f64\n"
       "    %r = math.round %m : f64\n    %c = arith.constant 1.0 : f64\n"
       "    %p = arith.cmpf oeq, %r, %c : f64\n",
       [](double x) { return std::round(0.5 * x) == 1; }},
      {"fptoui",
       "    %u = arith.fptoui %x : f64 to i32\n"
       "    %c = arith.constant 2 : i32\n"
       "    %p = arith.cmpi ult, %u, %c : i32\n",
       [](double x) { return x < 2; }},
  };
  for (const Rule &rule : rules)
    check(DType::f32,
          {rule.name, "", "", keep(prepare + rule.text), [&](Problem &p) {
             p.attention.keep = [&](int64_t, int64_t, int64_t i, int64_t j) {
               return rule.holds(at(i, j));
             };
           }});
}

/// What is no operation on floats is refused where it stands, by name.
TEST(RegionMathErrors, NamesWhatIsRefused) {
  Variant variant{"ctpop", "", "",
                  "align(bottom_right)" +
                      keep("    %n = arith.index_cast %j : index to i64\n"
                           "    %c = math.ctpop %n : i64\n"
                           "    %p = arith.trunci %c : i64 to i1\n")};
  std::string message =
      errorOf(allTargets().back(), irFor("softmax", DType::f32, variant));
  EXPECT_NE(message.find("keep region: expected an allowed operation, got "
                         "'math.ctpop'"),
            std::string::npos)
      << message;
}

INSTANTIATE_TEST_SUITE_P(Targets, RegionMath, testing::ValuesIn(allTargets()),
                         [](const auto &info) { return info.param.name; });

} // namespace
