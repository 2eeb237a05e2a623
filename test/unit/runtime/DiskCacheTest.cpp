// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries that are whole, torn, foreign, old, or written by several processes
// at the same time.

#include "runtime/cache/DiskCache.h"

#include "TemporaryFolder.h"

#include <csignal>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace attn;
using testing::HasSubstr;

namespace {

class DiskCacheTest : public testing::Test {
protected:
  DiskCache open(uint64_t maxBytes = DiskCache::defaultBytes) {
    Result<DiskCache> cache = DiskCache::open(folder.path("cache"), maxBytes);
    if (!cache)
      throw std::runtime_error(cache.error().message);
    return std::move(*cache);
  }
  std::string pathOf(const std::string &key) {
    return folder.path("cache/" + DiskCache::fileName(key));
  }
  std::string contentOf(const std::string &key) {
    std::ifstream file(pathOf(key), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void setContent(const std::string &key, const std::string &content) {
    folder.write("cache/" + DiskCache::fileName(key), content);
  }
  /// Makes a file look as if it was last used that long ago.
  void age(const std::string &path, time_t seconds) {
    struct timespec times[2] = {};
    times[0].tv_sec = times[1].tv_sec = time(nullptr) - seconds;
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0) << path;
  }
  TemporaryFolder folder;
};

TEST_F(DiskCacheTest, returns_what_was_stored) {
  DiskCache cache = open();
  EXPECT_EQ(cache.find("key"), std::nullopt);
  std::string value("bytes\0and more", 14);
  ASSERT_TRUE(cache.store("key", value).ok());
  ASSERT_TRUE(cache.store("other", "").ok());
  EXPECT_EQ(cache.find("key"), value);
  EXPECT_EQ(cache.find("other"), "");
  EXPECT_EQ(open().find("key"), value);
  ASSERT_TRUE(cache.store("key", "new").ok());
  EXPECT_EQ(cache.find("key"), "new");
}

TEST_F(DiskCacheTest, names_are_hashes) {
  // Of "abc", from FIPS 180-4.
  EXPECT_EQ(DiskCache::fileName("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
            ".attn");
}

TEST_F(DiskCacheTest, the_whole_key_is_compared) {
  DiskCache cache = open();
  ASSERT_TRUE(cache.store("key", "value").ok());
  // As if both had the same hash.
  setContent("kez", contentOf("key"));
  EXPECT_EQ(cache.find("kez"), std::nullopt);
  EXPECT_EQ(cache.find("key"), "value");
}

TEST_F(DiskCacheTest, a_torn_entry_is_none_and_is_replaced) {
  DiskCache cache = open();
  ASSERT_TRUE(cache.store("key", "value").ok());
  std::string whole = contentOf("key");
  for (size_t size = 0; size < whole.size(); ++size) {
    setContent("key", whole.substr(0, size));
    ASSERT_EQ(cache.find("key"), std::nullopt) << size;
  }
  setContent("key", whole + "x");
  EXPECT_EQ(cache.find("key"), std::nullopt);
  ASSERT_TRUE(cache.store("key", "value").ok());
  EXPECT_EQ(contentOf("key"), whole);
}

TEST_F(DiskCacheTest, any_changed_bit_is_noticed) {
  DiskCache cache = open();
  ASSERT_TRUE(cache.store("key", "value").ok());
  std::string whole = contentOf("key");
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string changed = whole;
    changed[bit / 8] = char(changed[bit / 8] ^ (1 << (bit % 8)));
    setContent("key", changed);
    ASSERT_EQ(cache.find("key"), std::nullopt) << bit;
  }
}

TEST_F(DiskCacheTest, garbage_is_no_entry) {
  DiskCache cache = open();
  for (const std::string &garbage :
       {std::string(), std::string("ATTNMOD1"), std::string(1000, '\xff')}) {
    setContent("key", garbage);
    EXPECT_EQ(cache.find("key"), std::nullopt);
  }
}

TEST_F(DiskCacheTest, an_entry_that_others_may_write_is_none) {
  DiskCache cache = open();
  ASSERT_TRUE(cache.store("key", "value").ok());
  ASSERT_EQ(chmod(pathOf("key").c_str(), 0660), 0);
  EXPECT_EQ(cache.find("key"), std::nullopt);
  ASSERT_TRUE(cache.store("key", "value").ok());
  EXPECT_EQ(cache.find("key"), "value");
}

TEST_F(DiskCacheTest, what_was_not_used_for_longest_goes_first) {
  // Each entry takes about 1100 bytes of 10000.
  DiskCache cache = open(10000);
  std::string value(1000, 'v');
  for (int i = 0; i < 8; ++i) {
    std::string key = "key" + std::to_string(i);
    ASSERT_TRUE(cache.store(key, value).ok());
    age(pathOf(key), 1000 - i);
  }
  // The oldest one is used.
  ASSERT_EQ(cache.find("key0"), value);
  ASSERT_TRUE(cache.store("key8", value).ok());
  ASSERT_TRUE(cache.store("key9", value).ok());
  EXPECT_EQ(cache.find("key1"), std::nullopt);
  for (int i : {0, 2, 3, 4, 5, 6, 7, 8, 9})
    EXPECT_EQ(cache.find("key" + std::to_string(i)), value) << i;
}

TEST_F(DiskCacheTest, too_large_entries_are_refused) {
  DiskCache cache = open(8000);
  Result<void> done = cache.store("key", std::string(1000, 'v'));
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message, HasSubstr("at most 1000 bytes, got 1059"));
  EXPECT_EQ(cache.find("key"), std::nullopt);
  EXPECT_TRUE(cache.store("key", std::string(941, 'v')).ok());
}

TEST_F(DiskCacheTest, only_leftovers_of_its_own_are_removed) {
  DiskCache cache = open(8 * 60);
  std::string hash(64, 'a');
  std::string left = "cache/" + hash + ".attn.0123456789abcdef.unfinished";
  std::string fresh = "cache/" + hash + ".attn.fedcba9876543210.unfinished";
  std::string foreign = "cache/notes.attn", other = "cache/x.unfinished";
  for (const std::string &name : {left, foreign, other})
    folder.write(name, std::string(2000, 'x'));
  folder.write(fresh, std::string(100, 'x'));
  for (const std::string &name : {left, foreign, other})
    age(folder.path(name), 7200);
  ASSERT_TRUE(cache.store("key", "").ok());
  EXPECT_FALSE(std::filesystem::exists(folder.path(left)));
  for (const std::string &name : {fresh, foreign, other})
    EXPECT_TRUE(std::filesystem::exists(folder.path(name))) << name;
  EXPECT_EQ(cache.find("key"), "");
}

TEST_F(DiskCacheTest, leftovers_count) {
  DiskCache cache = open(8000);
  std::string value(500, 'v');
  ASSERT_TRUE(cache.store("key", value).ok());
  std::vector<std::string> left;
  for (char c : {'a', 'b', 'c'}) {
    left.push_back("cache/" + std::string(64, c) +
                   ".attn.0123456789abcdef.unfinished");
    folder.write(left.back(), std::string(3000, 'x'));
  }
  age(folder.path(left[0]), 600);
  age(folder.path(left[1]), 500);
  age(pathOf("key"), 300);
  // 9000 bytes of leftovers: the oldest one goes, as the third is written now.
  ASSERT_TRUE(cache.store("other", value).ok());
  EXPECT_FALSE(std::filesystem::exists(folder.path(left[0])));
  EXPECT_TRUE(std::filesystem::exists(folder.path(left[1])));
  EXPECT_TRUE(std::filesystem::exists(folder.path(left[2])));
  EXPECT_EQ(cache.find("key"), value);
  EXPECT_EQ(cache.find("other"), value);
}

// A clock that was ahead must not keep what it dated for ever.
TEST_F(DiskCacheTest, entries_of_the_future_are_not_the_newest) {
  DiskCache cache = open(10000);
  std::string value(1000, 'v');
  ASSERT_TRUE(cache.store("future", value).ok());
  age(pathOf("future"), -1000000);
  for (int i = 0; i < 12; ++i) {
    std::string key = "key" + std::to_string(i);
    ASSERT_TRUE(cache.store(key, value).ok());
    age(pathOf(key), -2000000);
  }
  EXPECT_EQ(cache.find("future"), std::nullopt);
}

/// What process `p` stores in its round `r`: long enough for several writes to
/// overlap.
std::string valueOf(int p, int r) {
  return std::string(50000 + 1000 * p + r, char('a' + p));
}

/// True if some process can have stored the value.
bool isWhole(const std::string &value) {
  int p = value.empty() ? -1 : value[0] - 'a';
  return p >= 0 && p < 4 && value.size() >= size_t(50000 + 1000 * p) &&
         value == std::string(value.size(), value[0]);
}

TEST_F(DiskCacheTest, several_processes_read_and_write) {
  std::vector<pid_t> children;
  for (int p = 0; p < 4; ++p) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      DiskCache cache = open();
      int failures = 0;
      for (int r = 0; r < 100; ++r) {
        std::string key = "key" + std::to_string(r % 3);
        failures += !cache.store(key, valueOf(p, r)).ok();
        std::optional<std::string> value = cache.find(key);
        failures += !value || !isWhole(*value);
      }
      _exit(failures == 0 ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  auto files = std::filesystem::directory_iterator(folder.path("cache"));
  EXPECT_EQ(std::distance(files, {}), 3);
}

TEST_F(DiskCacheTest, writers_that_are_killed_leave_whole_entries) {
  DiskCache cache = open();
  for (int round = 0; round < 30; ++round) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0)
      for (int r = 0;; ++r)
        (void)cache.store("key" + std::to_string(r % 3), valueOf(round % 4, r));
    // Long enough for a few entries, and never at the same point.
    usleep(useconds_t(1000 + 137 * round));
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    for (int k = 0; k < 3; ++k) {
      std::optional<std::string> value = cache.find("key" + std::to_string(k));
      EXPECT_TRUE(!value || isWhole(*value)) << round;
    }
  }
  EXPECT_TRUE(cache.store("key0", valueOf(0, 0)).ok());
  EXPECT_EQ(cache.find("key0"), valueOf(0, 0));
}

TEST_F(DiskCacheTest, several_processes_share_too_small_a_cache) {
  // Room for eight or nine of the values.
  const uint64_t bytes = 8 * 60000;
  std::vector<pid_t> children;
  for (int p = 0; p < 4; ++p) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      DiskCache cache = open(bytes);
      int failures = 0;
      for (int r = 0; r < 60; ++r) {
        // Entries come and go while others read them.
        std::string key = "key" + std::to_string((p + r) % 20);
        failures += !cache.store(key, valueOf(p, r)).ok();
        std::optional<std::string> value =
            cache.find("key" + std::to_string(r % 20));
        failures += value && !isWhole(*value);
      }
      _exit(failures == 0 ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  ASSERT_TRUE(open(bytes).store("last", "value").ok());
  uint64_t total = 0;
  for (const auto &file :
       std::filesystem::directory_iterator(folder.path("cache")))
    total += file.file_size();
  EXPECT_LE(total, bytes);
  EXPECT_EQ(open(bytes).find("last"), "value");
}

} // namespace
