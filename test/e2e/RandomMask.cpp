// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RandomMask.h. Values are evaluated as 64-bit words that hold the
// sign-extended value of their type; arithmetic wraps.

#include "test/e2e/RandomMask.h"
#include "test/e2e/Variants.h"

#include <algorithm>
#include <random>

using namespace attn;
using namespace attn::test;

namespace {
struct Point {
  int64_t b, h, i, j;
};
using Evaluate = std::function<int64_t(const Point &)>;

struct Type {
  const char *name;
  int width;
};
const Type types[] = {{"index", 64}, {"i64", 64}, {"i32", 32}, {"i8", 8}};

int64_t wrap(uint64_t value, int width) {
  return int64_t(value << (64 - width)) >> (64 - width);
}
uint64_t asUnsigned(int64_t value, int width) {
  return width == 64 ? uint64_t(value)
                     : uint64_t(value) & ((uint64_t(1) << width) - 1);
}
int64_t floorDiv(int64_t x, int64_t y) {
  return x / y - (x % y != 0 && (x % y < 0) != (y < 0));
}

/// An SSA value and what it is worth.
struct Term {
  std::string name;
  Evaluate evaluate;
};

class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed) {}

  Term predicate(int depth) {
    if (depth > 0 && below(3) == 0) {
      Term x = predicate(depth - 1), y = predicate(depth - 1);
      switch (below(3)) {
      case 0:
        return emit(
            "arith.andi " + x.name + ", " + y.name + " : i1",
            [x, y](const Point &p) { return x.evaluate(p) & y.evaluate(p); });
      case 1:
        return emit(
            "arith.ori " + x.name + ", " + y.name + " : i1",
            [x, y](const Point &p) { return x.evaluate(p) | y.evaluate(p); });
      default:
        return emit(
            "arith.xori " + x.name + ", " + y.name + " : i1",
            [x, y](const Point &p) { return x.evaluate(p) ^ y.evaluate(p); });
      }
    }
    const Type &type = types[below(4)];
    Term x = integer(type, depth), y = integer(type, depth - 1);
    static const char *names[] = {"eq",  "ne",  "slt", "sle", "sgt",
                                  "sge", "ult", "ule", "ugt", "uge"};
    size_t n = below(10);
    return emit(std::string("arith.cmpi ") + names[n] + ", " + x.name + ", " +
                    y.name + " : " + type.name,
                [=, width = type.width](const Point &p) -> int64_t {
                  int64_t a = x.evaluate(p), c = y.evaluate(p);
                  uint64_t ua = asUnsigned(a, width), uc = asUnsigned(c, width);
                  const bool results[] = {a == c,
                                          a != c,
                                          a<c, a <= c, a> c,
                                          a >= c,
                                          ua<uc, ua <= uc, ua> uc,
                                          ua >= uc};
                  return results[n];
                });
  }

  std::string text;

