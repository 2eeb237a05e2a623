// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// POSIX file access behind Files.h.

#include "runtime/Files.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace attn {

static Error failure(const std::string &path, const std::string &what) {
  return Error{ErrorCode::ioFailure, "file '" + path + "': " + what};
}

static Error systemFailure(const std::string &path, const char *what) {
  return failure(path, std::string(what) + ": " + std::strerror(errno));
}

static const char *describe(mode_t mode) {
  if (S_ISDIR(mode))
    return "a directory";
  if (S_ISFIFO(mode))
    return "a pipe";
  if (S_ISSOCK(mode))
    return "a socket";
  return "a device";
}

/// An embedded NUL would name another file than the one in the message.
static bool isPath(const std::string &path) {
  return !path.empty() && path.find('\0') == std::string::npos;
}

InputFile::InputFile(int descriptor, std::string path, uint64_t size)
    : descriptor(descriptor), filePath(std::move(path)), numBytes(size) {}

InputFile::InputFile(InputFile &&other)
    : descriptor(std::exchange(other.descriptor, -1)),
      filePath(std::move(other.filePath)), numBytes(other.numBytes) {}

InputFile::~InputFile() {
  if (descriptor >= 0)
    ::close(descriptor);
}

Result<InputFile> InputFile::open(const std::string &path) {
  if (!isPath(path))
    return failure(path, "expected a path");
  // Without O_NONBLOCK, opening a pipe waits for a writer.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0)
    return systemFailure(path, "can't open");
  struct stat status;
  if (::fstat(descriptor, &status) != 0) {
    Error error = systemFailure(path, "can't inspect");
    ::close(descriptor);
    return error;
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return failure(path, std::string("expected a regular file, got ") +
                             describe(status.st_mode));
  }
  return InputFile(descriptor, path, status.st_size);
}

Result<void> InputFile::read(uint64_t offset, void *buffer,
                             uint64_t count) const {
  char *to = static_cast<char *>(buffer);
  while (count != 0) {
    ssize_t got = ::pread(descriptor, to, count, offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return systemFailure(filePath, "can't read");
    if (got == 0)
      return failure(filePath, "expected " + std::to_string(count) +
                                   " more bytes at offset " +
                                   std::to_string(offset) + ", got none");
    to += got;
    offset += got;
    count -= got;
  }
  return {};
}

Result<std::string> readFile(const std::string &path, uint64_t limit) {
  Result<InputFile> file = InputFile::open(path);
  if (!file)
    return file.error();
  if (file->size() > limit)
    return failure(path, "expected at most " + std::to_string(limit) +
                             " bytes, got " + std::to_string(file->size()));
  std::string content(file->size(), '\0');
  if (Result<void> done = file->read(0, content.data(), content.size()); !done)
    return done.error();
  return content;
}

Result<void> writeFile(const std::string &path,
                       std::initializer_list<std::string_view> pieces) {
  if (!isPath(path))
    return failure(path, "expected a path");
  struct stat status;
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) &&
      path != "/dev/null")
    return failure(path, std::string("expected a regular file, got ") +
                             describe(status.st_mode));
  int descriptor =
      ::open(path.c_str(),
             O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return systemFailure(path, "can't open for writing");
  for (std::string_view piece : pieces) {
    while (!piece.empty()) {
      ssize_t wrote = ::write(descriptor, piece.data(), piece.size());
      if (wrote < 0 && errno == EINTR)
        continue;
      if (wrote < 0) {
        Error error = systemFailure(path, "can't write");
        ::close(descriptor);
        return error;
      }
      piece.remove_prefix(wrote);
    }
  }
  if (::close(descriptor) != 0)
    return systemFailure(path, "can't write");
  return {};
}

} // namespace attn
