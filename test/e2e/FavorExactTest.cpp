// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FAVOR+ for a given W: the quotient of its definition, at any norm of queries
// and keys and without a look at later tokens, which the published stabiliser
// is not.

#include "test/e2e/Harness.h"
#include "test/e2e/PoisonedCall.h"
#include "test/oracle/LinearOracle.h"
#include "gtest/gtest.h"

#include <cmath>
#include <sstream>

using namespace attn;
using namespace attn::test;
using oracle::FavorKind;

namespace {

const char *nameOf(FavorKind kind) {
  const char *names[] = {"positive", "hyperbolic", "trigonometric", "relu"};
  return names[static_cast<int>(kind)];
}

constexpr FavorKind kAllKinds[] = {FavorKind::Positive, FavorKind::Hyperbolic,
                                   FavorKind::Trigonometric, FavorKind::Relu};

/// What the op is, and what it is called with.
struct Given {
  FavorKind kind = FavorKind::Positive;
  bool causal = false;
  DType dtype = DType::f32;
  bool hasLengths = false;
  double magnitude = 1.0; ///< standard deviation of queries and keys
  double eps = 0.0;       ///< clause, 0 for that of relu alone
  Sizes sizes{2, 4, 2, 19, 37, 24, 11};
  int64_t features = 29;
  bool isStatic = true; ///< whether D and M are known
};

struct Call {
  std::string ir;
  oracle::Favor favor;
  oracle::Array q, k, v;
  Arguments arguments;
};

std::string dims(std::initializer_list<int64_t> sizes, DType dtype) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += (size < 0 ? "?" : std::to_string(size)) + "x";
  return text + name(dtype) + ">";
}

double epsOf(const Given &s) {
  return s.kind == FavorKind::Relu && s.eps == 0.0 ? 1e-3 : s.eps;
}

std::string irFor(const Given &s, DType wType) {
  int64_t d = s.isStatic ? s.sizes.dk : -1, m = s.isStatic ? s.features : -1;
  std::string q = dims({-1, s.isStatic ? s.sizes.hq : -1, -1, d}, s.dtype);
  std::string k = dims({-1, s.isStatic ? s.sizes.hkv : -1, -1, d}, s.dtype);
  std::string v =
      dims({-1, s.isStatic ? s.sizes.hkv : -1, -1, s.sizes.dv}, s.dtype);
  std::string o =
      dims({-1, s.isStatic ? s.sizes.hq : -1, -1, s.sizes.dv}, s.dtype);
  std::string w = dims({m, d}, wType);
  std::string ir =
      "func.func @main(%q: " + q + ", %k: " + k + ", %v: " + v + ", %w: " + w;
  if (s.hasLengths)
    ir += ", %n: tensor<?xi64>";
  ir += ") -> " + o + " {\n  %o = attn.favor %q, %k, %v, %w kind(" +
        nameOf(s.kind) + ")";
  std::ostringstream eps;
  eps << std::scientific << epsOf(s);
  if (epsOf(s) != 0.0)
    ir += " eps(" + eps.str() + ")";
  if (s.hasLengths)
    ir += " lengths(%n : tensor<?xi64>)";
  if (s.causal)
    ir += " causal";
  return ir + " : (" + q + ", " + k + ", " + v + ", " + w + ") -> " + o +
         "\n  return %o : " + o + "\n}\n";
}

/// Uniform values of the given deviation, rounded to the type.
oracle::Array draw(int64_t b, int64_t h, int64_t s, int64_t d, DType dtype,
                   double deviation, uint64_t seed) {
  oracle::Array array(b, h, s, d);
  array.data = randomValues(array.data.size(), seed);
  for (double &x : array.data)
    x = roundTo(dtype, x * deviation * std::sqrt(3.0));
  return array;
}

Call makeCall(const Given &s) {
  const Sizes &z = s.sizes;
  DType wType = s.dtype == DType::f64 ? DType::f64 : DType::f32;
  int64_t sq = s.causal ? z.skv : z.sq;
  Call call;
  call.ir = irFor(s, wType);
  call.q = draw(z.b, z.hq, sq, z.dk, s.dtype, s.magnitude, 1);
  call.k = draw(z.b, z.hkv, z.skv, z.dk, s.dtype, s.magnitude, 2);
  call.v = draw(z.b, z.hkv, z.skv, z.dv, s.dtype, 1.0, 3);
  call.favor.kind = s.kind;
  call.favor.causal = s.causal;
  call.favor.w = draw(1, 1, s.features, z.dk, wType, 1.0, 4).data;
  call.favor.eps = epsOf(s);
  if (s.hasLengths)
    call.favor.lengths = {z.skv - 9, 1};
  call.arguments.add(s.dtype, {z.b, z.hq, sq, z.dk}, call.q.data);
  call.arguments.add(s.dtype, {z.b, z.hkv, z.skv, z.dk}, call.k.data);
  call.arguments.add(s.dtype, {z.b, z.hkv, z.skv, z.dv}, call.v.data);
  call.arguments.add(wType, {s.features, z.dk}, call.favor.w);
  if (s.hasLengths)
    call.arguments.add(DType::i64, {z.b}, {double(z.skv - 9), 1.0});
  return call;
}

