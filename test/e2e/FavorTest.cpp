// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.favor of every kind, in both directions, in every type and on every
// target, against the oracle; and what holds of it for operands of any size.

#include "test/e2e/LinearHarness.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace attn;
using namespace attn::test;
using oracle::Array;
using oracle::FavorKind;

namespace {

struct FavorCase {
  std::string name;
  FavorKind kind = FavorKind::Positive;
  bool causal = false, lengths = false;
  bool oneLength = false; ///< with lengths, one for all batch entries
  double eps = 0.0;
  std::optional<double> scale;
};

struct FavorSizes {
  int64_t b, hq, hkv, sq, skv, d, dv, m;
};

struct FavorCell {
  DType dtype;
  FavorCase favor;
  Target target;
};
void PrintTo(const FavorCell &cell, std::ostream *os) {
  *os << cell.favor.name;
}

const char *nameOf(FavorKind kind) {
  switch (kind) {
  case FavorKind::Positive:
    return "positive";
  case FavorKind::Hyperbolic:
    return "hyperbolic";
  case FavorKind::Trigonometric:
    return "trigonometric";
  case FavorKind::Relu:
    return "relu";
  }
  return "";
}

std::string irOf(const FavorCase &favor, DType dtype) {
  std::string rows = std::string("tensor<?x?x?x?x") + name(dtype) + ">";
  std::string arguments = "%q: " + rows + ", %k: " + rows + ", %v: " + rows +
                          ", %w: tensor<?x?xf32>";
  std::string clauses = std::string(" kind(") + nameOf(favor.kind) + ")";
  if (favor.scale)
    clauses += " scale(" + std::to_string(*favor.scale) + ")";
  if (favor.eps != 0.0)
    clauses += " eps(" + std::to_string(favor.eps) + ")";
  if (favor.lengths) {
    std::string type = favor.oneLength ? "index" : "tensor<?xi64>";
    arguments += ", %n: " + type;
    clauses += " lengths(%n : " + type + ")";
  }
  if (favor.causal)
    clauses += " causal";
  return "func.func @main(" + arguments + ") -> " + rows +
         " {\n  %o = attn.favor %q, %k, %v, %w" + clauses + " : (" + rows +
         ", " + rows + ", " + rows + ", tensor<?x?xf32>) -> " + rows +
         "\n  return %o : " + rows + "\n}\n";
}

struct FavorProblem {
  Array q, k, v;
  oracle::Favor favor;
};

/// Queries and keys in [-size, size).
FavorProblem makeProblem(const FavorCase &favor, DType dtype,
                         const FavorSizes &s, double size, uint64_t seed) {
  FavorProblem p;
  p.q = Array(s.b, s.hq, s.sq, s.d);
  p.k = Array(s.b, s.hkv, s.skv, s.d);
  p.v = Array(s.b, s.hkv, s.skv, s.dv);
  for (Array *array : {&p.q, &p.k, &p.v}) {
    array->data = randomValues(array->data.size(), ++seed);
    for (double &x : array->data)
      x = roundTo(dtype, (array == &p.v ? 2.0 : size) * x);
  }
  p.favor.kind = favor.kind;
  p.favor.causal = favor.causal;
  p.favor.scale = favor.scale;
  p.favor.eps = favor.eps;
  p.favor.w = randomValues(size_t(s.m * s.d), ++seed);
  for (double &w : p.favor.w)
    w = roundTo(DType::f32, 1.75 * w);
  if (favor.lengths) {
    for (int64_t b = 0; b < s.b; ++b)
      p.favor.lengths.push_back(b == 0 || favor.oneLength ? s.skv - s.skv / 3
                                : b == 1                  ? s.skv + 3
                                                          : -2);
    for (Array *array : {&p.k, &p.v})
      for (int64_t b = 0; b < s.b; ++b)
        for (int64_t h = 0; h < array->h; ++h)
          for (int64_t t = std::max<int64_t>(p.favor.lengths[size_t(b)], 0);
               t < array->s; ++t)
            array->at(b, h, t, 0) = std::nan("");
  }
  return p;
}

std::vector<Tensor> run(const Target &target, const FavorCase &favor,
                        DType dtype, const FavorProblem &p) {
  Arguments arguments;
  for (const Array *a : {&p.q, &p.k, &p.v})
    arguments.add(dtype, {a->b, a->h, a->s, a->d}, a->data);
  arguments.add(DType::f32, {int64_t(p.favor.w.size()) / p.q.d, p.q.d},
                p.favor.w);
  if (favor.oneLength)
    arguments.add(p.favor.lengths.at(0));
  else if (favor.lengths)
    arguments.add(
        DType::i64, {p.q.b},
        std::vector<double>(p.favor.lengths.begin(), p.favor.lengths.end()));
  return attn::test::run(target, irOf(favor, dtype), arguments.values);
}

std::string check(const oracle::Favor &favor, DType dtype,
                  const FavorProblem &p, const std::vector<Tensor> &got) {
  if (got.size() != 1)
    return "no result";
  return oracle::checkOutput(toDoubles(got[0].view()),
                             oracle::attendFavor(favor, p.q, p.k, p.v).data,
                             toleranceOf(dtype));
}

/// Each kind, with and without causal and lengths.
std::vector<FavorCase> favorCases() {
  std::vector<FavorCase> all;
  for (FavorKind kind : {FavorKind::Positive, FavorKind::Hyperbolic,
                         FavorKind::Trigonometric, FavorKind::Relu})
    for (bool causal : {false, true})
      for (bool lengths : {false, true}) {
        FavorCase favor;
        favor.name = nameOf(kind);
        favor.kind = kind;
        favor.causal = causal;
        favor.lengths = lengths;
        favor.name += causal ? "_causal" : "";
        favor.name += lengths ? "_lengths" : "";
        if (kind == FavorKind::Relu && !lengths)
          favor.eps = 0.0625;
        if (lengths)
          favor.scale = 0.625;
        all.push_back(favor);
        if (lengths) {
          FavorCase one = favor;
          one.name += "_one";
          one.oneLength = true;
          all.push_back(one);
        }
        if (kind == FavorKind::Relu)
          continue;
        favor.eps = lengths ? 0.0625 : 0.015625;
        favor.name += "_eps";
        all.push_back(favor);
      }
  return all;
}

FavorCase caseNamed(const std::string &name) {
  for (const FavorCase &favor : favorCases())
    if (favor.name == name)
      return favor;
  ADD_FAILURE() << "no case " << name;
  return {};
}

/// Norms at which the sum of signed weights stays away from 0.
double sizeFor(FavorKind kind) {
  return kind == FavorKind::Trigonometric ? 0.25 : 1.0;
}

class FavorGrid : public testing::TestWithParam<FavorCell> {};

TEST_P(FavorGrid, MatchesTheOracle) {
  const auto &[dtype, favor, target] = GetParam();
  ATTN_SKIP_UNLESS_HERE(target);
  uint64_t seed = 0;
  for (FavorSizes s : {FavorSizes{2, 6, 3, 5, 9, 7, 4, 11},
                       {1, 2, 2, 65, 63, 16, 24, 40},
                       {3, 4, 1, 1, 2, 9, 5, 8},
                       {1, 2, 1, 130, 129, 33, 20, 18}}) {
    if (favor.causal)
      s.skv = s.sq;
    FavorProblem p =
        makeProblem(favor, dtype, s, sizeFor(favor.kind), seed += 100);
    EXPECT_EQ(check(p.favor, dtype, p, run(target, favor, dtype, p)), "")
        << s.sq << " x " << s.skv << "\n"
        << irOf(favor, dtype);
  }
}

std::vector<FavorCell> favorCells() {
  std::vector<FavorCell> all;
  for (DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64})
    for (const FavorCase &favor : favorCases())
      for (const Target &target : linearTargets(dtype))
        all.push_back({dtype, favor, target});
  return all;
}

