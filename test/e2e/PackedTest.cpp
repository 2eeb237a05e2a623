// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packed batches of sequences of different lengths: each sequence against the
// oracle's view of it alone, and rows of no sequence.

#include "test/e2e/Variants.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace attn;
using namespace attn::test;
using oracle::Align;

namespace {
constexpr int64_t hq = 6, hkv = 2, dk = 40, dv = 24;

/// Starts of the sequences of a packed operand of `rows` rows.
struct Starts {
  std::vector<int64_t> queries, keys;
  int64_t queryRows, keyRows;
};

/// Sequences of several tiles, of one query, without queries and without keys;
/// rows of no sequence in front and behind.
const Starts mixed{
    {3, 134, 134, 135, 140, 201}, {0, 257, 264, 393, 393, 413}, 210, 420};
/// Starts that go back, that are negative, and that lie beyond the end.
const Starts disordered{{-5, 40, 20, 60, 999}, {10, 4, 70, 50, 999}, 80, 90};

/// A step of decoding: one query in each sequence, and other keys in each.
const Starts decoding{
    {0, 1, 2, 3, 4, 5}, {0, 257, 264, 264, 2500, 2513}, 5, 2520};
/// The same with rows of no sequence around them.
const Starts decodingWithin{{1, 2, 3}, {2, 7, 30}, 5, 40};

/// Keys in use of sequence n: more than it has, a tile and more, below 0, ...
int64_t lengthOf(int64_t n) {
  const int64_t lengths[] = {131, 999, 5, -2, 67};
  return lengths[n % 5];
}

/// Clauses beside the starts, with what they say of sequence n.
struct PackedVariant {
  std::string name, arguments, clauses;
  std::function<void(Arguments &, int64_t sequences)> bind;
  std::function<void(oracle::Attention &, int64_t n)> describe;
};

const std::vector<PackedVariant> &packedVariants() {
  auto nothing = [](Arguments &, int64_t) {};
  static const std::vector<PackedVariant> variants = {
      {"none", "", "", nothing, [](oracle::Attention &, int64_t) {}},
      {"causal_bottom_right", "", "align(bottom_right) mask(#attn.causal)",
       nothing,
       [](oracle::Attention &a, int64_t) {
         a.align = Align::BottomRight;
         a.causal = true;
       }},
      {"window_top_left", "",
       "align(top_left) mask(#attn.window<left = 5, right = 11>)", nothing,
       [](oracle::Attention &a, int64_t) {
         a.align = Align::TopLeft;
         a.window = oracle::Window{5, 11};
       }},
      {"offsets_prefix_alibi_sinks",
       ", %p: tensor<?xi64>, %n: tensor<?xi64>, %slopes: tensor<?xf32>, "
       "%sinks: tensor<?xf32>",
       "offset(%p : tensor<?xi64>) mask(#attn.prefix) "
       "prefix(%n : tensor<?xi64>) alibi(%slopes : tensor<?xf32>) "
       "sinks(%sinks : tensor<?xf32>)",
       [](Arguments &arguments, int64_t sequences) {
         std::vector<double> offsets, prefixes, slopes, sinks;
         for (int64_t n = 0; n < sequences; ++n) {
           offsets.push_back(double(3 * n - 4));
           prefixes.push_back(double(20 - 3 * n));
         }
         for (int64_t h = 0; h < hq; ++h) {
           slopes.push_back(std::ldexp(1.0, -int(h) - 3));
           sinks.push_back(0.5 - 0.25 * double(h));
         }
         arguments.add(DType::i64, {sequences}, offsets);
         arguments.add(DType::i64, {sequences}, prefixes);
         arguments.add(DType::f32, {hq}, slopes);
         arguments.add(DType::f32, {hq}, sinks);
       },
       [](oracle::Attention &a, int64_t n) {
         a.align = Align::Offset;
         a.offset = {3 * n - 4};
         a.prefix = {20 - 3 * n};
         for (int64_t h = 0; h < hq; ++h) {
           a.slopes.push_back(std::ldexp(1.0, -int(h) - 3));
           a.sinks.push_back(0.5 - 0.25 * double(h));
         }
       }},
      {"causal_lengths", ", %n: tensor<?xi32>",
       "lengths(%n : tensor<?xi32>) align(bottom_right) mask(#attn.causal)",
       [](Arguments &arguments, int64_t sequences) {
         std::vector<double> lengths;
         for (int64_t n = 0; n < sequences; ++n)
           lengths.push_back(double(lengthOf(n)));
         arguments.add(DType::i32, {sequences}, lengths);
       },
       [](oracle::Attention &a, int64_t n) {
         a.align = Align::BottomRight;
         a.causal = true;
         a.lengths = {lengthOf(n)};
       }},
      {"window_length_of_all", ", %n: index",
       "align(bottom_right) lengths(%n : index) "
       "mask(#attn.window<left = 70, right = 1>)",
       [](Arguments &arguments, int64_t) { arguments.add(int64_t(100)); },
       [](oracle::Attention &a, int64_t) {
         a.align = Align::BottomRight;
         a.window = oracle::Window{70, 1};
         a.lengths = {100};
       }},
      {"regions_see_the_sequence", "",
       "align(top_left) score {\n" + scoreArguments +
           "    %n = arith.index_cast %b : index to i64\n"
           "    %x = arith.sitofp %n : i64 to f32\n"
           "    %c = arith.constant 0.125 : f32\n"
           "    %y = arith.mulf %x, %c : f32\n"
           "    %z = arith.mulf %s, %y : f32\n"
           "    %t = arith.addf %s, %z : f32\n"
           "    attn.yield %t : f32\n  } keep {\n" +
           keepArguments +
           "    %d = arith.addi %i, %b : index\n"
           "    %p = arith.cmpi sle, %j, %d : index\n"
           "    attn.yield %p : i1\n  }",
       nothing,
       [](oracle::Attention &a, int64_t n) {
         a.align = Align::TopLeft;
         a.score = [n](double s, int64_t, int64_t, int64_t, int64_t) {
           return s + s * 0.125 * double(n);
         };
         a.keep = [n](int64_t, int64_t, int64_t i, int64_t j) {
           return j <= i + n;
         };
       }},
  };
  return variants;
}

/// The rows `first` to below `end` of a packed array.
oracle::Array rowsOf(const oracle::Array &all, int64_t first, int64_t end) {
  oracle::Array part(1, all.h, end - first, all.d);
  for (int64_t h = 0; h < all.h; ++h)
    for (int64_t r = first; r < end; ++r)
      for (int64_t c = 0; c < all.d; ++c)
        part.at(0, h, r - first, c) = all.at(0, h, r, c);
  return part;
}

/// Starts within 0..rows, each at least as great as those before it.
std::vector<int64_t> ascending(std::vector<int64_t> starts, int64_t rows) {
  int64_t last = 0;
  for (int64_t &start : starts)
    last = start = std::max(last, std::min(start, rows));
  return starts;
}

oracle::Result attendPacked(const PackedVariant &variant, const Starts &starts,
                            const Problem &p) {
  oracle::Result all{oracle::Array(1, hq, starts.queryRows, dv),
                     oracle::Array(1, hq, starts.queryRows, 1, -INFINITY)};
  std::vector<int64_t> q = ascending(starts.queries, starts.queryRows);
  std::vector<int64_t> k = ascending(starts.keys, starts.keyRows);
  for (size_t n = 0; n + 1 < q.size(); ++n) {
    oracle::Attention attention;
    variant.describe(attention, int64_t(n));
    oracle::Result one = oracle::attend(attention, rowsOf(p.q, q[n], q[n + 1]),
                                        rowsOf(p.k, k[n], k[n + 1]),
                                        rowsOf(p.v, k[n], k[n + 1]));
    for (int64_t h = 0; h < hq; ++h)
      for (int64_t r = q[n]; r < q[n + 1]; ++r) {
        all.lse.at(0, h, r, 0) = one.lse.at(0, h, r - q[n], 0);
        for (int64_t c = 0; c < dv; ++c)
          all.o.at(0, h, r, c) = one.o.at(0, h, r - q[n], c);
      }
  }
  return all;
}

struct Cell {
  DType dtype;
  size_t variant;
  Target target;
};
std::string cellName(const testing::TestParamInfo<Cell> &info) {
  return std::string(name(info.param.dtype)) + "_" +
         packedVariants()[info.param.variant].name + "_" +
         info.param.target.name;
}
void PrintTo(const Cell &c, std::ostream *os) {
  *os << packedVariants()[c.variant].name << " " << c.target.name;
}

/// The first `count` variants in each type.
std::vector<Cell> cells(size_t count) {
  std::vector<Cell> all;
  for (DType dtype : {DType::f32, DType::bf16})
    for (size_t n = 0; n < count; ++n)
      for (const Target &target : allTargets())
        all.push_back({dtype, n, target});
  return all;
}

class Packed : public testing::TestWithParam<Cell> {
protected:
  void SetUp() override { ATTN_SKIP_UNLESS_HERE(GetParam().target); }

