// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The disk cache behind the engine. Each engine has its own memory, so that a
// second one stands for another process.

#include "runtime/Engine.h"
#include "runtime/Spec.h"
#include "runtime/cache/CacheKey.h"
#include "runtime/cache/DiskCache.h"

#include "EnvironmentVariable.h"
#include "Privileges.h"
#include "SmallDisk.h"
#include "TemporaryFolder.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <sys/stat.h>
#include <sys/wait.h>

using namespace attn;
using testing::HasSubstr;
using State = CacheUse::State;

namespace {

const char attention[] = R"(
func.func @attend(%q: tensor<?x4x?x24xf32>, %k: tensor<?x2x?x24xf32>,
                  %v: tensor<?x2x?x40xf32>)
    -> (tensor<?x4x?x40xf32>, tensor<?x4x?xf32>) {
  %o, %lse = attn.gqa %q, %k, %v align(bottom_right) mask(#attn.causal)
      : (tensor<?x4x?x24xf32>, tensor<?x2x?x24xf32>, tensor<?x2x?x40xf32>)
      -> (tensor<?x4x?x40xf32>, tensor<?x4x?xf32>)
  return %o, %lse : tensor<?x4x?x40xf32>, tensor<?x4x?xf32>
}
)";

Tensor random(const std::string &type, uint64_t stream) {
  Result<OwnedValue> value = evaluate(*parseInputSpec(type), 1, stream);
  EXPECT_TRUE(value.ok());
  return std::move(std::get<Tensor>(value->held));
}

struct Operands {
  Tensor q = random("2x4x37x24xf32", 0);
  Tensor k = random("2x2x70x24xf32", 1);
  Tensor v = random("2x2x70x40xf32", 2);
  std::vector<Value> values() const { return {q.view(), k.view(), v.view()}; }
};

/// The bytes of all results.
std::string callBits(const Program &program) {
  Operands x;
  auto results = program.call("attend", x.values());
  EXPECT_TRUE(results.ok()) << results.error().message;
  std::string bits;
  for (const Tensor &result : *results)
    bits.append(static_cast<const char *>(result.raw()), result.numBytes());
  return bits;
}

class EngineCacheTest : public testing::TestWithParam<const char *> {
protected:
  EngineCacheTest() {
    options.device = GetParam();
    options.cacheDir = folder.path("cache");
  }
  /// Compiles as another process would.
  Program compile(const EngineOptions &options,
                  const std::string &text = attention,
                  const std::string &name = "a.mlir") {
    Result<Program> program = Engine(options).compileText(text, name);
    // GoogleTest turns it into a failure of the test.
    if (!program)
      throw std::runtime_error(program.error().message);
    return *program;
  }
  Program compile() { return compile(options); }
  State stateOf(const EngineOptions &options,
                const std::string &text = attention) {
    return compile(options, text).cacheUse().state;
  }
  /// The only entry.
  std::string entry() {
    std::filesystem::directory_iterator files(*options.cacheDir);
    return files->path();
  }

  TemporaryFolder folder;
  EngineOptions options;
};

TEST_P(EngineCacheTest, a_hit_is_what_was_compiled) {
  options.remarks = true;
  Program compiled = compile(), loaded = compile();
  ASSERT_EQ(compiled.cacheUse().state, State::miss);
  ASSERT_EQ(loaded.cacheUse().state, State::hit);
  EXPECT_EQ(compiled.cacheUse().note, "");
  EXPECT_EQ(loaded.cacheUse().note, "");
  EXPECT_EQ(callBits(loaded), callBits(compiled));
  EXPECT_EQ(loaded.functions(), compiled.functions());
  EXPECT_EQ(format(*loaded.signature("attend")),
            format(*compiled.signature("attend")));
  EXPECT_EQ(loaded.target(), compiled.target());
  EXPECT_EQ(loaded.remarks(), compiled.remarks());
  EXPECT_GT(loaded.compileMillis(), 0);
  Operands x;
  EXPECT_EQ(*loaded.flops("attend", x.values()),
            *compiled.flops("attend", x.values()));
  auto tiles = compiled.tiles("attend", x.values());
  auto same = loaded.tiles("attend", x.values());
  ASSERT_EQ(same.ok(), tiles.ok());
  if (tiles.ok())
    EXPECT_EQ(*same, *tiles);
  EXPECT_EQ(*loaded.emit("obj"), *compiled.emit("obj"));
  // The rules of the plan.
  x.k = random("2x2x70x23xf32", 1);
  auto refused = loaded.call("attend", x.values());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            compiled.call("attend", x.values()).error().message);
  x.k = random("3x2x70x24xf32", 1);
  refused = loaded.call("attend", x.values());
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("key: expected batch"));
  EXPECT_EQ(refused.error().message,
            compiled.call("attend", x.values()).error().message);
}

