// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading of ELF tables. Entries are copied out, as nothing in the file needs
// to be aligned in memory.

#include "runtime/code/ElfObject.h"

#include <cstring>

namespace attn {

// Larger than any alignment that code generation asks for.
static constexpr uint64_t maxAlignment = 4096;

static Error malformed(const std::string &what) {
  return Error{ErrorCode::compileFailure, "object code: " + what};
}

/// The entry of that number in a table at the start of `bytes`, if it is there.
template <class T>
static bool readEntry(std::string_view bytes, uint64_t number, T &entry) {
  if (number >= bytes.size() / sizeof(T))
    return false;
  std::memcpy(&entry, bytes.data() + number * sizeof(T), sizeof(T));
  return true;
}

/// The bytes of a section in the file, if they are there.
static bool readContent(std::string_view bytes, const Elf64_Shdr &header,
                        std::string_view &content) {
  if (header.sh_type == SHT_NOBITS || header.sh_size == 0)
    return true;
  if (header.sh_offset > bytes.size() ||
      header.sh_size > bytes.size() - header.sh_offset)
    return false;
  content = bytes.substr(header.sh_offset, header.sh_size);
  return true;
}

static Result<void> checkHeader(std::string_view bytes, Elf64_Ehdr &header) {
  if (!readEntry(bytes, 0, header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return malformed("expected an ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_REL ||
      header.e_machine != EM_X86_64)
    return malformed("expected a relocatable file for x86-64, got type " +
                     std::to_string(header.e_type) + " for machine " +
                     std::to_string(header.e_machine));
  if (header.e_shentsize != sizeof(Elf64_Shdr) ||
      header.e_shoff > bytes.size() || header.e_shnum == 0)
    return malformed("expected a table of sections");
  return {};
}

static std::string_view nameAt(std::string_view names, uint64_t offset) {
  if (offset >= names.size())
    return {};
  return names.substr(offset, names.find('\0', offset) - offset);
}

namespace {
/// Fills an object from the headers of the sections.
class Reader {
public:
  Reader(std::string_view bytes, ElfObject &object)
      : bytes(bytes), object(object) {}
  Result<void> run(const Elf64_Ehdr &header);

private:
  Result<void> readSection(const Elf64_Shdr &header);
  Result<void> readSymbols(const Elf64_Shdr &header);
  Result<void> readRelocations(const Elf64_Shdr &header);

  std::string_view bytes;
  ElfObject &object;
  std::vector<Elf64_Shdr> headers;
};
} // namespace

Result<void> Reader::readSection(const Elf64_Shdr &header) {
  ElfObject::Section section;
  section.flags = header.sh_flags;
  section.alignment = header.sh_addralign == 0 ? 1 : header.sh_addralign;
  section.size = header.sh_size;
  if (!readContent(bytes, header, section.content))
    return malformed("a section lies outside the file");
  if (section.isLoaded() &&
      (section.alignment > maxAlignment ||
       (section.alignment & (section.alignment - 1)) != 0))
    return malformed("expected an alignment of at most " +
                     std::to_string(maxAlignment) + ", got " +
                     std::to_string(section.alignment));
  if (section.isLoaded() && (section.flags & SHF_TLS))
    return malformed("thread-local variables are not supported");
  object.sections.push_back(std::move(section));
  return {};
}

Result<void> Reader::readSymbols(const Elf64_Shdr &header) {
  if (!object.symbols.empty())
    return malformed("expected one table of symbols");
  if (header.sh_link >= headers.size())
    return malformed("a table of symbols has no names");
  std::string_view table = object.sections[&header - headers.data()].content;
  std::string_view names = object.sections[header.sh_link].content;
  Elf64_Sym entry;
  for (uint64_t i = 0; readEntry(table, i, entry); ++i) {
    ElfObject::Symbol symbol;
    symbol.name = nameAt(names, entry.st_name);
    symbol.isGlobal = ELF64_ST_BIND(entry.st_info) != STB_LOCAL;
    symbol.section = entry.st_shndx;
    symbol.value = entry.st_value;
    bool isFile = ELF64_ST_TYPE(entry.st_info) == STT_FILE;
    // Common and absolute symbols have a section number beyond the table.
    if (!isFile && (symbol.section >= object.sections.size() ||
                    (symbol.section != SHN_UNDEF &&
                     symbol.value > object.sections[symbol.section].size)))
      return malformed("symbol '" + std::string(symbol.name) +
                       "': expected a place in a section");
    object.symbols.push_back(symbol);
  }
  return {};
}

Result<void> Reader::readRelocations(const Elf64_Shdr &header) {
  if (header.sh_info >= headers.size())
    return malformed("relocations of a section that is not there");
  ElfObject::Section &section = object.sections[header.sh_info];
  // Those of debug information and the like.
  if (!section.isLoaded())
    return {};
  if (header.sh_type == SHT_REL)
    return malformed("expected relocations with addends");
  std::string_view table = object.sections[&header - headers.data()].content;
  Elf64_Rela entry;
  for (uint64_t i = 0; readEntry(table, i, entry); ++i)
    section.relocations.push_back(entry);
  return {};
}

Result<void> Reader::run(const Elf64_Ehdr &header) {
  Elf64_Shdr entry;
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    if (!readEntry(bytes.substr(header.e_shoff), i, entry))
      return malformed("the table of sections lies outside the file");
    headers.push_back(entry);
    if (Result<void> done = readSection(entry); !done)
      return done;
  }
  for (const Elf64_Shdr &section : headers) {
    Result<void> done;
    if (section.sh_type == SHT_SYMTAB)
      done = readSymbols(section);
    else if (section.sh_type == SHT_RELA || section.sh_type == SHT_REL)
      done = readRelocations(section);
    if (!done)
      return done;
  }
  return {};
}

Result<ElfObject> ElfObject::parse(std::string_view bytes) {
  Elf64_Ehdr header;
  if (Result<void> done = checkHeader(bytes, header); !done)
    return done.error();
  ElfObject object;
  if (Result<void> done = Reader(bytes, object).run(header); !done)
    return done.error();
  return object;
}

} // namespace attn
