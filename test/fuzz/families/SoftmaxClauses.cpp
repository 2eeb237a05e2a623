// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each clause of the softmax family, drawn with its operand. See
// SoftmaxFamily.h.

#include "test/e2e/BigBird.h"
#include "test/e2e/RandomMask.h"
#include "test/fuzz/families/SoftmaxFamily.h"

#include <algorithm>
#include <cmath>

using namespace attn;
using namespace attn::fuzz;
using oracle::Align;
using test::Problem;
using test::Sizes;

/// f32 or the type of the operands.
static DType clauseType(Random &random, DType dtype) {
  return random.oneIn(3) ? dtype : DType::f32;
}

static std::vector<double> toValues(const std::vector<int64_t> &list) {
  return {list.begin(), list.end()};
}

//===- numbers ------------------------------------------------------------===//

static void addScale(Random &random, SoftmaxClauses &c) {
  double scale = pick(random, {0.25, -0.5, 1.0, 0.0, 0.0625, 0.7});
  bool isValue = random.oneIn(2);
  if (isValue)
    c.addArgument("%scale", "f32");
  c.clauses.push_back("scale(" +
                      (isValue ? "%scale : f32" : std::to_string(scale)) + ")");
  c.binds.push_back([=](Problem &p, Random &) {
    p.attention.scale = isValue ? test::roundTo(DType::f32, scale) : scale;
    if (isValue)
      p.captured.addFloat(*p.attention.scale);
  });
}

static void addSoftcap(Random &random, SoftmaxClauses &c) {
  double cap = pick(random, {0.5, 3.0, 30.0});
  bool isValue = random.oneIn(2);
  if (isValue)
    c.addArgument("%cap", "f32");
  c.clauses.push_back("softcap(" +
                      (isValue ? "%cap : f32" : std::to_string(cap)) + ")");
  c.binds.push_back([=](Problem &p, Random &) {
    p.attention.softcap = cap;
    if (isValue)
      p.captured.addFloat(cap);
  });
}

//===- positions and masks ------------------------------------------------===//

/// An index, or one for each batch entry, in [from, to).
static void addIndex(Random &random, SoftmaxClauses &c,
                     const std::string &clause, const std::string &argument,
                     std::vector<int64_t> oracle::Attention::*member,
                     int64_t from, int64_t to) {
  bool isIndex = random.oneIn(2);
  DType element = random.oneIn(2) ? DType::i64 : DType::i32;
  std::string type = isIndex ? "index" : typeText({c.known.b}, element);
  c.addArgument(argument, type);
  c.clauses.push_back(clause + "(" + argument + " : " + type + ")");
  c.binds.push_back([=](Problem &p, Random &random) {
    std::vector<int64_t> &list = p.attention.*member;
    for (int64_t b = 0; b < (isIndex ? 1 : p.sizes.b); ++b)
      list.push_back(from + int64_t(random.below(size_t(to - from))));
    if (isIndex)
      p.captured.add(list[0]);
    else
      p.captured.add(element, {p.sizes.b}, toValues(list));
  });
}

static void addPosition(Random &random, SoftmaxClauses &c) {
  c.hasPosition = true;
  Align align = pick(random, {Align::TopLeft, Align::BottomRight,
                              Align::BottomRight, Align::Offset});
  c.binds.push_back([=](Problem &p, Random &) { p.attention.align = align; });
  if (align == Align::Offset)
    addIndex(random, c, "offset", "%p", &oracle::Attention::offset, -12, 60);
  else
    c.clauses.push_back(align == Align::TopLeft ? "align(top_left)"
                                                : "align(bottom_right)");
}

/// #attn.bigbird whose blocks of keys a table names; what reads the table is
/// `table` afterwards, a clause that is written behind those of the mask.
static std::string bigBirdOfTable(Random &random, SoftmaxClauses &c,
                                  std::string &table) {
  test::BigBird m{pick<int64_t>(random, {1, 2, 5, 16}),
                  int64_t(random.below(2)),
                  int64_t(random.below(3)),
                  0,
                  0,
                  0,
                  int64_t(random.below(3))};
  DType element = random.oneIn(2) ? DType::i64 : DType::i32;
  int64_t heads = random.oneIn(3) ? 1 : c.known.hq;
  int64_t blocks = random.oneIn(2) ? -1 : int64_t(1 + random.below(12));
  int64_t entries = int64_t(random.below(4));
  std::string type = typeText({heads, blocks, entries}, element);
  table = "random_blocks(%blocks : " + type + ")";
  c.binds.push_back([=](Problem &p, Random &random) {
    test::BlockTable t{heads == 1 ? 1 : p.sizes.hq,
                       blocks < 0 ? int64_t(1 + random.below(12)) : blocks,
                       entries,
                       {}};
    // Blocks before the first and behind the last are seen by nobody.
    for (int64_t n = 0; n < t.heads * t.blocks * entries; ++n)
      t.data.push_back(int64_t(random.below(size_t(t.blocks + 4))) - 2);
    p.attention.keep = [=](int64_t, int64_t h, int64_t i, int64_t j) {
      return test::keepsBigBird(m, t, h, i, j);
    };
    p.captured.add(element, {t.heads, t.blocks, entries}, toValues(t.data));
  });
  c.addArgument("%blocks", type);
  return "#attn.bigbird<block = " + std::to_string(m.block) +
         ", window = " + std::to_string(m.window) +
         ", global = " + std::to_string(m.global) +
         ", last = " + std::to_string(m.last) + ">";
}

