// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What makes a difference to a key, and what identifies the maker of code.

#include "runtime/cache/CacheKey.h"

#include "runtime/cache/CpuIdentity.h"
#include "runtime/code/BuildId.h"
#include "runtime/code/CompilerLibrary.h"

#include "TemporaryFolder.h"

#include <cpuid.h>
#include <cstdio>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
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
           [](auto &r) { r.output = "asm"; }, [](auto &r) { r.prefix = "p"; },
           [](auto &r) { r.whyNoTiles = "why"; },
           [](auto &r) { r.options.dumpDir = "folder"; },
           [](auto &r) {
             r.options.explain = true;
             r.name = "other.mlir";
           },
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

/// Registers that a test makes up.
class FakeCpu : public CpuReader {
public:
  FakeCpu() { at(1, 0)[2] = 1 << 27; } // the system saves states

  std::array<uint32_t, 4> &at(uint32_t leaf, uint32_t subleaf) {
    return leaves[{leaf, subleaf}];
  }
  std::array<uint32_t, 4> cpuid(uint32_t leaf,
                                uint32_t subleaf) const override {
    auto found = leaves.find({leaf, subleaf});
    return found == leaves.end() ? std::array<uint32_t, 4>{} : found->second;
  }
  uint64_t xgetbv() const override { return states; }

  uint64_t states = 7;

private:
  std::map<std::pair<uint32_t, uint32_t>, std::array<uint32_t, 4>> leaves;
};

TEST(CpuIdentity, changes_with_every_register_that_llvm_reads) {
  // Those of llvm/lib/TargetParser/Host.cpp, for the name and the features.
  struct {
    uint32_t leaf, subleaf;
    const char *registers;
  } read[] = {
      {0x0, 0, "bcd"},       {0x1, 0, "acd"},      {0x7, 0, "bcd"},
      {0x7, 1, "abcd"},      {0xd, 1, "a"},        {0x14, 0, "b"},
      {0x19, 0, "b"},        {0x1e, 1, "a"},       {0x24, 0, "b"},
      {0x80000001, 0, "cd"}, {0x80000008, 0, "b"},
  };
  std::set<std::string> identities = {cpuIdentity(FakeCpu())};
  for (const auto &[leaf, subleaf, registers] : read)
    for (const char *name = registers; *name; ++name)
      for (int bit : {0, 13, 31}) {
        FakeCpu cpu;
        cpu.at(leaf, subleaf)[*name - 'a'] ^= uint32_t(1) << bit;
        EXPECT_TRUE(identities.insert(cpuIdentity(cpu)).second)
            << std::hex << leaf << "." << subleaf << " e" << *name << "x";
      }
  for (int bit : {0, 6, 18, 40}) {
    FakeCpu cpu;
    cpu.states ^= uint64_t(1) << bit;
    EXPECT_TRUE(identities.insert(cpuIdentity(cpu)).second) << bit;
  }
}

TEST(CpuIdentity, does_not_change_with_the_number_of_a_core) {
  FakeCpu cpu;
  cpu.at(1, 0)[1] = 5 << 24;
  EXPECT_EQ(cpuIdentity(cpu), cpuIdentity(FakeCpu()));
}

TEST(CpuIdentity, states_that_nobody_saves_are_not_read) {
  FakeCpu cpu;
  cpu.at(1, 0)[2] = 0;
  std::string identity = cpuIdentity(cpu);
  cpu.states = 99;
  EXPECT_EQ(cpuIdentity(cpu), identity);
}

TEST(CpuIdentity, of_this_machine_is_what_its_registers_hold) {
  unsigned a, b, c, d;
  ASSERT_TRUE(__get_cpuid(1, &a, &b, &c, &d));
  char family[24];
  std::snprintf(family, sizeof family, " %x ", a);
  EXPECT_THAT(cpuIdentity(), HasSubstr(family));
  ASSERT_TRUE(__get_cpuid_count(7, 0, &a, &b, &c, &d));
  char features[40];
  std::snprintf(features, sizeof features, " %x %x %x ", b, c, d);
  EXPECT_THAT(cpuIdentity(), HasSubstr(features));
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
