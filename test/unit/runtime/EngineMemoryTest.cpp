// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an engine makes of memory for code that runs out and comes back.

#include "runtime/Engine.h"
#include "runtime/cache/ModuleCache.h"

#include <atomic>
#include <cerrno>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace attn;
using testing::HasSubstr;

// A sanitizer has an mmap of its own in this place.
#if !__has_feature(address_sanitizer)

/// While true, there is no memory for code.
static std::atomic<bool> hasNoMemory{false};

/// In the place of the C library's, for the runtime too.
extern "C" void *mmap(void *address, size_t size, int rights, int flags,
                      int file, off_t offset) noexcept {
  if (hasNoMemory && file == -1 && rights == (PROT_READ | PROT_WRITE)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return reinterpret_cast<void *>(
      syscall(SYS_mmap, address, size, rights, flags, file, offset));
}

namespace {
const std::string text = R"(
func.func @twice(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>)
      outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %z : tensor<?xf32>
}
)";

TEST(EngineMemory, errors_that_pass_are_not_kept) {
  EngineOptions options;
  options.cacheDir = "";
  Engine engine(options);
  // What else needs memory for the first time has it.
  ASSERT_TRUE(engine.compileText(text + "// another\n").ok());
  hasNoMemory = true;
  Result<Program> without = engine.compileText(text);
  hasNoMemory = false;
  ASSERT_FALSE(without.ok());
  EXPECT_EQ(without.error().code, ErrorCode::outOfMemory);
  EXPECT_THAT(without.error().message, HasSubstr("memory for code"));
  Result<Program> with = engine.compileText(text);
  EXPECT_TRUE(with.ok()) << with.error().message;
}

} // namespace
#endif

namespace {

TEST(EngineMemory, errors_of_the_text_are_kept) {
  ModuleCache cache(10);
  CompileRequest request{"func.func @f(", "t", EngineOptions(), ""};
  EXPECT_EQ(cache.find(request).error().code, ErrorCode::compileFailure);
  EXPECT_EQ(cache.size(), 1u);
  request.options.target = "cpu:none";
  EXPECT_FALSE(cache.find(request).ok());
}

} // namespace
