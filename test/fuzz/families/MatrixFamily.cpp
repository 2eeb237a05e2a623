// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of matrices as linalg.matmul, batch_matmul, contract and generic, of
// operands with their dimensions in any order, between elementwise operations.

#include "test/fuzz/families/ProductsFamily.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <tuple>

using namespace attn;
using namespace attn::fuzz;

namespace {
/// Sizes of the loops, which have letters: m, n and k, and x and y of a batch.
using Extents = std::map<char, int64_t>;

/// C[..] += sum_k A[..] B[..], the dimensions of each being letters.
struct Product {
  std::string op;
  std::string loops, a, b, c;
  DType in = DType::f32, out = DType::f32;
  bool isFilled = false; // C is 0, else an operand
  /// What is done to A before and to C after; empty for nothing.
  std::string before, after;
  bool returnsBoth = false; // C beside what comes after
  Extents known;
};

/// An operation on single elements, of one type.
struct Step {
  const char *name, *text; // %e is the element, %v one of the last dimension
  double (*apply)(double e, double v);
};
const Step steps[] = {
    {"relu",
     "    %zero = arith.constant 0.0 : T\n"
     "    %r = arith.maximumf %e, %zero : T\n",
     [](double e, double) { return std::max(e, 0.0); }},
    {"half",
     "    %half = arith.constant -0.5 : T\n"
     "    %r = arith.mulf %half, %e : T\n",
     [](double e, double) { return -0.5 * e; }},
    {"bias", "    %r = arith.addf %e, %v : T\n",
     [](double e, double v) { return e + v; }},
    {"gate", "    %r = arith.mulf %v, %e : T\n",
     [](double e, double v) { return e * v; }},
    {"absolute", "    %r = math.absf %e : T\n",
     [](double e, double) { return std::fabs(e); }},
    {"tanh", "    %r = math.tanh %e : T\n",
     [](double e, double) { return std::tanh(e); }},
};
} // namespace

static const Step &stepNamed(const std::string &name) {
  return *std::find_if(std::begin(steps), std::end(steps),
                       [&](const Step &step) { return name == step.name; });
}

static void replaceAll(std::string &text, const std::string &from,
                       const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
}

//===- the draw -----------------------------------------------------------===//

static Extents drawExtents(Random &random, const std::string &loops,
                           const Extents *known) {
  while (true) {
    Extents e;
    int64_t work = 1;
    for (char letter : loops) {
      bool isBatch = letter == 'x' || letter == 'y';
      e[letter] = drawSize(random, isBatch ? 3 : 130, true);
      if (known && known->at(letter) >= 0)
        e[letter] = known->at(letter);
      work *= std::max<int64_t>(e[letter], 1);
    }
    if (work <= 300000)
      return e;
  }
}

static Product drawProduct(Random &random) {
  Product p;
  std::tie(p.in, p.out) =
      pick<std::pair<DType, DType>>(random, {{DType::f32, DType::f32},
                                             {DType::f32, DType::f32},
                                             {DType::bf16, DType::f32},
                                             {DType::bf16, DType::bf16},
                                             {DType::f16, DType::f32},
                                             {DType::f16, DType::f16},
                                             {DType::f64, DType::f64},
                                             {DType::bf16, DType::f64},
                                             {DType::f32, DType::f64}});
  p.op = pick<std::string>(random,
                           {"matmul", "batch_matmul", "contract", "generic"});
  std::string batch;
  if (p.op == "batch_matmul")
    batch = "x";
  else if (p.op != "matmul")
    batch = pick<std::string>(random, {"", "x", "xy"});
  p.loops = batch + "mnk";
  bool isFree = p.op == "contract" || p.op == "generic";
  p.a = batch + (random.oneIn(2) ? "km" : "mk");
  p.b = (isFree && random.oneIn(4) ? "" : batch) +
        (random.oneIn(2) ? "nk" : "kn");
  p.c = batch + (isFree && random.oneIn(3) ? "nm" : "mn");
  if (p.op == "generic" && random.oneIn(3))
    for (std::string *letters : {&p.a, &p.b, &p.c}) {
      std::vector<char> order(letters->begin(), letters->end());
      shuffle(random, order);
      letters->assign(order.begin(), order.end());
    }
  p.isFilled = random.oneIn(2);
  if (random.oneIn(3))
    p.before = steps[random.below(5)].name;
  if (random.oneIn(3))
    p.after = steps[random.below(6)].name;
  p.returnsBoth = random.oneIn(3);
  p.known = drawExtents(random, p.loops, nullptr);
  size_t mode = random.below(3);
  for (auto &[letter, size] : p.known)
    if (mode == 0 || (mode == 1 && random.oneIn(2)))
      size = -1;
  return p;
}

