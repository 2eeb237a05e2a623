// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading and writing whole files without being fooled by what a path names:
// directories, pipes and devices are refused, never waited for.

#ifndef ATTN_RUNTIME_FILES_H
#define ATTN_RUNTIME_FILES_H

#include "runtime/Result.h"

#include <cstdint>
#include <optional>
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

// What files that replace others are made with.

/// How names end of files that are not whole yet.
inline constexpr std::string_view unfinishedSuffix = ".unfinished";

/// NAME.<random>.unfinished, or nothing if there is no random number.
std::optional<std::string> unfinishedName(const std::string &name);

/// Bytes that a file of this process may have: a write that goes beyond ends
/// the program by a signal, unless that is ignored.
uint64_t fileSizeLimit();

/// Whether all of `bytes` could be written; errno says why not.
bool writeAll(int descriptor, std::string_view bytes);

/// A file that is written beside the one that it is to replace: until commit(),
/// and where anything fails, that one is whole. What a killed process leaves is
/// named NAME.<random>.unfinished.
class OutputFile {
public:
  /// A path that exists and is not a regular file that may be written is
  /// refused, except for /dev/null. A link is followed, and an existing file
  /// keeps its rights.
  static Result<OutputFile> open(const std::string &path);
  OutputFile(OutputFile &&other);
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  /// Adds the pieces, one after the other. A limit of the process on the size
  /// of files is an error and no signal.
  Result<void> write(std::initializer_list<std::string_view> pieces);
  /// Puts the file in its place.
  Result<void> commit();

private:
  explicit OutputFile(std::string path);

  int descriptor = -1;
  std::string asked;      ///< the path in messages
  std::string place;      ///< where the file ends up
  std::string unfinished; ///< where it is until then; empty for /dev/null
  uint64_t numBytes = 0;
};

/// Writes the pieces one after the other into a file that takes the place of
/// the one at `path`, as OutputFile does.
Result<void> writeFile(const std::string &path,
                       std::initializer_list<std::string_view> pieces);

/// Whether two paths name one existing file.
bool isSameFile(const std::string &first, const std::string &second);

} // namespace attn

#endif // ATTN_RUNTIME_FILES_H
