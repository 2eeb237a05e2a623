// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ProductChains.h.

#include "test/e2e/ProductChains.h"

#include <algorithm>
#include <cmath>

using namespace attn;
using namespace attn::test;

static const std::string kKeep = R"(
      %i = linalg.index ROW : index
      %j = linalg.index KEY : index
      %keep = arith.cmpi sge, %i, %j : index
      %zero = arith.constant 0.0 : T
)";
static const std::string kDistance = R"(
      %n = arith.subi %i, %j : index
      %ni = arith.index_cast %n : index to i64
      %nf = arith.sitofp %ni : i64 to T
)";

const std::vector<Weights> &attn::test::allWeights() {
  using F = double;
  using I = int64_t;
  static const std::vector<Weights> all = {
      {"none", "", [](F s, I, I, F, F, F) { return s; }, true, false},
      {"scaled", "%h = arith.constant -0.75 : T\n %y = arith.mulf %h, %s : T",
       [](F s, I, I, F, F, F) { return -0.75 * s; }, true, false},
      {"causal", kKeep + "%y = arith.select %keep, %s, %zero : T",
       [](F s, I i, I j, F, F, F) { return j <= i ? s : 0; }},
      {"causal_number",
       kKeep + "%one = arith.uitofp %keep : i1 to T\n"
               "%y = arith.mulf %s, %one : T",
       [](F s, I i, I j, F, F, F) { return j <= i ? s : 0; }},
      {"token_decay",
       kKeep + "%d = arith.subf %ci, %cj : T\n %e = math.exp %d : T\n"
               "%t = arith.mulf %s, %e : T\n"
               "%y = arith.select %keep, %t, %zero : T",
       [](F s, I i, I j, F ci, F cj, F) {
         return j <= i ? s * std::exp(ci - cj) : 0;
       }},
      {"power",
       kKeep + kDistance +
           "%g = arith.constant 0.9375 : T\n"
           "%e = math.powf %g, %nf : T\n %t = arith.mulf %s, %e : T\n"
           "%y = arith.select %keep, %t, %zero : T",
       [](F s, I i, I j, F, F, F) {
         return j <= i ? s * std::pow(0.9375, double(i - j)) : 0;
       }},
      {"slope",
       kKeep + kDistance +
           "%g = arith.constant -0.125 : T\n"
           "%x = arith.mulf %g, %nf : T\n %e = math.exp %x : T\n"
           "%t = arith.mulf %s, %e : T\n"
           "%y = arith.select %keep, %t, %zero : T",
       [](F s, I i, I j, F, F, F) {
         return j <= i ? s * std::exp(-0.125 * double(i - j)) : 0;
       }},
      // From here on the order that was written is the only one.
      {"exponential", "%y = math.exp %s : T",
       [](F s, I, I, F, F, F) { return std::exp(s); }, false, false},
      {"relu",
       "%zero = arith.constant 0.0 : T\n"
       "%y = arith.maximumf %s, %zero : T",
       [](F s, I, I, F, F, F) { return std::max(s, 0.0); }, false, false},
      {"square", "%y = arith.mulf %s, %s : T",
       [](F s, I, I, F, F, F) { return s * s; }, false, false},
      {"bias", "%y = arith.addf %s, %w : T",
       [](F s, I, I, F, F, F w) { return s + w; }, false, false},
      {"dropout", "%y = arith.mulf %s, %w : T",
       [](F s, I, I, F, F, F w) { return s * w; }, false, false},
      {"normaliser", "%y = arith.divf %s, %ci : T",
       [](F s, I, I, F ci, F, F) { return s / ci; }, false},
      {"alibi", kKeep + kDistance + "%y = arith.subf %s, %nf : T",
       [](F s, I i, I j, F, F, F) { return s - double(i - j); }, false},
      {"window",
       kKeep + "%n = arith.subi %i, %j : index\n"
               "%five = arith.constant 5 : index\n"
               "%near = arith.cmpi slt, %n, %five : index\n"
               "%both = arith.andi %keep, %near : i1\n"
               "%y = arith.select %both, %s, %zero : T",
       [](F s, I i, I j, F, F, F) { return j <= i && i - j < 5 ? s : 0; },
       false},
      {"strict",
       kKeep + "%less = arith.cmpi sgt, %i, %j : index\n"
               "%y = arith.select %less, %s, %zero : T",
       [](F s, I i, I j, F, F, F) { return j < i ? s : 0; }, false},
      {"later_keys", kKeep + "%y = arith.select %keep, %zero, %s : T",
       [](F s, I i, I j, F, F, F) { return j <= i ? 0 : s; }, false},
      {"decay_of_all",
       "%d = arith.subf %ci, %cj : T\n %e = math.exp %d : T\n"
       "%y = arith.mulf %s, %e : T",
       [](F s, I, I, F ci, F cj, F) { return s * std::exp(ci - cj); }, false},
  };
  return all;
}