//===- text ---------------------------------------------------------------===//

static std::vector<int64_t> sizesOf(const std::string &letters,
                                    const Extents &e) {
  std::vector<int64_t> sizes;
  for (char letter : letters)
    sizes.push_back(e.at(letter));
  return sizes;
}

static std::string listOf(const std::string &letters) {
  std::string list;
  for (char letter : letters)
    list += (list.empty() ? "" : ", ") + std::string(1, letter);
  return list;
}

static std::string mapOf(const std::string &loops, const std::string &letters) {
  return "affine_map<(" + listOf(loops) + ") -> (" + listOf(letters) + ")>";
}

/// A generic that does `step` to %from, whose result has the name %to.
static std::string elementwise(const std::string &step, const std::string &from,
                               const std::string &to, const std::string &vector,
                               const std::string &letters, const Extents &known,
                               DType dtype) {
  std::string type = typeText(sizesOf(letters, known), dtype);
  std::string last = letters.substr(letters.size() - 1);
  std::string vectorType = typeText(sizesOf(last, known), dtype);
  std::string body = stepNamed(step).text;
  replaceAll(body, ": T", std::string(": ") + name(dtype));
  std::string t = name(dtype), iterators, same = mapOf(letters, letters);
  for (size_t n = 0; n < letters.size(); ++n)
    iterators += n ? ", \"parallel\"" : "\"parallel\"";
  return "  " + to + " = linalg.generic {indexing_maps = [" + same + ", " +
         mapOf(letters, last) + ", " + same + "], iterator_types = [" +
         iterators + "]}\n      ins(" + from + ", " + vector + " : " + type +
         ", " + vectorType + ") outs(" + from + " : " + type +
         ") {\n  ^bb0(%e: " + t + ", %v: " + t + ", %old: " + t + "):\n" +
         body + "    linalg.yield %r : " + t + "\n  } -> " + type + "\n";
}

static std::string productText(const Product &p, const std::string &left,
                               const std::string &out) {
  std::string a = typeText(sizesOf(p.a, p.known), p.in);
  std::string b = typeText(sizesOf(p.b, p.known), p.in);
  std::string c = typeText(sizesOf(p.c, p.known), p.out);
  std::string maps = "[" + mapOf(p.loops, p.a) + ", " + mapOf(p.loops, p.b) +
                     ", " + mapOf(p.loops, p.c) + "]";
  std::string operands = " ins(" + left + ", %b : " + a + ", " + b + ") outs(" +
                         out + " : " + c + ")";
  if (p.op != "generic") {
    bool isPlain = p.op != "contract" && p.a.back() == 'k' && p.b.back() == 'n';
    return "  %c1 = linalg." + p.op +
           (isPlain ? "" : " indexing_maps = " + maps) + operands + " -> " + c +
           "\n";
  }
  std::string iterators, in = name(p.in), t = name(p.out), x = "%x", y = "%y";
  for (char letter : p.loops)
    iterators += std::string(iterators.empty() ? "" : ", ") +
                 (letter == 'k' ? "\"reduction\"" : "\"parallel\"");
  std::string body;
  if (p.in != p.out) {
    body = "    %xe = arith.extf %x : " + in + " to " + t +
           "\n    %ye = arith.extf %y : " + in + " to " + t + "\n";
    x = "%xe", y = "%ye";
  }
  return "  %c1 = linalg.generic {indexing_maps = " + maps +
         ", iterator_types = [" + iterators + "]}\n     " + operands +
         " {\n  ^bb0(%x: " + in + ", %y: " + in + ", %z: " + t + "):\n" + body +
         "    %p = arith.mulf " + x + ", " + y + " : " + t +
         "\n    %s = arith.addf %z, %p : " + t +
         "\n    linalg.yield %s : " + t + "\n  } -> " + c + "\n";
}

static std::string textOf(const Product &p) {
  std::string a = typeText(sizesOf(p.a, p.known), p.in);
  std::string b = typeText(sizesOf(p.b, p.known), p.in);
  std::string c = typeText(sizesOf(p.c, p.known), p.out);
  std::string u = typeText(sizesOf(p.a.substr(p.a.size() - 1), p.known), p.in);
  std::string w = typeText(sizesOf(p.c.substr(p.c.size() - 1), p.known), p.out);
  bool both = p.returnsBoth && !p.after.empty();
  std::string types = both ? c + ", " + c : c;
  std::string text = "func.func @main(%a: " + a + ", %b: " + b + ", %c: " + c +
                     ", %u: " + u + ", %w: " + w + ") -> (" + types + ") {\n";
  std::string left = "%a", out = "%c";
  if (!p.before.empty()) {
    text += elementwise(p.before, "%a", "%a1", "%u", p.a, p.known, p.in);
    left = "%a1";
  }
  if (p.isFilled) {
    std::string t = name(p.out);
    text += "  %fill = arith.constant 0.0 : " + t +
            "\n  %filled = linalg.fill ins(%fill : " + t + ") outs(%c : " + c +
            ") -> " + c + "\n";
    out = "%filled";
  }
  text += productText(p, left, out);
  std::string result = "%c1";
  if (!p.after.empty()) {
    text += elementwise(p.after, "%c1", "%c2", "%w", p.c, p.known, p.out);
    result = "%c2";
  }
  return text + "  return " + (both ? "%c1, " : "") + result + " : " + types +
         "\n}\n";
}

