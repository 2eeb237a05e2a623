// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random score regions. All that they compute is smooth and bounded, so that
// rounding does not decide what a result is; conditions read positions only.

#include "test/fuzz/families/SoftmaxFamily.h"

#include <algorithm>
#include <cmath>
#include <memory>

using namespace attn;
using namespace attn::fuzz;
using test::Problem;

namespace {
/// A captured tensor. Each call has elements of its own, and sizes for those
/// that are -1 in the text.
struct Capture {
  DType dtype;
  std::vector<int64_t> sizes;
  std::vector<double> values;
};

struct Point {
  double s;
  int64_t b, h, i, j;
  const std::vector<Capture> &captures;
};

struct Number {
  std::string name;
  std::function<double(const Point &)> evaluate;
};
struct Position {
  std::string name;
  std::function<int64_t(const Point &)> evaluate;
};

class Generator {
public:
  Generator(Random &random, SoftmaxClauses &c)
      : random(random), c(c), t(name(test::logitType(c.dtype))) {}

  Number number(int depth) {
    if (depth == 0)
      return leaf();
    Number x = number(depth - 1);
    auto one = [&](const std::string &op, double (*f)(double)) {
      return emit(op + " " + x.name + " : " + t,
                  [=](const Point &p) { return f(x.evaluate(p)); });
    };
    switch (random.below(12)) {
    case 0:
      return one("math.tanh", [](double a) { return std::tanh(a); });
    case 1:
      return one("arith.negf", [](double a) { return -a; });
    case 2: {
      Number more = atLeastOne(x);
      return emit("math.sqrt " + more.name + " : " + t,
                  [=](const Point &p) { return std::sqrt(more.evaluate(p)); });
    }
    case 3: {
      Number more = atLeastOne(x);
      return emit("math.log " + more.name + " : " + t,
                  [=](const Point &p) { return std::log(more.evaluate(p)); });
    }
    case 4: {
      Number more = atLeastOne(x), y = number(depth - 1);
      return emit(
          "arith.divf " + y.name + ", " + more.name + " : " + t,
          [=](const Point &p) { return y.evaluate(p) / more.evaluate(p); });
    }
    case 5: {
      Number factor = constant();
      return emit(
          "arith.mulf " + x.name + ", " + factor.name + " : " + t,
          [=](const Point &p) { return x.evaluate(p) * factor.evaluate(p); });
    }
    case 6: {
      Number y = number(depth - 1);
      std::string condition = predicate();
      auto holds = lastPredicate;
      return emit("arith.select " + condition + ", " + x.name + ", " + y.name +
                      " : " + t,
                  [=](const Point &p) {
                    return holds(p) ? x.evaluate(p) : y.evaluate(p);
                  });
    }
    default:
      return two(x, number(depth - 1));
    }
  }

  /// -inf, a mask, for some pairs.
  Number masked(const Number &x) {
    std::string condition = predicate();
    auto holds = lastPredicate;
    std::string minus =
        emit("arith.constant " +
                 std::string(t == "f64" ? "0xFFF0000000000000" : "0xFF800000") +
                 " : " + t,
             {})
            .name;
    return emit(
        "arith.select " + condition + ", " + minus + ", " + x.name + " : " + t,
        [=](const Point &p) { return holds(p) ? -INFINITY : x.evaluate(p); });
  }

  std::string text;
  std::vector<Capture> captures;

private:
  std::string fresh() { return "%x" + std::to_string(count++); }
  Number emit(const std::string &operation,
              std::function<double(const Point &)> evaluate) {
    std::string result = fresh();
    text += "    " + result + " = " + operation + "\n";
    return {result, std::move(evaluate)};
  }

  Number two(const Number &x, const Number &y) {
    static const char *names[] = {"arith.addf",     "arith.subf",
                                  "arith.maximumf", "arith.minimumf",
                                  "arith.maxnumf",  "arith.minnumf"};
    size_t n = random.below(6);
    return emit(std::string(names[n]) + " " + x.name + ", " + y.name + " : " +
                    t,
                [=](const Point &p) {
                  double a = x.evaluate(p), e = y.evaluate(p);
                  const double results[] = {a + e,          a - e,
                                            std::max(a, e), std::min(a, e),
                                            std::max(a, e), std::min(a, e)};
                  return results[n];
                });
  }

  Number atLeastOne(const Number &x) {
    Number size = emit("math.absf " + x.name + " : " + t, [=](const Point &p) {
      return std::fabs(x.evaluate(p));
    });
    std::string one = emit("arith.constant 1.0 : " + t, {}).name;
    return emit("arith.addf " + size.name + ", " + one + " : " + t,
                [=](const Point &p) { return size.evaluate(p) + 1.0; });
  }

  Number constant() {
    double value = double(int64_t(random.below(17)) - 8) / 8.0;
    return emit("arith.constant " + std::to_string(value) + " : " + t,
                [value](const Point &) { return value; });
  }

  Position position() {
    switch (random.below(c.hasPosition ? 6 : 3)) {
    case 0:
      return {"%b", [](const Point &p) { return p.b; }};
    case 1:
      return {"%h", [](const Point &p) { return p.h; }};
    case 2:
      return {"%j", [](const Point &p) { return p.j; }};
    case 3:
      return {"%i", [](const Point &p) { return p.i; }};
    default: {
      std::string result = fresh();
      text += "    " + result + " = arith.subi %i, %j : index\n";
      return {result, [](const Point &p) { return p.i - p.j; }};
    }
    }
  }

