// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A host that exports functions of its own LLVM, as programs do that link LLVM
// statically and export what they have. A process of its own.

#include "runtime/Engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace attn;
using testing::AllOf;
using testing::HasSubstr;

// In the place of LLVM's, which would register the target.
extern "C" __attribute__((visibility("default"))) void
LLVMInitializeX86Target() {}

namespace {

TEST(ForeignLlvm, is_an_error_that_names_it) {
  EngineOptions options;
  options.cacheDir = "";
  Result<Program> program = Engine(options).compileText(R"(
    func.func @f(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
      %z = linalg.add ins(%x, %x : tensor<3xf32>, tensor<3xf32>)
          outs(%y : tensor<3xf32>) -> tensor<3xf32>
      return %z : tensor<3xf32>
    })");
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().code, ErrorCode::unsupported);
  EXPECT_THAT(program.error().message,
              AllOf(HasSubstr("would call 'LLVMInitializeX86Target' of "),
                    HasSubstr("runtime-foreign-llvm-test'"),
                    HasSubstr("exports no LLVM of its own")));
}

} // namespace