  const PackedVariant &variant() const {
    return packedVariants()[GetParam().variant];
  }
  std::string irWithStarts(const std::string &type) const {
    return irFor("gqa", GetParam().dtype,
                 {variant().name,
                  variant().arguments + ", %qs: " + type + ", %ks: " + type, "",
                  clausesWithStarts(type)},
                 {1, hq, hkv, -1, -1, dk, dv});
  }
  /// Starts come before the regions.
  std::string clausesWithStarts(const std::string &type) const {
    std::string clauses = variant().clauses;
    size_t region = clauses.find("score {");
    if (region == std::string::npos)
      region = clauses.size();
    return clauses.insert(region, " query_starts(%qs : " + type +
                                      ") key_starts(%ks : " + type + ") ");
  }
  Problem problem(const Starts &starts, DType startsType) const {
    Problem p =
        makeProblem({1, hq, hkv, starts.queryRows, starts.keyRows, dk, dv},
                    GetParam().dtype, variantNamed("none"), 11);
    int64_t count = int64_t(starts.queries.size());
    variant().bind(p.captured, count - 1);
    for (const std::vector<int64_t> *list : {&starts.queries, &starts.keys})
      p.captured.add(startsType, {count}, {list->begin(), list->end()});
    return p;
  }
};

TEST_P(Packed, EachSequenceIsAttendedAlone) {
  Problem p = problem(mixed, DType::i32);
  EXPECT_EQ(
      checkAgainst(attendPacked(variant(), mixed, p), GetParam().dtype,
                   run(GetParam().target, irWithStarts("tensor<?xi32>"), p)),
      "");
}

TEST_P(Packed, OneQueryEach) {
  for (const Starts *starts : {&decoding, &decodingWithin}) {
    Problem p = problem(*starts, DType::i32);
    EXPECT_EQ(
        checkAgainst(attendPacked(variant(), *starts, p), GetParam().dtype,
                     run(GetParam().target, irWithStarts("tensor<?xi32>"), p)),
        "");
  }
}

TEST_P(Packed, StartsAreMadeAscending) {
  Problem p = problem(disordered, DType::i64);
  EXPECT_EQ(
      checkAgainst(attendPacked(variant(), disordered, p), GetParam().dtype,
                   run(GetParam().target, irWithStarts("tensor<?xi64>"), p)),
      "");
}

/// Variants whose clauses do not depend on the number of the sequence.
class PackedAlone : public Packed {};

TEST_P(PackedAlone, ASequenceHasTheSameBitsAlone) {
  std::string ir = irWithStarts("tensor<?xi32>");
  std::vector<Tensor> all =
      run(GetParam().target, ir, problem(mixed, DType::i32));
  Starts one = mixed;
  one.queries = {3, 134};
  one.keys = {0, 257};
  std::vector<Tensor> alone =
      run(GetParam().target, ir, problem(one, DType::i32), 1);
  ASSERT_EQ(all.size(), 2u);
  ASSERT_EQ(alone.size(), 2u);
  for (size_t result : {0u, 1u}) {
    std::vector<double> x = toDoubles(all[result].view());
    std::vector<double> y = toDoubles(alone[result].view());
    size_t width = x.size() / size_t(hq * mixed.queryRows);
    for (int64_t h = 0; h < hq; ++h) {
      size_t first = size_t(h * mixed.queryRows + 3) * width;
      EXPECT_TRUE(std::equal(x.begin() + first, x.begin() + first + 131 * width,
                             y.begin() + first));
    }
  }
}
} // namespace

