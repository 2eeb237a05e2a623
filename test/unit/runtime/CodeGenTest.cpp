// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From LLVM IR to running code, without the pipelines.

#include "runtime/compile/CodeGen.h"
#include "runtime/compile/BigStack.h"
#include "runtime/compile/HostTarget.h"
#include "runtime/compile/Jit.h"
#include "runtime/compile/OpenMp.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace attn;
using testing::HasSubstr;

namespace {

/// A module on its way to code; keeps what the code needs alive.
struct Code {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<Jit> jit;

  void prepare(const std::string &text, HostTarget &target) {
    llvm::SMDiagnostic problem;
    module = llvm::parseAssemblyString(text, problem, context);
    ASSERT_NE(module, nullptr) << problem.getMessage().str();
    auto prepared = prepareForTarget(*module, target);
    ASSERT_TRUE(prepared.ok()) << prepared.error().message;
    machine = std::move(*prepared);
  }

  void load(const std::string &text, bool needsOpenMp = false) {
    Result<HostTarget> target = resolveHostTarget("host");
    ASSERT_TRUE(target.ok()) << target.error().message;
    prepare(text, *target);
    ASSERT_NE(machine, nullptr);
    Result<std::string> object =
        generateCode(*module, *machine, llvm::CodeGenFileType::ObjectFile);
    ASSERT_TRUE(object.ok()) << object.error().message;
    auto loaded = Jit::load(*target, *object, needsOpenMp);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    jit = std::move(*loaded);
  }
};

TEST(CodeGen, a_multiply_and_an_add_are_not_contracted) {
  Code code;
  code.load("define float @f(float %a, float %b, float %c) {\n"
            "  %p = fmul float %a, %b\n  %r = fadd float %p, %c\n"
            "  ret float %r\n}\n");
  ASSERT_NE(code.jit, nullptr);
  auto *f =
      reinterpret_cast<float (*)(float, float, float)>(code.jit->lookup("f"));
  // (1 + 2^-23)^2 rounds to 1 + 2^-22; the exact square is 2^-46 more.
  float x = 1 + 0x1p-23f;
  EXPECT_EQ(f(x, x, -(1 + 0x1p-22f)), 0.0f);
}

TEST(CodeGen, other_kinds_of_output) {
  Code code;
  Result<HostTarget> target = resolveHostTarget("host");
  ASSERT_TRUE(target.ok());
  code.prepare("define void @f() {\n  ret void\n}\n", *target);
  Result<std::string> assembly = generateCode(
      *code.module, *code.machine, llvm::CodeGenFileType::AssemblyFile);
  ASSERT_TRUE(assembly.ok());
  EXPECT_THAT(*assembly, HasSubstr("f:"));
}

TEST(Jit, a_missing_function_is_null) {
  Code code;
  code.load("define void @f() {\n  ret void\n}\n");
  ASSERT_NE(code.jit, nullptr);
  EXPECT_NE(code.jit->lookup("f"), nullptr);
  EXPECT_EQ(code.jit->lookup("g"), nullptr);
  EXPECT_THAT(code.jit->lookupFailure(), HasSubstr("g"));
}

TEST(Jit, an_undefined_reference_is_an_error) {
  Code code;
  code.load("declare void @no_such_function_anywhere()\n"
            "define void @f() {\n  call void @no_such_function_anywhere()\n"
            "  ret void\n}\n");
  ASSERT_NE(code.jit, nullptr);
  EXPECT_EQ(code.jit->lookup("f"), nullptr);
  EXPECT_THAT(code.jit->lookupFailure(),
              HasSubstr("no_such_function_anywhere"));
}

TEST(Jit, broken_object_code_is_an_error) {
  Result<HostTarget> target = resolveHostTarget("host");
  ASSERT_TRUE(target.ok());
  EXPECT_FALSE(Jit::load(*target, "no object", false).ok());
}

TEST(OpenMp, compiled_code_sees_the_thread_count) {
  const Result<OpenMp> &openMp = OpenMp::get();
  ASSERT_TRUE(openMp.ok()) << openMp.error().message;
  EXPECT_GE(openMp->availableThreads(), 1);
  Code code;
  code.load("declare i32 @omp_get_max_threads()\n"
            "define i32 @f() {\n  %r = call i32 @omp_get_max_threads()\n"
            "  ret i32 %r\n}\n",
            /*needsOpenMp=*/true);
  ASSERT_NE(code.jit, nullptr);
  auto *f = reinterpret_cast<int (*)()>(code.jit->lookup("f"));
  int before = f();
  {
    ThreadCount three(*openMp, 3);
    EXPECT_EQ(f(), 3);
  }
  EXPECT_EQ(f(), before);
  ThreadCount all(*openMp, 0);
  EXPECT_EQ(f(), openMp->availableThreads());
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
                          "cpu:avx2, cpu:avx512, cpu:avx512bf16, got '") +
                  name + "'");
  }
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