  std::string predicate() {
    Position x = position(), y = position();
    static const char *names[] = {"slt", "sge", "eq"};
    size_t n = random.below(3);
    lastPredicate = [=](const Point &p) {
      int64_t a = x.evaluate(p), e = y.evaluate(p);
      return n == 0 ? a < e : n == 1 ? a >= e : a == e;
    };
    std::string result = fresh();
    text += "    " + result + " = arith.cmpi " + names[n] + ", " + x.name +
            ", " + y.name + " : index\n";
    return result;
  }

  Number leaf() {
    switch (random.below(5)) {
    case 0:
      return constant();
    case 1:
      return captured();
    case 2:
      return distance();
    default:
      return {"%s", [](const Point &p) { return p.s; }};
    }
  }

  /// A position modulo 13, by an eighth.
  Number distance() {
    Position x = position();
    std::string mod = fresh(), thirteen = fresh(), integer = fresh();
    text += "    " + thirteen + " = arith.constant 13 : index\n    " + mod +
            " = arith.remsi " + x.name + ", " + thirteen + " : index\n    " +
            integer + " = arith.index_cast " + mod + " : index to i32\n";
    Number whole =
        emit("arith.sitofp " + integer + " : i32 to " + t,
             [x](const Point &p) { return double(x.evaluate(p) % 13); });
    std::string eighth = emit("arith.constant 0.125 : " + t, {}).name;
    return emit("arith.mulf " + whole.name + ", " + eighth + " : " + t,
                [=](const Point &p) { return 0.125 * whole.evaluate(p); });
  }

  /// Reads a tensor of any type; an index beyond it reads its edge.
  Number captured() {
    Capture capture;
    capture.dtype =
        pick(random, {DType::f32, DType::f16, DType::bf16, DType::f64,
                      DType::i8, DType::i32, DType::i64});
    std::vector<Position> indices;
    std::string list;
    for (size_t rank = 1 + random.below(3); rank > 0; --rank) {
      capture.sizes.push_back(random.oneIn(2) ? -1 : drawSize(random, 9));
      indices.push_back(position());
      list += (list.empty() ? "" : ", ") + indices.back().name;
    }
    size_t number = captures.size();
    std::string argument = "%cap" + std::to_string(number);
    std::string type = typeText(capture.sizes, capture.dtype);
    c.addArgument(argument, type);
    captures.push_back(capture);
    auto read = [=](const Point &p) {
      const Capture &tensor = p.captures[number];
      int64_t at = 0;
      for (size_t d = 0; d < indices.size(); ++d)
        at = at * tensor.sizes[d] + std::clamp<int64_t>(indices[d].evaluate(p),
                                                        0, tensor.sizes[d] - 1);
      return tensor.values[size_t(at)];
    };
    Number element =
        emit("tensor.extract " + argument + "[" + list + "] : " + type, read);
    std::string from = name(capture.dtype);
    if (from == t)
      return element;
    bool isInteger = from[0] == 'i';
    const char *cast = isInteger       ? "arith.sitofp "
                       : from == "f64" ? "arith.truncf "
                                       : "arith.extf ";
    bool isRounded = from == "f64";
    return emit(
        cast + element.name + " : " + from + " to " + t, [=](const Point &p) {
          return isRounded ? test::roundTo(DType::f32, read(p)) : read(p);
        });
  }

  Random &random;
  SoftmaxClauses &c;
  std::string t; // the type of logits
  int count = 0;
  std::function<bool(const Point &)> lastPredicate;
};
} // namespace

void attn::fuzz::addScore(Random &random, SoftmaxClauses &c) {
  Generator generator(random, c);
  Number result = generator.number(1 + int(random.below(3)));
  if (random.oneIn(6))
    result = generator.masked(result);
  c.clauses.push_back(std::string("score {\n  ^bb0(%s: ") +
                      name(test::logitType(c.dtype)) +
                      ", %b: index, %h: index, %i: index, %j: index):\n" +
                      generator.text + "    attn.yield " + result.name + " : " +
                      name(test::logitType(c.dtype)) + "\n  }");
  c.binds.push_back([captures = generator.captures,
                     evaluate = result.evaluate](Problem &p, Random &random) {
    auto mine = std::make_shared<std::vector<Capture>>(captures);
    for (Capture &capture : *mine) {
      for (int64_t &size : capture.sizes)
        if (size < 0)
          size = drawSize(random, 40);
      bool isInteger = name(capture.dtype)[0] == 'i';
      capture.values =
          drawValues(random, isInteger ? DType::f64 : capture.dtype,
                     size_t(countOf(capture.sizes)), -2.0, 2.0);
      for (double &value : capture.values)
        value = isInteger ? std::round(value) : value;
      p.captured.add(capture.dtype, capture.sizes, capture.values);
    }
    p.attention.score = [=](double s, int64_t b, int64_t h, int64_t i,
                            int64_t j) {
      return evaluate({s, b, h, i, j, *mine});
    };
  });
}
