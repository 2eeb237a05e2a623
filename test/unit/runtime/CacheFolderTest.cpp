// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which folder is the cache, whom it has to belong to, and what happens where
// nothing can be written.

#include "runtime/cache/CacheFolder.h"

#include "EnvironmentVariable.h"
#include "Privileges.h"
#include "SmallDisk.h"
#include "TemporaryFolder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace attn;
using testing::HasSubstr;

namespace {

TEST(CacheFolder, the_option_comes_first_then_the_environment) {
  EnvironmentVariable own("ATTN_CACHE_DIR", "relative/own");
  EnvironmentVariable xdg("XDG_CACHE_HOME", "/xdg");
  TemporaryFolder me;
  EnvironmentVariable home("HOME", me.path("").c_str());
  EXPECT_EQ(*chooseCacheFolder("given"), "given");
  EXPECT_EQ(*chooseCacheFolder(""), "");
  EXPECT_EQ(*chooseCacheFolder(std::nullopt), "relative/own");
  {
    EnvironmentVariable empty("ATTN_CACHE_DIR", "");
    EXPECT_EQ(*chooseCacheFolder(std::nullopt), "");
  }
  EnvironmentVariable none("ATTN_CACHE_DIR", nullptr);
  EXPECT_EQ(*chooseCacheFolder(std::nullopt), "/xdg/attn");
  for (const char *ignored :
       {"", "relative", static_cast<const char *>(nullptr)}) {
    EnvironmentVariable base("XDG_CACHE_HOME", ignored);
    EXPECT_EQ(*chooseCacheFolder(std::nullopt), me.path("") + "/.cache/attn");
    for (const char *nowhere :
         {"", "relative", static_cast<const char *>(nullptr)}) {
      EnvironmentVariable homeless("HOME", nowhere);
      Result<std::string> folder = chooseCacheFolder(std::nullopt);
      ASSERT_FALSE(folder.ok());
      EXPECT_THAT(folder.error().message, HasSubstr("XDG_CACHE_HOME and HOME"));
    }
  }
}

TEST(CacheFolder, a_home_that_is_not_there_is_not_made) {
  EnvironmentVariable own("ATTN_CACHE_DIR", nullptr);
  EnvironmentVariable xdg("XDG_CACHE_HOME", nullptr);
  TemporaryFolder folder;
  for (const std::string &none :
       {folder.path("none/here"), folder.write("file", "")}) {
    EnvironmentVariable home("HOME", none.c_str());
    Result<std::string> chosen = chooseCacheFolder(std::nullopt);
    ASSERT_FALSE(chosen.ok());
    EXPECT_EQ(chosen.error().message,
              "expected HOME to name a folder, got '" + none + "'");
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path("none")));
}

mode_t modeOf(const std::string &path) {
  struct stat status = {};
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 0777;
}

TEST(CacheFolder, is_made_for_this_user_alone) {
  TemporaryFolder temporary;
  std::string path = temporary.path("a/b/c");
  Result<CacheFolder> folder = CacheFolder::open(path);
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  EXPECT_EQ(modeOf(temporary.path("a")), 0700u);
  EXPECT_EQ(modeOf(path), 0700u);
  ASSERT_TRUE(folder->replace("x", "text").ok());
  EXPECT_EQ(modeOf(path + "/x"), 0600u);
  EXPECT_EQ(folder->read("x", 100), "text");
  EXPECT_TRUE(CacheFolder::open(path).ok());
}

TEST(CacheFolder, one_that_others_may_write_is_refused) {
  TemporaryFolder temporary;
  std::string path = temporary.path("a");
  for (mode_t mode : {0720, 0702, 0777, 01777}) {
    ASSERT_TRUE(CacheFolder::open(path).ok());
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    Result<CacheFolder> folder = CacheFolder::open(path);
    ASSERT_FALSE(folder.ok()) << mode;
    EXPECT_THAT(folder.error().message,
                HasSubstr("belongs to this user and that no others may write"));
    ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  }
}

TEST(CacheFolder, one_of_another_user_is_refused) {
  TemporaryFolder temporary;
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a folder away";
  std::string path = temporary.path("a");
  ASSERT_TRUE(CacheFolder::open(path).ok());
  ASSERT_EQ(chown(path.c_str(), 12345, 12345), 0);
  Result<CacheFolder> folder = CacheFolder::open(path);
  ASSERT_FALSE(folder.ok());
  EXPECT_THAT(folder.error().message, HasSubstr("belongs to this user"));
}

TEST(CacheFolder, places_that_can_not_be_folders) {
  TemporaryFolder temporary;
  std::string file = temporary.write("file", "");
  for (const std::string &path :
       {file, file + "/below", std::string("/proc/attn"),
        std::string("a\0b", 3)})
    EXPECT_FALSE(CacheFolder::open(path).ok()) << path;
}

