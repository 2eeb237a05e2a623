// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variants made of score and keep regions. See Variants.h.

#include "test/e2e/Variants.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>

using namespace attn;
using namespace attn::test;
using oracle::Align;

static std::string keep(const std::string &body) {
  return " keep {\n" + keepArguments + body + "    attn.yield %p : i1\n  }";
}
static std::string score(const std::string &body) {
  return " score {\n" + scoreArguments + body + "    attn.yield %t : f32\n  }";
}

/// i / 24 == j / 24, where positions may be negative.
static Variant blockDiagonal() {
  return {"block_diagonal", "", "",
          "align(bottom_right)" +
              keep("    %c = arith.constant 24 : index\n"
                   "    %x = arith.floordivsi %i, %c : index\n"
                   "    %y = arith.floordivsi %j, %c : index\n"
                   "    %p = arith.cmpi eq, %x, %y : index\n"),
          [](Problem &p) {
            p.attention.align = Align::BottomRight;
            p.attention.keep = [](int64_t, int64_t, int64_t i, int64_t j) {
              return std::floor(i / 24.0) == std::floor(j / 24.0);
            };
          }};
}

/// Every third key, at most 30 back.
static Variant dilatedWindow() {
  return {"dilated_window", "", "",
          "align(top_left)" +
              keep("    %zero = arith.constant 0 : index\n"
                   "    %three = arith.constant 3 : index\n"
                   "    %far = arith.constant 30 : index\n"
                   "    %d = arith.subi %i, %j : index\n"
                   "    %m = arith.remsi %d, %three : index\n"
                   "    %c0 = arith.cmpi eq, %m, %zero : index\n"
                   "    %c1 = arith.cmpi sge, %d, %zero : index\n"
                   "    %c2 = arith.cmpi sle, %d, %far : index\n"
                   "    %c3 = arith.andi %c0, %c1 : i1\n"
                   "    %p = arith.andi %c3, %c2 : i1\n"),
          [](Problem &p) {
            p.attention.align = Align::TopLeft;
            p.attention.keep = [](int64_t, int64_t, int64_t i, int64_t j) {
              return (i - j) % 3 == 0 && i - j >= 0 && i - j <= 30;
            };
          }};
}

/// Tokens of one document see each other. Each batch entry has its own ids.
static Variant documents() {
  return {"documents", ", %doc: tensor<?x?xi32>", "",
          "align(top_left)" +
              keep("    %x = tensor.extract %doc[%b, %i] : tensor<?x?xi32>\n"
                   "    %y = tensor.extract %doc[%b, %j] : tensor<?x?xi32>\n"
                   "    %p = arith.cmpi eq, %x, %y : i32\n"),
          [](Problem &p) {
            p.attention.align = Align::TopLeft;
            int64_t n = std::max({p.sizes.sq, p.sizes.skv, int64_t(1)});
            std::vector<double> ids;
            for (int64_t b = 0; b < p.sizes.b; ++b)
              for (int64_t t = 0; t < n; ++t)
                ids.push_back(double((t + 5 * b) / 21 - 1));
            p.attention.keep = [ids, n](int64_t b, int64_t, int64_t i,
                                        int64_t j) {
              return ids[size_t(b * n + i)] == ids[size_t(b * n + j)];
            };
            p.captured.add(DType::i32, {p.sizes.b, n}, ids);
          }};
}

/// A boolean mask read as a tensor: unclassifiable, a byte per pair.
static Variant booleanMask(DType dtype) {
  std::string type = std::string("tensor<?x?x") + name(dtype) + ">";
  std::string body = "    %x = tensor.extract %m[%i, %j] : " + type + "\n";
  if (dtype == DType::i1)
    body += "    %true = arith.constant true\n"
            "    %p = arith.andi %x, %true : i1\n";
  else
    body += "    %zero = arith.constant 0 : i8\n"
            "    %p = arith.cmpi ne, %x, %zero : i8\n";
  return {std::string("boolean_mask_") + name(dtype), ", %m: " + type, "",
          "align(top_left)" + keep(body), [dtype](Problem &p) {
            p.attention.align = Align::TopLeft;
            int64_t skv = p.sizes.skv;
            std::vector<double> mask = randomValues(p.sizes.sq * skv, 77);
            for (size_t n = 0; n < mask.size(); ++n)
              // Row 0 sees nothing.
              mask[n] = int64_t(n) >= skv && mask[n] > -0.3 ? 1.0 : 0.0;
            p.attention.keep = [mask, skv](int64_t, int64_t, int64_t i,
                                           int64_t j) {
              return mask[size_t(i * skv + j)] != 0.0;
            };
            p.captured.add(dtype, {p.sizes.sq, skv}, mask);
          }};
}

