// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The build id is a note; notes lie in segments of their own, which are small.

#include "runtime/code/BuildId.h"

#include "runtime/Files.h"
#include "runtime/code/Bytes.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

namespace attn {

// More than any notes take.
static constexpr uint64_t maxNoteBytes = 1 << 16;
static constexpr unsigned maxSegments = 256;

/// The build id among `notes` as bytes, or nothing.
static std::string_view findBuildId(std::string_view notes) {
  auto padded = [](uint64_t size) { return (size + 3) & ~uint64_t(3); };
  Elf64_Nhdr note;
  while (notes.size() >= sizeof note) {
    std::memcpy(&note, notes.data(), sizeof note);
    notes.remove_prefix(sizeof note);
    uint64_t name = padded(note.n_namesz);
    if (name + note.n_descsz > notes.size())
      return {};
    if (note.n_type == NT_GNU_BUILD_ID &&
        notes.substr(0, note.n_namesz) == std::string_view("GNU", 4))
      return notes.substr(name, note.n_descsz);
    notes.remove_prefix(
        std::min<uint64_t>(name + padded(note.n_descsz), notes.size()));
  }
  return {};
}

Result<std::string> readBuildId(const std::string &path) {
  Error none{ErrorCode::ioFailure,
             "file '" + path + "': expected an ELF file with a build id"};
  Result<InputFile> file = InputFile::open(path);
  if (!file)
    return file.error();
  Elf64_Ehdr header;
  if (!file->read(0, &header, sizeof header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > maxSegments)
    return none;
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (!file->read(header.e_phoff, segments.data(),
                  segments.size() * sizeof(Elf64_Phdr)))
    return none;
  for (const Elf64_Phdr &segment : segments) {
    if (segment.p_type != PT_NOTE || segment.p_filesz > maxNoteBytes)
      continue;
    std::string notes(segment.p_filesz, '\0');
    if (!file->read(segment.p_offset, notes.data(), notes.size()))
      continue;
    std::string_view id = findBuildId(notes);
    if (!id.empty())
      return toHex(id);
  }
  return none;
}

Result<std::string> readBuildIds(const std::vector<std::string> &paths) {
  std::string ids;
  for (const std::string &path : paths) {
    Result<std::string> id = readBuildId(path);
    if (!id)
      return id.error();
    ids += (ids.empty() ? "" : " ") + *id;
  }
  return ids;
}

} // namespace attn