TEST_P(EngineCacheTest, what_changes_the_code_misses) {
  ASSERT_EQ(stateOf(options), State::miss);
  EngineOptions changed = options;
  changed.target = "cpu:generic";
  EXPECT_EQ(stateOf(changed), State::miss);
  changed = options;
  changed.device = options.device == "cpu" ? "reference" : "cpu";
  EXPECT_EQ(stateOf(changed), State::miss);
  changed = options;
  changed.countTiles = true;
  EXPECT_EQ(stateOf(changed), State::miss);
  changed = options;
  changed.remarks = true;
  EXPECT_EQ(stateOf(changed), State::miss);
  EXPECT_EQ(stateOf(options, std::string(attention) + " "), State::miss);
  EXPECT_EQ(stateOf(options), State::hit);
}

TEST_P(EngineCacheTest, the_name_of_the_file_changes_nothing) {
  compile(options, attention, "a.mlir");
  std::string first = entry();
  std::ifstream file(first, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(compile(options, attention, "b.mlir").cacheUse().state, State::hit);
  // Nor would it in a folder where it is compiled again.
  options.cacheDir = folder.path("other");
  compile(options, attention, "b.mlir");
  std::ifstream again(entry(), std::ios::binary);
  EXPECT_TRUE(bytes == std::string(std::istreambuf_iterator<char>(again), {}));
}

TEST_P(EngineCacheTest, the_memory_of_an_engine_comes_first) {
  Engine engine(options);
  EXPECT_EQ(engine.compileText(attention)->cacheUse().state, State::miss);
  EXPECT_EQ(engine.compileText(attention)->cacheUse().state, State::miss);
}

TEST_P(EngineCacheTest, off_where_it_is_not_wanted) {
  options.cacheDir = "";
  EXPECT_EQ(compile().cacheUse().state, State::off);
  EXPECT_EQ(compile().cacheUse().note, "");
  options.cacheDir.reset();
  EnvironmentVariable off("ATTN_CACHE_DIR", "");
  EXPECT_EQ(compile().cacheUse().state, State::off);
  EnvironmentVariable on("ATTN_CACHE_DIR", folder.path("environment").c_str());
  EXPECT_EQ(compile().cacheUse().state, State::miss);
  EXPECT_EQ(compile().cacheUse().state, State::hit);
}

TEST_P(EngineCacheTest, a_dump_is_compiled) {
  compile();
  for (const char *dump : {"first", "second"}) {
    options.dumpDir = folder.path(dump);
    Program program = compile();
    EXPECT_EQ(program.cacheUse().state, State::off);
    EXPECT_THAT(program.cacheUse().note, HasSubstr("dumped"));
    EXPECT_TRUE(std::filesystem::exists(folder.path(dump) + "/0-source.mlir"));
  }
}

TEST_P(EngineCacheTest, a_folder_that_can_not_be_used_is_no_error) {
  std::string bits = callBits(compile());
  std::string file = folder.write("file", "");
  std::string open = folder.path("open");
  ASSERT_EQ(mkdir(open.c_str(), 0700), 0);
  ASSERT_EQ(chmod(open.c_str(), 0777), 0);
  for (const std::string &path : {file, file + "/below", open}) {
    options.cacheDir = path;
    Program program = compile();
    EXPECT_EQ(program.cacheUse().state, State::off);
    EXPECT_THAT(program.cacheUse().note, HasSubstr("folder '" + path + "': "));
    EXPECT_EQ(callBits(program), bits);
  }
  EXPECT_TRUE(std::filesystem::is_empty(open));
}

TEST_P(EngineCacheTest, a_read_only_folder_is_read) {
  std::string path = *options.cacheDir;
  // The libraries may lie where the other user can't open them.
  options.cacheDir = folder.path("before");
  compile();
  options.cacheDir = path;
  ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
  Unprivileged unprivileged({folder.path(""), path});
  compile();
  ASSERT_EQ(chmod(path.c_str(), 0500), 0);
  EXPECT_EQ(compile().cacheUse().state, State::hit);
  EXPECT_EQ(compile().cacheUse().note, "");
  Program other = compile(options, std::string(attention) + " ");
  EXPECT_EQ(other.cacheUse().state, State::miss);
  EXPECT_THAT(other.cacheUse().note, HasSubstr("can't write"));
  ASSERT_EQ(chmod(path.c_str(), 0700), 0);
}

TEST_P(EngineCacheTest, a_broken_entry_is_compiled_and_replaced) {
  std::string bits = callBits(compile());
  std::string path = entry();
  uint64_t size = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, size / 2);
  Program again = compile();
  EXPECT_EQ(again.cacheUse().state, State::miss);
  EXPECT_EQ(callBits(again), bits);
  EXPECT_EQ(std::filesystem::file_size(path), size);
  EXPECT_EQ(callBits(compile()), bits);
  EXPECT_EQ(compile().cacheUse().state, State::hit);
}