static std::string bigBird(Random &random, SoftmaxClauses &c) {
  test::BigBird m{pick<int64_t>(random, {1, 2, 5, 16}),
                  int64_t(random.below(2)),
                  int64_t(random.below(3)),
                  int64_t(random.below(3)),
                  int64_t(1 + random.below(12)),
                  int64_t(random.below(100))};
  c.binds.push_back([m](Problem &p, Random &) {
    p.attention.keep = [m](int64_t, int64_t h, int64_t i, int64_t j) {
      return test::keepsBigBird(m, h, i, j);
    };
  });
  auto text = [](int64_t value) { return std::to_string(value); };
  return "#attn.bigbird<block = " + text(m.block) +
         ", window = " + text(m.window) + ", global = " + text(m.global) +
         ", random = " + text(m.random) + ", blocks = " + text(m.blocks) +
         ", seed = " + text(m.seed) + ">";
}

/// Mask attributes; `mayKeep` where no keep region follows.
static void addMasks(Random &random, SoftmaxClauses &c, bool mayKeep) {
  std::vector<std::string> masks;
  bool hasPrefix = random.oneIn(4);
  if (random.oneIn(2) && !hasPrefix) {
    masks.push_back("#attn.causal");
    c.binds.push_back([](Problem &p, Random &) { p.attention.causal = true; });
  }
  if (random.oneIn(3)) {
    oracle::Window window;
    std::string text;
    if (random.oneIn(2)) {
      window.left = int64_t(random.below(20));
      text = "left = " + std::to_string(*window.left);
    }
    if (!window.left || random.oneIn(2)) {
      window.right = int64_t(random.below(20));
      text += (text.empty() ? "right = " : ", right = ") +
              std::to_string(*window.right);
    }
    masks.push_back("#attn.window<" + text + ">");
    c.binds.push_back(
        [window](Problem &p, Random &) { p.attention.window = window; });
  }
  std::string table;
  if (mayKeep && random.oneIn(5))
    masks.push_back(random.oneIn(3) ? bigBirdOfTable(random, c, table)
                                    : bigBird(random, c));
  if (hasPrefix)
    masks.push_back("#attn.prefix");
  if (masks.empty())
    return;
  shuffle(random, masks);
  std::string list;
  for (const std::string &mask : masks)
    list += (list.empty() ? "" : ", ") + mask;
  c.clauses.push_back("mask(" + list + ")");
  if (!table.empty())
    c.clauses.push_back(table);
  if (hasPrefix)
    addIndex(random, c, "prefix", "%prefix", &oracle::Attention::prefix, -2,
             30);
}

//===- tensors ------------------------------------------------------------===//

static void addPerHead(Random &random, SoftmaxClauses &c,
                       const std::string &clause,
                       std::vector<double> oracle::Attention::*member,
                       double most) {
  DType element = clauseType(random, c.dtype);
  std::string type = typeText({c.known.hq}, element);
  c.addArgument("%" + clause, type);
  c.clauses.push_back(clause + "(%" + clause + " : " + type + ")");
  c.binds.push_back([=](Problem &p, Random &random) {
    std::vector<double> &list = p.attention.*member;
    list = drawValues(random, element, size_t(p.sizes.hq), -most, most);
    if (clause == "sinks" && !list.empty() && random.oneIn(3))
      list[random.below(list.size())] = -INFINITY;
    p.captured.add(element, {p.sizes.hq}, list);
  });
}

namespace {
/// A tensor that broadcasts to B x Hq x Sq x Skv, right-aligned.
struct Broadcast {
  std::vector<int64_t> sizes;
  std::vector<double> values;

  double at(int64_t b, int64_t h, int64_t r, int64_t t) const {
    const int64_t all[] = {b, h, r, t};
    int64_t n = 0;
    for (size_t d = 0; d < sizes.size(); ++d)
      n = n * sizes[d] + (sizes[d] == 1 ? 0 : all[4 - sizes.size() + d]);
    return values[size_t(n)];
  }
};
} // namespace

