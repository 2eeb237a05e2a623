// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From LLVM IR to running code, without the pipelines.

#include "CodeTest.h"

#include "runtime/code/OpenMp.h"
#include "runtime/compile/BigStack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace attn;
using testing::HasSubstr;

namespace {

class CodeGen : public CodeTest {};

TEST_F(CodeGen, a_multiply_and_an_add_are_not_contracted) {
  load("define float @f(float %a, float %b, float %c) {\n"
       "  %p = fmul float %a, %b\n  %r = fadd float %p, %c\n"
       "  ret float %r\n}\n");
  ASSERT_NE(code, nullptr);
  auto *f = reinterpret_cast<float (*)(float, float, float)>(code->lookup("f"));
  // (1 + 2^-23)^2 rounds to 1 + 2^-22; the exact square is 2^-46 more.
  float x = 1 + 0x1p-23f;
  EXPECT_EQ(f(x, x, -(1 + 0x1p-22f)), 0.0f);
}

TEST_F(CodeGen, other_kinds_of_output) {
  std::string assembly = generate("define void @f() {\n  ret void\n}\n",
                                  llvm::CodeGenFileType::AssemblyFile);
  EXPECT_THAT(assembly, HasSubstr("f:"));
}

TEST_F(CodeGen, compiled_code_sees_the_thread_count) {
  const Result<OpenMp> &openMp = OpenMp::get();
  ASSERT_TRUE(openMp.ok()) << openMp.error().message;
  EXPECT_GE(openMp->availableCpus(), 1);
  EXPECT_TRUE(OpenMp::owns("omp_get_max_threads"));
  EXPECT_TRUE(OpenMp::owns("__kmpc_fork_call"));
  EXPECT_FALSE(OpenMp::owns("exp"));
  load("declare i32 @omp_get_max_threads()\n"
       "define i32 @f() {\n  %r = call i32 @omp_get_max_threads()\n"
       "  ret i32 %r\n}\n",
       [&](const std::string &name) { return openMp->lookup(name); });
  ASSERT_NE(code, nullptr);
  auto *f = reinterpret_cast<int (*)()>(code->lookup("f"));
  int before = f();
  {
    ThreadCount three(*openMp, 3);
    EXPECT_EQ(f(), 3);
  }
  EXPECT_EQ(f(), before);
  ThreadCount all(*openMp, 0);
  EXPECT_EQ(f(), openMp->threadsOf(0));
}

TEST(HostTarget, names) {
  Result<HostTarget> generic = resolveHostTarget("cpu:generic");
  ASSERT_TRUE(generic.ok()) << generic.error().message;
  EXPECT_EQ(generic->name, "cpu:generic");
  Result<HostTarget> host = resolveHostTarget("host");
  ASSERT_TRUE(host.ok());
  EXPECT_EQ(host->name.substr(0, 4), "cpu:");
  for (const char *name : {"", "cpu", "cpu:mmx", "cuda:sm_90", "HOST"}) {
    Result<HostTarget> target = resolveHostTarget(name);
    ASSERT_FALSE(target.ok()) << name;
    EXPECT_EQ(target.error().message,
              std::string("option target: expected host, cpu:generic, "
                          "cpu:avx2, cpu:avx512, cpu:avx512bf16, cpu:amx, "
                          "got '") +
                  name + "'");
  }
}

/// Permission for tiles is the process's: the CPU isn't asked for AMX.
TEST(HostTarget, tiles) {
  const std::string reason = "nobody permits it";
  Result<HostTarget> host = resolveHostTarget("host", reason);
  ASSERT_TRUE(host.ok());
  EXPECT_NE(host->name, "cpu:amx");
  Result<HostTarget> toLookAt =
      resolveHostTarget("cpu:amx", reason, TargetUse::emit);
  ASSERT_TRUE(toLookAt.ok()) << toLookAt.error().message;
  EXPECT_EQ(toLookAt->name, "cpu:amx");
  if (!resolveHostTarget("cpu:avx512bf16").ok())
    GTEST_SKIP() << "this CPU has no AVX512_BF16";
  EXPECT_TRUE(resolveHostTarget("cpu:amx", "").ok());
  Result<HostTarget> refused = resolveHostTarget("cpu:amx", reason);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "option target: 'cpu:amx' needs AMX tiles: nobody permits it");
}

TEST(BigStack, holds_deep_recursion) {
  // 100 MiB, more than a default stack.
  std::function<int(int)> recurse = [&](int depth) {
    volatile char frame[1024];
    frame[0] = 1;
    return depth == 0 ? 0 : recurse(depth - 1) + frame[0];
  };
  int depth = 0;
  runOnBigStack([&] { depth = recurse(100000); });
  EXPECT_EQ(depth, 100000);
}

} // namespace