TEST_P(EngineCacheTest, an_entry_that_does_not_load_is_compiled_and_replaced) {
  compile();
  CompileRequest request = CompileRequest::forOptions(options);
  request.text = attention;
  std::string key = cacheKey(request, *Maker::get());
  Result<DiskCache> cache = DiskCache::open(*options.cacheDir);
  ASSERT_TRUE(cache.ok());
  std::optional<std::string> bytes = cache->find(key);
  ASSERT_TRUE(bytes.has_value());
  // With a good checksum, so that only what is inside is wrong.
  ASSERT_TRUE(cache->store(key, "garbage").ok());
  EXPECT_EQ(stateOf(options), State::miss);
  EXPECT_EQ(cache->find(key), bytes);
  std::string broken = *bytes;
  size_t object = broken.find("\177ELF");
  ASSERT_NE(object, std::string::npos);
  broken[object + 4] = '\1';
  ASSERT_TRUE(cache->store(key, broken).ok());
  EXPECT_EQ(stateOf(options), State::miss);
  EXPECT_EQ(cache->find(key), bytes);
}

TEST_P(EngineCacheTest, entries_of_other_cpus_and_versions_are_not_used) {
  CompileRequest request = CompileRequest::forOptions(options);
  request.text = attention;
  const Maker &here = *Maker::get();
  Maker otherCpu = here, otherVersion = here;
  // One feature more, and one byte of a build id.
  otherCpu.cpu.back() = otherCpu.cpu.back() == '0' ? '1' : '0';
  otherVersion.compiler[0] = here.compiler[0] == '0' ? '1' : '0';
  std::vector<std::string> keys = {cacheKey(request, otherCpu),
                                   cacheKey(request, otherVersion)};
  Result<DiskCache> cache = DiskCache::open(*options.cacheDir);
  ASSERT_TRUE(cache.ok());
  for (const std::string &key : keys)
    ASSERT_TRUE(cache->store(key, "code of another machine").ok());
  EXPECT_EQ(stateOf(options), State::miss);
  EXPECT_EQ(stateOf(options), State::hit);
  for (const std::string &key : keys)
    EXPECT_EQ(cache->find(key), "code of another machine");
}

TEST_P(EngineCacheTest, a_full_disk_costs_the_entry_alone) {
  // The compiler is open before the child has other file systems.
  options.cacheDir = "";
  std::string bits = callBits(compile());
  std::string path = folder.path("small");
  ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
  int outcome = runOnSmallDisk(path, 4, [&] {
    options.cacheDir = path + "/cache";
    Program program = compile();
    // Results on one thread: the child has no others of libomp.
    Operands x;
    auto results = program.call("attend", x.values(), {1});
    std::string got;
    for (const Tensor &result : *results)
      got.append(static_cast<const char *>(result.raw()), result.numBytes());
    return program.cacheUse().state == State::miss && got == bits &&
           program.cacheUse().note.find("No space left on device") !=
               std::string::npos;
  });
  if (outcome == 2)
    GTEST_SKIP() << "this user can't mount a small file system";
  EXPECT_EQ(outcome, 0);
}

TEST_P(EngineCacheTest, failures_are_not_kept) {
  Engine engine(options);
  EXPECT_FALSE(engine.compileText("func.func @f(").ok());
  EXPECT_TRUE(std::filesystem::is_empty(*options.cacheDir));
}

TEST_P(EngineCacheTest, processes_that_start_at_the_same_time) {
  std::vector<pid_t> children;
  for (int p = 0; p < 4; ++p) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      bool good = true;
      for (int i = 0; i < 3; ++i) {
        auto program = Engine(options).compileText(attention, "a.mlir");
        Operands x;
        good = good && program && program->cacheUse().note.empty() &&
               program->call("attend", x.values(), {1}).ok();
      }
      _exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(stateOf(options), State::hit);
}

INSTANTIATE_TEST_SUITE_P(Device, EngineCacheTest,
                         testing::Values("cpu", "reference"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

} // namespace
