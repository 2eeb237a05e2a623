// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An entry is eight bytes that say what it is, a checksum of the rest, the key
// and the value. Nothing is synchronised with the disk: what a crash tears, the
// checksum finds.

#include "runtime/cache/DiskCache.h"

#include "runtime/cache/Sha256.h"
#include "runtime/code/Bytes.h"

namespace attn {

static constexpr std::string_view magic = "ATTNMOD1";
static constexpr std::string_view suffix = ".attn";

static std::string hash(std::string_view bytes) {
  Sha256 digest = sha256(bytes);
  return std::string(digest.begin(), digest.end());
}

Result<DiskCache> DiskCache::open(const std::string &path, uint64_t maxBytes) {
  Result<CacheFolder> folder = CacheFolder::open(path);
  if (!folder)
    return folder.error();
  return DiskCache(std::move(*folder), maxBytes);
}

std::string DiskCache::fileName(std::string_view key) {
  return toHex(hash(key)) + std::string(suffix);
}

std::optional<std::string> DiskCache::find(std::string_view key) const {
  std::optional<std::string> file = folder.read(fileName(key), maxBytes / 8);
  if (!file)
    return std::nullopt;
  std::string_view rest = *file;
  std::string_view header = rest.substr(0, magic.size() + sizeof(Sha256));
  rest.remove_prefix(header.size());
  if (header != std::string(magic) + hash(rest))
    return std::nullopt;
  ByteReader bytes(rest);
  if (bytes.text() != key)
    return std::nullopt;
  std::string_view value = bytes.text();
  if (!bytes.isComplete())
    return std::nullopt;
  return std::string(value);
}

Result<void> DiskCache::store(std::string_view key,
                              std::string_view value) const {
  ByteWriter bytes;
  bytes.text(key);
  bytes.text(value);
  std::string rest = bytes.take();
  std::string file = std::string(magic) + hash(rest) + rest;
  if (file.size() > maxBytes / 8)
    return Error{ErrorCode::unsupported, "expected an entry of at most " +
                                             std::to_string(maxBytes / 8) +
                                             " bytes, got " +
                                             std::to_string(file.size())};
  if (Result<void> done = folder.replace(fileName(key), file); !done)
    return done;
  folder.shrink(suffix, maxBytes);
  return {};
}

} // namespace attn