/// s + slope[h] * (j - i), with causal.
static Variant alibi(DType dtype) {
  std::string type = std::string("tensor<?x") + name(dtype) + ">";
  std::string read = "    %m = tensor.extract %slopes[%h] : " + type + "\n";
  if (dtype == DType::bf16)
    read = "    %m0 = tensor.extract %slopes[%h] : " + type +
           "\n    %m = arith.extf %m0 : bf16 to f32\n";
  return {std::string("alibi_") + name(dtype), ", %slopes: " + type, "",
          "align(bottom_right) mask(#attn.causal)" +
              score(read + "    %d = arith.subi %j, %i : index\n"
                           "    %d64 = arith.index_cast %d : index to i64\n"
                           "    %df = arith.sitofp %d64 : i64 to f32\n"
                           "    %x = arith.mulf %m, %df : f32\n"
                           "    %t = arith.addf %s, %x : f32\n"),
          [dtype](Problem &p) {
            p.attention.align = Align::BottomRight;
            p.attention.causal = true;
            DType held = dtype == DType::f32 ? logitType(p.dtype) : dtype;
            std::vector<double> slopes;
            for (int64_t h = 0; h < p.sizes.hq; ++h)
              slopes.push_back(roundTo(held, 0.3 / double(h + 1)));
            p.attention.score = [slopes](double s, int64_t, int64_t h,
                                         int64_t i, int64_t j) {
              return s + slopes[size_t(h)] * double(j - i);
            };
            p.captured.add(held, {p.sizes.hq}, slopes);
          }};
}

/// Clamps the score and shifts it by the batch entry: no positions.
static Variant clampedScore() {
  return {"clamped_score", "", "",
          score("    %lo = arith.constant -0.75 : f32\n"
                "    %hi = arith.constant 1.25 : f32\n"
                "    %x = arith.maximumf %s, %lo : f32\n"
                "    %y = arith.minimumf %x, %hi : f32\n"
                "    %b32 = arith.index_cast %b : index to i32\n"
                "    %bf = arith.sitofp %b32 : i32 to f32\n"
                "    %t = arith.addf %y, %bf : f32\n"),
          [](Problem &p) {
            p.attention.score = [](double s, int64_t b, int64_t, int64_t,
                                   int64_t) {
              return std::clamp(s, -0.75, 1.25) + double(b);
            };
          }};
}

/// An additive bias per head and pair.
static Variant bias() {
  return {"bias", ", %bias: tensor<?x?x?xf32>", "",
          "align(top_left)" +
              score("    %x = tensor.extract %bias[%h, %i, %j] : "
                    "tensor<?x?x?xf32>\n"
                    "    %t = arith.addf %s, %x : f32\n"),
          [](Problem &p) {
            p.attention.align = Align::TopLeft;
            int64_t sq = p.sizes.sq, skv = p.sizes.skv;
            std::vector<double> bias =
                randomValues(size_t(p.sizes.hq * sq * skv), 78);
            for (double &x : bias)
              x = roundTo(logitType(p.dtype), 3.0 * x);
            p.attention.score = [bias, sq, skv](double s, int64_t, int64_t h,
                                                int64_t i, int64_t j) {
              return s + bias[size_t((h * sq + i) * skv + j)];
            };
            p.captured.add(logitType(p.dtype), {p.sizes.hq, sq, skv}, bias);
          }};
}