class FavorTargets : public testing::TestWithParam<Target> {
protected:
  void SetUp() override { ATTN_SKIP_UNLESS_HERE(GetParam()); }
};

TEST_P(FavorTargets, AveragesOfOneAreOne) {
  // Also of norms whose exponentials no type holds.
  for (DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64})
    for (const FavorCase &favor : favorCases())
      for (double size : {1.0, 8.0, 60.0}) {
        if (favor.kind == FavorKind::Relu && favor.eps == 0.0)
          continue;
        FavorProblem p =
            makeProblem(favor, dtype, {1, 2, 2, 67, 67, 16, 3, 40}, size, 7);
        for (double &x : p.v.data)
          x = std::isnan(x) ? x : 1.0;
        std::vector<Tensor> got = run(GetParam(), favor, dtype, p);
        ASSERT_EQ(got.size(), 1u);
        for (double x : toDoubles(got[0].view()))
          ASSERT_NEAR(x, 1.0, toleranceOf(dtype).maxAbs)
              << favor.name << " " << name(dtype) << " " << size;
      }
}

TEST_P(FavorTargets, HeadsMayHaveOtherNorms) {
  // The keys of one head are 30 times as long as those of the other, and each
  // has one key: the answer is the value.
  for (DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64})
    for (const FavorCase &favor : favorCases()) {
      if (favor.lengths || (favor.kind == FavorKind::Relu && favor.eps == 0.0))
        continue;
      FavorProblem p =
          makeProblem(favor, dtype, {1, 4, 2, 1, 1, 16, 3, 40}, 1.0, 7);
      for (int64_t d = 0; d < 16; ++d)
        p.k.at(0, 1, 0, d) = roundTo(dtype, 30.0 * p.k.at(0, 1, 0, d));
      std::vector<Tensor> got = run(GetParam(), favor, dtype, p);
      ASSERT_EQ(got.size(), 1u);
      std::vector<double> values = toDoubles(got[0].view());
      for (int64_t h = 0; h < 4; ++h)
        for (int64_t c = 0; c < 3; ++c)
          ASSERT_NEAR(values[size_t(h * 3 + c)], p.v.at(0, h / 2, 0, c),
                      4 * toleranceOf(dtype).maxAbs)
              << favor.name << " " << name(dtype) << " head " << h;
    }
}