INSTANTIATE_TEST_SUITE_P(Variants, Packed,
                         testing::ValuesIn(cells(packedVariants().size())),
                         cellName);
INSTANTIATE_TEST_SUITE_P(Variants, PackedAlone, testing::ValuesIn(cells(3)),
                         cellName);

TEST(PackedEmpty, NoSequencesAndNoRows) {
  for (const Target &target : allTargets()) {
    if (!whyNotHere(target).empty())
      continue;
    Variant variant{"packed", ", %s: tensor<?xi64>", "",
                    "query_starts(%s : tensor<?xi64>) "
                    "key_starts(%s : tensor<?xi64>)"};
    Problem p =
        makeProblem({1, 2, 1, 3, 5, 4, 4}, DType::f32, variantNamed("none"));
    p.captured.add(DType::i64, {1}, {0});
    std::vector<Tensor> got = run(target, irFor("gqa", DType::f32, variant), p);
    ASSERT_EQ(got.size(), 2u);
    EXPECT_EQ(toDoubles(got[0].view()), std::vector<double>(24, 0.0));
    EXPECT_EQ(toDoubles(got[1].view()), std::vector<double>(6, -INFINITY));
  }
}

TEST(PackedInvalid, SizesAreChecked) {
  Variant variant{"packed",
                  ", %p: tensor<?xi64>, %q0: tensor<?xi64>, %k0: "
                  "tensor<?xi64>",
                  "",
                  "offset(%p : tensor<?xi64>) query_starts(%q0 : "
                  "tensor<?xi64>) key_starts(%k0 : tensor<?xi64>)"};
  std::string ir = irFor("gqa", DType::f32, variant);
  auto errorFor = [&](int64_t batch, int64_t offsets, int64_t queryStarts,
                      int64_t keyStarts) {
    Arguments a;
    auto add = [&](DType dtype, std::vector<int64_t> sizes) {
      size_t count = 1;
      for (int64_t size : sizes)
        count *= size_t(size);
      a.add(dtype, sizes, std::vector<double>(count, 0.0));
    };
    add(DType::f32, {batch, 2, 3, 4});
    add(DType::f32, {batch, 1, 5, 4});
    add(DType::f32, {batch, 1, 5, 4});
    add(DType::i64, {offsets});
    add(DType::i64, {queryStarts});
    add(DType::i64, {keyStarts});
    return errorOf(allTargets()[1], ir, a.values);
  };
  EXPECT_EQ(errorFor(1, 2, 3, 3), "");
  EXPECT_NE(errorFor(2, 2, 3, 3)
                .find("query: expected batch (with query_starts) 1, got 2"),
            std::string::npos)
      << errorFor(2, 2, 3, 3);
  EXPECT_NE(errorFor(1, 3, 3, 3)
                .find("offset: expected entries to be one "
                      "fewer than (from query_starts) 3, got "
                      "3"),
            std::string::npos)
      << errorFor(1, 3, 3, 3);
  EXPECT_NE(errorFor(1, 2, 3, 4)
                .find("key_starts: expected entries (from "
                      "query_starts) 3, got 4"),
            std::string::npos)
      << errorFor(1, 2, 3, 4);
}
