// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What makes a difference to a key, and what identifies the maker of code.

#include "runtime/cache/CacheKey.h"

#include "runtime/cache/CpuIdentity.h"
#include "runtime/code/BuildId.h"
#include "runtime/code/CompilerLibrary.h"

#include "TemporaryFolder.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <set>

using namespace attn;
using testing::HasSubstr;
using testing::MatchesRegex;

namespace {

CompileRequest request() {
  CompileRequest request;
  request.text = "text";
  request.name = "name.mlir";
  return request;
}

const Maker maker{"compiler", "cpu"};

TEST(CacheKey, everything_that_changes_the_code_changes_the_key) {
  std::set<std::string> keys = {cacheKey(request(), maker)};
  for (auto change : std::vector<std::function<void(CompileRequest &)>>{
           [](auto &r) { r.text = "texu"; }, [](auto &r) { r.text = "text\n"; },
           [](auto &r) { r.options.device = "reference"; },
           [](auto &r) { r.options.referenceStage = "tile"; },
           [](auto &r) { r.options.target = "cpu:avx2"; },
           [](auto &r) { r.options.exact = true; },
           [](auto &r) { r.options.favor = "textbook"; },
           [](auto &r) { r.options.reassociate = "never"; },
           [](auto &r) { r.options.linearForm = "chunk"; },
           [](auto &r) { r.options.linearChunk = 16; },
           [](auto &r) { r.options.countTiles = true; },
           [](auto &r) { r.options.mapMask = true; },
           [](auto &r) { r.options.remarks = true; },
           [](auto &r) { r.options.explain = true; },
           [](auto &r) {
             r.options.remarks = true;
             r.name = "other.mlir";
           },
           // The same bytes in another place.
           [](auto &r) {
             r.options.device = "cpuhost";
             r.options.target = "";
           }}) {
    CompileRequest changed = request();
    change(changed);
    EXPECT_TRUE(keys.insert(cacheKey(changed, maker)).second);
  }
  EXPECT_TRUE(
      keys.insert(cacheKey(request(), Maker{"compiler 2", "cpu"})).second);
  EXPECT_TRUE(
      keys.insert(cacheKey(request(), Maker{"compiler", "cpu 2"})).second);
  EXPECT_TRUE(
      keys.insert(cacheKey(request(), Maker{"compilercpu", ""})).second);
}

TEST(CacheKey, the_name_and_the_folder_make_no_difference) {
  CompileRequest moved = request();
  moved.name = "other.mlir";
  moved.options.cacheDir = "folder";
  EXPECT_EQ(cacheKey(moved, maker), cacheKey(request(), maker));
}

TEST(CacheKey, the_maker_is_known_here) {
  const Result<Maker> &here = Maker::get();
  ASSERT_TRUE(here.ok()) << here.error().message;
  EXPECT_THAT(here->compiler,
              MatchesRegex("[0-9a-f]{16,} [0-9a-f]{16,} [0-9a-f]{16,}"));
  EXPECT_THAT(here->cpu, HasSubstr("x86-64 "));
}

TEST(CpuIdentity, is_the_same_on_every_core) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  std::set<std::string> identities;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &all))
      continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    identities.insert(cpuIdentity());
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(identities.size(), 1u);
}

TEST(BuildId, of_a_library) {
  Result<std::string> path = CompilerLibrary::path();
  ASSERT_TRUE(path.ok()) << path.error().message;
  Result<std::string> id = readBuildId(*path);
  ASSERT_TRUE(id.ok()) << id.error().message;
  // SHA-1.
  EXPECT_THAT(*id, MatchesRegex("[0-9a-f]{40}"));
  EXPECT_EQ(*readBuildIds({*path, *path}), *id + " " + *id);
}

TEST(BuildId, of_other_files) {
  TemporaryFolder folder;
  Result<std::string> path = CompilerLibrary::path();
  ASSERT_TRUE(path.ok());
  std::ifstream library(*path, std::ios::binary);
  std::string start(4096, '\0');
  library.read(start.data(), start.size());
  std::string id = *readBuildId(*path);
  EXPECT_EQ(*readBuildId(folder.write("start", start)), id);
  // Until the note is there, then always the same one.
  bool isComplete = false;
  for (size_t size = 0; size < 1024; ++size) {
    auto got = readBuildId(folder.write("cut", start.substr(0, size)));
    EXPECT_TRUE(got ? *got == id : !isComplete) << size;
    isComplete |= got.ok();
  }
  for (size_t i = 0; i < 1024; ++i) {
    std::string broken = start;
    broken[i] = '\xff';
    (void)readBuildId(folder.write("broken", broken)).ok();
  }
  for (const char *path : {"/nonexistent", "/", "/dev/null"})
    EXPECT_FALSE(readBuildId(path).ok());
  EXPECT_THAT(readBuildId(folder.write("text", "text")).error().message,
              HasSubstr("expected an ELF file with a build id"));
}

} // namespace