TEST_P(FavorTargets, KnownNumbersOfFeatures) {
  // One more than a tile of features, which no size of a tile divides.
  const FavorCase favor = caseNamed("positive_causal");
  FavorProblem p =
      makeProblem(favor, DType::f32, {1, 2, 1, 5, 5, 4, 3, 257}, 1.0, 9);
  std::string ir = irOf(favor, DType::f32);
  for (std::string type : {"257x4", "300x4"}) {
    int64_t rows = type == "257x4" ? 257 : 300;
    p.favor.w = randomValues(size_t(rows * 4), 13);
    for (double &w : p.favor.w)
      w = roundTo(DType::f32, w);
    std::string known = ir;
    for (size_t at = 0;
         (at = known.find("tensor<?x?xf32>", at)) != std::string::npos;)
      known.replace(at, 15, "tensor<" + type + "xf32>");
    Arguments arguments;
    for (const Array *a : {&p.q, &p.k, &p.v})
      arguments.add(DType::f32, {a->b, a->h, a->s, a->d}, a->data);
    arguments.add(DType::f32, {rows, 4}, p.favor.w);
    EXPECT_EQ(check(p.favor, DType::f32, p,
                    attn::test::run(GetParam(), known, arguments.values)),
              "")
        << known;
  }
}

TEST_P(FavorTargets, KeysBehindTheLengthChangeNoBit) {
  // Also where those in use are so long that any other has a larger feature.
  for (const FavorCase &favor : favorCases())
    for (double size : {1.0, 8.0}) {
      if (!favor.lengths)
        continue;
      FavorProblem p =
          makeProblem(favor, DType::f32, {2, 2, 1, 67, 67, 16, 5, 40},
                      size * sizeFor(favor.kind), 7);
      std::vector<uint8_t> bytes;
      for (double unused : {double(NAN), 0.0, 50.0}) {
        for (Array *array : {&p.k, &p.v})
          for (int64_t b = 0; b < array->b; ++b)
            for (int64_t t = std::max<int64_t>(p.favor.lengths[size_t(b)], 0);
                 t < array->s; ++t)
              for (int64_t d = 0; d < array->d; ++d)
                array->at(b, 0, t, d) = unused;
        std::vector<Tensor> got = run(GetParam(), favor, DType::f32, p);
        ASSERT_EQ(got.size(), 1u);
        if (bytes.empty())
          bytes = toBytes(got[0].view());
        EXPECT_TRUE(toBytes(got[0].view()) == bytes)
            << favor.name << " of " << size << ", unused keys of " << unused;
      }
    }
}