const Weights &attn::test::weightsOf(const std::string &name) {
  for (const Weights &weights : allWeights())
    if (weights.name == name)
      return weights;
  throw std::out_of_range(name);
}

using Dims = std::vector<int64_t>;

static std::string letters(const Chain &c, const std::string &two, bool swap) {
  std::string text;
  for (size_t x = 0; x < c.batch.size(); ++x)
    text += std::string(1, char('x' + x)) + ", ";
  return text + two[size_t(swap)] + ", " + two[size_t(!swap)];
}

static Dims dimsOf(const Chain &c, int64_t first, int64_t second, bool swap) {
  Dims dims = c.batch;
  dims.push_back(swap ? second : first);
  dims.push_back(swap ? first : second);
  return dims;
}

static std::string typeOf(const Dims &dims, DType dtype) {
  std::string text = "tensor<";
  for (int64_t size : dims)
    text += std::to_string(size) + "x";
  return text + name(dtype) + ">";
}

static void replaceAll(std::string &text, const std::string &from,
                       const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
}

/// linalg.contract of tensors named x and y, whose dimensions are `maps`.
static std::string contract(const Chain &c, const std::string &result,
                            const std::string &loops,
                            const std::string (&maps)[3],
                            const std::string (&names)[3],
                            const std::string (&types)[3]) {
  std::string all = letters(c, "##", false);
  replaceAll(all, "#, #", loops);
  std::string text = "  " + result + " = linalg.contract indexing_maps = [";
  for (int k = 0; k < 3; ++k)
    text += (k ? ", affine_map<(" : "affine_map<(") + all + ") -> (" + maps[k] +
            ")>";
  return text + "] ins(" + names[0] + ", " + names[1] + " : " + types[0] +
         ", " + types[1] + ") outs(" + names[2] + " : " + types[2] + ") -> " +
         types[2] + "\n";
}