std::vector<double> outputOf(const Target &target, const Call &call) {
  std::vector<Tensor> got = run(target, call.ir, call.arguments.values);
  return got.empty() ? std::vector<double>() : toDoubles(got[0].view());
}

class Favor : public testing::TestWithParam<Target> {
protected:
  void SetUp() override { ATTN_SKIP_UNLESS_HERE(GetParam()); }

  void check(const Given &given, const std::string &form = "exact") {
    Call call = makeCall(given);
    oracle::Array want =
        oracle::attendFavor(call.favor, call.q, call.k, call.v);
    Target target = GetParam();
    target.configure = [form](EngineOptions &options) { options.favor = form; };
    EXPECT_EQ(oracle::checkOutput(outputOf(target, call), want.data,
                                  toleranceOf(given.dtype)),
              "")
        << form << " " << nameOf(given.kind) << (given.causal ? " causal" : "")
        << " eps " << given.eps << " magnitude " << given.magnitude << " of "
        << name(given.dtype) << (given.isStatic ? "" : " dynamic");
  }
};

/// Trigonometric features are a difference of large numbers for long vectors:
/// their kernel has e^|z|^2 in its variance, and the quotient any sign.
std::vector<double> magnitudesOf(FavorKind kind) {
  if (kind == FavorKind::Trigonometric)
    return {0.25, 0.5};
  return {0.25, 1.0, 3.0, 10.0};
}

TEST_P(Favor, IsTheQuotientOfItsFeatures) {
  for (FavorKind kind : kAllKinds)
    for (bool causal : {false, true})
      for (double magnitude : magnitudesOf(kind)) {
        Given given;
        given.kind = kind;
        given.causal = causal;
        given.magnitude = magnitude;
        check(given);
      }
}

TEST_P(Favor, HasTheEpsOfThePublishedCode) {
  // In either form, with eps that is little of the features or most of them.
  for (const char *form : {"exact", "textbook"})
    for (FavorKind kind : kAllKinds)
      for (bool causal : {false, true})
        for (double magnitude : magnitudesOf(kind))
          for (double eps : {1e-4, 0.5}) {
            Given given;
            given.kind = kind;
            given.causal = causal;
            given.magnitude = magnitude;
            given.eps = eps;
            given.hasLengths = eps == 1e-4;
            check(given, form);
          }
}

TEST_P(Favor, IsWithinRangeWhateverEpsIs) {
  // Its square, which a product of features has, is below all numbers of f32.
  for (FavorKind kind : {FavorKind::Positive, FavorKind::Hyperbolic})
    for (bool causal : {false, true})
      for (double magnitude : {1.0, 10.0}) {
        Given given;
        given.kind = kind;
        given.causal = causal;
        given.magnitude = magnitude;
        given.eps = 1e-30;
        check(given);
      }
}

TEST_P(Favor, OfEveryType) {
  for (DType dtype : {DType::f64, DType::f16, DType::bf16})
    for (FavorKind kind : {FavorKind::Positive, FavorKind::Trigonometric})
      for (bool causal : {false, true}) {
        Given given;
        given.kind = kind;
        given.causal = causal;
        given.dtype = dtype;
        given.magnitude = 0.25;
        for (double eps : {0.0, 1e-2}) {
          given.eps = eps;
          check(given);
        }
      }
}

TEST_P(Favor, OfDynamicSizes) {
  for (FavorKind kind : {FavorKind::Positive, FavorKind::Relu})
    for (bool causal : {false, true}) {
      Given given;
      given.kind = kind;
      given.causal = causal;
      given.isStatic = false;
      check(given);
    }
}

TEST_P(Favor, KeysBeyondALengthDoNotMatter) {
  for (FavorKind kind : kAllKinds)
    for (bool causal : {false, true}) {
      Given given;
      given.kind = kind;
      given.causal = causal;
      given.hasLengths = true;
      given.magnitude = 0.25;
      check(given);
      // Whatever they hold.
      Call call = makeCall(given);
      std::vector<double> clean = outputOf(GetParam(), call);
      for (oracle::Array *array : {&call.k, &call.v})
        for (int64_t b = 0; b < array->b; ++b)
          for (int64_t h = 0; h < array->h; ++h)
            for (int64_t t = call.favor.lengths[b]; t < array->s; ++t)
              for (int64_t c = 0; c < array->d; ++c)
                array->at(b, h, t, c) = NAN;
      const Sizes &z = given.sizes;
      Arguments poisoned;
      int64_t sq = causal ? z.skv : z.sq;
      poisoned.add(given.dtype, {z.b, z.hq, sq, z.dk}, call.q.data);
      poisoned.add(given.dtype, {z.b, z.hkv, z.skv, z.dk}, call.k.data);
      poisoned.add(given.dtype, {z.b, z.hkv, z.skv, z.dv}, call.v.data);
      poisoned.add(DType::f32, {given.features, z.dk}, call.favor.w);
      poisoned.add(DType::i64, {z.b}, {double(z.skv - 9), 1.0});
      call.arguments = poisoned;
      EXPECT_EQ(outputOf(GetParam(), call), clean) << nameOf(kind) << causal;
    }
}