private:
  size_t below(size_t bound) { return size_t(random() % bound); }

  Term emit(const std::string &operation, Evaluate evaluate) {
    std::string name = "%v" + std::to_string(count++);
    text += "    " + name + " = " + operation + "\n";
    return {name, std::move(evaluate)};
  }

  Term constant(const Type &type, int64_t value) {
    value = wrap(uint64_t(value), type.width);
    return emit("arith.constant " + std::to_string(value) + " : " + type.name,
                [value](const Point &) { return value; });
  }

  /// A position, or an entry of the table, brought to the type.
  Term leaf(const Type &type) {
    Term term;
    switch (below(6)) {
    case 0:
      return constant(type, int64_t(below(40)) - 8);
    case 1:
      term = {"%b", [](const Point &p) { return p.b; }};
      break;
    case 2:
      term = {"%h", [](const Point &p) { return p.h; }};
      break;
    case 3:
      return table(type);
    case 4:
      term = {"%i", [](const Point &p) { return p.i; }};
      break;
    default:
      term = {"%j", [](const Point &p) { return p.j; }};
    }
    if (type.name == types[0].name)
      return term;
    return emit("arith.index_cast " + term.name + " : index to " + type.name,
                [e = term.evaluate, width = type.width](const Point &p) {
                  return wrap(uint64_t(e(p)), width);
                });
  }

  /// %table has 64 entries, t * t % 23; reads beyond it are clamped.
  Term table(const Type &type) {
    bool byRow = below(2) == 0;
    Term read = emit(std::string("tensor.extract %table[") +
                         (byRow ? "%i" : "%j") + "] : tensor<?xi32>",
                     [byRow](const Point &p) {
                       int64_t t =
                           std::clamp<int64_t>(byRow ? p.i : p.j, 0, 63);
                       return t * t % 23;
                     });
    std::string cast = type.width == 8 ? "arith.trunci " : "arith.extui ";
    if (type.name == types[0].name)
      cast = "arith.index_castui ";
    if (type.width == 32)
      return read;
    return emit(cast + read.name + " : i32 to " + type.name, read.evaluate);
  }

  Term integer(const Type &type, int depth) {
    if (depth <= 0 || below(4) == 0)
      return leaf(type);
    Term x = integer(type, depth - 1);
    int width = type.width;
    auto ofConstant = [&](const char *op, int64_t value, auto evaluate) {
      Term y = constant(type, value);
      return emit(std::string("arith.") + op + " " + x.name + ", " + y.name +
                      " : " + type.name,
                  [=, e = x.evaluate](const Point &p) {
                    return wrap(uint64_t(evaluate(e(p))), width);
                  });
    };
    int64_t divisor = int64_t(1 + below(20));
    int64_t shift = int64_t(below(5));
    switch (below(16)) {
    case 0:
      return ofConstant("divsi", divisor,
                        [=](int64_t a) { return a / divisor; });
    case 1:
      return ofConstant("floordivsi", divisor,
                        [=](int64_t a) { return floorDiv(a, divisor); });
    case 2:
      return ofConstant("ceildivsi", divisor,
                        [=](int64_t a) { return -floorDiv(-a, divisor); });
    case 3:
      return ofConstant("remsi", divisor,
                        [=](int64_t a) { return a % divisor; });
    case 4:
      return ofConstant("divui", divisor, [=](int64_t a) {
        return int64_t(asUnsigned(a, width) / uint64_t(divisor));
      });
    case 5:
      return ofConstant("remui", divisor, [=](int64_t a) {
        return int64_t(asUnsigned(a, width) % uint64_t(divisor));
      });
    case 6:
      return ofConstant("shli", shift, [=](int64_t a) {
        return int64_t(uint64_t(a) << shift);
      });
    case 7:
      return ofConstant("shrsi", shift, [=](int64_t a) { return a >> shift; });
    case 8:
      return ofConstant("shrui", shift, [=](int64_t a) {
        return int64_t(asUnsigned(a, width) >> shift);
      });
    case 9: {
      Term c = predicate(depth - 1), y = integer(type, depth - 1);
      return emit("arith.select " + c.name + ", " + x.name + ", " + y.name +
                      " : " + type.name,
                  [=](const Point &p) {
                    return c.evaluate(p) ? x.evaluate(p) : y.evaluate(p);
                  });
    }
    default:
      return binary(type, x, integer(type, depth - 1));
    }
  }

  Term binary(const Type &type, const Term &x, const Term &y) {
    static const char *names[] = {"addi",  "subi",  "muli",  "andi",
                                  "ori",   "xori",  "minsi", "maxsi",
                                  "minui", "maxui", "subi",  "addi"};
    size_t n = below(12);
    return emit(std::string("arith.") + names[n] + " " + x.name + ", " +
                    y.name + " : " + type.name,
                [=, width = type.width](const Point &p) {
                  int64_t a = x.evaluate(p), c = y.evaluate(p);
                  uint64_t ua = uint64_t(a), uc = uint64_t(c);
                  bool less = asUnsigned(a, width) < asUnsigned(c, width);
                  const uint64_t results[] = {
                      ua + uc,
                      ua - uc,
                      ua * uc,
                      ua & uc,
                      ua | uc,
                      ua ^ uc,
                      uint64_t(std::min(a, c)),
                      uint64_t(std::max(a, c)),
                      less ? ua : uc,
                      less ? uc : ua,
                      ua - uc,
                      ua + uc,
                  };
                  return wrap(results[n], width);
                });
  }

  std::mt19937_64 random;
  int count = 0;
};
} // namespace

Variant attn::test::randomMask(uint64_t seed) {
  Generator generator(seed);
  Term kept = generator.predicate(3);
  // Positions that fit 32 bits, that do not, and that are negative.
  static const int64_t offsets[] = {0, -40, 100, 2147483600, 5000000000};
  int64_t offset = offsets[seed % 5];
  return {"random_mask", ", %p: index, %table: tensor<?xi32>", "",
          "offset(%p : index) key_offset(%p : index) keep {\n" + keepArguments +
              generator.text + "    attn.yield " + kept.name + " : i1\n  }",
          [kept, offset](Problem &p) {
            p.attention.align = oracle::Align::Offset;
            p.attention.offset = {offset};
            p.attention.keyOffset = offset;
            p.attention.keep = [kept](int64_t b, int64_t h, int64_t i,
                                      int64_t j) {
              return kept.evaluate({b, h, i, j}) != 0;
            };
            std::vector<double> table;
            for (int64_t t = 0; t < 64; ++t)
              table.push_back(double(t * t % 23));
            p.captured.add(offset);
            p.captured.add(DType::i32, {64}, table);
          }};
}
