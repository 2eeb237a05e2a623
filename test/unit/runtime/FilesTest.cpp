// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Files.h"

#include "TemporaryFolder.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace attn;
using testing::HasSubstr;

namespace {

TEST(Files, what_was_written_is_read) {
  TemporaryFolder folder;
  std::string path = folder.path("a");
  ASSERT_TRUE(writeFile(path, {"one ", std::string_view("t\0o", 3)}).ok());
  Result<std::string> content = readFile(path, 100);
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(*content, std::string("one t\0o", 7));
}

TEST(Files, a_longer_file_is_truncated) {
  TemporaryFolder folder;
  std::string path = folder.write("a", "a long content");
  ASSERT_TRUE(writeFile(path, {"b"}).ok());
  EXPECT_EQ(*readFile(path, 100), "b");
}

/// Names in a folder.
std::vector<std::string> namesIn(const std::string &folder) {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename());
  return names;
}

TEST(Files, the_file_before_is_whole_until_the_new_one_is) {
  TemporaryFolder folder;
  std::string path = folder.write("a", "before");
  {
    Result<OutputFile> file = OutputFile::open(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write({"after"}).ok());
    EXPECT_EQ(*readFile(path, 100), "before");
    ASSERT_TRUE(file->write({" all"}).ok());
    ASSERT_TRUE(file->commit().ok());
    EXPECT_EQ(*readFile(path, 100), "after all");
  }
  {
    Result<OutputFile> dropped = OutputFile::open(path);
    ASSERT_TRUE(dropped.ok());
    ASSERT_TRUE(dropped->write({"never"}).ok());
  }
  EXPECT_EQ(*readFile(path, 100), "after all");
  EXPECT_EQ(namesIn(folder.path("")), std::vector<std::string>{"a"});
}

TEST(Files, a_limit_on_sizes_is_an_error) {
  TemporaryFolder folder;
  std::string path = folder.write("a", "before");
  // The limit stays with the process.
  pid_t child = fork();
  if (child == 0) {
    struct rlimit limit = {10, 10};
    setrlimit(RLIMIT_FSIZE, &limit);
    Result<void> done = writeFile(path, {"12345", "678901"});
    bool isRight = !done && done.error().message.find(
                                "can't write 11 bytes: the limit of this "
                                "process is 10") != std::string::npos;
    // What fits is written.
    isRight = isRight && writeFile(folder.path("b"), {"1234567890"}).ok();
    _exit(isRight ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(*readFile(path, 100), "before");
  EXPECT_EQ(*readFile(folder.path("b"), 100), "1234567890");
  EXPECT_EQ(namesIn(folder.path("")).size(), 2u);
}

TEST(Files, a_link_stays_and_rights_are_kept) {
  TemporaryFolder folder;
  std::string path = folder.write("a", "before");
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  std::string link = folder.path("link");
  ASSERT_EQ(symlink("a", link.c_str()), 0);
  ASSERT_TRUE(writeFile(link, {"after"}).ok());
  EXPECT_EQ(*readFile(path, 100), "after");
  struct stat status;
  ASSERT_EQ(lstat(link.c_str(), &status), 0);
  EXPECT_TRUE(S_ISLNK(status.st_mode));
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
  // One to nothing makes what it names.
  std::string dangling = folder.path("dangling");
  ASSERT_EQ(symlink("new", dangling.c_str()), 0);
  ASSERT_TRUE(writeFile(dangling, {"new"}).ok());
  EXPECT_EQ(*readFile(folder.path("new"), 100), "new");
  EXPECT_TRUE(isSameFile(link, path));
  EXPECT_FALSE(isSameFile(folder.path("new"), path));
  EXPECT_FALSE(isSameFile(folder.path("none"), folder.path("none")));
}

TEST(Files, nothing_is_written_into_the_null_device) {
  EXPECT_TRUE(writeFile("/dev/null", {"x"}).ok());
}

TEST(Files, a_missing_file_is_named) {
  Result<std::string> content = readFile("/nonexistent/x", 100);
  ASSERT_FALSE(content.ok());
  EXPECT_EQ(content.error().message,
            "file '/nonexistent/x': can't open: No such file or directory");
}

TEST(Files, a_directory_is_refused) {
  TemporaryFolder folder;
  Result<std::string> content = readFile(folder.path(""), 100);
  ASSERT_FALSE(content.ok());
  EXPECT_THAT(content.error().message,
              HasSubstr("expected a regular file, got a directory"));
  Result<void> written = writeFile(folder.path(""), {"x"});
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().message, HasSubstr("got a directory"));
}

TEST(Files, a_pipe_is_refused_without_waiting) {
  TemporaryFolder folder;
  std::string path = folder.path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  Result<std::string> content = readFile(path, 100);
  ASSERT_FALSE(content.ok());
  EXPECT_THAT(content.error().message, HasSubstr("got a pipe"));
  EXPECT_FALSE(writeFile(path, {"x"}).ok());
}

TEST(Files, a_device_is_refused) {
  Result<std::string> content = readFile("/dev/zero", 100);
  ASSERT_FALSE(content.ok());
  EXPECT_THAT(content.error().message, HasSubstr("got a device"));
}

TEST(Files, a_file_over_the_limit_is_refused) {
  TemporaryFolder folder;
  Result<std::string> content = readFile(folder.write("a", "12345"), 4);
  ASSERT_FALSE(content.ok());
  EXPECT_THAT(content.error().message,
              HasSubstr("expected at most 4 bytes, got 5"));
}

TEST(Files, odd_paths_are_refused) {
  EXPECT_FALSE(readFile("", 100).ok());
  EXPECT_FALSE(readFile(std::string("/dev/null\0x", 11), 100).ok());
}

} // namespace
