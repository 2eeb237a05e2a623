// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Files.h"

#include "TemporaryFolder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

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