TEST_P(FavorTargets, LaterKeysChangeNoBitBefore) {
  for (const FavorCase &favor : favorCases()) {
    // The published eps is added beside a maximum over all keys.
    bool readsLaterKeys = favor.eps && favor.kind != FavorKind::Relu;
    if (!favor.causal || favor.lengths || readsLaterKeys)
      continue;
    const FavorSizes s = {2, 2, 1, 67, 67, 16, 5, 40};
    FavorProblem p = makeProblem(favor, DType::f32, s, 1.0, 7);
    std::vector<Tensor> before = run(GetParam(), favor, DType::f32, p);
    ASSERT_EQ(before.size(), 1u);
    std::vector<double> want = toDoubles(before[0].view());
    for (int64_t first : {1, 50, 66})
      for (double other : {7.5, std::nan("")}) {
        FavorProblem changed = p;
        for (Array *array : {&changed.q, &changed.k, &changed.v})
          for (int64_t b = 0; b < array->b; ++b)
            for (int64_t h = 0; h < array->h; ++h)
              for (int64_t t = first; t < s.sq; ++t)
                for (int64_t d = 0; d < array->d; ++d)
                  array->at(b, h, t, d) = other;
        std::vector<Tensor> after = run(GetParam(), favor, DType::f32, changed);
        ASSERT_EQ(after.size(), 1u);
        std::vector<double> got = toDoubles(after[0].view());
        for (size_t n = 0; n < got.size(); ++n)
          if (int64_t(n) / s.dv % s.sq < first)
            ASSERT_EQ(got[n], want[n]) << favor.name << " " << first;
      }
  }
}

TEST_P(FavorTargets, NothingSeenIsZero) {
  // No feature of the second query is positive; no key is in use.
  FavorCase favor;
  favor.kind = FavorKind::Relu;
  FavorProblem p;
  p.q = p.k = p.v = Array(1, 1, 2, 1, 1.0);
  p.q.data[1] = -1.0;
  p.v.data = {3, 5};
  p.favor.w = {1};
  std::vector<Tensor> got = run(GetParam(), favor, DType::f32, p);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(toDoubles(got[0].view()), (std::vector<double>{4, 0}));
  favor.lengths = true;
  p.favor.lengths = {0};
  got = run(GetParam(), favor, DType::f32, p);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(toDoubles(got[0].view()), (std::vector<double>{0, 0}));
}

/// What the grid would say if the device did something else.
std::string checkAgainstWrong(const std::string &name,
                              void (*spoil)(oracle::Favor &)) {
  FavorCase favor = caseNamed(name);
  FavorProblem p =
      makeProblem(favor, DType::f32, {2, 6, 3, 37, 37, 7, 5, 11}, 0.5, 3);
  std::vector<Tensor> got =
      run(linearTargets(DType::f32).back(), favor, DType::f32, p);
  EXPECT_EQ(check(p.favor, DType::f32, p, got), "");
  oracle::Favor wrong = p.favor;
  spoil(wrong);
  return check(wrong, DType::f32, p, got);
}
} // namespace

INSTANTIATE_TEST_SUITE_P(All, FavorGrid, testing::ValuesIn(favorCells()),
                         [](const testing::TestParamInfo<FavorCell> &info) {
                           return std::string(name(info.param.dtype)) + "_" +
                                  info.param.favor.name + "_" +
                                  info.param.target.name;
                         });
INSTANTIATE_TEST_SUITE_P(All, FavorTargets,
                         testing::ValuesIn(linearTargets(DType::f32)),
                         [](const testing::TestParamInfo<Target> &info) {
                           return info.param.name;
                         });

TEST(FavorMustFail, OnSomethingElse) {
  auto turn = [](oracle::Favor &f) { f.causal = !f.causal; };
  for (const FavorCase &favor : favorCases())
    EXPECT_NE(checkAgainstWrong(favor.name, turn), "") << favor.name;
  EXPECT_NE(
      checkAgainstWrong(
          "positive", [](oracle::Favor &f) { f.kind = FavorKind::Hyperbolic; }),
      "");
  EXPECT_NE(checkAgainstWrong("trigonometric",
                              [](oracle::Favor &f) { f.scale = 0.5; }),
            "");
  EXPECT_NE(checkAgainstWrong("relu", [](oracle::Favor &f) { f.eps = 0; }), "");
  EXPECT_NE(checkAgainstWrong("hyperbolic_lengths",
                              [](oracle::Favor &f) { --f.lengths[0]; }),
            "");
}