/// s + x / 4 with a small integer x per query and key, of any type.
static Variant dense(DType dtype, const std::string &toFloat) {
  std::string element = name(dtype), type = "tensor<?x?x" + element + ">";
  return {"dense_" + element, ", %x: " + type, "",
          "align(bottom_right)" +
              score("    %minus = arith.constant -3 : index\n"
                    "    %r = arith.addi %i, %minus : index\n"
                    "    %e = tensor.extract %x[%r, %j] : " +
                    type + "\n    %f = arith." + toFloat + " %e : " + element +
                    " to f32\n"
                    "    %c = arith.constant 0.25 : f32\n"
                    "    %y = arith.mulf %f, %c : f32\n"
                    "    %t = arith.addf %s, %y : f32\n"),
          [dtype](Problem &p) {
            p.attention.align = Align::BottomRight;
            // Fewer rows and columns than positions: indices are clamped.
            int64_t rows = std::max<int64_t>(p.sizes.skv - 5, 1);
            int64_t columns = std::max<int64_t>(p.sizes.skv - 1, 1);
            std::vector<double> x = randomValues(size_t(rows * columns), 79);
            for (double &value : x)
              value = std::round(4.0 * value);
            p.attention.score = [=](double s, int64_t, int64_t, int64_t i,
                                    int64_t j) {
              int64_t r = std::clamp<int64_t>(i - 3, 0, rows - 1);
              int64_t c = std::clamp<int64_t>(j, 0, columns - 1);
              return s + 0.25 * x[size_t(r * columns + c)];
            };
            p.captured.add(dtype, {rows, columns}, x);
          }};
}

/// Every function that a region may call on floats, where all are smooth.
static Variant scoreFunctions() {
  return {"score_functions", "", "",
          score("    %zero = arith.constant 0.0 : f32\n"
                "    %one = arith.constant 1.0 : f32\n"
                "    %slope = arith.constant 0.1 : f32\n"
                "    %abs = math.absf %s : f32\n"
                "    %more = arith.addf %abs, %one : f32\n"
                "    %log = math.log %more : f32\n"
                "    %root = math.sqrt %more : f32\n"
                "    %neg = arith.negf %abs : f32\n"
                "    %exp = math.exp %neg : f32\n"
                "    %tanh = math.tanh %s : f32\n"
                "    %small = arith.mulf %s, %slope : f32\n"
                "    %positive = arith.cmpf ogt, %s, %zero : f32\n"
                "    %leaky = arith.select %positive, %s, %small : f32\n"
                "    %x0 = math.fma %log, %root, %leaky : f32\n"
                "    %x1 = arith.divf %exp, %more : f32\n"
                "    %x2 = arith.maxnumf %tanh, %small : f32\n"
                "    %x3 = arith.minnumf %x1, %slope : f32\n"
                "    %x4 = arith.addf %x0, %x2 : f32\n"
                "    %t = arith.subf %x4, %x3 : f32\n"),
          [](Problem &p) {
            p.attention.score = [](double s, int64_t, int64_t, int64_t,
                                   int64_t) {
              double more = std::abs(s) + 1.0;
              double leaky = s > 0.0 ? s : 0.1 * s;
              return std::log(more) * std::sqrt(more) + leaky +
                     std::max(std::tanh(s), 0.1 * s) -
                     std::min(std::exp(-std::abs(s)) / more, 0.1);
            };
          }};
}

/// A table over i - j that is shorter than the distances: reads outside it get
/// its first or last entry. `cast` is what makes a logit of an entry.
static Variant relativeBias(DType dtype, const std::string &cast = "") {
  std::string suffix = cast.empty() ? "" : std::string("_") + name(dtype);
  std::string type = std::string("tensor<?x") + name(dtype) + ">";
  std::string read = cast.empty() ? "%x" : "%y";
  std::string convert = cast.empty() ? ""
                                     : "    %x = arith." + cast +
                                           " %y : " + name(dtype) + " to f32\n";
  return {"relative_bias" + suffix, ", %table: " + type, "",
          "align(bottom_right)" +
              score("    %d = arith.subi %i, %j : index\n    " + read +
                    " = tensor.extract %table[%d] : " + type + "\n" + convert +
                    "    %t = arith.addf %s, %x : f32\n"),
          [=](Problem &p) {
            DType held = dtype == DType::f32 ? logitType(p.dtype) : dtype;
            p.attention.align = Align::BottomRight;
            std::vector<double> table;
            for (double x : randomValues(20, 79))
              table.push_back(roundTo(held, 3.0 * x));
            p.attention.score = [table](double s, int64_t, int64_t, int64_t i,
                                        int64_t j) {
              return s + table[size_t(std::clamp<int64_t>(i - j, 0, 19))];
            };
            p.captured.add(held, {20}, table);
          }};
}