/// A bias, or with element i1 a mask, of any rank; dimensions that stretch are
/// known to, or found to be 1 when the call comes.
static void addPairs(Random &random, SoftmaxClauses &c,
                     const std::string &clause, DType element) {
  size_t rank = 1 + random.below(4);
  std::vector<int64_t> known;
  std::vector<bool> stretches;
  const int64_t all[] = {c.known.b, c.known.hq, c.known.sq, c.known.skv};
  for (size_t d = 4 - rank; d < 4; ++d) {
    stretches.push_back(random.oneIn(3));
    known.push_back(stretches.back() ? (random.oneIn(2) ? 1 : -1) : all[d]);
  }
  std::string type = typeText(known, element);
  c.addArgument("%" + clause, type);
  c.clauses.push_back(clause + "(%" + clause + " : " + type + ")");
  c.binds.push_back([=](Problem &p, Random &random) {
    const int64_t sizes[] = {p.sizes.b, p.sizes.hq, p.sizes.sq, p.sizes.skv};
    Broadcast pairs;
    for (size_t d = 0; d < rank; ++d)
      pairs.sizes.push_back(stretches[d] ? 1 : sizes[4 - rank + d]);
    size_t count = size_t(countOf(pairs.sizes));
    bool isMask = element == DType::i1;
    pairs.values =
        drawValues(random, isMask ? DType::f64 : element, count, -2.0, 2.0);
    for (double &value : pairs.values) {
      if (isMask)
        value = value > -1.0;
      else if (random.oneIn(9))
        value = -INFINITY;
    }
    p.captured.add(element, pairs.sizes, pairs.values);
    if (isMask)
      p.attention.select = [pairs](int64_t b, int64_t h, int64_t r, int64_t t) {
        return pairs.at(b, h, r, t) != 0.0;
      };
    else
      p.attention.bias = [pairs](int64_t b, int64_t h, int64_t r, int64_t t) {
        return pairs.at(b, h, r, t);
      };
  });
}

static void addLengths(Random &random, SoftmaxClauses &c) {
  bool isIndex = random.oneIn(3);
  DType element = random.oneIn(2) ? DType::i64 : DType::i32;
  std::string type = isIndex ? "index" : typeText({c.known.b}, element);
  c.addArgument("%len", type);
  c.clauses.push_back("lengths(%len : " + type + ")");
  c.binds.push_back([=](Problem &p, Random &random) {
    std::vector<int64_t> &list = p.attention.lengths;
    list = drawLengths(random, p.sizes.b, p.sizes.skv, isIndex);
    if (isIndex)
      p.captured.add(list.empty() ? p.sizes.skv : list[0]);
    else
      p.captured.add(element, {p.sizes.b}, toValues(list));
  });
}

static void addKeyOffset(Random &, SoftmaxClauses &c) {
  c.addArgument("%k0", "index");
  c.clauses.push_back("key_offset(%k0 : index)");
  c.binds.push_back([](Problem &p, Random &random) {
    p.attention.keyOffset = int64_t(random.below(60)) - 20;
    p.captured.add(p.attention.keyOffset);
  });
}

/// A random keep region; the positions that it wants come with it.
static std::string addKeep(Random &random, SoftmaxClauses &c) {
  test::Variant mask = test::randomMask(random.next() >> 20);
  c.hasPosition = true;
  c.arguments += mask.arguments;
  c.clauses.push_back("offset(%p : index)");
  c.binds.push_back([mask](Problem &p, Random &) { mask.bind(p); });
  return mask.clauses.substr(mask.clauses.find("keep {"));
}

SoftmaxClauses attn::fuzz::drawClauses(Random &random, DType dtype,
                                       const Sizes &known, bool isPacked) {
  SoftmaxClauses c;
  c.dtype = dtype;
  c.known = known;
  c.isPacked = isPacked;
  if (random.oneIn(3))
    addScale(random, c);
  if (random.oneIn(4))
    addSoftcap(random, c);
  std::string keep;
  if (random.oneIn(5))
    keep = addKeep(random, c);
  else if (!random.oneIn(3))
    addPosition(random, c);
  if (c.hasPosition)
    addMasks(random, c, keep.empty());
  if (c.hasPosition && random.oneIn(4))
    addPerHead(random, c, "alibi", &oracle::Attention::slopes, 0.25);
  if (!isPacked && random.oneIn(4))
    addPairs(random, c, "bias", clauseType(random, dtype));
  if (!isPacked && random.oneIn(4))
    addPairs(random, c, "select", DType::i1);
  if (random.oneIn(4))
    addLengths(random, c);
  if (!keep.empty())
    c.clauses.push_back("key_offset(%p : index)");
  else if (c.hasPosition && random.oneIn(5))
    addKeyOffset(random, c);
  if (random.oneIn(4))
    addPerHead(random, c, "sinks", &oracle::Attention::sinks, 3.0);
  if (isPacked)
    c.clauses.push_back(""); // where the starts stand
  if (random.oneIn(4))
    addScore(random, c);
  if (!keep.empty())
    c.clauses.push_back(keep);
  return c;
}