TEST_P(Favor, ValuesOfOneGiveOne) {
  for (FavorKind kind : {FavorKind::Positive, FavorKind::Hyperbolic})
    for (bool causal : {false, true})
      for (double magnitude : {0.25, 10.0}) {
        Given given;
        given.kind = kind;
        given.causal = causal;
        given.magnitude = magnitude;
        Call call = makeCall(given);
        const Sizes &z = given.sizes;
        auto ones = makeTensor(given.dtype, {z.b, z.hkv, z.skv, z.dv},
                               std::vector<double>(call.v.data.size(), 1.0));
        call.arguments.values[2] = ones->view();
        for (double x : outputOf(GetParam(), call))
          ASSERT_NEAR(x, 1.0, 1e-6) << nameOf(kind) << causal << magnitude;
      }
}

TEST_P(Favor, LongVectorsStayFinite) {
  for (DType dtype : {DType::f16, DType::bf16})
    for (FavorKind kind : {FavorKind::Positive, FavorKind::Hyperbolic})
      for (bool causal : {false, true}) {
        Given given;
        given.kind = kind;
        given.causal = causal;
        given.dtype = dtype;
        given.magnitude = 100.0;
        for (double x : outputOf(GetParam(), makeCall(given)))
          ASSERT_TRUE(std::isfinite(x))
              << nameOf(kind) << causal << name(dtype);
      }
}

TEST_P(Favor, LaterTokensChangeNoBit) {
  for (FavorKind kind : kAllKinds) {
    Given given;
    given.kind = kind;
    given.causal = true;
    given.magnitude = 0.5;
    Call call = makeCall(given);
    std::vector<double> before = outputOf(GetParam(), call);
    const int64_t first = 23;
    const Sizes &z = given.sizes;
    for (oracle::Array *array : {&call.k, &call.v})
      for (int64_t b = 0; b < array->b; ++b)
        for (int64_t h = 0; h < array->h; ++h)
          for (int64_t t = first; t < array->s; ++t)
            for (int64_t c = 0; c < array->d; ++c)
              array->at(b, h, t, c) *= 4.0;
    auto k = makeTensor(given.dtype, {z.b, z.hkv, z.skv, z.dk}, call.k.data);
    auto v = makeTensor(given.dtype, {z.b, z.hkv, z.skv, z.dv}, call.v.data);
    call.arguments.values[1] = k->view();
    call.arguments.values[2] = v->view();
    std::vector<double> after = outputOf(GetParam(), call);
    ASSERT_EQ(after.size(), before.size());
    bool isChanged = false;
    for (size_t n = 0; n < after.size(); ++n) {
      int64_t t = int64_t(n) / z.dv % z.skv;
      if (t < first)
        ASSERT_EQ(after[n], before[n]) << nameOf(kind) << " row " << t;
      else
        isChanged |= after[n] != before[n];
    }
    EXPECT_TRUE(isChanged);
  }
}

// The published stabiliser fails what the exact form passes: it reads later
// keys, and draws outputs to the mean of the values.
TEST(FavorTextbook, MustFailWhereItIsNotTheDefinition) {
  EngineOptions options;
  options.favor = "textbook";
  options.cacheDir = "";
  Given given;
  given.causal = true;
  given.magnitude = 3.0;
  Call call = makeCall(given);
  Result<Program> program = Engine(options).compileText(call.ir);
  ASSERT_TRUE(program.ok()) << program.error().message;
  Result<std::vector<Tensor>> got =
      callPoisoned(*program, "main", call.arguments.values);
  ASSERT_TRUE(got.ok()) << got.error().message;
  oracle::Array want = oracle::attendFavor(call.favor, call.q, call.k, call.v);
  EXPECT_NE(oracle::checkOutput(toDoubles((*got)[0].view()), want.data,
                                oracle::f32Tolerance),
            "");
}

TEST(FavorMustFail, OnAnEpsThatIsLeftOut) {
  // A model that was trained with it has other outputs.
  Given given;
  given.eps = 1e-4;
  Call call = makeCall(given);
  std::vector<double> got = outputOf(allTargets().front(), call);
  call.favor.eps = 0.0;
  oracle::Array want = oracle::attendFavor(call.favor, call.q, call.k, call.v);
  EXPECT_NE(oracle::checkOutput(got, want.data, oracle::f32Tolerance), "");
}

TEST(FavorTextbook, ItsNameIsChecked) {
  EngineOptions options;
  options.favor = "fast";
  Result<Program> program =
      Engine(options).compileText("func.func @main() { return }");
  ASSERT_FALSE(program.ok());
  EXPECT_NE(program.error().message.find(
                "option favor: expected exact or textbook, got 'fast'"),
            std::string::npos)
      << program.error().message;
}

INSTANTIATE_TEST_SUITE_P(Targets, Favor, testing::ValuesIn(allTargets()),
                         [](const testing::TestParamInfo<Target> &info) {
                           return info.param.name;
                         });

} // namespace
