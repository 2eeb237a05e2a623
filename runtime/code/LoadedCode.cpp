// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places the sections by what may be done with them, fills in addresses, and
// then takes away the right to write where it isn't needed.

#include "runtime/code/LoadedCode.h"

#include "runtime/code/ElfObject.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace attn {

static constexpr uint64_t maxBytes = uint64_t(1) << 30;

static Error linkError(const std::string &what) {
  return Error{ErrorCode::compileFailure, "can't link: " + what};
}

static uint64_t alignTo(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

class CodeLoader {
public:
  CodeLoader(const ElfObject &object, const LoadedCode::Resolver &resolve)
      : object(object), resolve(resolve), code(new LoadedCode) {}
  Result<std::unique_ptr<LoadedCode>> run();

private:
  /// Sections of one kind lie together and begin a page.
  enum Kind { executable, readOnly, writable, numKinds };
  static Kind kindOf(const ElfObject::Section &section);

  Result<void> placeSections();
  Result<void> allocate();
  Result<void> bindSymbols();
  Result<void> relocate(const ElfObject::Section &section, char *start);
  Result<void> apply(const Elf64_Rela &relocation, uint64_t size, char *start);
  Result<void> protect();

  const ElfObject &object;
  const LoadedCode::Resolver &resolve;
  std::unique_ptr<LoadedCode> code;
  /// Where each section begins in memory, and each kind; the last is the end.
  std::vector<uint64_t> offsets;
  std::array<uint64_t, numKinds + 1> kinds = {};
  /// Symbols that lie nowhere in memory have none.
  std::vector<std::optional<uint64_t>> addresses;
};

CodeLoader::Kind CodeLoader::kindOf(const ElfObject::Section &section) {
  if (section.isExecutable())
    return executable;
  return section.isWritable() ? writable : readOnly;
}

Result<void> CodeLoader::placeSections() {
  uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t end = 0;
  offsets.resize(object.sections.size());
  for (int kind = 0; kind < numKinds; ++kind) {
    kinds[kind] = end = alignTo(end, page);
    for (size_t i = 0; i < object.sections.size(); ++i) {
      const ElfObject::Section &section = object.sections[i];
      if (!section.isLoaded() || kindOf(section) != kind)
        continue;
      if (section.isExecutable() && section.isWritable())
        return linkError("a section is writable and executable");
      offsets[i] = alignTo(end, section.alignment);
      if (section.size > maxBytes || offsets[i] + section.size > maxBytes)
        return linkError("expected at most " + std::to_string(maxBytes) +
                         " bytes of code and data");
      end = offsets[i] + section.size;
    }
  }
  kinds[numKinds] = alignTo(end, page);
  return {};
}

Result<void> CodeLoader::allocate() {
  size_t size = kinds[numKinds];
  if (size == 0)
    return {};
  void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Error{ErrorCode::outOfMemory,
                 std::string("memory for code: ") + std::strerror(errno)};
  code->memory = static_cast<char *>(memory);
  code->numBytes = size;
  for (size_t i = 0; i < object.sections.size(); ++i) {
    std::string_view content = object.sections[i].content;
    if (object.sections[i].isLoaded() && !content.empty())
      std::memcpy(code->memory + offsets[i], content.data(), content.size());
  }
  return {};
}

Result<void> CodeLoader::bindSymbols() {
  std::string missing;
  for (const ElfObject::Symbol &symbol : object.symbols) {
    std::optional<uint64_t> &address = addresses.emplace_back();
    if (symbol.section == SHN_UNDEF) {
      if (symbol.name.empty())
        continue;
      void *found = resolve(std::string(symbol.name));
      address = reinterpret_cast<uint64_t>(found);
      if (!found)
        missing += (missing.empty() ? "" : ", ") + std::string(symbol.name);
    } else if (symbol.section < object.sections.size() &&
               object.sections[symbol.section].isLoaded() && code->memory) {
      char *place = code->memory + offsets[symbol.section] + symbol.value;
      address = reinterpret_cast<uint64_t>(place);
      if (symbol.isGlobal)
        code->symbols.emplace(symbol.name, place);
    }
  }
  if (!missing.empty())
    return linkError("undefined: " + missing);
  return {};
}

Result<void> CodeLoader::apply(const Elf64_Rela &relocation, uint64_t size,
                               char *start) {
  uint64_t number = ELF64_R_SYM(relocation.r_info);
  uint64_t type = ELF64_R_TYPE(relocation.r_info);
  if (number >= addresses.size() || !addresses[number])
    return linkError("a relocation is against a symbol without an address");
  bool isNarrow = type == R_X86_64_PC32 || type == R_X86_64_PLT32;
  uint64_t width = isNarrow ? 4 : 8;
  if (relocation.r_offset > size || width > size - relocation.r_offset)
    return linkError("a relocation lies outside its section");
  char *place = start + relocation.r_offset;
  uint64_t value =
      *addresses[number] + static_cast<uint64_t>(relocation.r_addend);
  switch (type) {
  case R_X86_64_64:
    break;
  case R_X86_64_PC32:
  case R_X86_64_PLT32:
  case R_X86_64_PC64:
    value -= reinterpret_cast<uint64_t>(place);
    break;
  default:
    return linkError("relocations of type " + std::to_string(type) +
                     " are not supported");
  }
  if (isNarrow && static_cast<int64_t>(value) != static_cast<int32_t>(value))
    return linkError("a relocation of 32 bits does not reach its symbol");
  std::memcpy(place, &value, width);
  return {};
}

Result<void> CodeLoader::relocate(const ElfObject::Section &section,
                                  char *start) {
  if (!section.relocations.empty() && section.content.empty())
    return linkError("relocations in a section without content");
  for (const Elf64_Rela &relocation : section.relocations)
    if (Result<void> done = apply(relocation, section.size, start); !done)
      return done;
  return {};
}

Result<void> CodeLoader::protect() {
  for (auto [kind, rights] : {std::pair{executable, PROT_READ | PROT_EXEC},
                              std::pair{readOnly, PROT_READ}}) {
    uint64_t size = kinds[kind + 1] - kinds[kind];
    if (size != 0 && mprotect(code->memory + kinds[kind], size, rights) != 0)
      return linkError(std::string("mprotect: ") + std::strerror(errno));
  }
  return {};
}

Result<std::unique_ptr<LoadedCode>> CodeLoader::run() {
  if (Result<void> done = placeSections(); !done)
    return done.error();
  if (Result<void> done = allocate(); !done)
    return done.error();
  if (Result<void> done = bindSymbols(); !done)
    return done.error();
  for (size_t i = 0; i < object.sections.size(); ++i)
    if (object.sections[i].isLoaded())
      if (Result<void> done =
              relocate(object.sections[i], code->memory + offsets[i]);
          !done)
        return done.error();
  if (Result<void> done = protect(); !done)
    return done.error();
  return std::move(code);
}

Result<std::unique_ptr<LoadedCode>> LoadedCode::load(std::string_view object,
                                                     const Resolver &resolve) {
  Result<ElfObject> parsed = ElfObject::parse(object);
  if (!parsed)
    return parsed.error();
  return CodeLoader(*parsed, resolve).run();
}

LoadedCode::~LoadedCode() {
  if (memory)
    munmap(memory, numBytes);
}

void *LoadedCode::lookup(std::string_view name) const {
  auto found = symbols.find(name);
  return found == symbols.end() ? nullptr : found->second;
}

} // namespace attn
