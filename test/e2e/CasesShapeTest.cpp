// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Literal cases about heads, sizes, strides and offsets. See Cases.h.

#include "test/e2e/Cases.h"
#include "test/e2e/PoisonedCall.h"

#include <pthread.h>
#include <sys/mman.h>

using namespace attn;
using namespace attn::test;

namespace {
class Cases : public CasesTest {
protected:
  /// Runs a random problem and compares it with the oracle.
  void checkRandom(const std::string &op, const Sizes &sizes, DType dtype,
                   const Variant &variant, const Sizes &known = allDynamic) {
    Problem p = makeProblem(sizes, dtype, variant);
    std::vector<Tensor> got =
        run(GetParam(), irFor(op, dtype, variant, known), p);
    EXPECT_EQ(
        checkAgainst(oracle::attend(p.attention, p.q, p.k, p.v), dtype, got),
        "")
        << op << ", " << sizes << ", " << variant.name;
  }
};

TEST_P(Cases, A20_GroupedHeadsAreRepeated) {
  expectValues(
      attend(Variant{}, {1, 4, 2, 1, 1, 1, 1}, Values(4), Values(2), {10, 11})
          .o,
      {10, 10, 11, 11});
}

TEST_P(Cases, A21_RatiosThatAreNoPowersOfTwo) {
  for (int64_t ratio : {3, 5, 6, 7})
    // 5 and 9 rows leave the last tile of a group with fewer heads.
    for (int64_t sq : {1, 5, 9, 37}) {
      int64_t skv = 41;
      Values v(size_t(2 * skv)), want;
      std::fill(v.begin() + skv, v.end(), 1.0);
      for (int64_t h = 0; h < 2 * ratio; ++h)
        want.insert(want.end(), size_t(sq), double(h / ratio));
      expectValues(attend(Variant{}, {1, 2 * ratio, 2, sq, skv, 1, 1},
                          Values(size_t(2 * ratio * sq)),
                          Values(size_t(2 * skv)), v)
                       .o,
                   want);
    }
}

TEST_P(Cases, A22_HeadsThatDoNotDivide) {
  auto ir = [](const char *hq, const char *hkv) {
    std::string q = std::string("tensor<1x") + hq + "x4x8xf32>";
    std::string k = std::string("tensor<1x") + hkv + "x4x8xf32>";
    return "func.func @main(%q: " + q + ", %k: " + k + ", %v: " + k + ") -> " +
           q + " {\n  %o = attn.gqa %q, %k, %v : (" + q + ", " + k + ", " + k +
           ") -> " + q + "\n  return %o : " + q + "\n}\n";
  };
  for (auto [hq, hkv] : {std::pair<const char *, const char *>{"3", "2"},
                         {"33", "2"},
                         {"4", "0"}}) {
    std::string message = errorOf(GetParam(), ir(hq, hkv));
    EXPECT_NE(message.find(hq), std::string::npos) << message;
    EXPECT_NE(message.find(hkv), std::string::npos) << message;
  }
}

TEST_P(Cases, A23_HeadSizesOffTheVectorWidth) {
  for (int64_t d : {1, 3, 5, 7, 40, 80, 96, 129})
    checkRandom("gqa", {1, 2, 1, 19, 67, d, d}, DType::f32,
                variantNamed("causal_bottom_right"));
}

TEST_P(Cases, A23_StaticHeadSizes) {
  for (int64_t d : {1, 7, 40, 129})
    for (DType dtype : {DType::f32, DType::bf16})
      checkRandom("gqa", {1, 2, 1, 19, 67, d, d + 3}, dtype,
                  variantNamed("causal_bottom_right"),
                  {-1, -1, -1, -1, -1, d, d + 3});
}

TEST_P(Cases, A25_ValuesNarrowerThanKeys) {
  checkRandom("gqa", {8, 4, 1, 1, 36, 32, 24}, DType::f32,
              variantNamed("none"));
  checkRandom("gqa", {8, 4, 1, 1, 36, 32, 24}, DType::f32, variantNamed("none"),
              {-1, -1, -1, -1, -1, 32, 24});
}

TEST_P(Cases, A26_DynamicEqualsStatic) {
  for (auto [b, s] : {std::pair<int64_t, int64_t>{2, 16}, {1, 1}, {3, 17}}) {
    Sizes sizes{b, 8, 8, s, s, 8, 8};
    Problem p = makeProblem(sizes, DType::f32, variantNamed("none"));
    std::vector<Tensor> dynamic =
        run(GetParam(), irFor("softmax", DType::f32, variantNamed("none")), p);
    std::vector<Tensor> fixed =
        run(GetParam(),
            irFor("softmax", DType::f32, variantNamed("none"), sizes), p);
    oracle::Result want = oracle::attend(p.attention, p.q, p.k, p.v);
    EXPECT_EQ(checkAgainst(want, DType::f32, dynamic), "") << sizes;
    EXPECT_EQ(checkAgainst(want, DType::f32, fixed), "") << sizes;
  }
}

/// A call from a thread with a stack of 256 KiB.
TEST_P(Cases, A27_StackIsBounded) {
  struct Job {
    std::shared_ptr<Program> program;
    Arguments arguments;
    bool ok = false;
  };
  for (auto [d, dtype] : {std::pair{int64_t(200), DType::f32},
                          {int64_t(200), DType::bf16},
                          {int64_t(3000), DType::bf16}}) {
    const Variant &none = variantNamed("none");
    Problem p = makeProblem({1, 2, 1, 70, 150, d, d}, dtype, none);
    Job job;
    job.program = compile(GetParam(), irFor("gqa", dtype, none));
    ASSERT_TRUE(job.program);
    for (const oracle::Array *a : {&p.q, &p.k, &p.v})
      job.arguments.add(dtype, {a->b, a->h, a->s, a->d}, a->data);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    pthread_t thread;
    ASSERT_EQ(pthread_create(
                  &thread, &attributes,
                  [](void *argument) -> void * {
                    Job &job = *static_cast<Job *>(argument);
                    CallOptions options;
                    options.threads = 1;
                    job.ok = callPoisoned(*job.program, "main",
                                          job.arguments.values, options)
                                 .ok();
                    return nullptr;
                  },
                  &job),
              0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    EXPECT_TRUE(job.ok);
  }
  for (DType dtype : {DType::f32, DType::bf16})
    checkRandom("gqa", {1, 2, 1, 70, 150, 200, 200}, dtype,
                variantNamed("none"));
}

TEST_P(Cases, A29_LengthsAroundTheTile) {
  for (int64_t sq : {int64_t(1), int64_t(2), T - 1, T, T + 1, 2 * T + 1})
    for (int64_t skv : {int64_t(1), int64_t(2), T - 1, T, T + 1, 2 * T + 1})
      expectValues(uniform("", sq, skv).o, Values(size_t(sq), (skv + 1) / 2.0));
}

TEST_P(Cases, A34_OffsetsBeyond32Bits) {
  // Two keys 2^31 + 64 elements apart in a mapping that is never filled.
  const int64_t stride = (int64_t(1) << 31) + 64;
  size_t bytes = size_t(stride + 1) * 2;
  auto map = [&]() -> uint16_t * {
    void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? nullptr : static_cast<uint16_t *>(p);
  };
  uint16_t *k = map(), *v = map();
  if (!k || !v)
    GTEST_SKIP() << "no sparse mapping of 4 GiB here";
  for (DType dtype : {DType::bf16, DType::f16}) {
    bool isHalf = dtype == DType::f16;
    v[0] = isHalf ? oracle::toF16(1.0) : oracle::toBf16(1.0f);
    v[stride] = isHalf ? oracle::toF16(2.0) : oracle::toBf16(2.0f);
    Arguments q;
    q.add(dtype, {1, 1, 1, 1}, {0});
    std::vector<int64_t> sizes = {1, 1, 2, 1}, strides = {2, 2, stride, 1};
    std::vector<Tensor> got =
        run(GetParam(), irFor("gqa", dtype, variantNamed("none")),
            {q.values[0], TensorView{k, dtype, sizes, strides},
             TensorView{v, dtype, sizes, strides}});
    EXPECT_EQ(got.size(), 2u);
    if (got.size() == 2)
      expectValues(toDoubles(got[0].view()), {1.5});
  }
  munmap(k, bytes);
  munmap(v, bytes);
}
} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, Cases, testing::ValuesIn(allTargets()),
                         [](const testing::TestParamInfo<Target> &info) {
                           return info.param.name;
                         });
