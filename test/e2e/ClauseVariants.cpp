// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variants made of clauses with operands that act on single logits: bias,
// select, ALiBi, prefix, sinks, and scale and softcap as values. See
// Variants.h.

#include "test/e2e/Variants.h"

#include <cmath>

using namespace attn;
using namespace attn::test;
using oracle::Align;

namespace {
/// A tensor that broadcasts to B x Hq x Sq x Skv.
struct Broadcast {
  std::vector<int64_t> sizes; // right-aligned, of rank 1 to 4
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

/// Which dimensions the tensor of a variant has: false stretches a size of 1.
static Broadcast randomBroadcast(const Sizes &s, std::vector<bool> has,
                                 uint64_t seed) {
  const int64_t all[] = {s.b, s.hq, s.sq, s.skv};
  Broadcast result;
  int64_t count = 1;
  for (size_t d = 0; d < has.size(); ++d) {
    result.sizes.push_back(has[d] ? all[4 - has.size() + d] : 1);
    count *= result.sizes.back();
  }
  result.values = randomValues(size_t(count), seed);
  return result;
}

static std::string dynamicType(size_t rank, DType dtype) {
  std::string type = "tensor<";
  for (size_t d = 0; d < rank; ++d)
    type += "?x";
  return type + name(dtype) + ">";
}

/// A bias of the type of logits with an entry of -inf now and then.
static Variant bias(
    const std::string &which, std::vector<bool> has,
    const std::string &clauses = "",
    std::function<void(Problem &)> bind = [](Problem &) {}) {
  std::string type = dynamicType(has.size(), DType::f32);
  return {
      "bias_" + which, ", %bias: " + type, "",
      clauses + " bias(%bias : " + type + ")", [=](Problem &p) {
        bind(p);
        Broadcast bias = randomBroadcast(p.sizes, has, 31);
        for (size_t n = 0; n < bias.values.size(); ++n)
          bias.values[n] =
              n % 7 == 3 ? -INFINITY
                         : roundTo(logitType(p.dtype), 2.0 * bias.values[n]);
        p.attention.bias = [bias](int64_t b, int64_t h, int64_t r, int64_t t) {
          return bias.at(b, h, r, t);
        };
        p.captured.add(logitType(p.dtype), bias.sizes, bias.values);
      }};
}

/// A mask of which row 0 sees nothing where it has rows.
static Variant select(
    const std::string &which, std::vector<bool> has,
    const std::string &clauses = "",
    std::function<void(Problem &)> bind = [](Problem &) {}) {
  std::string type = dynamicType(has.size(), DType::i1);
  return {"select_" + which, ", %mask: " + type, "",
          clauses + " select(%mask : " + type + ")", [=](Problem &p) {
            bind(p);
            Broadcast mask = randomBroadcast(p.sizes, has, 47);
            int64_t keys = mask.sizes.back();
            for (size_t n = 0; n < mask.values.size(); ++n)
              mask.values[n] = (mask.sizes.size() == 1 || int64_t(n) >= keys) &&
                                       mask.values[n] > -0.3
                                   ? 1.0
                                   : 0.0;
            p.attention.select = [mask](int64_t b, int64_t h, int64_t r,
                                        int64_t t) {
              return mask.at(b, h, r, t) != 0.0;
            };
            p.captured.add(DType::i1, mask.sizes, mask.values);
          }};
}

static void causalBottomRight(Problem &p) {
  p.attention.align = Align::BottomRight;
  p.attention.causal = true;
}

/// Positions of queries and keys that are not those of rows, and lengths.
static void shifted(Problem &p) {
  p.attention.align = Align::BottomRight;
  p.attention.causal = true;
  p.attention.keyOffset = -2;
  for (int64_t b = 0; b < p.sizes.b; ++b)
    p.attention.lengths.push_back((p.sizes.skv + b + 1) / (b + 1));
  p.captured.add(DType::i64, {p.sizes.b},
                 {p.attention.lengths.begin(), p.attention.lengths.end()});
  p.captured.add(p.attention.keyOffset);
}

static void bindSlopes(Problem &p) {
  p.attention.align = Align::BottomRight;
  for (int64_t h = 0; h < p.sizes.hq; ++h)
    p.attention.slopes.push_back(h % 2 == 0 ? std::ldexp(1.0, -int(h))
                                            : -0.0625);
  p.captured.add(logitType(p.dtype), {p.sizes.hq}, p.attention.slopes);
}

static void bindSinks(Problem &p, DType dtype) {
  for (int64_t h = 0; h < p.sizes.hq; ++h)
    p.attention.sinks.push_back(h == 2 ? -INFINITY
                                       : roundTo(dtype, 1.5 - 0.7 * double(h)));
  p.captured.add(dtype, {p.sizes.hq}, p.attention.sinks);
}

static Variant sinks(const std::string &which, const std::string &arguments,
                     const std::string &clauses,
                     std::function<void(Problem &)> bind) {
  return {"sinks" + which, arguments + ", %sinks: tensor<?xf32>", "",
          clauses + " sinks(%sinks : tensor<?xf32>)", [bind](Problem &p) {
            bind(p);
            bindSinks(p, logitType(p.dtype));
          }};
}

static Variant prefix(const std::string &which, const std::string &type,
                      std::function<void(Problem &)> bind) {
  return {"prefix_" + which, ", %n: " + type, "",
          "align(bottom_right) mask(#attn.prefix) prefix(%n : " + type + ")",
          [bind](Problem &p) {
            p.attention.align = Align::BottomRight;
            bind(p);
          }};
}

/// Every clause at once, over operands that broadcast.
static Variant everyClause() {
  return {"every_clause",
          ", %scale: f32, %cap: f32, %p: tensor<?xi64>, %n: tensor<?xi64>, "
          "%slopes: tensor<?xf32>, %bias: tensor<?x1x?xf32>, "
          "%mask: tensor<?x?x1x?xi1>, %len: tensor<?xi64>, %k0: index, "
          "%sinks: tensor<?xf32>",
          "",
          "scale(%scale : f32) softcap(%cap : f32) offset(%p : tensor<?xi64>) "
          "mask(#attn.prefix, #attn.window<left = 60>) "
          "prefix(%n : tensor<?xi64>) alibi(%slopes : tensor<?xf32>) "
          "bias(%bias : tensor<?x1x?xf32>) select(%mask : tensor<?x?x1x?xi1>) "
          "lengths(%len : tensor<?xi64>) key_offset(%k0 : index) "
          "sinks(%sinks : tensor<?xf32>) score {\n" +
              scoreArguments +
              "    %half = arith.constant 0.5 : f32\n"
              "    %t = arith.addf %s, %half : f32\n"
              "    attn.yield %t : f32\n  }",
          [](Problem &p) {
            oracle::Attention &a = p.attention;
            const Sizes &s = p.sizes;
            auto perBatch = [&](std::vector<int64_t> &list, int64_t first,
                                int64_t step) {
              for (int64_t b = 0; b < s.b; ++b)
                list.push_back(first + step * b);
              p.captured.add(DType::i64, {s.b}, {list.begin(), list.end()});
            };
            a.scale = roundTo(DType::f32, 0.4);
            a.softcap = 3.0;
            p.captured.addFloat(*a.scale);
            p.captured.addFloat(*a.softcap);
            a.align = Align::Offset;
            a.keyOffset = 5;
            a.window = oracle::Window{60, std::nullopt};
            perBatch(a.offset, s.skv / 2, 2);
            perBatch(a.prefix, 9, 30);
            bindSlopes(p);
            a.align = Align::Offset;
            Broadcast bias = randomBroadcast(s, {true, false, true}, 5);
            for (double &value : bias.values)
              value = roundTo(DType::f32, value);
            a.bias = [bias](int64_t b, int64_t h, int64_t r, int64_t t) {
              return bias.at(b, h, r, t);
            };
            p.captured.add(DType::f32, bias.sizes, bias.values);
            Broadcast mask = randomBroadcast(s, {true, true, false, true}, 6);
            for (double &value : mask.values)
              value = value > -0.5 ? 1.0 : 0.0;
            a.select = [mask](int64_t b, int64_t h, int64_t r, int64_t t) {
              return mask.at(b, h, r, t) != 0.0;
            };
            p.captured.add(DType::i1, mask.sizes, mask.values);
            perBatch(a.lengths, s.skv - 1, -1);
            p.captured.add(a.keyOffset);
            bindSinks(p, DType::f32);
            a.score = [](double x, int64_t, int64_t, int64_t, int64_t) {
              return x + 0.5;
            };
          }};
}

const std::vector<Variant> &attn::test::clauseVariants() {
  static const std::vector<Variant> variants = {
      bias("full", {true, true, true, true}),
      bias("rows_and_keys", {true, true}),
      bias("keys", {true}),
      bias("of_batch_and_rows", {true, false, true, false},
           "align(bottom_right) mask(#attn.causal)", causalBottomRight),
      select("full", {true, true, true, true}),
      select("heads_rows_and_keys", {true, true, true}),
      select("keys", {true}),
      {"select_shifted",
       ", %n: tensor<?xi64>, %k0: index, %mask: tensor<?x?xi1>", "",
       "align(bottom_right) mask(#attn.causal) select(%mask : tensor<?x?xi1>) "
       "lengths(%n : tensor<?xi64>) key_offset(%k0 : index)",
       [](Problem &p) {
         shifted(p);
         select("", {true, true}).bind(p);
       }},
      {"alibi_clause", ", %slopes: tensor<?xf32>", "",
       "align(bottom_right) mask(#attn.causal) "
       "alibi(%slopes : tensor<?xf32>)",
       [](Problem &p) {
         causalBottomRight(p);
         bindSlopes(p);
       }},
      prefix("index", "index",
             [](Problem &p) {
               p.attention.prefix = {p.sizes.skv / 3};
               p.captured.add(p.attention.prefix[0]);
             }),
      prefix("per_batch", "tensor<?xi32>",
             [](Problem &p) {
               for (int64_t b = 0; b < p.sizes.b; ++b)
                 p.attention.prefix.push_back(p.sizes.skv / 2 - 20 * b);
               p.captured.add(
                   DType::i32, {p.sizes.b},
                   {p.attention.prefix.begin(), p.attention.prefix.end()});
             }),
      sinks("", "", "", [](Problem &) {}),
      sinks("_causal", "", "align(bottom_right) mask(#attn.causal)",
            causalBottomRight),
      {"scale_and_softcap_values", ", %s: f32, %c: f32", "",
       "scale(%s : f32) softcap(%c : f32)",
       [](Problem &p) {
         p.attention.scale = roundTo(DType::f32, -0.7);
         p.attention.softcap = 2.0;
         p.captured.addFloat(*p.attention.scale);
         p.captured.addFloat(*p.attention.softcap);
       }},
      everyClause(),
  };
  return variants;
}
