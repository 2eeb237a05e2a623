// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading and writing whole files without being fooled by what a path names:
// directories, pipes and devices are refused, never waited for.

#ifndef ATTN_RUNTIME_FILES_H
#define ATTN_RUNTIME_FILES_H

#include "runtime/Result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace attn {

/// A regular file, opened for reading.
class InputFile {
public:
  static Result<InputFile> open(const std::string &path);
  InputFile(InputFile &&other);
  InputFile &operator=(InputFile &&) = delete;
  ~InputFile();

  const std::string &path() const { return filePath; }
  uint64_t size() const { return numBytes; }

  /// Exactly `count` bytes from `offset`.
  Result<void> read(uint64_t offset, void *buffer, uint64_t count) const;

private:
  InputFile(int descriptor, std::string path, uint64_t size);
  int descriptor;
  std::string filePath;
  uint64_t numBytes;
};

/// The content of a regular file of at most `limit` bytes.
Result<std::string> readFile(const std::string &path, uint64_t limit);

/// Writes the pieces one after the other into a new or truncated file. A path
/// that exists and is not a regular file is refused, except for /dev/null.
Result<void> writeFile(const std::string &path,
                       std::initializer_list<std::string_view> pieces);

} // namespace attn

#endif // ATTN_RUNTIME_FILES_H