/// Both regions, lengths and captured scalars read from a tensor: keys before a
/// per-batch prefix are seen by all, later ones causally, even heads only.
static Variant prefixAndScore() {
  return {"prefix_and_score", ", %n: tensor<?xi64>, %prefix: tensor<?xi64>", "",
          "softcap(4.0) align(bottom_right) lengths(%n : tensor<?xi64>)" +
              score("    %two = arith.constant 2.0 : f32\n"
                    "    %q2 = arith.mulf %s, %s : f32\n"
                    "    %x = math.exp2 %s : f32\n"
                    "    %y = arith.subf %x, %q2 : f32\n"
                    "    %t = arith.divf %y, %two : f32\n") +
              keep("    %n64 = tensor.extract %prefix[%b] : tensor<?xi64>\n"
                   "    %np = arith.index_cast %n64 : i64 to index\n"
                   "    %c0 = arith.cmpi slt, %j, %np : index\n"
                   "    %c1 = arith.cmpi sle, %j, %i : index\n"
                   "    %c2 = arith.ori %c0, %c1 : i1\n"
                   "    %two_i = arith.constant 2 : index\n"
                   "    %zero = arith.constant 0 : index\n"
                   "    %odd = arith.remui %h, %two_i : index\n"
                   "    %c3 = arith.cmpi eq, %odd, %zero : index\n"
                   "    %p = arith.select %c3, %c2, %c0 : i1\n"),
          [](Problem &p) {
            p.attention.softcap = 4.0;
            p.attention.align = Align::BottomRight;
            std::vector<double> lengths, prefix;
            for (int64_t b = 0; b < p.sizes.b; ++b) {
              p.attention.lengths.push_back(p.sizes.skv - 3 * b);
              lengths.push_back(double(p.sizes.skv - 3 * b));
              prefix.push_back(double(4 + 9 * b));
            }
            p.captured.add(DType::i64, {p.sizes.b}, lengths);
            p.captured.add(DType::i64, {p.sizes.b}, prefix);
            p.attention.score = [](double s, int64_t, int64_t, int64_t,
                                   int64_t) {
              return (std::exp2(s) - s * s) / 2.0;
            };
            p.attention.keep = [prefix](int64_t b, int64_t h, int64_t i,
                                        int64_t j) {
              bool inPrefix = j < int64_t(prefix[size_t(b)]);
              return h % 2 == 0 ? inPrefix || j <= i : inPrefix;
            };
          }};
}

const std::vector<Variant> &attn::test::regionVariants() {
  static const std::vector<Variant> variants = {
      blockDiagonal(),
      dilatedWindow(),
      documents(),
      booleanMask(DType::i1),
      booleanMask(DType::i8),
      alibi(DType::f32),
      alibi(DType::bf16),

      clampedScore(),
      bias(),
      relativeBias(DType::f32),
      scoreFunctions(),
      prefixAndScore(),
  };
  return variants;
}

const std::vector<Variant> &attn::test::capturedTypeVariants() {
  static const std::vector<Variant> variants = {
      relativeBias(DType::f16, "extf"), relativeBias(DType::f64, "truncf"),
      dense(DType::bf16, "extf"),       dense(DType::f16, "extf"),
      dense(DType::i8, "sitofp"),       dense(DType::i32, "sitofp"),
      dense(DType::i64, "sitofp")};
  return variants;
}

const Variant &attn::test::variantNamed(const std::string &name) {
  for (const auto *list : {&attributeVariants(), &clauseVariants(),
                           &regionVariants(), &capturedTypeVariants()})
    for (const Variant &variant : *list)
      if (variant.name == name)
        return variant;
  std::cerr << "no variant is named " << name << "\n";
  std::abort();
}
