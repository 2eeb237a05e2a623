// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder for the files of one test, removed with the test.

#ifndef ATTN_TEST_UNIT_RUNTIME_TEMPORARYFOLDER_H
#define ATTN_TEST_UNIT_RUNTIME_TEMPORARYFOLDER_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern =
        std::filesystem::temp_directory_path() / "attn-XXXXXX";
    const char *made = mkdtemp(pattern.data());
    folder = made ? made : "/nonexistent";
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  std::string path(const std::string &name) const {
    return folder + "/" + name;
  }

  /// Writes `content` and returns the path.
  std::string write(const std::string &name, const std::string &content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

private:
  std::string folder;
};

#endif // ATTN_TEST_UNIT_RUNTIME_TEMPORARYFOLDER_H
