// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// POSIX calls on a folder and names in it. Writers don't lock: each writes a
// file of its own and renames it, and the last one stays.

#include "runtime/cache/CacheFolder.h"

#include "runtime/Files.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace attn {

// No writer takes that long.
static constexpr time_t unfinishedSeconds = 3600;
// Writing a file takes less.
static constexpr time_t writingSeconds = 60;

static bool endsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() &&
         text.substr(text.size() - suffix.size()) == suffix;
}

/// What follows the hash in a name; empty in names of others.
static std::string_view afterHash(std::string_view name) {
  size_t digits = name.find_first_not_of("0123456789abcdef");
  return digits == 64 ? name.substr(digits) : std::string_view();
}

Result<std::string>
chooseCacheFolder(const std::optional<std::string> &option) {
  if (option)
    return *option;
  // A program that runs with the rights of another user gets none of these.
  if (const char *folder = secure_getenv("ATTN_CACHE_DIR"))
    return std::string(folder);
  // The XDG specification has relative paths ignored.
  const char *base = secure_getenv("XDG_CACHE_HOME");
  if (base && *base == '/')
    return std::string(base) + "/attn";
  const char *home = secure_getenv("HOME");
  struct stat status;
  if (home && *home == '/') {
    // One that is not there belongs to nobody who would want it made.
    if (stat(home, &status) != 0 || !S_ISDIR(status.st_mode))
      return Error{ErrorCode::ioFailure,
                   "expected HOME to name a folder, got '" + std::string(home) +
                       "'"};
    return std::string(home) + "/.cache/attn";
  }
  return Error{ErrorCode::ioFailure,
               "expected one of ATTN_CACHE_DIR, XDG_CACHE_HOME and HOME, got "
               "none"};
}

static Error folderError(const std::string &path, const std::string &what) {
  return Error{ErrorCode::ioFailure, "folder '" + path + "': " + what};
}

Error CacheFolder::failure(const char *what) const {
  return folderError(path, std::string(what) + ": " + std::strerror(errno));
}

/// Makes the folder and those above it; what is there already stays.
static void makeFolders(const std::string &path) {
  for (size_t end = path.find('/', 1); end != std::string::npos;
       end = path.find('/', end + 1))
    mkdir(path.substr(0, end).c_str(), 0700);
  mkdir(path.c_str(), 0700);
}

/// True if only this user can have written it.
static bool isOwn(const struct stat &status) {
  return status.st_uid == geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

Result<CacheFolder> CacheFolder::open(const std::string &path) {
  if (path.find('\0') != std::string::npos)
    return folderError(path, "expected a path");
  auto openFolder = [&] {
    return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  };
  int descriptor = openFolder();
  if (descriptor < 0 && errno == ENOENT) {
    makeFolders(path);
    descriptor = openFolder();
  }
  if (descriptor < 0)
    return folderError(path,
                       std::string("can't open: ") + std::strerror(errno));
  CacheFolder folder(descriptor, path);
  struct stat status;
  if (fstat(descriptor, &status) != 0)
    return folder.failure("can't inspect");
  if (!isOwn(status))
    return folderError(path,
                       "expected one that belongs to this user and that no "
                       "others may write, as code is loaded from it");
  return folder;
}

CacheFolder::CacheFolder(CacheFolder &&other)
    : descriptor(std::exchange(other.descriptor, -1)),
      path(std::move(other.path)) {}

CacheFolder::~CacheFolder() {
  if (descriptor >= 0)
    ::close(descriptor);
}

/// The content of an open file, or nothing.
static std::optional<std::string> readContent(int file, uint64_t limit) {
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || !isOwn(status) ||
      static_cast<uint64_t>(status.st_size) > limit)
    return std::nullopt;
  std::string content(status.st_size, '\0');
  size_t done = 0;
  while (done < content.size()) {
    ssize_t got = ::read(file, content.data() + done, content.size() - done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return std::nullopt;
    done += got;
  }
  return content;
}

std::optional<std::string> CacheFolder::read(const std::string &name,
                                             uint64_t limit) const {
  int file = openat(descriptor, name.c_str(),
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0)
    return std::nullopt;
  std::optional<std::string> content = readContent(file, limit);
  // The time of the last use; it does not matter if it can't be set.
  if (content)
    (void)futimens(file, nullptr);
  ::close(file);
  return content;
}

Result<void> CacheFolder::write(const std::string &name,
                                std::string_view content) const {
  if (content.size() > fileSizeLimit()) {
    errno = EFBIG;
    return failure("can't write");
  }
  int file = openat(descriptor, name.c_str(),
                    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0)
    return failure("can't write");
  if (!writeAll(file, content)) {
    Error error = failure("can't write");
    ::close(file);
    return error;
  }
  if (::close(file) != 0)
    return failure("can't write");
  return {};
}

Result<void> CacheFolder::replace(const std::string &name,
                                  std::string_view content) const {
  std::optional<std::string> own = unfinishedName(name);
  if (!own)
    return failure("can't name a file");
  Result<void> done = write(*own, content);
  if (done && renameat(descriptor, own->c_str(), descriptor, name.c_str()) != 0)
    done = failure("can't write");
  if (!done)
    unlinkat(descriptor, own->c_str(), 0);
  return done;
}

void CacheFolder::shrink(std::string_view suffix, uint64_t limit) const {
  struct Entry {
    struct timespec used;
    uint64_t size;
    std::string name;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  // The stream takes a descriptor of its own, with a position of its own.
  int own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *stream = own < 0 ? nullptr : fdopendir(own);
  if (!stream)
    return;
  time_t now = time(nullptr);
  while (const dirent *item = readdir(stream)) {
    std::string_view rest = afterHash(item->d_name);
    bool isUnfinished = endsWith(rest, unfinishedSuffix);
    struct stat status;
    if ((!isUnfinished && rest != suffix) ||
        fstatat(descriptor, item->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode))
      continue;
    if (isUnfinished && status.st_mtim.tv_sec < now - unfinishedSeconds) {
      unlinkat(descriptor, item->d_name, 0);
      continue;
    }
    // Of a clock that was ahead: no newer than what is written now.
    if (status.st_mtim.tv_sec > now)
      status.st_mtim = {now, 0};
    uint64_t size = static_cast<uint64_t>(status.st_size);
    total += size;
    // One that is written at this moment counts, and is left to its writer.
    if (!isUnfinished || status.st_mtim.tv_sec < now - writingSeconds)
      entries.push_back({status.st_mtim, size, item->d_name});
  }
  closedir(stream);
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) <
           std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const Entry &entry : entries) {
    if (total <= limit)
      return;
    unlinkat(descriptor, entry.name.c_str(), 0);
    total -= entry.size;
  }
}

} // namespace attn