std::string attn::test::irFor(const Chain &c) {
  std::string sum = name(c.sum);
  std::string a = typeOf(dimsOf(c, c.n, c.m, c.a), c.operand);
  std::string b = typeOf(dimsOf(c, c.p, c.m, c.b), c.rightType());
  std::string v = typeOf(dimsOf(c, c.p, c.dv, c.v), c.valueType());
  std::string o = typeOf(dimsOf(c, c.n, c.dv, c.o), c.outType());
  std::string s = typeOf(dimsOf(c, c.n, c.p, c.scores), c.sum);
  std::string w = typeOf(dimsOf(c, c.n, c.p, false), c.sum);
  Dims perToken = c.batch;
  perToken.push_back(c.n);
  std::string token = typeOf(perToken, c.sum);
  std::string text = "func.func @main(%a: " + a + ", %b: " + b + ", %v: " + v +
                     ", %c: " + token + ", %m: " + w + ") -> " + o + " {\n";
  text += "  %sz = arith.constant dense<0.0> : " + s + "\n";
  text += "  %wz = arith.constant dense<0.0> : " + w + "\n";
  text += "  %oz = arith.constant dense<0.0> : " + o + "\n";
  text += contract(c, "%p", "i, j, k",
                   {letters(c, "ik", c.a), letters(c, "jk", c.b),
                    letters(c, "ij", c.scores)},
                   {"%a", "%b", "%sz"}, {a, b, s});
  std::string read = "%p", readType = s;
  bool isRead = c.scores;
  if (!c.weights.body.empty()) {
    std::string body = c.weights.body;
    replaceAll(body, "ROW", std::to_string(c.batch.size()));
    replaceAll(body, "KEY", std::to_string(c.batch.size() + 1));
    replaceAll(body, ": T", ": " + sum);
    replaceAll(body, "to T", "to " + sum);
    std::string loops = letters(c, "ij", false);
    std::string head = "affine_map<(" + loops + ") -> (";
    std::string row = loops.substr(0, loops.size() - 3);
    std::string key = loops.substr(0, loops.size() - 4) + "j";
    // c has one entry per row.
    bool hasTokens = c.weights.isSquare;
    std::string iterators;
    for (size_t k = 0; k < c.batch.size() + 2; ++k)
      iterators += std::string(k ? ", " : "") + "\"parallel\"";
    text += "  %y0 = linalg.generic {indexing_maps = [" + head +
            letters(c, "ij", c.scores) + ")>, " +
            (hasTokens ? head + row + ")>, " + head + key + ")>, " : "") +
            head + loops + ")>, " + head + loops + ")>], iterator_types = [" +
            iterators + "]}\n      ins(%p, " + (hasTokens ? "%c, %c, " : "") +
            "%m : " + s + ", " +
            (hasTokens ? token + ", " + token + ", " : "") + w +
            ") outs(%wz : " + w + ") {\n    ^bb0(%s: " + sum + ", " +
            (hasTokens ? "%ci: " + sum + ", %cj: " + sum + ", " : "") +
            "%w: " + sum + ", %out: " + sum + "):\n      " + body +
            "\n      linalg.yield %y : " + sum + "\n    } -> " + w + "\n";
    read = "%y0";
    readType = w;
    isRead = false;
  }
  text += contract(
      c, "%r", "i, d, j",
      {letters(c, "ij", isRead), letters(c, "jd", c.v), letters(c, "id", c.o)},
      {read, "%v", "%oz"}, {readType, v, o});
  return text + "  return %r : " + o + "\n}\n";
}

static int64_t count(const Dims &dims) {
  int64_t product = 1;
  for (int64_t size : dims)
    product *= size;
  return product;
}

Operands::Operands(const Chain &c) : c(c) {
  add(a, c.operand, dimsOf(c, c.n, c.m, c.a), 1);
  add(b, c.rightType(), dimsOf(c, c.p, c.m, c.b), 2);
  add(v, c.valueType(), dimsOf(c, c.p, c.dv, c.v), 3);
  Dims perToken = c.batch;
  perToken.push_back(c.n);
  add(tokens, c.sum, perToken, 4);
  add(pairs, c.sum, dimsOf(c, c.n, c.p, false), 5);
}

void Operands::add(std::vector<double> &values, DType dtype, const Dims &dims,
                   uint64_t seed) {
  values = randomValues(size_t(count(dims)), seed);
  for (double &value : values)
    value = roundTo(dtype, value);
  tensors.push_back(makeTensor(dtype, dims, values));
}

std::vector<Value> Operands::inputs() const {
  std::vector<Value> all;
  for (const auto &tensor : tensors)
    all.push_back(tensor->view());
  return all;
}

static double at(const std::vector<double> &values, int64_t x, int64_t rows,
                 int64_t columns, int64_t row, int64_t column, bool swap) {
  return values[size_t(x * rows * columns +
                       (swap ? column * rows + row : row * columns + column))];
}

std::vector<double> Operands::expected() const {
  int64_t entries = count(c.batch);
  std::vector<double> result(size_t(entries * c.n * c.dv));
  for (int64_t x = 0; x < entries; ++x)
    for (int64_t i = 0; i < c.n; ++i)
      for (int64_t j = 0; j < c.p; ++j) {
        double s = 0;
        for (int64_t k = 0; k < c.m; ++k)
          s += at(a, x, c.n, c.m, i, k, c.a) * at(b, x, c.p, c.m, j, k, c.b);
        s = c.weights.apply(s, i, j, tokens[size_t(x * c.n + i)],
                            j < c.n ? tokens[size_t(x * c.n + j)] : 0,
                            at(pairs, x, c.n, c.p, i, j, false));
        for (int64_t d = 0; d < c.dv; ++d)
          result[size_t(x * c.n * c.dv + (c.o ? d * c.n + i : i * c.dv + d))] +=
              s * at(v, x, c.p, c.dv, j, d, c.v);
      }
  return result;
}