TEST(CacheFolder, other_things_than_own_files_are_not_read) {
  TemporaryFolder temporary;
  std::string path = temporary.path("a");
  Result<CacheFolder> folder = CacheFolder::open(path);
  ASSERT_TRUE(folder.ok());
  ASSERT_TRUE(folder->replace("x", "text").ok());
  EXPECT_EQ(folder->read("absent", 100), std::nullopt);
  EXPECT_EQ(folder->read("x", 4), "text");
  EXPECT_EQ(folder->read("x", 3), std::nullopt);
  ASSERT_EQ(symlink("x", (path + "/link").c_str()), 0);
  EXPECT_EQ(folder->read("link", 100), std::nullopt);
  // Reading it must not wait for a writer.
  ASSERT_EQ(mkfifo((path + "/pipe").c_str(), 0600), 0);
  EXPECT_EQ(folder->read("pipe", 100), std::nullopt);
  ASSERT_EQ(mkdir((path + "/folder").c_str(), 0700), 0);
  EXPECT_EQ(folder->read("folder", 100), std::nullopt);
  ASSERT_EQ(chmod((path + "/x").c_str(), 0620), 0);
  EXPECT_EQ(folder->read("x", 100), std::nullopt);
  ASSERT_TRUE(folder->replace("x", "new").ok());
  EXPECT_EQ(folder->read("x", 100), "new");
}

TEST(CacheFolder, stays_the_same_where_its_path_changes) {
  TemporaryFolder temporary;
  Result<CacheFolder> folder = CacheFolder::open(temporary.path("a"));
  ASSERT_TRUE(folder.ok());
  std::filesystem::rename(temporary.path("a"), temporary.path("b"));
  ASSERT_TRUE(folder->replace("x", "text").ok());
  EXPECT_TRUE(std::filesystem::exists(temporary.path("b/x")));
  std::filesystem::remove_all(temporary.path("b"));
  EXPECT_FALSE(folder->replace("x", "text").ok());
  EXPECT_EQ(folder->read("x", 100), std::nullopt);
}

size_t numFiles(const std::string &path) {
  return std::distance(std::filesystem::directory_iterator(path), {});
}

TEST(CacheFolder, one_that_is_read_only_can_be_read) {
  TemporaryFolder temporary;
  std::string path = temporary.path("a");
  Unprivileged unprivileged({temporary.path(""), path});
  Result<CacheFolder> folder = CacheFolder::open(path);
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  ASSERT_TRUE(folder->replace("x", "text").ok());
  ASSERT_EQ(chmod(path.c_str(), 0500), 0);
  Result<void> done = folder->replace("x", "other");
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message,
              HasSubstr("can't write: Permission denied"));
  EXPECT_EQ(CacheFolder::open(path)->read("x", 100), "text");
  ASSERT_EQ(chmod(path.c_str(), 0700), 0);
}

TEST(CacheFolder, a_full_disk_leaves_what_was_there) {
  TemporaryFolder temporary;
  int outcome = runOnSmallDisk(temporary.path(""), 64, [&] {
    std::string path = temporary.path("a");
    Result<CacheFolder> folder = CacheFolder::open(path);
    bool good = folder && folder->replace("x", "text");
    // More than there is, so that writing stops in the middle.
    Result<void> done = folder->replace("x", std::string(100000, 'a'));
    good = good && !done &&
           done.error().message.find("can't write: No space left on device") !=
               std::string::npos;
    good = good && folder->read("x", 100) == "text" && numFiles(path) == 1;
    return good && folder->replace("x", std::string(30000, 'a')).ok();
  });
  if (outcome == 2)
    GTEST_SKIP() << "this user can't mount a small file system";
  EXPECT_EQ(outcome, 0);
}

TEST(CacheFolder, a_limit_on_files_ends_no_program) {
  TemporaryFolder temporary;
  std::string path = temporary.path("a");
  Result<CacheFolder> folder = CacheFolder::open(path);
  ASSERT_TRUE(folder.ok());
  ASSERT_TRUE(folder->replace("x", "text").ok());
  // SIGXFSZ, which ends a program that goes beyond the limit, is not ignored.
  struct rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  struct rlimit low = {1000, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  Result<void> done = folder->replace("x", std::string(1001, 'a'));
  Result<void> fits = folder->replace("y", std::string(1000, 'a'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message, HasSubstr("can't write: File too large"));
  EXPECT_EQ(folder->read("x", 100), "text");
  EXPECT_TRUE(fits.ok());
  EXPECT_EQ(numFiles(path), 2u);
}

} // namespace
