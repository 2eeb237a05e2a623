// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// POSIX file access behind Files.h.

#include "runtime/Files.h"

#include "runtime/code/Bytes.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/random.h>
#include <sys/resource.h>
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

std::optional<std::string> unfinishedName(const std::string &name) {
  char random[8];
  if (::getrandom(random, sizeof random, 0) != sizeof random)
    return std::nullopt;
  return name + "." + toHex(std::string_view(random, sizeof random)) +
         std::string(unfinishedSuffix);
}

uint64_t fileSizeLimit() {
  struct rlimit limit;
  bool isLimited =
      ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return isLimited ? limit.rlim_cur : UINT64_MAX;
}

bool writeAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t wrote = ::write(descriptor, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote < 0)
      return false;
    bytes.remove_prefix(wrote);
  }
  return true;
}

OutputFile::OutputFile(std::string path) : asked(std::move(path)) {}

OutputFile::OutputFile(OutputFile &&other)
    : descriptor(std::exchange(other.descriptor, -1)),
      asked(std::move(other.asked)), place(std::move(other.place)),
      unfinished(std::exchange(other.unfinished, "")),
      numBytes(other.numBytes) {}

OutputFile::~OutputFile() {
  if (descriptor >= 0)
    ::close(descriptor);
  if (!unfinished.empty())
    ::unlink(unfinished.c_str());
}

/// The file that `path` names behind links, which may not exist yet.
static std::string followLinks(const std::string &path) {
  std::filesystem::path place = path;
  std::error_code error;
  // As many as Linux follows; with more, opening fails.
  for (int links = 0; links < 40; ++links) {
    std::filesystem::path next = std::filesystem::read_symlink(place, error);
    if (error)
      break;
    place = place.parent_path() / next;
  }
  return place.string();
}

Result<OutputFile> OutputFile::open(const std::string &path) {
  if (!isPath(path))
    return failure(path, "expected a path");
  struct stat status;
  bool exists = ::stat(path.c_str(), &status) == 0;
  bool isNull = path == "/dev/null";
  if (exists && !S_ISREG(status.st_mode) && !isNull)
    return failure(path, std::string("expected a regular file, got ") +
                             describe(status.st_mode));
  if (exists && ::access(path.c_str(), W_OK) != 0)
    return systemFailure(path, "can't open for writing");
  OutputFile file(path);
  file.place = followLinks(path);
  if (isNull) {
    file.descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    std::optional<std::string> beside = unfinishedName(file.place);
    if (!beside)
      return systemFailure(path, "can't name a file beside it");
    file.descriptor =
        ::open(beside->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file.descriptor >= 0)
      file.unfinished = *beside;
  }
  if (file.descriptor < 0)
    return systemFailure(path, "can't open for writing");
  if (exists && !isNull &&
      ::fchmod(file.descriptor, status.st_mode & 07777) != 0)
    return systemFailure(path, "can't keep its rights");
  return file;
}

Result<void> OutputFile::write(std::initializer_list<std::string_view> pieces) {
  for (std::string_view piece : pieces)
    numBytes += piece.size();
  if (!unfinished.empty() && numBytes > fileSizeLimit())
    return failure(asked, "can't write " + std::to_string(numBytes) +
                              " bytes: the limit of this process is " +
                              std::to_string(fileSizeLimit()));
  for (std::string_view piece : pieces)
    if (!writeAll(descriptor, piece))
      return systemFailure(asked, "can't write");
  return {};
}

Result<void> OutputFile::commit() {
  if (::close(std::exchange(descriptor, -1)) != 0)
    return systemFailure(asked, "can't write");
  if (unfinished.empty())
    return {};
  if (::rename(unfinished.c_str(), place.c_str()) != 0)
    return systemFailure(asked, "can't put it in its place");
  unfinished.clear();
  return {};
}

Result<void> writeFile(const std::string &path,
                       std::initializer_list<std::string_view> pieces) {
  Result<OutputFile> file = OutputFile::open(path);
  if (!file)
    return file.error();
  if (Result<void> done = file->write(pieces); !done)
    return done.error();
  return file->commit();
}

bool isSameFile(const std::string &first, const std::string &second) {
  struct stat a, b;
  return ::stat(first.c_str(), &a) == 0 && ::stat(second.c_str(), &b) == 0 &&
         a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

} // namespace attn
