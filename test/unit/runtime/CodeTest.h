// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code from LLVM IR, without the pipelines.

#ifndef ATTN_TEST_UNIT_RUNTIME_CODETEST_H
#define ATTN_TEST_UNIT_RUNTIME_CODETEST_H

#include "runtime/code/LoadedCode.h"
#include "runtime/compile/CodeGen.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"

#include <gtest/gtest.h>

namespace attn {

class CodeTest : public testing::Test {
protected:
  /// Code for this machine; empty if a test has failed.
  std::string
  generate(const std::string &text,
           llvm::CodeGenFileType kind = llvm::CodeGenFileType::ObjectFile) {
    llvm::LLVMContext context;
    llvm::SMDiagnostic problem;
    auto module = llvm::parseAssemblyString(text, problem, context);
    EXPECT_NE(module, nullptr) << problem.getMessage().str();
    Result<HostTarget> target = resolveHostTarget("host");
    EXPECT_TRUE(target.ok());
    if (!module || !target)
      return "";
    auto machine = prepareForTarget(*module, *target);
    EXPECT_TRUE(machine.ok());
    if (!machine)
      return "";
    Result<std::string> output = generateCode(*module, **machine, kind);
    EXPECT_TRUE(output.ok());
    return output ? *output : "";
  }

  static void *resolveNothing(const std::string &) { return nullptr; }

  /// Leaves the code in `code`, or what was wrong in `failure`.
  void load(const std::string &text,
            const LoadedCode::Resolver &resolve = resolveNothing) {
    auto loaded = LoadedCode::load(generate(text), resolve);
    if (loaded)
      code = std::move(*loaded);
    else
      failure = loaded.error().message;
  }

  std::unique_ptr<LoadedCode> code;
  std::string failure;
};

} // namespace attn

#endif // ATTN_TEST_UNIT_RUNTIME_CODETEST_H