//===- what is wanted -----------------------------------------------------===//

namespace {
struct Operands {
  std::vector<double> a, b, c, u, w;
};
} // namespace

static std::vector<double> applyStep(const std::string &step,
                                     std::vector<double> values,
                                     const std::vector<double> &vector) {
  if (!step.empty())
    for (size_t n = 0; n < values.size(); ++n)
      values[n] = stepNamed(step).apply(values[n], vector[n % vector.size()]);
  return values;
}

/// C, and what comes after it.
static std::vector<std::vector<double>>
multiply(const Product &p, const Extents &e, const Operands &x) {
  auto stridesOf = [&](const std::string &letters) {
    Extents strides;
    int64_t stride = 1;
    for (size_t n = letters.size(); n > 0; --n) {
      strides[letters[n - 1]] = stride;
      stride *= e.at(letters[n - 1]);
    }
    return strides;
  };
  Extents sa = stridesOf(p.a), sb = stridesOf(p.b), sc = stridesOf(p.c);
  std::vector<double> a = applyStep(p.before, x.a, x.u);
  std::vector<double> c = x.c;
  if (p.isFilled)
    std::fill(c.begin(), c.end(), 0.0);
  int64_t total = 1;
  for (char letter : p.loops)
    total *= e.at(letter);
  for (int64_t point = 0; point < total; ++point) {
    int64_t rest = point, ia = 0, ib = 0, ic = 0;
    for (char letter : p.loops) {
      int64_t index = rest % e.at(letter);
      rest /= e.at(letter);
      ia += index * sa[letter];
      ib += index * sb[letter];
      ic += index * sc[letter];
    }
    c[size_t(ic)] += a[size_t(ia)] * x.b[size_t(ib)];
  }
  return {c, applyStep(p.after, c, x.w)};
}

static RandomCall makeCall(Random &random, const Product &p) {
  Extents e = drawExtents(random, p.loops, &p.known);
  auto operands = std::make_shared<Operands>();
  RandomCall call;
  auto add = [&](std::vector<double> &values, const std::string &letters,
                 DType dtype) {
    std::vector<int64_t> sizes = sizesOf(letters, e);
    values = drawValues(random, dtype, size_t(countOf(sizes)), -1.0, 1.0);
    call.arguments.add(dtype, sizes, values);
  };
  add(operands->a, p.a, p.in);
  add(operands->b, p.b, p.in);
  add(operands->c, p.c, p.out);
  add(operands->u, p.a.substr(p.a.size() - 1), p.in);
  add(operands->w, p.c.substr(p.c.size() - 1), p.out);
  for (auto [letter, size] : e)
    call.sizes += std::string(1, letter) + " " + std::to_string(size) + " ";
  std::vector<std::vector<double>> results = multiply(p, e, *operands);
  // What comes before the product is rounded to the type of its operands.
  DType precision = p.before.empty() ? p.out : p.in;
  uint64_t seed = random.next();
  for (size_t n : {0, 1}) {
    bool isLast = n == 1;
    if (isLast ? p.after.empty() : !p.after.empty() && !p.returnsBoth)
      continue;
    Wanted w;
    w.name = isLast ? "result" : "product";
    w.dtype = p.out;
    w.precision = precision;
    w.sizes = sizesOf(p.c, e);
    w.values = results[n];
    w.wobble = [=, values = results[n]] {
      return wobbleOf(seed, values, [&](Random &random) {
        Operands moved = *operands;
        for (std::vector<double> *list :
             {&moved.a, &moved.b, &moved.c, &moved.u, &moved.w})
          disturb(random, *list, roundingOf(precision));
        return multiply(p, e, moved)[n];
      });
    };
    call.wanted.push_back(std::move(w));
  }
  return call;
}

RandomProgram attn::fuzz::makeMatrixProduct(Random &random) {
  Product p = drawProduct(random);
  RandomProgram program;
  program.dtype = p.in;
  program.text = textOf(p);
  program.options = "no options";
  for (int n = 0; n < 5; ++n)
    program.calls.push_back(makeCall(random, p));
  return program;
}
